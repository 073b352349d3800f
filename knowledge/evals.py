"""Evaluation runs and their results by case: numbers, ranks and outcomes, never text."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

import sqlalchemy as sa

from knowledge.permissions import Scopes
from knowledge.tables import eval_results, eval_runs, gold_cases

Outcome = Literal["hit", "miss", "stale", "abstained", "wrongly_answered", "failed"]
"""hit: an expected place among the passages; miss: none. abstained and wrongly_answered: of a question whose answer is
not in the documents. stale: what was expected is gone. failed: the search raised; it counts nowhere."""

GOOD = frozenset({"hit", "abstained"})
BAD = frozenset({"miss", "wrongly_answered"})


@dataclass(frozen=True)
class Result:
    """`ranks`: best rank of an expected chunk by stage, None where it is absent. `bucket`: a miss's diagnosis; of a hit
    `unanswered` when no answer was made of what was found, of `wrongly_answered` `doubtful` when the reply said itself that
    it may not answer; else None."""

    case_id: str
    scopes: Scopes
    outcome: Outcome
    ranks: Mapping[str, int | None] = field(default_factory=dict)
    bucket: str | None = None

    @property
    def is_right(self) -> bool:
        """Whether it ended as expected, as far as that was looked at."""
        return self.outcome in GOOD and self.bucket is None


@dataclass(frozen=True)
class Run:
    """`metrics` is None while it runs and when it failed; `error` says why it failed."""

    id: int
    started_at: datetime
    finished_at: datetime | None
    configuration: Mapping[str, Any]
    metrics: Mapping[str, Any] | None
    error: str | None


def begin(connection: sa.Connection, configuration: Mapping[str, Any], at: datetime | None = None) -> int:
    """A new run's id. `at`: when it counts as started; now if None."""
    values = {"configuration": dict(configuration)} | ({} if at is None else {"started_at": at})
    return int(connection.execute(sa.insert(eval_runs).values(values).returning(eval_runs.c.id)).scalar_one())


def finish(connection: sa.Connection, run_id: int, metrics: Mapping[str, Any], results: Iterable[Result]) -> None:
    """Store what came out, in a transaction that writes; without the results of cases that were deleted meanwhile."""
    results = list(results)
    named = sa.select(gold_cases.c.id).where(gold_cases.c.id.in_([r.case_id for r in results]))
    there = set(connection.scalars(named.with_for_update(read=True, key_share=True)))
    rows = [
        {
            "run_id": run_id,
            "case_id": r.case_id,
            "scopes": sorted(r.scopes),
            "outcome": r.outcome,
            "ranks": dict(r.ranks),
            "bucket": r.bucket,
        }
        for r in results
        if r.case_id in there
    ]
    if rows:
        connection.execute(sa.insert(eval_results), rows)
    done = {"metrics": dict(metrics), "finished_at": sa.func.clock_timestamp()}
    connection.execute(sa.update(eval_runs).where(eval_runs.c.id == run_id).values(done))


def fail(connection: sa.Connection, run_id: int, error: str) -> None:
    values = {"error": error, "finished_at": sa.func.clock_timestamp()}
    connection.execute(sa.update(eval_runs).where(eval_runs.c.id == run_id).values(values))


def runs(connection: sa.Connection, limit: int = 30) -> tuple[Run, ...]:
    """The newest runs, oldest of them first; failed and unfinished ones included. A clock may have been wrong, ids grow."""
    newest = sa.select(eval_runs).order_by(eval_runs.c.id.desc()).limit(limit)
    return tuple(reversed([Run(*row) for row in connection.execute(newest)]))


def results(connection: sa.Connection, run_id: int) -> dict[str, Result]:
    """A run's results by case id; in a transaction that writes, where all are seen."""
    rows = connection.execute(sa.select(eval_results).where(eval_results.c.run_id == run_id))
    return {r.case_id: Result(r.case_id, frozenset(r.scopes), r.outcome, r.ranks, r.bucket) for r in rows}


def latest(connection: sa.Connection, model: str, revision: str) -> dict[str, Result]:
    """The results of the newest finished run with this embedding model, empty when there is none; as `results`."""
    embedder = eval_runs.c.configuration["embedder"]
    with_it = embedder["name"].astext == model, embedder["revision"].astext == revision
    finished = sa.select(eval_runs.c.id).where(*with_it, eval_runs.c.metrics.is_not(None))
    run_id = connection.scalar(finished.order_by(eval_runs.c.id.desc()).limit(1))
    return {} if run_id is None else results(connection, run_id)
