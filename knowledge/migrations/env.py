"""Runs the migrations in the transaction that `Database.migrate` hands over, one process at a time."""

import sqlalchemy as sa
from alembic import context

from knowledge.tables import metadata

MIGRATION_LOCK = 0x666F6F746E6F7465
"""An advisory lock's number: `footnote` in ASCII. Whoever waits for it finds the schema already there."""

connection = context.config.attributes["connection"]
connection.execute(sa.select(sa.func.pg_advisory_xact_lock(MIGRATION_LOCK)))
context.configure(connection=connection, target_metadata=metadata)
with context.begin_transaction():
    context.run_migrations()
