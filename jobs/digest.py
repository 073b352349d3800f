"""The digest: what the last evaluation says, what changed since the one before, and what to do about it.

`gather` reads, under the audience's rights wherever there is text; `compose` decides, purely; `plain` writes it as
Markdown. Whoever posts it renders the same `Digest` in its own way.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jobs.chart import Point
from knowledge import activity, evals, gold, metrics
from knowledge.activity import SourceProblem, Spent
from knowledge.db import Database
from knowledge.evals import BAD, GOOD, Result, Run
from knowledge.permissions import Scopes

Encode = Callable[[Sequence[str]], NDArray[np.float32]]

RUNS = 30
SHOWN = 5
ALIKE = 0.7
"""Cosine from which two questions count as one; all-MiniLM gives paraphrases about that and more."""

NEXT_STEP: Mapping[str, str] = {
    "not_in_corpus": "nothing in the index says it: check the source's last sync, or write the missing paragraph",
    "not_retrieved": "the document is there and was not found: use the words of the question in its heading or text",
    "ranked_low": "it was found and ranked below others: split the long section, or retire the older document above it",
    "answered_wrongly": "the right passage was given: read the answer and the prompt",
    "wrongly_answered": "the documents do not say it and an answer was given: read the answer",
}


@dataclass(frozen=True)
class Facts:
    """`questions`: text by case id, of those cases alone that the audience may read. `results`, `before`: by case id."""

    runs: tuple[Run, ...]
    results: Mapping[str, Result]
    before: Mapping[str, Result]
    questions: Mapping[str, str]
    cases: Mapping[str, int]
    unanswered: tuple[tuple[str, int], ...]
    spent: Spent
    source_problems: tuple[SourceProblem, ...]
    failed_runs: Mapping[str, int]
    audience: Scopes


@dataclass(frozen=True)
class Case:
    """A gold case by its question. `next_step` is empty when there is nothing to do."""

    id: str
    question: str
    bucket: str | None = None
    next_step: str = ""


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

    `used` of `accepted` gold cases count in the figures; `proposed` wait for an owner. `chance`: how likely so uneven a
    split of better and worse would be by chance. `configured`: what of the configuration changed since the run before.
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
    configured: tuple[str, ...]
    broken: Cases
    fixed: Cases
    stale: Cases
    failed: int
    leaks: int
    unanswered: tuple[tuple[str, int], ...]
    spent: Spent
    sources: tuple[SourceProblem, ...]
    other_sources: int
    failed_runs: Mapping[str, int]
    series: tuple[Point, ...] = field(default=())

    @property
    def quiet(self) -> bool:
        """Whether nothing moved and nobody has to do anything."""
        figures = not self.problem and not self.change and not self.configured and not self.leaks
        lists = self.broken, self.fixed, self.stale, self.unanswered, self.sources, self.failed_runs
        return figures and not any(lists) and not self.failed and not self.other_sources


def gather(database: Database, audience: Scopes, since: datetime, encode: Encode) -> Facts:
    """Everything for one digest. `audience`: the scopes that every reader of the digest holds."""
    with database.writing() as connection:
        runs = evals.runs(connection, RUNS)
        done = [run for run in runs if run.metrics is not None]
        results = evals.results(connection, done[-1].id) if done else {}
        before = evals.results(connection, done[-2].id) if len(done) > 1 else {}
        counts, spent = gold.counts(connection), activity.spent(connection, since)
        problems, failed = activity.source_problems(connection), activity.failed_runs(connection, since)
    with database.reading(audience) as connection:
        questions = {case.id: case.question for case in gold.cases(connection, audience, ids=list(results))}
        asked = activity.unanswered(connection, since, audience)
    clustered = cluster(asked, encode(asked)) if asked else ()
    return Facts(runs, results, before, questions, counts, clustered, spent, problems, failed, audience)


def cluster(
    questions: Sequence[str], vectors: NDArray[np.float32], alike: float = ALIKE
) -> tuple[tuple[str, int], ...]:
    """Questions that mean the same as one, with their number, most frequent first.

    `vectors` (n, d), unit length. Each question joins the first earlier one that it is like, or stands for itself.
    """
    leaders: list[int] = []
    sizes: dict[int, int] = {}
    for n, vector in enumerate(vectors):
        near = next((leader for leader in leaders if float(vectors[leader] @ vector) >= alike), n)
        if near == n:
            leaders.append(n)
        sizes[near] = sizes.get(near, 0) + 1
    return tuple((questions[n], sizes[n]) for n in sorted(leaders, key=lambda n: -sizes[n]))


def compose(facts: Facts) -> Digest:
    done = [run for run in facts.runs if run.metrics is not None]
    last = done[-1] if done else None
    previous = done[-2] if len(done) > 1 else None
    both = facts.results.keys() & facts.before.keys()
    worse = sorted(c for c in both if facts.before[c].outcome in GOOD and facts.results[c].outcome in BAD)
    better = sorted(c for c in both if facts.before[c].outcome in BAD and facts.results[c].outcome in GOOD)
    recall, mrr = _figure(last, "recall@5"), _figure(last, "mrr@10")
    earlier = _figure(previous, "recall@5")
    figures: Mapping[str, Any] = (last.metrics or {}) if last else {}
    cases: Mapping[str, int] = figures.get("cases", {})
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
        configured=changes(previous, last) if previous and last else (),
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
        series=series(facts.runs),
    )


def series(runs: Sequence[Run]) -> tuple[Point, ...]:
    """The chart's points; a run that failed is a gap."""
    points, before = [], None
    for run in runs:
        mark = ", ".join(changes(before, run)) if before is not None else ""
        points.append(Point(run.started_at, _figure(run, "recall@5"), _figure(run, "mrr@10"), mark))
        before = run
    return tuple(points)


