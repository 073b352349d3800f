"""Whose turn it is: transactions that are to come one after the other, in whatever process they are."""

import sqlalchemy as sa


def take(connection: sa.Connection, name: str) -> None:
    """Wait until no other transaction has the turn of this name, and have it until this one ends."""
    key = sa.func.hashtextextended(name, 0)
    connection.execute(sa.select(sa.func.pg_advisory_xact_lock(key)))
