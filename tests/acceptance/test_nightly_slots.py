"""Three processes share one schedule; its leaders are killed; every night of three weeks has its effect exactly once.

A night lasts a second and a half, and the weeks hold Berlin's change from summer time.
"""

import os
import random
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import sqlalchemy as sa

from knowledge import slots
from knowledge.db import Database

BERLIN = ZoneInfo("Europe/Berlin")
FIRST_NIGHT = datetime(2026, 10, 15, 2, 30, tzinfo=BERLIN)
NIGHTS = 20
NIGHT_S = 1.5
KILLS = 6

PROCESS = """
import os, signal, sys, time
from datetime import UTC, datetime, timedelta
import sqlalchemy as sa
from jobs.schedule import Job, Scheduler
from knowledge import slots
from knowledge.db import Database
from knowledge.slots import Patience

url, zero, start, speed = sys.argv[1], float(sys.argv[2]), datetime.fromisoformat(sys.argv[3]), float(sys.argv[4])
database = Database(url)

def clock():
    return start.astimezone(UTC) + timedelta(seconds=(time.time() - zero) * speed)

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


def start(url: str, zero: float) -> subprocess.Popen[bytes]:
    evening = FIRST_NIGHT - timedelta(hours=6)
    speed = timedelta(days=1).total_seconds() / NIGHT_S
    return subprocess.Popen([sys.executable, "-c", PROCESS, url, str(zero), evening.isoformat(), str(speed)])


def moments(database: Database, statement: str) -> list[datetime]:
    with database.plain() as connection:
        return list(connection.scalars(sa.text(statement)))


def latest_runner(database: Database) -> int:
    """Process id of the process that began the last run; 0 before the first."""
    with database.plain() as connection:
        return int(connection.scalar(sa.text("select pid from begun order by at desc limit 1")) or 0)


def test_every_night_happens_once_while_leaders_are_killed(database: Database, postgres_url: str) -> None:
    with database.plain() as connection:
        connection.execute(
            sa.text("create table begun (pid int, slot timestamptz, at timestamptz default clock_timestamp())")
        )
        connection.execute(sa.text("create table effects (slot timestamptz)"))
        slots.start_history(connection, "nightly", (FIRST_NIGHT - timedelta(days=1)).astimezone(UTC))
    dice = random.Random(20)
    zero = time.time() + 3.0  # by then the three have started
    processes = {p.pid: p for p in (start(postgres_url, zero) for _ in range(3))}
    kills = 0
    try:
        deadline = zero + 2 * NIGHTS * NIGHT_S
        while len(moments(database, "select slot from effects")) < NIGHTS:
            assert time.time() < deadline, moments(database, "select slot from effects")
            time.sleep(dice.uniform(0.5, 4.0))  # the random moment is what is tested
            doomed = latest_runner(database)
            if doomed in processes and kills < KILLS:
                os.kill(doomed, signal.SIGKILL)
                processes.pop(doomed).wait()
                heir = start(postgres_url, zero)
                processes[heir.pid] = heir
                kills += 1
    finally:
        for process in processes.values():
            process.kill()
            process.wait()
    nights = [FIRST_NIGHT + timedelta(days=n) for n in range(NIGHTS)]  # wall-clock days
    happened = moments(database, "select slot from effects order by slot")[:NIGHTS]
    assert [slot.astimezone(UTC) for slot in happened] == [night.astimezone(UTC) for night in nights]
    assert kills == KILLS
