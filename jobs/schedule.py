"""The clock: one leader among all processes runs each job once per slot of its cron expression.

APScheduler (with nothing stored) only says when to look; `knowledge.slots` decides what is run. Looking is cheap and
happens at every slot and every few seconds besides, which also covers interrupted and failed runs, a new leader's
missed slots, and a clock that jumps.
"""

import logging
import os
import secrets
import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.combining import OrTrigger
from apscheduler.triggers.interval import IntervalTrigger

from jobs.crontab import Crontab
from knowledge import slots
from knowledge.db import Database, Lock
from knowledge.slots import Patience, Slot

log = logging.getLogger(__name__)

LEADER = "footnote scheduler"
PATIENT = Patience()
AT_ONCE = 2
"""Threads per job: one for a run, one to find out meanwhile that it still runs."""


@dataclass(frozen=True)
class Job:
    """`cron` in the time zone `timezone`. `run` is given its slot and works in this process.

    A run that calls `slots.finish` in the transaction of its own effects has them exactly once; otherwise it is marked
    as done after it returned, and may be repeated after a crash in between. What it raises is recorded, and retried.
    """

    name: str
    cron: str
    timezone: str
    run: Callable[[Slot], object]

    @property
    def crontab(self) -> Crontab:
        return Crontab(self.cron, self.timezone)


def utc_now() -> datetime:
    return datetime.now(UTC)


class Scheduler:
    """`look_s`: seconds between looks. `election_s`: seconds between tries to become the leader."""

    def __init__(
        self,
        database: Database,
        jobs: Sequence[Job],
        clock: Callable[[], datetime] = utc_now,
        patience: Patience = PATIENT,
        *,
        look_s: float = 5.0,
        election_s: float = 1.0,
    ) -> None:
        self._database = database
        self._jobs = tuple(jobs)
        self._clock = clock
        self._patience = patience
        self._look_s = look_s
        self._election_s = election_s
        self._worker = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(3)}"
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self.leading = threading.Event()
        self.skipped: Counter[str] = Counter()
        """Slots by job that this process left out, because they were missed or an earlier run took too long."""

    def start(self) -> None:
        """Take part in the election, and lead when it is won; returns at once."""
        self._thread = threading.Thread(target=self._take_part, name="footnote-scheduler")
        self._thread.start()

    def stop(self) -> None:
        """Stop looking, and wait for the runs of this process to end."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def open_history(self) -> None:
        """For jobs that never ran: count from now on, instead of catching up a slot from before the first start."""
        with self._database.plain() as connection:
            for job in self._jobs:
                latest = job.crontab.latest(self._clock())
                if latest is not None:
                    slots.start_history(connection, job.name, latest)

    def look(self, job: Job) -> bool:
        """Run the slot of `job` that is to be run now, in this thread; False when there is none."""
        due = job.crontab.latest(self._clock())
        with self._database.plain() as connection:
            slot = slots.claim(connection, job.name, due, self._worker, self._patience)
        if slot is None:
            return False
        if slot.attempt == 1 and slot.previous is not None:
            self._count_skipped(job, slot.previous, slot.at)
        self._run(job, slot)
        return True

    def _run(self, job: Job, slot: Slot) -> None:
        try:
            with self._beating(slot):
                job.run(slot)
            with self._database.plain() as connection:
                slots.finish(connection, slot)
        except Exception as error:
            log.exception("%s of %s failed, attempt %d", slot.job, slot.at.isoformat(), slot.attempt)
            with self._database.plain() as connection:
                slots.fail(connection, slot, f"{type(error).__name__}: {error}")

    @contextmanager
    def _beating(self, slot: Slot) -> Iterator[None]:
        """Heartbeats of the slot for as long as the block lasts."""
        ended = threading.Event()
        thread = threading.Thread(target=self._beat, args=(slot, ended), name=f"footnote-heartbeat-{slot.job}")
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def _beat(self, slot: Slot, ended: threading.Event) -> None:
        while not ended.wait(self._patience.silent_s / 5):
            try:
                with self._database.plain() as connection:
                    if not slots.beat(connection, slot) and not ended.is_set():
                        log.warning("%s of %s was taken over by another process", slot.job, slot.at.isoformat())
                        return
            except Exception:
                log.exception("no heartbeat for %s of %s", slot.job, slot.at.isoformat())

    def _count_skipped(self, job: Job, previous: datetime, at: datetime) -> None:
        skipped = job.crontab.between(previous, at)
        if skipped:
            self.skipped[job.name] += skipped
            log.warning("%s left out %d slots before %s", job.name, skipped, at.isoformat())

    def _take_part(self) -> None:
        while not self._stop.is_set():
            try:
                with self._database.lock(LEADER) as lock:
                    if lock:
                        self._lead(lock)
            except Exception:
                log.exception("the election of a leader failed; trying again")
            self._stop.wait(self._election_s)

    def _lead(self, lock: Lock) -> None:
        self.open_history()
        scheduler = self._ticking()
        self.leading.set()
        log.info("%s leads the schedule", self._worker)
        try:
            while not self._stop.wait(self._election_s) and lock.held():
                pass
        finally:
            self.leading.clear()
            scheduler.shutdown(wait=self._stop.is_set())

    def _ticking(self) -> BackgroundScheduler:
        scheduler = BackgroundScheduler(
            timezone=UTC, executors={"default": ThreadPoolExecutor(AT_ONCE * max(1, len(self._jobs)))}
        )
        for job in self._jobs:
            scheduler.add_job(
                self.look,
                OrTrigger([job.crontab, IntervalTrigger(seconds=self._look_s, timezone=UTC)]),
                args=[job],
                id=job.name,
                next_run_time=utc_now(),
                coalesce=True,
                misfire_grace_time=None,
                max_instances=AT_ONCE,
            )
        scheduler.start()
        return scheduler
