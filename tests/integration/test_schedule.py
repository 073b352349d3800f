"""The schedule on a real database, with a clock that the test moves."""

import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
import sqlalchemy as sa

from jobs.schedule import Job, Scheduler
from knowledge import activity, slots
from knowledge.db import Database
from knowledge.errors import SlotLost
from knowledge.index import Indexer
from knowledge.settings import Chunking, Source
from knowledge.slots import Patience, Recorded, Slot, Verdict, decide
from tests.word_embedder import WordEmbedder

PATIENCE_S = 15.0
QUICK = Patience(silent_s=0.3, attempts=3, pause_s=0.0)


class Clock:
    """Stands still until it is set."""

    def __init__(self, now: str) -> None:
        self.now = datetime.fromisoformat(now)

    def __call__(self) -> datetime:
        return self.now

    def set(self, now: str) -> None:
        self.now = datetime.fromisoformat(now)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def noted(ran: list[datetime]) -> Callable[[Slot], None]:
    return lambda slot: ran.append(slot.at)


def until(condition: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end, f"waited {PATIENCE_S} s for {what}"
        time.sleep(0.02)


def test_a_slot_runs_once_however_often_one_looks(database: Database) -> None:
    ran: list[datetime] = []
    job = Job("nightly", "30 2 * * *", "UTC", noted(ran))
    schedulers = [Scheduler(database, [job], Clock("2026-06-02T02:30:00+00:00")) for _ in range(3)]
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda s: s.look(job), schedulers))
    assert ran == [at("2026-06-02T02:30Z")]
    with database.plain() as connection:
        (_, recorded), *rest = slots.history(connection, "nightly")
    assert (recorded.state, recorded.attempt, rest) == ("done", 1, [])


def test_a_slot_that_ran_while_the_clock_was_ahead_keeps_no_other_from_running(database: Database) -> None:
    ran: list[datetime] = []
    clock = Clock("2226-06-02T12:00:00+00:00")
    job = Job("nightly", "30 2 * * *", "UTC", noted(ran))
    scheduler = Scheduler(database, [job], clock)
    assert scheduler.look(job)
    for now in ("2026-06-02T12:00:00+00:00", "2026-06-02T23:00:00+00:00", "2026-06-03T02:30:00+00:00"):
        clock.set(now)
        scheduler.look(job)
    assert ran == [at("2226-06-02T02:30Z"), at("2026-06-02T02:30Z"), at("2026-06-03T02:30Z")]


def test_before_its_first_slot_nothing_is_caught_up(database: Database) -> None:
    ran: list[datetime] = []
    clock = Clock("2026-06-02T12:00:00+00:00")
    job = Job("nightly", "30 2 * * *", "UTC", noted(ran))
    scheduler = Scheduler(database, [job], clock)
    scheduler.open_history()
    assert not scheduler.look(job)
    clock.set("2026-06-03T02:30:01+00:00")
    assert scheduler.look(job)
    assert ran == [at("2026-06-03T02:30Z")]


def test_what_was_missed_while_all_was_down_is_caught_up_once(database: Database) -> None:
    ran: dict[str, list[datetime]] = {"sync": [], "nightly": []}
    clock = Clock("2026-06-02T00:59:00+00:00")
    jobs = [
        Job("sync", "0 * * * *", "UTC", noted(ran["sync"])),
        Job("nightly", "30 2 * * *", "UTC", noted(ran["nightly"])),
    ]
    before = Scheduler(database, jobs, clock)
    before.open_history()
    clock.set("2026-06-02T01:00:00+00:00")
    for job in jobs:
        before.look(job)

    clock.set("2026-06-02T05:30:00+00:00")
    after = Scheduler(database, jobs, clock)
    for _ in range(3):
        for job in jobs:
            after.look(job)
    assert ran == {
        "sync": [at("2026-06-02T01:00Z"), at("2026-06-02T05:00Z")],
        "nightly": [at("2026-06-02T02:30Z")],
    }
    assert after.skipped == Counter(sync=3)

    clock.set("2026-06-02T06:00:00+00:00")
    assert [after.look(job) for job in jobs] == [True, False]


def test_a_run_that_takes_longer_than_its_interval_never_overlaps(database: Database) -> None:
    ran: list[datetime] = []
    let_go, started = threading.Event(), threading.Semaphore(0)

    def slow(slot: Slot) -> None:
        ran.append(slot.at)
        started.release()
        let_go.wait(PATIENCE_S)

    clock = Clock("2026-06-02T10:00:00+00:00")
    job = Job("sync", "* * * * *", "UTC", slow)
    scheduler = Scheduler(database, [job], clock, QUICK)
    with ThreadPoolExecutor(1) as pool:
        run = pool.submit(scheduler.look, job)
        assert started.acquire(timeout=PATIENCE_S)
        for minute in (1, 2, 3):
            clock.set(f"2026-06-02T10:0{minute}:00+00:00")
            time.sleep(QUICK.silent_s / 2)  # in all longer than a silence that would count as death
            assert not scheduler.look(job)
        let_go.set()
        assert run.result(PATIENCE_S)
    assert scheduler.look(job)
    assert ran == [at("2026-06-02T10:00Z"), at("2026-06-02T10:03Z")]
    assert scheduler.skipped == Counter(sync=2)


