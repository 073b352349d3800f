"""The whole first schema, as SQL in the file beside this one."""

from pathlib import Path

from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    statements = Path(__file__).with_suffix(".sql").read_text()
    op.get_bind().execution_options(no_parameters=True).exec_driver_sql(statements)