def changes(before: Run, after: Run) -> tuple[str, ...]:
    """What differs between two runs besides the gold set, in words."""
    names = {
        "index": "documents", "embedder": "model", "reranker": "reranker", "retrieval": "settings",
        "prompt": "prompt", "version": "version",
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


def _cases(facts: Facts, ids: Sequence[str]) -> Cases:
    """Those the audience may read by name, at most a few; the others by number."""
    readable = [case_id for case_id in ids if case_id in facts.questions][:SHOWN]
    shown = tuple(_case(facts.results[case_id], facts.questions[case_id]) for case_id in readable)
    return Cases(shown, len(ids) - len(shown))


def _case(result: Result, question: str) -> Case:
    bucket = result.bucket or ("wrongly_answered" if result.outcome == "wrongly_answered" else None)
    return Case(result.case_id, question, bucket, NEXT_STEP.get(bucket or "", ""))


def plain(digest: Digest) -> str:
    """The digest as Markdown, one screen at most."""
    lines = [_headline(digest)]
    if digest.leaks:
        lines.append(f"**{digest.leaks} passages came up that the asker may not read. Stop and look at this first.**")
    if digest.quiet:
        return f"{lines[0]} Nothing changed."
    if digest.configured:
        lines.append(f"Changed since the last run: {', '.join(digest.configured)}.")
    lines += _list("Newly broken", digest.broken, with_steps=True)
    lines += _list("Newly fixed", digest.fixed)
    lines += _list("Need review, what they expect is gone", digest.stale)
    if digest.failed:
        lines.append(f"{_count(digest.failed, 'question')} could not be scored.")
    if digest.unanswered:
        lines.append("**Asked without an answer**")
        lines += [f"- {question}" + (f" ({count} times)" if count > 1 else "") for question, count in digest.unanswered]
    lines += [_source_line(problem) for problem in digest.sources]
    if digest.other_sources:
        lines.append(f"{_count(digest.other_sources, 'other source')} had sync problems.")
    lines += [f"{job} failed {_count(count, 'time')}." for job, count in digest.failed_runs.items()]
    if digest.proposed:
        lines.append(f"{_count(digest.proposed, 'proposed question')} to review.")
    lines.append(_cost(digest.spent))
    return "\n".join(_apart(lines))


def _apart(lines: Sequence[str]) -> Iterator[str]:
    """An empty line behind each list; without it Markdown takes the next line for a part of the last item."""
    listed = False
    for line in lines:
        if listed and not line.startswith("- "):
            yield ""
        listed = line.startswith("- ")
        yield line


def _headline(digest: Digest) -> str:
    if digest.recall is None:
        return f"**Retrieval: {digest.problem or 'no figures'}.**"
    change = "" if digest.change is None else f", {_signed(digest.change)}"
    chance = f" (chance alone: {digest.chance:.0%})" if len(digest.broken) + len(digest.fixed) else ""
    failed = (
        f" {digest.problem[0].upper()}{digest.problem[1:]}; these are the figures before." if digest.problem else ""
    )
    return (
        f"**Recall@5 {digest.recall:.0%}{change} over {digest.used} of {digest.accepted} questions**{chance}.{failed}"
    )


def _signed(change: float) -> str:
    points = round(100 * change)
    return "unchanged" if points == 0 else f"{points:+d} {'point' if abs(points) == 1 else 'points'}".replace("-", "−")


def _list(title: str, cases: Cases, with_steps: bool = False) -> list[str]:
    if not len(cases):
        return []
    lines = [
        f"- {case.question}" + (f": {case.next_step}" if with_steps and case.next_step else "") for case in cases.shown
    ]
    more = [f"- {cases.withheld} more"] if cases.shown and cases.withheld else []
    return [f"**{title}: {len(cases)}**", *lines, *more]


def _source_line(problem: SourceProblem) -> str:
    if problem.error:
        return f"Source {problem.name}: the last sync failed."
    return f"Source {problem.name}: {_count(problem.documents, 'document')} could not be read."


def _cost(spent: Spent) -> str:
    line = f"{_count(spent.questions, 'question')} asked, {spent.unanswered} without an answer"
    return f"{line}; {spent.tokens:,} tokens, ${spent.dollars:.2f}." if spent.tokens else f"{line}."


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
