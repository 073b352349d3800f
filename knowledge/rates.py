"""Rate limits that all processes share: a token bucket a row."""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from knowledge.tables import buckets


def take(connection: sa.Connection, name: str, per_minute: float, burst: float) -> bool:
    """Take one token from the bucket `name`; False when it is empty. It refills evenly and holds `burst` at most."""
    connection.execute(
        insert(buckets).values(name=name, tokens=burst, refilled_at=sa.func.clock_timestamp()).on_conflict_do_nothing()
    )
    now = sa.func.clock_timestamp()
    passed_s = sa.extract("epoch", now - buckets.c.refilled_at)
    full = sa.func.least(sa.cast(burst, sa.Float), buckets.c.tokens + passed_s * (per_minute / 60))
    taken = (
        sa.update(buckets)
        .where(buckets.c.name == name, full >= 1)
        .values(tokens=full - 1, refilled_at=now)
        .returning(buckets.c.name)
    )
    return connection.execute(taken).first() is not None
