"""Documents that have not changed for longer than their source trusts them. Pure.

A document without a date is never stale. Marking is decided when a question is answered; leaving out is decided by a
sync, which takes every reader from a stale document, so that retrieval needs no further condition.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from knowledge.settings import Source

Limits = Mapping[str, timedelta]
"""Source -> how long its documents are trusted after a change; a source that is not in it trusts them for ever."""


def limits(sources: Iterable[Source]) -> Limits:
    return {s.name: timedelta(days=s.stale_after_days) for s in sources if s.stale_after_days is not None}


def stale_days(source: str, updated_at: datetime | None, limits: Limits, now: datetime) -> int | None:
    """Whole days since the last change of a document that is stale; None for one that is not."""
    limit = limits.get(source)
    if limit is None or updated_at is None or now - updated_at <= limit:
        return None
    return (now - updated_at).days


def left_out_before(source: Source, now: datetime) -> datetime | None:
    """Documents last changed before this moment get no reader; None when the source keeps stale ones."""
    if not source.drop_stale or source.stale_after_days is None:
        return None
    return now - timedelta(days=source.stale_after_days)


def is_left_out(updated_at: datetime | None, before: datetime | None) -> bool:
    return updated_at is not None and before is not None and updated_at < before
