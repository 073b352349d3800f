"""Syncing as a job: which sources when, and one after the other."""

import logging
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime

from jobs.crontab import Crontab
from jobs.errors import TryAgain
from jobs.schedule import Job
from jobs.settings import Schedule
from knowledge.index import Indexer
from knowledge.outcomes import SyncOutcome
from knowledge.settings import Source
from knowledge.slots import Slot

log = logging.getLogger(__name__)

HELPERS = 8
"""Invitations to help with a first index; a process takes one at a time, and one that comes too late costs nothing."""
AFTER_YOU_S = 2.0
"""A process that helps already keeps a second invitation for so long, and others may take the next."""


class Helper:
    """Takes part in the first indexes that other processes lead. Threads share it."""

    def __init__(self, indexer: Indexer, sources: Sequence[Source]) -> None:
        self._indexer = indexer
        self._sources = {source.name: source for source in sources}
        self._busy = threading.Lock()

    def help(self, source: str, shares: int) -> None:
        """Work on the source that was divided into so many shares, as long as something is left."""
        if source in self._sources and self._busy.acquire(timeout=AFTER_YOU_S):
            try:
                documents = self._indexer.help(self._sources[source], shares)
                log.info("helped to index %s: %d documents", source, documents)
            finally:
                self._busy.release()


def jobs(
    schedule: Schedule, sources: Sequence[Source], start: Callable[[Slot, tuple[str, ...]], object]
) -> tuple[Job, ...]:
    """One job for the sources on the common schedule, one for each that has its own. `start` is given their names."""

    def job(name: str, cron: str, names: tuple[str, ...]) -> Job:
        return Job(name, cron, schedule.timezone, lambda slot: start(slot, names))

    common = tuple(source.name for source in sources if source.schedule is None)
    own = (job(f"sync {s.name}", s.schedule, (s.name,)) for s in sources if s.schedule is not None)
    return (*([job("sync", schedule.sync, common)] if common else []), *own)


def run(indexer: Indexer, sources: Sequence[Source], names: Collection[str] = ()) -> tuple[SyncOutcome, ...]:
    """Sync the named sources, all for no names; one that fails does not stop the others.

    What a source could not do is in its outcome. Raises `TryAgain` after the last one when a source broke down in a way
    that its outcome does not tell.
    """
    outcomes: list[SyncOutcome] = []
    broken: list[str] = []
    cause: Exception | None = None
    for source in (s for s in sources if not names or s.name in names):
        try:
            outcomes.append(indexer.sync(source))
        except Exception as error:
            log.exception("the sync of %s broke down", source.name)
            broken.append(source.name)
            cause = error
    if broken:
        raise TryAgain(f"the sync of {', '.join(broken)} broke down: {type(cause).__name__}") from cause
    return tuple(outcomes)


def overdue(
    schedule: Schedule, sources: Sequence[Source], succeeded: Mapping[str, datetime | None], now: datetime
) -> frozenset[str]:
    """The sources that have gone without a successful sync for two of their slots, or never had one.

    `succeeded`: when each was last read to the end. Nothing else counts, so it makes no difference what ran in between.
    """

    def late(source: Source) -> bool:
        at = succeeded.get(source.name)
        crontab = Crontab(source.schedule or schedule.sync, schedule.timezone)
        return at is None or crontab.between(at, now, at_most=2) >= 2

    return frozenset(source.name for source in sources if late(source))
