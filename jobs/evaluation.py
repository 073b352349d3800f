"""The gold set measured with the real search, each case under its own rights.

1. Gather: every accepted case is read under its own scopes, and its labels are looked up in today's index.
2. Measure: one search a case; the rank of every expected place at every stage, and whether anything unreadable came up.
3. Summarise: means over the cases that are not stale, by stage, by source and by how much the asker could read.
"""

import logging
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from importlib.metadata import version
from typing import Any

from sqlalchemy import Connection

from knowledge import activity, analysis, evals, gold, leaks, metrics, retrieval
from knowledge.answers import Answer, Question
from knowledge.db import Database
from knowledge.diagnosis import STAGES, Diagnosis, Failure, best_ranks, diagnose
from knowledge.evals import Result
from knowledge.labels import Located
from knowledge.passages import Found
from knowledge.permissions import WORKSPACE, Scopes
from knowledge.retrieval import Retriever
from knowledge.tasks import Task, gather

Respond = Callable[[Question, Scopes], Answer]

log = logging.getLogger(__name__)

FINAL = STAGES[-1]
Unit = int | tuple[int]
"""What a ranking of places holds: the number of an expected place, or another chunk's id in a tuple."""


@dataclass(frozen=True)
class Measured:
    """One case's outcome. `figures` by stage, empty where there are none; `cited`: right and all citations."""

    result: Result
    sources: frozenset[str] = frozenset()
    figures: Mapping[str, Mapping[str, float | None]] = field(default_factory=dict)
    absent: bool = False
    abstained: bool | None = None
    cited: tuple[int, int] = (0, 0)
    leaks: int = 0
    ms: float | None = None
    dollars: float = 0.0


def run(
    database: Database,
    retriever: Retriever,
    respond: Respond | None = None,
    configuration: Mapping[str, Any] | None = None,
    at: datetime | None = None,
    judged: Mapping[str, Any] | None = None,
) -> int:
    """Measure every accepted case and store the run; its id.

    `respond`: how questions are answered, to measure abstention and citations; None leaves those out, and with them
    the cases that are not in the documents. `configuration`: what else the run should be comparable by.
    `judged`: a judge's opinion, stored apart. An error of one case is that case's outcome; any other is stored with the
    run and raised.
    """
    started = time.monotonic()
    with database.writing() as connection:
        rights = gold.rights(connection)
        index = {"index": activity.index_state(connection)}
        run_id = evals.begin(connection, {**_configuration(retriever), **index, **(configuration or {})}, at)
    try:
        tasks = gather(database, rights)
        measured = [m for task in tasks if (m := _measure(database, retriever, respond, task)) is not None]
        with database.writing() as connection:
            for task in tasks:
                _follow(connection, task)
            figures = {**summary(measured), "judged": judged, "seconds": round(time.monotonic() - started, 1)}
            evals.finish(connection, run_id, figures, [m.result for m in measured])
    except Exception as error:
        with database.writing() as connection:
            evals.fail(connection, run_id, f"{type(error).__name__}: {error}")
        raise
    return run_id


def _measure(database: Database, retriever: Retriever, respond: Respond | None, task: Task) -> Measured | None:
    case = task.case
    if task.stale:
        return Measured(Result(case.id, case.scopes, "stale"))
    if not task.located and respond is None:
        return None
    try:
        answer = None
        if respond is None:
            found = retriever.search(case.standalone, case.scopes)
        else:
            answer = respond(Question(case.standalone, "evaluation", "evaluation"), case.scopes)
            found = answer.found
    except Exception:
        log.exception("gold case %s could not be measured", case.id)
        return Measured(Result(case.id, case.scopes, "failed"))
    stages = {name: [hit.chunk_id for hit in hits] for name, hits in found.stages.items()}
    with database.writing() as connection:
        seen = {chunk for chunks in stages.values() for chunk in chunks} | {p.chunk_id for p in found.passages}
        leaked = leaks.leaked(connection, seen, case.scopes)
    judged = (
        _judge_absent(task, answer) if not task.located else _judge(task, found, stages, _shared_terms(database, task))
    )
    return _with_answer(judged, task, answer, len(leaked), sum(found.ms.values()))


def _judge_absent(task: Task, answer: Answer | None) -> Measured:
    if answer is not None and answer.abstained:
        return Measured(Result(task.case.id, task.case.scopes, "abstained"), absent=True)
    bucket = "doubtful" if answer is not None and answer.is_doubtful else None
    return Measured(Result(task.case.id, task.case.scopes, "wrongly_answered", bucket=bucket), absent=True)