def test_a_hanging_job_does_not_block_the_others(database: Database) -> None:
    let_go, nightly = threading.Event(), threading.Event()
    jobs = [
        Job("sync", "* * * * * *", "UTC", lambda slot: let_go.wait(PATIENCE_S)),
        Job("nightly", "* * * * * *", "UTC", lambda slot: nightly.set()),
    ]
    scheduler = Scheduler(database, jobs, look_s=0.1, election_s=0.1)
    scheduler.start()
    try:
        assert nightly.wait(PATIENCE_S)
    finally:
        let_go.set()
        scheduler.stop()


def test_a_failed_run_is_tried_again_and_then_left_failed(database: Database) -> None:
    attempts: list[int] = []

    def broken(slot: Slot) -> None:
        attempts.append(slot.attempt)
        raise RuntimeError("no such folder: /documents")

    job = Job("sync", "0 * * * *", "UTC", broken)
    scheduler = Scheduler(database, [job], Clock("2026-06-02T10:00:00+00:00"), QUICK)
    while scheduler.look(job):
        pass
    assert attempts == [1, 2, 3]
    with database.plain() as connection:
        ((_, recorded),) = slots.history(connection, "sync")
    assert (recorded.state, recorded.error) == ("failed", "RuntimeError: no such folder: /documents")


def test_effects_committed_with_the_end_of_the_slot_are_not_repeated_by_a_slow_twin(database: Database) -> None:
    with database.plain() as connection:
        first = slots.claim(connection, "nightly", at("2026-06-02T02:30Z"), "one", QUICK)
    assert first is not None
    time.sleep(QUICK.silent_s * 1.1)
    with database.plain() as connection:
        second = slots.claim(connection, "nightly", at("2026-06-02T02:30Z"), "two", QUICK)
    assert second is not None
    assert second.attempt == 2
    with database.plain() as connection:
        assert not slots.beat(connection, first)
        slots.finish(connection, second)
    with pytest.raises(SlotLost, match="nightly"), database.plain() as connection:
        slots.finish(connection, first)


def test_the_leader_steps_down_when_its_connection_is_cut(database: Database) -> None:
    scheduler = Scheduler(database, [], election_s=0.05)
    scheduler.start()
    try:
        assert scheduler.leading.wait(PATIENCE_S)
        with database.plain() as connection:
            cut = "select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and granted"
            connection.execute(sa.text(cut))
        until(lambda: not scheduler.leading.is_set(), "it to step down")
        assert scheduler.leading.wait(PATIENCE_S)
    finally:
        scheduler.stop()


def test_only_one_of_several_leads_and_another_follows(database: Database) -> None:
    schedulers = [Scheduler(database, [], election_s=0.05) for _ in range(3)]
    for scheduler in schedulers:
        scheduler.start()
    try:
        until(lambda: any(s.leading.is_set() for s in schedulers), "a leader")
        (leader,) = [s for s in schedulers if s.leading.is_set()]
        others = [s for s in schedulers if s is not leader]
        leader.stop()
        until(lambda: any(s.leading.is_set() for s in others), "the next leader")
    finally:
        for scheduler in schedulers:
            scheduler.stop()


@pytest.mark.parametrize(
    ("zone", "monday", "hours"),
    [
        ("Europe/Berlin", "2026-03-23T00:00:00", 167),
        ("Europe/Berlin", "2026-10-19T00:00:00", 169),
        ("America/New_York", "2026-03-02T00:00:00", 167),
        ("America/New_York", "2026-10-26T00:00:00", 169),
    ],
)
def test_a_daylight_saving_week_has_seven_nights_and_every_real_hour(
    database: Database, zone: str, monday: str, hours: int
) -> None:
    ran: dict[str, list[datetime]] = {"nightly": [], "sync": []}
    jobs = [
        Job("nightly", "30 2 * * *", zone, noted(ran["nightly"])),
        Job("sync", "0 * * * *", zone, noted(ran["sync"])),
    ]
    start = datetime.fromisoformat(monday).replace(tzinfo=ZoneInfo(zone))
    end = (start + timedelta(days=7)).astimezone(UTC)  # in wall-clock days
    clock = Clock(start.astimezone(UTC).isoformat())
    scheduler = Scheduler(database, jobs, clock)
    scheduler.open_history()
    while clock.now < end:
        clock.now += timedelta(minutes=30)
        for job in jobs:
            scheduler.look(job)
    nights = [slot.astimezone(ZoneInfo(zone)) for slot in ran["nightly"]]
    assert [night.date() for night in nights] == [(start + timedelta(days=n)).date() for n in range(7)]
    assert sum((night.hour, night.minute) == (2, 30) for night in nights) >= 6
    assert len(ran["sync"]) == len(set(ran["sync"])) == hours
    assert not scheduler.skipped


