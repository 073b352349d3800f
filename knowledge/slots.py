"""Runs of scheduled jobs: who may run which slot, so that each runs once however many processes there are.

1. A slot is a job's name and the moment it was due. Claiming it inserts its row; only one process can.
2. While a slot of a job is running and its worker sends heartbeats, no other slot of that job is given out.
3. A run without heartbeats was interrupted: it is given out again, the oldest first.
4. Of slots nobody claimed (all processes were down), only the latest is given out.
5. A failed run is given out again after a pause, as long as no later slot is due.
6. Each time a slot is given out its attempt grows; whoever holds an older attempt can no longer finish it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from knowledge import turns
from knowledge.errors import SlotLost
from knowledge.tables import job_runs

MAX_ERROR_CHARACTERS = 1000


@dataclass(frozen=True)
class Patience:
    """`silent_s`: a run without a heartbeat for that long was interrupted. The pause before a retry doubles each time."""

    silent_s: float = 30.0
    attempts: int = 3
    pause_s: float = 60.0


@dataclass(frozen=True)
class Slot:
    """One run that this process may do now. `previous`: the latest slot given out before this one."""

    job: str
    at: datetime
    attempt: int
    worker: str
    previous: datetime | None = None


@dataclass(frozen=True)
class Recorded:
    """A row as the decision needs it. `state`: running, done, failed, skipped. Ages in seconds, by the server's clock."""

    at: datetime
    state: str
    attempt: int
    silent_s: float
    ended_s: float | None = None
    error: str | None = None


@dataclass(frozen=True)
class Verdict:
    """`run`: the slot and attempt to give out, or None. `give_up`: interrupted slots that had their last attempt."""

    run: tuple[datetime, int] | None
    give_up: tuple[datetime, ...] = ()


def decide(due: datetime | None, recorded: Sequence[Recorded], patience: Patience) -> Verdict:
    """What to run now. `due`: the latest slot of the schedule. `recorded`: the job's running rows and its newest."""
    running = sorted((r for r in recorded if r.state == "running"), key=lambda r: r.at)
    if any(r.silent_s < patience.silent_s for r in running):
        return Verdict(None)
    give_up = tuple(r.at for r in running if r.attempt >= patience.attempts)
    interrupted = next((r for r in running if r.attempt < patience.attempts), None)
    if interrupted is not None:
        return Verdict((interrupted.at, interrupted.attempt + 1), give_up)
    newest = max(recorded, key=lambda r: r.at, default=None)
    if due is not None and (newest is None or newest.at < due):
        return Verdict((due, 1), give_up)
    if newest is not None and _may_be_retried(newest, patience):
        return Verdict((newest.at, newest.attempt + 1), give_up)
    return Verdict(None, give_up)


def _may_be_retried(run: Recorded, patience: Patience) -> bool:
    pause_s = patience.pause_s * 2.0 ** (run.attempt - 1)
    return (
        run.state == "failed" and run.attempt < patience.attempts and run.ended_s is not None and run.ended_s >= pause_s
    )


def claim(connection: sa.Connection, job: str, due: datetime | None, worker: str, patience: Patience) -> Slot | None:
    """Take the slot of `job` that is to be run now, if any. The claim counts when the transaction commits."""
    turns.take(connection, f"footnote job {job}")
    recorded = _unsettled(connection, job, due)
    verdict = decide(due, recorded, patience)
    for at in verdict.give_up:
        _end(connection, job, at, "failed", "interrupted too often")
    if verdict.run is None:
        return None
    at, attempt = verdict.run
    row = {
        "job": job, "slot": at, "attempt": attempt, "worker": worker, "state": "running", "error": None,
        "started_at": sa.func.clock_timestamp(), "heartbeat_at": sa.func.clock_timestamp(), "finished_at": None,
    }  # fmt: skip
    connection.execute(insert(job_runs).values(row).on_conflict_do_update(index_elements=["job", "slot"], set_=row))
    return Slot(job, at, attempt, worker, max((r.at for r in recorded if r.at < at), default=None))


