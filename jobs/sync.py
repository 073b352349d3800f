"""Syncing as a job: which sources when, and one after the other."""

import logging
from collections.abc import Callable, Collection, Sequence
from datetime import datetime

from jobs.errors import TryAgain
from jobs.schedule import Job
from jobs.settings import Schedule
from knowledge.index import Indexer
from knowledge.outcomes import SyncOutcome
from knowledge.settings import Source
from knowledge.slots import Slot

log = logging.getLogger(__name__)


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


def is_overdue(succeeded_at: datetime | None, now: datetime, job: Job) -> bool:
    """Whether a source has gone without a successful sync for two of its slots; one that never had one is overdue."""
    if succeeded_at is None:
        return True
    return job.crontab.between(succeeded_at, now, at_most=2) >= 2
