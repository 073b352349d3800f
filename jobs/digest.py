"""The digest: what the last evaluation says, what changed since the one before, and what to do about it.

`gather` reads, under the audience's rights wherever there is text; `compose` decides, purely. Whoever posts the
`Digest` finds the words for it.
"""

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from jobs.chart import Point
from knowledge import activity, evals, gold, metrics, votes
from knowledge.activity import SourceProblem, Spent, Unanswered
from knowledge.answers import WITHOUT_ANSWER
from knowledge.db import Database
from knowledge.evals import BAD, GOOD, Result, Run
from knowledge.permissions import Scopes

RUNS = 30
SHOWN = 5


@dataclass(frozen=True)
class Facts:
    """`questions`: text by case id, of those cases alone that the audience may read. `results`, `before`: by case id.
    `doubted`: what kind of reply was voted down lately, by case id."""

    runs: tuple[Run, ...]
    results: Mapping[str, Result]
    before: Mapping[str, Result]
    questions: Mapping[str, str]
    cases: Mapping[str, int]
    unanswered: tuple[tuple[Unanswered, int], ...]
    spent: Spent
    source_problems: tuple[SourceProblem, ...]
    failed_runs: Mapping[str, int]
    audience: Scopes
    doubted: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Case:
    """A gold case by its question. `bucket`: what went wrong, a diagnosis, `wrongly_answered` or `doubtful`; None when
    nothing did, and where the list that it is in says all."""

    id: str
    question: str
    bucket: str | None = None


@dataclass(frozen=True)
class Cases:
    """`shown`: those whose text the audience may read; `withheld`: how many more there are."""

    shown: tuple[Case, ...] = ()
    withheld: int = 0

    def __len__(self) -> int:
        return len(self.shown) + self.withheld


@dataclass(frozen=True)
class Digest:
    """Shares are between 0 and 1, None where there is no figure. `problem`: why there are no figures, else empty.

    `new`: cases measured for the first time that failed; they belong to no comparison, nor to `broken`.
    `doubted`: cases that were found and whose reply people voted down; `unanswered` those whose reply had no answer.
    `used` of `accepted` gold cases count in the figures; `proposed` wait for an owner. Of those used `absent` are accepted as
    not in the documents, which count in no recall; `answered` of these were answered all the same, and `hedged` more were
    given quotes that were said to be doubtful. `chance`: how likely so uneven a split of better and worse would be by
    chance. `judged`: answers that a model judged, and the shares it found supported and to the point. `configured`: what of the configuration changed since the run before.
    `unanswered`: questions and how often they were asked. `sources`: problems of sources the audience reads,
    `other_sources` how many more have some.
    """

    at: datetime | None
    problem: str
    recall: float | None
    change: float | None
    mrr: float | None
    used: int
    accepted: int
    proposed: int
    chance: float
    judged: tuple[int, float | None, float | None]
    configured: tuple[str, ...]
    new: Cases
    broken: Cases
    fixed: Cases
    stale: Cases
    failed: int
    leaks: int
    unanswered: tuple[tuple[Unanswered, int], ...]
    spent: Spent
    sources: tuple[SourceProblem, ...]
    other_sources: int
    failed_runs: Mapping[str, int]
    doubted: Cases = Cases()
    absent: int = 0
    answered: int = 0
    hedged: int = 0
    series: tuple[Point, ...] = field(default=())

    @property
    def quiet(self) -> bool:
        """Whether nothing moved and nobody has to do anything."""
        figures = not self.problem and not self.change and not self.configured and not self.leaks
        lists = (
            self.new,
            self.broken,
            self.fixed,
            self.stale,
            self.doubted,
            self.unanswered,
            self.sources,
            self.failed_runs,
        )
        return figures and not any(lists) and not self.failed and not self.other_sources


def gather(database: Database, audience: Scopes, since: datetime, overdue: Collection[str] = ()) -> Facts:
    """Everything for one digest. `audience`: the scopes that every reader of the digest holds; `overdue`: sources."""
    with database.writing() as connection:
        runs = evals.runs(connection, RUNS)
        done = [run for run in runs if run.metrics is not None]
        results = evals.results(connection, done[-1].id) if done else {}
        before = evals.results(connection, done[-2].id) if len(done) > 1 else {}
        counts, spent = gold.counts(connection), activity.spent(connection, since)
        doubted = votes.doubted(connection, since)
        problems, failed = activity.source_problems(connection, overdue), activity.failed_runs(connection, since)
        led = activity.followed(connection, since)
    with database.reading(audience) as connection:
        questions = {case.id: case.question for case in gold.cases(connection, audience, ids=list(results))}
        asked = counted(activity.unanswered(connection, since, audience, led))
    return Facts(runs, results, before, questions, counts, asked, spent, problems, failed, audience, doubted)


def counted(asked: Sequence[Unanswered]) -> tuple[tuple[Unanswered, int], ...]:
    """Each question with how often it was asked, the most frequent first, and then in the order given.

    The same are those of the same words, and follow-ups of the same words to the same question, where that is known:
    vectors would take "in Oslo?" for "in Rome?".
    """
    alike: dict[Hashable, list[Unanswered]] = {}
    for number, each in enumerate(asked):
        alone = number if each.leans and not each.followed else None
        key = (gold.words(each.question) or each.question, gold.words(each.followed), alone)
        alike.setdefault(key, []).append(each)
    return tuple((same[0], len(same)) for same in sorted(alike.values(), key=len, reverse=True))


