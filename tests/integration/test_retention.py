"""What is old goes, what is needed stays."""

from datetime import UTC, datetime, timedelta

import sqlalchemy as sa

from jobs import retention
from jobs.queue import Queue
from jobs.settings import Schedule
from jobs.sync import jobs, overdue
from knowledge import slots
from knowledge.db import Database
from knowledge.settings import Source
from tests.rows import add_answer, add_eval_result, add_gold_case

NOW = datetime.now(UTC)


def count(database: Database, table: str) -> int:
    with database.writing() as connection:
        return int(connection.scalar(sa.text(f"select count(*) from {table}")) or 0)


def test_what_is_older_than_the_settings_say_is_deleted(database: Database) -> None:
    Queue(database, {}).migrate()
    with database.writing() as connection:
        for name in ("old", "new"):
            add_answer(connection, name, ["workspace"])
            add_gold_case(connection, name, ["workspace"])
            add_eval_result(connection, name, ["workspace"])
        add_gold_case(connection, "forgotten", ["workspace"])
        connection.execute(sa.text("insert into votes (answer_id, person, value) values ('old', 'U1', 1)"))
        for statement in (
            "update answers set created_at = now() - interval '40 days' where id = 'old'",
            "update gold_cases set created_at = now() - interval '40 days' where id in ('old', 'forgotten')",
            "update gold_cases set state = 'proposed' where id = 'forgotten'",
            "update eval_runs set started_at = now() - interval '40 days' where id = 1",
        ):
            connection.execute(sa.text(statement))
    deleted = retention.run(database, 30, NOW)
    assert deleted == {
        "answers": 1,
        "inbox": 0,
        "gold_cases": 1,
        "eval_runs": 1,
        "job_runs": 0,
        "generations": 0,
        "queue": 0,
    }
    assert [count(database, t) for t in ("answers", "votes", "gold_cases", "eval_runs", "eval_results")] == [
        1,
        0,
        2,
        1,
        1,
    ]


def test_the_newest_run_of_a_job_stays_however_old_it_is(database: Database) -> None:
    with database.plain() as connection:
        for days in (90, 60):
            slot = slots.claim(connection, "sync", NOW - timedelta(days=days), "w", slots.Patience())
            assert slot is not None
            slots.finish(connection, slot)
    assert retention.run(database, 30, NOW)["job_runs"] == 1
    with database.plain() as connection:
        ((_, kept),) = slots.history(connection, "sync")
    assert kept.at == NOW - timedelta(days=60)


def test_a_source_with_its_own_schedule_has_its_own_job() -> None:
    started: list[tuple[str, ...]] = []
    sources = [
        Source(name="handbook", location="handbook", scopes=("workspace",)),
        Source(name="wiki", location="wiki", scopes=("workspace",)),
        Source(name="incidents", location="incidents", scopes=("workspace",), schedule="*/5 * * * *"),
    ]
    made = jobs(Schedule(timezone="Europe/Berlin"), sources, lambda slot, names: started.append(names))
    assert [(job.name, job.cron) for job in made] == [("sync", "*/15 * * * *"), ("sync incidents", "*/5 * * * *")]
    for job in made:
        job.run(slots.Slot(job.name, NOW, 1, "w"))
    assert started == [("handbook", "wiki"), ("incidents",)]


def test_a_source_is_overdue_after_two_slots_without_success() -> None:
    schedule = Schedule(sync="0 * * * *")
    noon = datetime(2026, 6, 2, 12, 30, tzinfo=UTC)
    ago = {"never": None, "lately": 50, "twice": 120, "slowly": 120, "too-slowly": 60 * 50}
    succeeded = {n: None if m is None else noon - timedelta(minutes=m) for n, m in ago.items()}
    sources = [
        Source(name=name, location=name, scopes=("workspace",), schedule="0 2 * * *" if "slowly" in name else None)
        for name in ago
    ]
    assert overdue(schedule, sources, succeeded, noon) == {"never", "twice", "too-slowly"}
    assert overdue(schedule, sources[:2], {}, noon) == {"never", "lately"}