def recorded(when: str, state: str, attempt: int = 1, silent_s: float = 0.0, ended_s: float | None = None) -> Recorded:
    return Recorded(at(when), state, attempt, silent_s, ended_s)


def test_when_a_slot_is_due_depends_on_the_newest_slot_alone(database: Database) -> None:
    """Whatever touches old rows, and however late those were finished."""
    job = Job("sync", "0 0 * * *", "UTC", noted([]))
    clock = Clock("2026-06-01T00:00:00+00:00")
    scheduler = Scheduler(database, [job], clock)
    assert scheduler.look(job)
    clock.set("2026-06-06T00:00:00+00:00")
    assert scheduler.look(job)
    with database.plain() as connection:
        touched = "update job_runs set heartbeat_at = now(), started_at = now(), finished_at = now() where slot < '2026-06-05'"
        assert connection.execute(sa.text(touched)).rowcount == 1
    assert not scheduler.look(job)
    clock.set("2026-06-08T00:00:00+00:00")
    assert scheduler.look(job)


DYING = """
import os, signal, sys
from datetime import UTC, datetime
from jobs.schedule import Job, Scheduler
from knowledge.db import Database
from knowledge.index import Indexer
from knowledge.settings import Chunking, Source
from tests.word_embedder import WordEmbedder

class Dying(WordEmbedder):
    def encode_passages(self, texts):
        os.kill(os.getpid(), signal.SIGKILL)

database = Database(sys.argv[1])
source = Source(name="docs", location=sys.argv[2], scopes=("workspace",))
job = Job("sync", "0 0 * * *", "UTC", lambda slot: Indexer(database, Dying(), Chunking()).sync(source))
Scheduler(database, [job], lambda: datetime(2026, 6, 2, 12, tzinfo=UTC)).look(job)
"""


def test_a_sync_that_is_killed_counts_as_no_success_and_is_run_again(
    database: Database, postgres_url: str, tmp_path: Path
) -> None:
    (tmp_path / "page.md").write_text("A page.\n")
    killed = subprocess.run(
        [sys.executable, "-c", DYING, postgres_url, str(tmp_path)], cwd=Path(__file__).parents[2], check=False
    )
    assert killed.returncode == -signal.SIGKILL
    with database.plain() as connection:
        assert activity.succeeded(connection) == {"docs": None}

    indexer = Indexer(database, WordEmbedder(), Chunking())
    source = Source(name="docs", location=str(tmp_path), scopes=("workspace",))
    job = Job("sync", "0 0 * * *", "UTC", lambda slot: indexer.sync(source))
    scheduler = Scheduler(database, [job], Clock("2026-06-02T12:00:00+00:00"), QUICK)
    until(lambda: scheduler.look(job), "the dead run to be taken over")
    with database.plain() as connection:
        ((_, run),) = slots.history(connection, "sync")
        assert (run.state, run.attempt) == ("done", 2)
        assert activity.succeeded(connection)["docs"] is not None


EARLY, LATE = "2026-06-02T01:00Z", "2026-06-02T02:00Z"
SPEC = Patience(silent_s=30, attempts=3, pause_s=60)


@pytest.mark.parametrize(
    ("due", "rows", "verdict"),
    [
        (None, [], Verdict(None)),
        (EARLY, [], Verdict((at(EARLY), 1))),
        (EARLY, [recorded(EARLY, "done")], Verdict(None)),
        (EARLY, [recorded(EARLY, "skipped")], Verdict(None)),
        (LATE, [recorded(EARLY, "done")], Verdict((at(LATE), 1))),
        (LATE, [recorded(EARLY, "running", silent_s=29)], Verdict(None)),
        (LATE, [recorded(EARLY, "running", silent_s=31)], Verdict((at(EARLY), 2))),
        (LATE, [recorded(EARLY, "running", 3, silent_s=31)], Verdict((at(LATE), 1), (at(EARLY),))),
        (EARLY, [recorded(EARLY, "failed", ended_s=59)], Verdict(None)),
        (EARLY, [recorded(EARLY, "failed", ended_s=60)], Verdict((at(EARLY), 2))),
        (EARLY, [recorded(EARLY, "failed", 2, ended_s=119)], Verdict(None)),
        (EARLY, [recorded(EARLY, "failed", 3, ended_s=9e9)], Verdict(None)),
        (LATE, [recorded(EARLY, "failed", ended_s=60)], Verdict((at(LATE), 1))),
    ],
)
def test_what_is_run_now(due: str | None, rows: list[Recorded], verdict: Verdict) -> None:
    assert decide(at(due) if due else None, rows, SPEC) == verdict
