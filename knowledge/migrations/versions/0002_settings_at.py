"""When the settings were read that a source's readers are from."""

from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.execute("alter table sources add column settings_at timestamptz")
