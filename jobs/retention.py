"""The retention job: what is older than the settings say is deleted."""

from datetime import datetime, timedelta

from knowledge import expiry, generations, queue_schema
from knowledge.db import Database

KEEP_OLD_MODEL_DAYS = 7
"""How long the vectors of the model before the serving one are kept, to go back to it without encoding anything."""


def run(database: Database, keep_days: int, now: datetime) -> dict[str, int]:
    """Delete questions, answers, events and records of runs older than `keep_days`; how many rows of each kind."""
    with database.writing() as connection:
        deleted = expiry.forget(connection, now - timedelta(days=keep_days))
        deleted["generations"] = generations.drop_retired(connection, now - timedelta(days=KEEP_OLD_MODEL_DAYS))
        if queue_schema.version(connection) is not None:
            deleted["queue"] = queue_schema.forget_failed(connection, keep_days)
    return deleted
