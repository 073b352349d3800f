"""What is forgotten after a while: questions, answers, events, and the records of runs. Accepted gold cases stay."""

from datetime import datetime

import sqlalchemy as sa

from knowledge.receipts import OPEN
from knowledge.tables import answers, eval_runs, gold_cases, inbox, job_runs


def forget(connection: sa.Connection, before: datetime) -> dict[str, int]:
    """Delete what is older than `before`; how many rows of each kind. In a transaction that writes.

    Each job's newest run stays: what is due next is counted from it.
    """
    newest = sa.select(job_runs.c.job, sa.func.max(job_runs.c.slot)).group_by(job_runs.c.job)
    old = {
        answers: answers.c.created_at < before,  # and with them their votes
        inbox: sa.and_(inbox.c.received_at < before, inbox.c.state.not_in(OPEN)),
        gold_cases: sa.and_(gold_cases.c.created_at < before, gold_cases.c.state != "accepted"),
        eval_runs: eval_runs.c.started_at < before,  # and with them their results
        job_runs: sa.and_(
            job_runs.c.slot < before,
            job_runs.c.state != "running",
            sa.tuple_(job_runs.c.job, job_runs.c.slot).not_in(newest),
        ),
    }
    return {table.name: connection.execute(sa.delete(table).where(which)).rowcount for table, which in old.items()}
