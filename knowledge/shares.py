"""A first index divided among processes: shares of a source's new documents, worked off by whoever is free.

1. The process that syncs the source leads: it alone lists for all, changes readers and deletes. For many new documents
   it divides them into shares by their names and invites others.
2. Whoever works on a share holds its lock, and leaves out what is there by then. A process that dies loses the lock with
   its connection, and somebody else goes on with the rest of the share.
3. A helper stores a document only as long as the sync it helps goes on, in the same transaction: what it read may be
   outdated for a later one.
"""

import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from knowledge.db import Database
from knowledge.errors import SyncOver
from knowledge.outcomes import SyncOutcome
from knowledge.settings import Source as SourceSettings
from knowledge.sources import Listed
from knowledge.tables import sources

SHARE = 64
"""Documents, about: their chunks fill one or two batches of the encoder, and a killed process loses little."""
ALONE_BELOW = 512
"""So few new documents are indexed before others have begun."""
LOOK_EVERY_S = 0.2

Invite = Callable[[str, int], None]
"""Asks other processes to help with a source that was divided into so many shares."""


@dataclass(frozen=True)
class Tenure:
    """One sync of a source, from its beginning to its end."""

    source: str
    began_at: datetime


def begin(connection: sa.Connection, source: SourceSettings) -> None:
    values: dict[str, object] = {"kind": source.kind, "location": source.location, "scopes": sorted(source.scopes)}
    values |= {"started_at": sa.func.now(), "finished_at": None}
    statement = insert(sources).values(name=source.name, **values)
    connection.execute(statement.on_conflict_do_update(index_elements=["name"], set_=values))


def finish(connection: sa.Connection, outcome: SyncOutcome) -> None:
    values: dict[str, object] = {"finished_at": sa.func.now(), "outcome": outcome.as_json()}
    if not outcome.error:
        values["succeeded_at"] = sa.func.now()
    connection.execute(sa.update(sources).where(sources.c.name == outcome.name).values(values))


def current(connection: sa.Connection, source: SourceSettings) -> Tenure | None:
    """The sync that goes on, None when there is none, or none under these very settings."""
    same = (
        sources.c.name == source.name,
        sources.c.kind == source.kind,
        sources.c.location == source.location,
        sources.c.scopes == sorted(source.scopes),
    )
    began_at = connection.scalar(sa.select(sources.c.started_at).where(*same, sources.c.finished_at.is_(None)))
    return Tenure(source.name, began_at) if began_at else None


def hold(connection: sa.Connection, tenure: Tenure) -> None:
    """Keep the sync from ending before this transaction does. Raises `SyncOver` when it has ended."""
    going_on = (
        sources.c.name == tenure.source,
        sources.c.started_at == tenure.began_at,
        sources.c.finished_at.is_(None),
    )
    if connection.scalar(sa.select(1).where(*going_on).with_for_update(read=True)) is None:
        raise SyncOver(f"the sync of {tenure.source} that was helped has ended")


def count(documents: int) -> int:
    return max(1, documents // SHARE) if documents >= ALONE_BELOW else 1


def claimed(
    database: Database, source: str, listed: Sequence[Listed], shares: int, *, wait: bool
) -> Iterator[tuple[Listed, ...]]:
    """Share after share, each of them ours while we are at it. `wait`: also for those that others are at."""
    divided: dict[int, list[Listed]] = {}
    for item in listed:
        divided.setdefault(zlib.crc32(item.external_id.encode()) % shares, []).append(item)
    while divided:
        before = len(divided)
        for number in list(divided):
            with database.lock(f"share {number} of {shares} of {source}") as ours:
                if ours:
                    yield tuple(divided.pop(number))
        if not wait:
            return
        if len(divided) == before:
            time.sleep(LOOK_EVERY_S)
