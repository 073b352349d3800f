"""What answers cost, and the day's allowance of tokens, shared by every process on the database."""

from collections.abc import Mapping
from datetime import UTC, datetime

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from knowledge.tables import buckets

BUCKET = "answer-tokens"

PRICES: Mapping[str, tuple[float, float, float, float]] = {
    "claude-haiku-5-5": (0.10, 0.50, 0.01, 0.125),
    "claude-sonnet-5-5": (2.00, 10.00, 0.10, 2.50),
    "claude-opus-5-5": (4.00, 20.00, 0.40, 5.00),
    "claude-fable-5-2": (8.00, 40.00, 0.80, 10.00),
    "claude-haiku-4-5": (1.00, 5.00, 0.10, 1.25),
}
"""Dollars per million tokens: input, output, read from cache, written to cache (list prices of November 2026, prompts
up to 100,000 tokens; where no cache price is published, a tenth and five quarters of the input price)."""

KINDS = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


def dollars(model: str, usage: Mapping[str, float]) -> float | None:
    """The price of a call; `None` for a model whose price is not known here."""
    prices = PRICES.get(model)
    if prices is None:
        return None
    return round(sum(usage.get(kind, 0) * price for kind, price in zip(KINDS, prices, strict=True)) / 1e6, 8)


def tokens(usage: Mapping[str, float]) -> int:
    """All tokens of a call, whatever their price."""
    return int(sum(usage.get(kind, 0) for kind in KINDS))


def spent(connection: sa.Connection, now: datetime) -> int:
    """Tokens used since midnight UTC."""
    query = sa.select(buckets.c.tokens).where(buckets.c.name == BUCKET, buckets.c.refilled_at >= _midnight(now))
    return int(connection.scalar(query) or 0)


def spend(connection: sa.Connection, amount: int, now: datetime) -> None:
    """Count `amount` tokens; the first of a day starts from zero."""
    today = _midnight(now)
    row = insert(buckets).values(name=BUCKET, tokens=amount, refilled_at=today)
    same_day = buckets.c.refilled_at >= today
    connection.execute(
        row.on_conflict_do_update(
            index_elements=[buckets.c.name],
            set_={"tokens": sa.case((same_day, buckets.c.tokens), else_=0.0) + amount, "refilled_at": today},
        )
    )


def _midnight(now: datetime) -> datetime:
    return now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
