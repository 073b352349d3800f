"""The retention job: what is older than the settings say is deleted."""

from datetime import datetime, timedelta

from knowledge import expiry, queue_schema
from knowledge.db import Database


def run(database: Database, keep_days: int, now: datetime) -> dict[str, int]:
    """Delete questions, answers, events and records of runs older than `keep_days`; how many rows of each kind."""
    with database.writing() as connection:
        deleted = expiry.forget(connection, now - timedelta(days=keep_days))
        if queue_schema.version(connection) is not None:
            deleted["queue"] = queue_schema.forget_failed(connection, keep_days)
    return deleted
