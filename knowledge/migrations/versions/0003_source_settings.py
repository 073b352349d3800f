"""The newest settings of each source, and which sources were removed, for processes that still run with older settings."""

from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.execute("alter table sources add column settings jsonb")
    op.execute(
        "create table removed_sources (name text, removed_at timestamptz not null default now(), "
        "constraint pk_removed_sources primary key (name))"
    )
