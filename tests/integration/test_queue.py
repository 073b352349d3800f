"""The work queue on a real server, with real worker processes."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
import sqlalchemy as sa

from jobs.errors import QueueUnusable, TryAgain
from jobs.queue import Queue, is_transient, pause_s
from knowledge import queue_schema
from knowledge.db import Database
from knowledge.errors import DatabaseUnusable, SourceFailed

PATIENCE_S = 15.0


def until(condition: Callable[[], bool], what: str, within_s: float = PATIENCE_S) -> None:
    """Wait for a condition; fail with `what` was awaited."""
    end = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < end, f"waited {within_s} s for {what}"
        time.sleep(0.02)


@contextmanager
def working(queue: Queue, concurrency: int = 4) -> Iterator[None]:
    """A worker in a thread for as long as the block lasts."""
    stop = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        worker = pool.submit(queue.run, stop, concurrency)
        try:
            yield
        finally:
            stop.set()
            assert worker.result(timeout=PATIENCE_S)


def job_states(database: Database) -> list[str]:
    with database.plain() as connection:
        return list(
            connection.scalars(sa.text("select status::text from procrastinate.procrastinate_jobs order by id"))
        )


@pytest.fixture
def queued(database: Database) -> Database:
    Queue(database, {}).migrate()
    return database


def test_two_processes_may_build_the_schema_at_once(database: Database) -> None:
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: Queue(database, {}).migrate(), range(4)))
    Queue(database, {}).check()


def test_a_missing_schema_is_named_with_the_command_that_builds_it(database: Database) -> None:
    with pytest.raises(QueueUnusable, match=r"missing.*footnote run"):
        Queue(database, {}).run(threading.Event())


def test_a_schema_of_a_newer_library_is_refused(queued: Database) -> None:
    with queued.plain() as connection:
        connection.execute(sa.text("comment on schema procrastinate is '99.0_from_the_future'"))
    with pytest.raises(DatabaseUnusable, match=r"99\.0_from_the_future"):
        Queue(queued, {}).migrate()


def test_an_older_schema_gets_only_what_it_lacks() -> None:
    scripts = [queue_schema.Script(name, "") for name in ("1", "2", "3")]
    assert [s.name for s in queue_schema.lacking("1", scripts)] == ["2", "3"]
    assert queue_schema.lacking("3", scripts) == []


def test_a_job_is_done_with_its_arguments_as_keywords(queued: Database) -> None:
    done: list[dict[str, object]] = []
    queue = Queue(queued, {"greet": lambda **arguments: done.append(arguments)})
    queue.defer("greet", name="Ada", times=2, where={"channel": "C1"})
    with working(queue):
        until(lambda: bool(done), "the job")
    assert done == [{"name": "Ada", "times": 2, "where": {"channel": "C1"}}]
    assert job_states(queued) == []


def test_a_waiting_worker_is_woken_by_a_new_job(queued: Database) -> None:
    seen = threading.Event()
    queue = Queue(queued, {"ping": seen.set})
    with working(queue):
        queue.defer("ping")
        assert seen.wait(PATIENCE_S)


def test_a_job_exists_only_when_its_transaction_commits(queued: Database) -> None:
    queue = Queue(queued, {})

    def defer_and_fail() -> None:
        with queued.plain() as connection:
            queue.defer("answer", connection, inbox_id=1)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        defer_and_fail()
    assert job_states(queued) == []
    with queued.plain() as connection:
        queue.defer("answer", connection, inbox_id=1)
        assert job_states(queued) == []
    assert job_states(queued) == ["todo"]


def test_deferring_leaves_the_transaction_as_it_was(queued: Database) -> None:
    queue = Queue(queued, {})
    with queued.writing() as connection:
        before = connection.scalar(sa.text("show search_path"))
        queue.defer("sync", connection)
        assert connection.scalar(sa.text("show search_path")) == before
        connection.execute(sa.text("insert into acls (scopes) values ('{workspace}')"))
    assert job_states(queued) == ["todo"]


def test_jobs_with_one_lock_run_one_after_the_other_in_order(queued: Database) -> None:
    order: list[int] = []
    at_once: list[int] = []
    inside = threading.Semaphore(0)

    def work(n: int) -> None:
        inside.release()
        at_once.append(inside._value)
        order.append(n)
        inside.acquire()

    queue = Queue(queued, {"work": work})
    for n in range(12):
        queue.defer("work", lock="thread:1", n=n)
    with working(queue):
        until(lambda: len(order) == 12, "all jobs")
    assert order == list(range(12))
    assert set(at_once) == {1}


def test_a_long_background_task_does_not_hold_up_an_urgent_one(queued: Database) -> None:
    answered, let_go = threading.Event(), threading.Event()
    queue = Queue(queued, {"sync": lambda: let_go.wait(PATIENCE_S), "answer": answered.set}, background={"sync"})
    for _ in range(5):
        queue.defer("sync")
    with working(queue, concurrency=2):
        until(lambda: "doing" in job_states(queued), "a sync to start")
        queue.defer("answer")
        assert answered.wait(PATIENCE_S)
        let_go.set()


def test_a_transient_error_is_tried_again_after_a_pause(queued: Database) -> None:
    tries: list[float] = []

    def flaky() -> None:
        tries.append(time.monotonic())
        if len(tries) < 3:
            raise ConnectionResetError("the service hung up")

    queue = Queue(queued, {"flaky": flaky}, base_pause_s=0.05)
    queue.defer("flaky")
    with working(queue):
        until(lambda: len(tries) == 3 and job_states(queued) == [], "the third try")
    assert tries[1] - tries[0] >= 0.05
    assert tries[2] - tries[1] >= 0.1


def test_a_permanent_error_is_tried_once(queued: Database) -> None:
    tries: list[int] = []

    def broken() -> None:
        tries.append(1)
        raise SourceFailed("no such folder")

    queue = Queue(queued, {"broken": broken}, base_pause_s=0.01)
    queue.defer("broken")
    with working(queue):
        until(lambda: job_states(queued) == ["failed"], "the job to fail")
    assert tries == [1]


def test_a_job_is_not_tried_for_ever(queued: Database) -> None:
    tries: list[int] = []

    def hopeless() -> None:
        tries.append(1)
        raise TryAgain("not yet")

    queue = Queue(queued, {"hopeless": hopeless}, base_pause_s=0.001)
    queue.defer("hopeless")
    with working(queue):
        until(lambda: job_states(queued) == ["failed"], "the job to be given up")
    assert len(tries) == 5


def test_an_error_raised_from_a_transient_one_is_transient() -> None:
    error = SourceFailed("cannot list")
    assert not is_transient(error)
    error.__cause__ = TimeoutError()
    assert is_transient(error)


@pytest.mark.parametrize(("attempts", "seconds"), [(0, 2.0), (1, 4.0), (3, 16.0), (20, 300.0)])
def test_pauses_double_up_to_five_minutes(attempts: int, seconds: float) -> None:
    assert pause_s(attempts, base_s=2.0) == seconds


def test_stopping_waits_for_the_running_job(queued: Database) -> None:
    started, finished, stop = threading.Event(), threading.Event(), threading.Event()

    def slow() -> None:
        started.set()
        stop.wait(PATIENCE_S)
        time.sleep(0.3)
        finished.set()

    queue = Queue(queued, {"slow": slow})
    queue.defer("slow")
    with ThreadPoolExecutor(1) as pool:
        worker = pool.submit(queue.run, stop)
        assert started.wait(PATIENCE_S)
        stop.set()
        assert worker.result(timeout=PATIENCE_S)
    assert finished.is_set()
    assert job_states(queued) == []


def test_the_worker_comes_back_when_its_connections_are_cut(queued: Database) -> None:
    seen = threading.Event()
    queue = Queue(queued, {"ping": seen.set})
    with working(queue):
        until(lambda: queue_connections(queued) > 0, "the worker to connect")
        with queued.plain() as connection:
            connection.execute(sa.text(f"select pg_terminate_backend(pid) {QUEUE_CONNECTIONS}"))
        queue.defer("ping")
        assert seen.wait(PATIENCE_S)


QUEUE_CONNECTIONS = (
    "from pg_stat_activity where datname = current_database() and application_name <> 'footnote' "
    "and backend_type = 'client backend' and pid <> pg_backend_pid()"
)


def queue_connections(database: Database) -> int:
    with database.plain() as connection:
        return int(connection.scalar(sa.text(f"select count(*) {QUEUE_CONNECTIONS}")) or 0)


WORKER = """
import sys, threading, time
import sqlalchemy as sa
from jobs.queue import Queue
from knowledge.db import Database

