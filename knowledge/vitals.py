"""The bot's vital signs, read from its tables: counts, ages and sums, never a name or a text."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from knowledge.tables import answers, eval_runs, inbox, sources


@dataclass(frozen=True)
class Vitals:
    """Totals count everything that is still kept. Ages are in seconds, 0 where there is nothing; `None`: never happened.

    `questions`: received questions by state. `answers`: by outcome. `usage`: tokens by kind, and dollars. `stage_ms`: by
    stage the number of answers and the sum of milliseconds. `recall` and `leaks`: of the last finished evaluation.
    """

    questions: Mapping[str, int]
    waiting: int
    oldest_waiting_s: float
    answers: Mapping[str, int]
    usage: Mapping[str, float]
    stage_ms: Mapping[str, tuple[int, float]]
    sources: int
    sources_failing: int
    stalest_source_s: float
    recall: float | None
    leaks: int | None


def read(connection: sa.Connection) -> Vitals:
    """In a transaction that writes, because the sums go over all answers; no text leaves the database."""
    asked = dict(_pairs(connection, _counted(inbox.c.state).where(inbox.c.message_key.is_not(None))))
    open_ = sa.select(sa.func.count(), _age(sa.func.min(inbox.c.received_at))).where(
        inbox.c.state.in_(("received", "working"))
    )
    waiting, oldest = connection.execute(open_).one()
    last = connection.scalar(
        sa.select(eval_runs.c.metrics).where(eval_runs.c.metrics.is_not(None)).order_by(eval_runs.c.id.desc()).limit(1)
    )
    failing = sa.func.count().filter(sources.c.outcome["error"].astext.is_not(None))
    total, failed, stalest = connection.execute(
        sa.select(sa.func.count(), failing, _age(sa.func.min(sources.c.succeeded_at)))
    ).one()
    return Vitals(
        questions=asked,
        waiting=int(waiting),
        oldest_waiting_s=float(oldest or 0),
        answers=dict(_pairs(connection, _counted(answers.c.outcome))),
        usage={kind: total for kind, (_, total) in _sums(connection, answers.c.usage).items()},
        stage_ms=_sums(connection, answers.c.ms),
        sources=int(total),
        sources_failing=int(failed),
        stalest_source_s=float(stalest or 0),
        recall=_recall(last),
        leaks=None if last is None else int(last.get("leaks") or 0),
    )


def _counted(column: sa.ColumnElement[str]) -> sa.Select[str, int]:
    return sa.select(column, sa.func.count()).group_by(column)


def _pairs(connection: sa.Connection, query: sa.Select[str, int]) -> list[tuple[str, int]]:
    return [(str(key), int(count)) for key, count in connection.execute(query)]


def _age(moment: sa.ColumnElement[object]) -> sa.ColumnElement[float]:
    return sa.cast(sa.extract("epoch", sa.func.now() - moment), sa.Float)


def _sums(connection: sa.Connection, column: sa.ColumnElement[object]) -> dict[str, tuple[int, float]]:
    """By key of a JSON object of numbers: how many rows have it, and its sum."""
    entries = sa.func.jsonb_each_text(column).table_valued("key", "value").lateral()
    value = sa.cast(entries.c.value, sa.Float)
    query = sa.select(entries.c.key, sa.func.count(), sa.func.sum(value)).select_from(answers).join(entries, sa.true())
    return {key: (int(count), float(total)) for key, count, total in connection.execute(query.group_by(entries.c.key))}


def _recall(metrics: Mapping[str, Any] | None) -> float | None:
    """Recall@5 of what was finally ranked; None when nothing was measured."""
    value = ((metrics or {}).get("stages") or {}).get("reranked", {}).get("recall@5")
    return None if value is None else float(value)
