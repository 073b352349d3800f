"""Three processes share one schedule; its leaders are killed; every night of three weeks has its effect exactly once.

The processes read the time from a table. It goes on to the next night when the last one has had its effect, so that a
slow machine changes nothing; the nights hold Berlin's change from summer time.
"""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from zoneinfo import ZoneInfo

import sqlalchemy as sa

from knowledge import slots
from knowledge.db import Database

BERLIN = ZoneInfo("Europe/Berlin")
FIRST_NIGHT = datetime(2026, 10, 15, 2, 30, tzinfo=BERLIN)
NIGHTS = 20
KILLS = 8
PATIENCE_S = 60.0

PROCESS = """
import os, signal, sys, time
import sqlalchemy as sa
from jobs.schedule import Job, Scheduler
from knowledge import slots
from knowledge.db import Database
from knowledge.slots import Patience

database = Database(sys.argv[1])

def clock():
    with database.plain() as connection:
        return connection.scalar(sa.text("select now from clock"))

def nightly(slot):
    with database.plain() as connection:
        connection.execute(sa.text("insert into begun values (:pid, :slot)"), {"pid": os.getpid(), "slot": slot.at})
    time.sleep(0.2)
    with database.plain() as connection:
        connection.execute(sa.text("insert into effects values (:slot)"), {"slot": slot.at})
        slots.finish(connection, slot)

job = Job("nightly", "30 2 * * *", "Europe/Berlin", nightly)
patience = Patience(silent_s=0.4, attempts=99, pause_s=0.0)
Scheduler(database, [job], clock, patience, look_s=0.1, election_s=0.05).start()
signal.pause()
"""


def start(url: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", PROCESS, url])


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, f"nothing in {PATIENCE_S} s"
        time.sleep(0.02)


def moments(database: Database, statement: str) -> list[datetime]:
    with database.plain() as connection:
        return list(connection.scalars(sa.text(statement)))


def holds(database: Database, table: str, night: datetime) -> bool:
    return night in moments(database, f"select slot from {table}")


def latest_runner(database: Database) -> int:
    """Process id of the process that began the last run; 0 before the first."""
    with database.plain() as connection:
        return int(connection.scalar(sa.text("select pid from begun order by at desc limit 1")) or 0)


def test_every_night_happens_once_while_leaders_are_killed(database: Database, postgres_url: str) -> None:
    nights = [(FIRST_NIGHT + timedelta(days=n)).astimezone(UTC) for n in range(NIGHTS)]  # wall-clock days
    with database.plain() as connection:
        for table in (
            "begun (pid int, slot timestamptz, at timestamptz default clock_timestamp())",
            "effects (slot timestamptz)",
            "clock (now timestamptz)",
        ):
            connection.execute(sa.text(f"create table {table}"))
        connection.execute(sa.text("insert into clock values (:now)"), {"now": nights[0] - timedelta(hours=6)})
        slots.start_history(connection, "nightly", (FIRST_NIGHT - timedelta(days=1)).astimezone(UTC))
    dice = random.Random(20)
    doomed_nights = set(dice.sample(nights[1:], KILLS))
    processes = {p.pid: p for p in (start(postgres_url) for _ in range(3))}
    try:
        for night in nights:
            runner = latest_runner(database)
            leader = runner if runner in processes else next(iter(processes))  # it may have been killed after its run
            with database.plain() as connection:
                connection.execute(sa.text("update clock set now = :now"), {"now": night + timedelta(minutes=1)})
            if night in doomed_nights:
                if dice.random() < 0.5:
                    until(partial(holds, database, "begun", night))
                time.sleep(dice.uniform(0.0, 0.2))  # the random moment is what is tested
                os.kill(leader, signal.SIGKILL)
                processes.pop(leader).wait()
                heir = start(postgres_url)
                processes[heir.pid] = heir
            until(partial(holds, database, "effects", night))
    finally:
        for process in processes.values():
            process.kill()
            process.wait()
    happened = [slot.astimezone(UTC) for slot in moments(database, "select slot from effects order by slot")]
    assert happened == nights