def start_history(connection: sa.Connection, job: str, at: datetime) -> None:
    """Mark `at` as passed for a job that has never run, so that what comes after it is caught up and it is not."""
    known = sa.select(sa.literal(1)).where(job_runs.c.job == job).exists()
    row = sa.select(sa.literal(job), sa.literal(at), sa.literal("skipped"), sa.literal("")).where(~known)
    connection.execute(
        insert(job_runs).from_select(["job", "slot", "state", "worker"], row).on_conflict_do_nothing(),
    )


def beat(connection: sa.Connection, slot: Slot) -> bool:
    """Say that the run goes on; False when the slot is no longer ours."""
    mine = sa.update(job_runs).where(_is(slot)).values(heartbeat_at=sa.func.clock_timestamp())
    return bool(connection.execute(mine).rowcount)


def finish(connection: sa.Connection, slot: Slot) -> None:
    """Mark the run as done. In the transaction of the run's own effects it makes them happen exactly once.

    Does nothing when it has been marked already. Raises `SlotLost` when another process has taken the slot over.
    """
    if _settle(connection, slot, "done", None):
        return
    state = connection.scalar(
        sa.select(job_runs.c.state).where(
            job_runs.c.job == slot.job, job_runs.c.slot == slot.at, job_runs.c.attempt == slot.attempt
        )
    )
    if state != "done":
        raise SlotLost(f"{slot.job} of {slot.at.isoformat()} was taken over after attempt {slot.attempt}")


def fail(connection: sa.Connection, slot: Slot, error: str) -> None:
    """Mark the run as failed; does nothing when the slot is no longer ours or was finished."""
    _settle(connection, slot, "failed", error[:MAX_ERROR_CHARACTERS])


def history(connection: sa.Connection, job: str | None = None, limit: int = 50) -> tuple[tuple[str, Recorded], ...]:
    """The newest runs with their job's name, latest slot first; of one job, or of all."""
    rows = connection.execute(
        _records()
        .where(sa.true() if job is None else job_runs.c.job == job)
        .order_by(job_runs.c.slot.desc())
        .limit(limit)
    )
    return tuple((row.job, _recorded(row)) for row in rows)


def _is(slot: Slot) -> sa.ColumnElement[bool]:
    c = job_runs.c
    return sa.and_(c.job == slot.job, c.slot == slot.at, c.attempt == slot.attempt, c.state == "running")


def _settle(connection: sa.Connection, slot: Slot, state: str, error: str | None) -> bool:
    values = {"state": state, "error": error, "finished_at": sa.func.clock_timestamp()}
    return bool(connection.execute(sa.update(job_runs).where(_is(slot)).values(values)).rowcount)


def _end(connection: sa.Connection, job: str, at: datetime, state: str, error: str) -> None:
    values = {"state": state, "error": error, "finished_at": sa.func.clock_timestamp()}
    connection.execute(sa.update(job_runs).where(job_runs.c.job == job, job_runs.c.slot == at).values(values))


def _records() -> sa.Select[tuple[object, ...]]:
    c, now = job_runs.c, sa.func.clock_timestamp()
    silent = sa.extract("epoch", now - c.heartbeat_at).label("silent_s")
    ended = sa.extract("epoch", now - c.finished_at).label("ended_s")
    return sa.select(c.job, c.slot, c.state, c.attempt, c.error, silent, ended)


def _unsettled(connection: sa.Connection, job: str, due: datetime | None) -> list[Recorded]:
    """The job's running rows, and its newest whatever its state.

    One that is neither due nor past by the server's clock was claimed while a clock was ahead: it would keep every slot
    until then from being run.
    """
    c = job_runs.c
    come = sa.or_(c.slot <= sa.func.clock_timestamp(), sa.false() if due is None else c.slot <= due)
    newest = sa.select(sa.func.max(c.slot)).where(c.job == job, come).scalar_subquery()
    rows = connection.execute(_records().where(c.job == job, sa.or_(c.state == "running", c.slot == newest)))
    return [_recorded(row) for row in rows]


def _recorded(row: sa.Row[tuple[object, ...]]) -> Recorded:
    ended = None if row.ended_s is None else float(row.ended_s)
    return Recorded(row.slot, row.state, row.attempt, float(row.silent_s), ended, row.error)