def _judge(task: Task, found: Found, stages: Mapping[str, Sequence[int]], shared_terms: Callable[[], int]) -> Measured:
    given = [passage.chunk_id for passage in found.passages]
    hit = bool(task.chunks & set(given))
    diagnosis: Diagnosis | None = None
    if not hit:
        split = any(place.split for place in task.located)
        diagnosis = diagnose(Failure(task.chunks, stages, given, split=split, shared_terms=shared_terms()))
    result = Result(
        task.case.id,
        task.case.scopes,
        "hit" if hit else "miss",
        best_ranks(stages, task.chunks),
        None if diagnosis is None else diagnosis.bucket,
    )
    gains: dict[Unit, float] = {n: 1.0 for n, place in enumerate(task.located) if place.chunk_ids}
    figures = {name: metrics.figures(units(stages.get(name, ()), task.located), gains) for name in STAGES}
    return Measured(result, frozenset(place.label.source for place in task.located), figures)


def units(chunks: Sequence[int], located: Sequence[Located]) -> list[Unit]:
    """A ranking of chunks as one of expected places (by number): each place at its first chunk, other chunks as (id,)."""
    ranking: list[Unit] = []
    for chunk in chunks:
        places = (n for n, place in enumerate(located) if chunk in place.chunk_ids and n not in ranking)
        ranking.append(next(places, (chunk,)))
    return ranking


def _shared_terms(database: Database, task: Task) -> Callable[[], int]:
    def count() -> int:
        with database.reading(task.case.scopes) as connection:
            passages = retrieval.read(connection, task.chunks, task.case.scopes).values()
        asked = set(analysis.terms(task.case.standalone))
        return max((len(asked & set(analysis.terms(f"{p.label} {p.body}"))) for p in passages), default=0)

    return count


def _with_answer(measured: Measured, task: Task, answer: Answer | None, leaked: int, ms: float) -> Measured:
    cited = [] if answer is None or measured.absent else [c.chunk_id in task.chunks for c in answer.citations]
    result = measured.result
    if result.outcome == "hit" and answer is not None and answer.abstained:
        result = replace(result, bucket="unanswered")
    return replace(
        measured,
        result=result,
        abstained=None if answer is None else answer.abstained,
        cited=(sum(cited), len(cited)),
        leaks=leaked,
        ms=ms,
        dollars=0.0 if answer is None else float(answer.usage.get("dollars", 0.0)),
    )


def _follow(connection: Connection, task: Task) -> None:
    """Keep the new ids of documents that have moved."""
    moved = tuple(place.label for place in task.located)
    if task.chunks and moved != task.case.expected:
        gold.follow(connection, task.case, moved)


def summary(measured: Sequence[Measured]) -> dict[str, Any]:
    """The run's figures as stored: numbers and None, never NaN."""
    ranked = [m for m in measured if m.figures]
    sources = sorted({source for m in ranked for source in m.sources})
    abstained = [m for m in measured if m.abstained]
    absent = [m for m in measured if m.absent]
    right = sum(m.absent for m in abstained)
    ms = [m.ms for m in measured if m.ms is not None]
    outcomes = [m.result.outcome for m in measured]
    return {
        "cases": {
            "all": len(measured),
            "used": len(ranked) + len(absent),
            "stale": outcomes.count("stale"),
            "failed": outcomes.count("failed"),
            "absent": len(absent),
        },
        "stages": {stage: metrics.means([m.figures[stage] for m in ranked]) for stage in STAGES},
        "sources": {name: _final([m for m in ranked if name in m.sources]) for name in sources},
        "widths": {
            "wide": _final([m for m in ranked if WORKSPACE in m.result.scopes]),
            "narrow": _final([m for m in ranked if WORKSPACE not in m.result.scopes]),
        },
        "abstention": {
            "precision": metrics.share(right, len(abstained)),
            "recall": metrics.share(right, len(absent)),
            "doubtful": metrics.share(sum(m.result.bucket == "doubtful" for m in absent), len(absent)),
        },
        "citation_precision": metrics.share(sum(m.cited[0] for m in measured), sum(m.cited[1] for m in measured)),
        "leaks": sum(m.leaks for m in measured),
        "ms_per_query": {"p50": metrics.percentile(ms, 0.5), "p95": metrics.percentile(ms, 0.95)},
        "dollars": sum(m.dollars for m in measured),
    }


def _final(measured: Collection[Measured]) -> dict[str, Any]:
    return {"cases": len(measured), **metrics.means([m.figures[FINAL] for m in measured])}


def _configuration(retriever: Retriever) -> dict[str, Any]:
    return {
        "version": version("footnote-bot"),
        "embedder": {"name": retriever.embedder.name, "revision": retriever.embedder.revision},
        "reranker": retriever.reranker.name,
        "retrieval": retriever.settings.model_dump(),
    }
