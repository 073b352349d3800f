"""Who works on a source at a time, and a first index divided among processes.

1. The process that syncs the source leads: it alone lists for all, changes readers and deletes. For many new documents
   it divides them into shares by their names and invites others.
2. Whoever works on a share holds its lock, and leaves out what is there by then. A process that dies loses the lock with
   its connection, and somebody else goes on with the rest of the share.
3. Everybody stores a document only as long as the sync goes on, and under the readers that were recorded for it, in the
   same transaction: what a helper read may be outdated for a later sync, and other settings may grant less meanwhile.
"""

import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from pydantic import ValidationError
from sqlalchemy.dialects.postgresql import JSONB, insert

from knowledge.db import Database
from knowledge.errors import SourceFailed, SyncOver
from knowledge.fallback import until_listed
from knowledge.outcomes import SyncOutcome
from knowledge.settings import Source as SourceSettings
from knowledge.sources import Listed
from knowledge.tables import removed_sources, sources

SHARE = 64
"""Documents, about: their chunks fill one or two batches of the encoder, and a killed process loses little."""
ALONE_BELOW = 512
"""So few new documents are indexed before others have begun."""
LOOK_EVERY_S = 0.2

Invite = Callable[[str, int], None]
"""Asks other processes to help with a source that was divided into so many shares."""


OWN = frozenset({"name", "scopes", "schedule", "max_deleted_share"})
"""Settings of a source that are not recorded with it: they do not say what it has, or have a column of their own."""

GRANTED = "granted"
"""Recorded with the settings of a place that worked, while newer ones of another place were not listed yet: its readers.
Nobody helps with a source that is in between.
"""

REMOVED = "it was removed from the index after this process had begun; restart the bot without it in its settings"
UNREADABLE = "a newer version of this program has read it by newer settings; restart the bot with that version"


@dataclass(frozen=True)
class Tenure:
    """One sync of a source, from its beginning to its end. `settings`: what it goes by."""

    settings: SourceSettings
    began_at: datetime

    @property
    def scopes(self) -> list[str]:
        """What it grants, in order."""
        return sorted(self.settings.scopes)

    def goes_by(self, source: SourceSettings) -> bool:
        """Whether `source` says of it what its own settings say."""
        return _shared(source) == _shared(self.settings) and sorted(source.scopes) == self.scopes


def begin(connection: sa.Connection, source: SourceSettings, settings_at: datetime) -> Tenure:
    """A sync under settings that were read at `settings_at`, or under newer ones where such were seen: a process that
    still runs with older ones does not undo what was narrowed, left out or moved meanwhile.

    What newer settings say holds for other processes from now on, but for a place that was never listed (`until_listed`).
    Raises `SourceFailed` when the source was removed meanwhile.
    """
    _forget_removal(connection, source.name, settings_at)
    seen = sa.select(sources).where(sources.c.name == source.name)
    before = connection.execute(seen.with_for_update()).one_or_none()  # nobody narrows it between this and the next
    if before and before.settings_at and before.settings_at > settings_at:
        source, settings_at = _recorded(source, before), before.settings_at
    standing = until_listed(_worked(source, before), source)
    granted = {} if standing == source else {GRANTED: sorted(standing.scopes)}
    values: dict[str, object] = {
        **_written(standing, granted),
        "scopes": sorted(source.scopes),
        "settings_at": settings_at,
        "started_at": sa.func.now(),
        "finished_at": None,
    }
    statement = insert(sources).values(name=source.name, **values)
    written = statement.on_conflict_do_update(index_elements=["name"], set_=values).returning(sources.c.started_at)
    return Tenure(source, connection.execute(written).scalar_one())


def listed(connection: sa.Connection, tenure: Tenure) -> None:
    """The sync, which is held, can believe its listing: from now on everybody goes by its settings."""
    by_name = sources.c.name == tenure.settings.name
    connection.execute(sa.update(sources).where(by_name).values(**_written(tenure.settings)))


def _forget_removal(connection: sa.Connection, name: str, settings_at: datetime) -> None:
    by_name = removed_sources.c.name == name
    removed_at = connection.scalar(sa.select(removed_sources.c.removed_at).where(by_name))
    if removed_at and removed_at > settings_at:
        raise SourceFailed(REMOVED)
    connection.execute(sa.delete(removed_sources).where(by_name))


def _shared(source: SourceSettings) -> dict[str, Any]:
    return source.model_dump(mode="json", exclude=set(OWN))


def _written(source: SourceSettings, more: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The columns that say what the source has. `more`: to be recorded beside its settings."""
    return {"kind": source.kind, "location": source.location, "settings": {**_shared(source), **(more or {})}}


def _recorded(source: SourceSettings, row: sa.Row[Any]) -> SourceSettings:
    """The settings that were recorded last. Raises `SourceFailed` when this version does not know one of them."""
    recorded = dict(row.settings or {})
    scopes = sorted(set(recorded.pop(GRANTED, row.scopes)) & set(row.scopes))
    try:
        return SourceSettings.model_validate({**source.model_dump(), **recorded, "scopes": scopes})
    except ValidationError as error:
        raise SourceFailed(UNREADABLE) from error


def _worked(source: SourceSettings, row: sa.Row[Any] | None) -> SourceSettings | None:
    """The settings that its documents are from; None when there are none, or this version does not know one of them."""
    try:
        return _recorded(source, row) if row and row.settings else None
    except SourceFailed:
        return None


def finish(connection: sa.Connection, outcome: SyncOutcome) -> None:
    values: dict[str, object] = {"finished_at": sa.func.now(), "outcome": outcome.as_json()}
    if not outcome.error:
        values["succeeded_at"] = sa.func.now()
    connection.execute(sa.update(sources).where(sources.c.name == outcome.name).values(values))


def current(connection: sa.Connection, source: SourceSettings) -> Tenure | None:
    """The sync that goes on, None when there is none, or none under these very settings."""
    same = (
        sources.c.name == source.name,
        sources.c.settings == sa.cast(_shared(source), JSONB),
        sources.c.scopes == sorted(source.scopes),
    )
    began_at = connection.scalar(sa.select(sources.c.started_at).where(*same, sources.c.finished_at.is_(None)))
    return Tenure(source, began_at) if began_at else None


def hold(connection: sa.Connection, tenure: Tenure) -> None:
    """Keep the sync from ending, and from being narrowed, before this transaction ends. Raises `SyncOver` when it has
    ended or was narrowed.
    """
    going_on = (
        sources.c.name == tenure.settings.name,
        sources.c.started_at == tenure.began_at,
        sources.c.finished_at.is_(None),
        sources.c.scopes == tenure.scopes,
    )
    if connection.scalar(sa.select(1).where(*going_on).with_for_update(read=True)) is None:
        raise SyncOver(
            f"{tenure.settings.name} was synced, or given fewer readers, under other settings meanwhile; start again"
        )


def narrow(connection: sa.Connection, source: SourceSettings, settings_at: datetime) -> None:
    """From now on nothing is stored by a sync that grants more than these settings do. Waits for what is just stored."""
    by_name = sources.c.name == source.name
    granted = connection.scalar(sa.select(sources.c.scopes).where(by_name).with_for_update())
    if granted is None or frozenset(granted) <= frozenset(source.scopes):
        return
    kept = sorted(frozenset(granted) & frozenset(source.scopes))
    latest = sa.func.greatest(sources.c.settings_at, settings_at)
    connection.execute(sa.update(sources).where(by_name).values(scopes=kept, settings_at=latest))


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