database = Database(sys.argv[1])

def note(phase, n):
    with database.plain() as connection:
        connection.execute(sa.text("insert into notes values (:phase, :n)"), {"phase": phase, "n": n})

def work(n):
    note("start", n)
    time.sleep(float(sys.argv[2]))
    note("end", n)

stop = threading.Event()
finished = Queue(database, {"work": work}, silent_s=1.0).run(stop, grace_s=1.0)
"""


def start_worker(url: str, seconds: float) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", WORKER, url, str(seconds)])


def notes(database: Database, phase: str) -> list[int]:
    with database.plain() as connection:
        return list(
            connection.scalars(sa.text("select n from notes where phase = :phase order by n"), {"phase": phase})
        )


def test_the_jobs_of_a_killed_process_are_done_by_another(queued: Database, postgres_url: str) -> None:
    with queued.plain() as connection:
        connection.execute(sa.text("create table notes (phase text, n int)"))
    queue = Queue(queued, {})
    for n in range(3):
        queue.defer("work", n=n)
    first = start_worker(postgres_url, seconds=60)
    until(lambda: notes(queued, "start") == [0, 1, 2], "the first worker to start all jobs")
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    second = start_worker(postgres_url, seconds=0)
    try:
        until(lambda: notes(queued, "end") == [0, 1, 2], "the second worker to do them")
        until(lambda: job_states(queued) == [], "the jobs to be finished")
    finally:
        second.kill()
        second.wait()


def test_two_workers_never_do_one_job_twice(queued: Database, postgres_url: str) -> None:
    with queued.plain() as connection:
        connection.execute(sa.text("create table notes (phase text, n int)"))
    queue = Queue(queued, {})
    for n in range(60):
        queue.defer("work", n=n)
    workers = [start_worker(postgres_url, seconds=0.01) for _ in range(2)]
    try:
        until(lambda: job_states(queued) == [], "all jobs to be done")
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()
    assert notes(queued, "end") == list(range(60))


HANGING = """
import os, sys, threading
from jobs.queue import Queue
from knowledge.db import Database

stop = threading.Event()

def hang():
    stop.set()
    threading.Event().wait()

finished = Queue(Database(sys.argv[1]), {"hang": hang}, silent_s=1.0).run(stop, grace_s=0.2)
print(finished, flush=True)
os._exit(0)
"""


def test_a_job_that_hangs_does_not_hold_up_the_stop_and_is_taken_over(queued: Database, postgres_url: str) -> None:
    done = threading.Event()
    queue = Queue(queued, {"hang": done.set}, silent_s=1.0)
    queue.defer("hang")
    ended = subprocess.run(
        [sys.executable, "-c", HANGING, postgres_url], capture_output=True, text=True, timeout=60, check=True
    )
    assert ended.stdout == "False\n"
    assert job_states(queued) == ["doing"]
    with working(queue):
        assert done.wait(PATIENCE_S)