def compose(facts: Facts) -> Digest:
    done = [run for run in facts.runs if run.metrics is not None]
    last = done[-1] if done else None
    previous = done[-2] if len(done) > 1 else None
    both = facts.results.keys() & facts.before.keys()
    new = sorted(c for c in facts.results.keys() - both if facts.results[c].outcome in BAD)
    worse = sorted(c for c in both if facts.before[c].outcome in GOOD and facts.results[c].outcome in BAD)
    better = sorted(c for c in both if facts.before[c].outcome in BAD and facts.results[c].outcome in GOOD)
    doubted = sorted(c for c in facts.doubted.keys() & facts.results.keys() if facts.results[c].outcome == "hit")
    recall, mrr = _figure(last, "recall@5"), _figure(last, "mrr@10")
    earlier = _figure(previous, "recall@5")
    figures: Mapping[str, Any] = (last.metrics or {}) if last else {}
    cases: Mapping[str, int] = figures.get("cases", {})
    wrongly = [result.bucket for result in facts.results.values() if result.outcome == "wrongly_answered"]
    own = tuple(p for p in facts.source_problems if p.scopes & facts.audience)
    return Digest(
        at=last.started_at if last else None,
        problem=_problem(facts, last),
        recall=recall,
        change=None if recall is None or earlier is None else recall - earlier,
        mrr=mrr,
        used=cases.get("used", 0),
        accepted=facts.cases.get("accepted", 0),
        proposed=facts.cases.get("proposed", 0),
        chance=metrics.sign_test(len(better), len(worse)),
        judged=_judged(figures.get("judged") or {}),
        configured=changes(previous, last) if previous and last else (),
        new=_cases(facts, new),
        broken=_cases(facts, worse),
        fixed=_cases(facts, better),
        stale=_cases(facts, sorted(c for c, r in facts.results.items() if r.outcome == "stale")),
        failed=cases.get("failed", 0),
        leaks=figures.get("leaks", 0),
        unanswered=facts.unanswered[:SHOWN],
        spent=facts.spent,
        sources=own,
        other_sources=len(facts.source_problems) - len(own),
        failed_runs=facts.failed_runs,
        doubted=_doubted(facts, doubted),
        absent=cases.get("absent", 0),
        answered=wrongly.count(None),
        hedged=wrongly.count("doubtful"),
        series=series(facts.runs),
    )


def series(runs: Sequence[Run]) -> tuple[Point, ...]:
    """The chart's points; a run that failed is a gap."""
    points, before = [], None
    for run in runs:
        changed: tuple[str, ...] = changes(before, run) if before is not None else ()
        mark = ", ".join(what for what in changed if what != "documents")
        figures = _figure(run, "recall@5"), _figure(run, "mrr@10")
        points.append(Point(run.started_at, *figures, mark, "documents" in changed))
        before = run
    return tuple(points)


def changes(before: Run, after: Run) -> tuple[str, ...]:
    """What differs between two runs besides the gold set, in words."""
    names = {
        "index": "documents", "embedder": "model", "reranker": "reranker", "retrieval": "settings",
        "prompt": "prompt", "answers": "answering model", "version": "version",
    }  # fmt: skip
    return tuple(words for key, words in names.items() if before.configuration.get(key) != after.configuration.get(key))


def _problem(facts: Facts, last: Run | None) -> str:
    newest = facts.runs[-1] if facts.runs else None
    if newest is not None and newest.error:
        return (
            f"the evaluation failed ({newest.error.partition(':')[0]})"  # the rest may quote what not everyone may read
        )
    if not facts.cases.get("accepted"):
        return "no gold questions yet"
    return "" if last else "no evaluation has run yet"


def _figure(run: Run | None, name: str) -> float | None:
    if run is None or run.metrics is None:
        return None
    value: float | None = run.metrics["stages"]["reranked"].get(name)
    return value


def _judged(figures: Mapping[str, Any]) -> tuple[int, float | None, float | None]:
    return figures.get("answers", 0), figures.get("faithfulness"), figures.get("relevance")


def _cases(facts: Facts, ids: Sequence[str]) -> Cases:
    """Those the audience may read by name, at most a few; the others by number."""
    readable = [case_id for case_id in ids if case_id in facts.questions][:SHOWN]
    shown = tuple(_case(facts.results[case_id], facts.questions[case_id]) for case_id in readable)
    return Cases(shown, len(ids) - len(shown))


def _case(result: Result, question: str) -> Case:
    buckets = {"miss": result.bucket, "wrongly_answered": result.bucket or "wrongly_answered"}
    bucket = buckets.get(result.outcome)
    return Case(result.case_id, question, bucket)


def _doubted(facts: Facts, ids: Sequence[str]) -> Cases:
    """As `_cases`, with those apart whose reply had no answer."""
    found = _cases(facts, ids)
    silent = {case_id for case_id, outcome in facts.doubted.items() if outcome in WITHOUT_ANSWER}
    return replace(found, shown=tuple(replace(c, bucket="unanswered") if c.id in silent else c for c in found.shown))
