"""`footnote eval`: how well retrieval does on the gold set, or on a labelled set in BEIR form."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from bot import gold_lines
from bot.blocks import clip
from bot.check import counted
from bot.commands.console import Config, Json, command, decision, engine, print_json, say
from bot.digest_wording import BUCKETS
from bot.errors import UsageWrong
from bot.facts import DIRECT
from bot.settings import Settings
from jobs import evaluation
from knowledge import evals, gold, labels, prompting
from knowledge.beir import evaluate
from knowledge.db import Database
from knowledge.engine import Engine
from knowledge.evals import Result
from knowledge.gold import GoldCase
from knowledge.labels import Located
from knowledge.permissions import Scopes

NO_CASES = "no accepted cases; see `footnote gold`"
QUESTION_CHARS = 100
UNCOUNTED = {"stale": "what it expects is gone", "failed": "it could not be measured; the log says why"}


@dataclass(frozen=True)
class Failed:
    """A case that did not end as expected. `case` None and no `places`: only its id is told."""

    result: Result
    case: GoldCase | None = None
    places: tuple[Located, ...] = ()

    @property
    def verdict(self) -> str:
        outcome = self.result.outcome
        if outcome in UNCOUNTED:
            return UNCOUNTED[outcome]
        return BUCKETS[self.result.bucket or outcome][0]

    def to_json(self) -> dict[str, Any]:
        said: dict[str, Any] = {"id": self.result.case_id, "outcome": self.result.outcome, "verdict": self.verdict}
        if self.case is not None:
            said |= {"question": self.case.question, "expected": self.case.to_json()["expected"]}
        return said


def eval(
    beir: Annotated[
        Path | None, typer.Option("--beir", help="A folder with corpus.jsonl, queries.jsonl and qrels.tsv.")
    ] = None,
    asker: Annotated[
        str | None,
        typer.Option(
            "--as", metavar="ASKER", help="Show the questions that failed, as far as this person may read them."
        ),
    ] = None,
    config: Config = None,
    json: Json = False,
) -> None:
    """Measure retrieval stage by stage. On the gold set, or on a labelled set."""
    if beir is not None and asker is not None:
        raise UsageWrong("--as is for the gold set; leave it out, or --beir")
    with engine(config) as (chosen, opened):
        result, failed = (evaluate(beir, opened), ()) if beir is not None else _on_gold_set(chosen, opened, asker)
    if json:
        print_json(result)
        return
    for line in told(result):
        say(line)
    for line in named(failed, result.get("failures_withheld", 0), asker):
        say(line)
    if failed:
        say(f"to see one with its question: {command(config, 'gold', 'show', 'ID', '--as', asker or 'NAME')}")


def _on_gold_set(chosen: Settings, opened: Engine, asker: str | None) -> tuple[dict[str, Any], tuple[Failed, ...]]:
    """The figures, and the cases that did not end as expected."""
    _rights(chosen, opened, asker)  # a name that nobody has is told before all is measured, not after
    result, results = _gold(opened)
    wrong = {case_id: each for case_id, each in sorted(results.items()) if not each.is_right}
    failed = failures(opened.database, wrong, _rights(chosen, opened, asker))
    told = {"failures": [each.to_json() for each in failed], "failures_withheld": len(wrong) - len(failed)}
    return {**result, **told}, failed


def _rights(chosen: Settings, opened: Engine, asker: str | None) -> Scopes | None:
    return None if asker is None else decision(chosen, opened.database, asker, DIRECT).allowed


def _gold(opened: Engine) -> tuple[dict[str, Any], dict[str, Result]]:
    """A run over the accepted gold cases, stored like a nightly one: the figures, and the results by case id."""
    answers = opened.settings.answers
    written = {
        "prompt": prompting.prompt_hash(answers.citations),
        "answers": answers.model if answers.api_key else "quotes",
    }
    opened.answerer.warm()  # else the first case's time is that of loading the models
    run_id = evaluation.run(opened.database, opened.retriever, opened.answerer.answer, written)
    with opened.database.writing() as connection:
        run = next(run for run in evals.runs(connection) if run.id == run_id)
        results = evals.results(connection, run_id)
    figures = dict(run.metrics or {})
    return {"queries": figures["cases"]["used"], "metrics": figures["stages"]["reranked"], **figures}, results


def failures(database: Database, wrong: Mapping[str, Result], scopes: Scopes | None) -> tuple[Failed, ...]:
    """Those of the cases that a holder of `scopes` may read, with their questions; None: all of them, by their ids alone."""
    if scopes is None:
        return tuple(map(Failed, wrong.values()))
    with database.reading(scopes) as connection:
        return tuple(
            Failed(wrong[case.id], case, labels.locate(connection, case.expected or (), scopes))
            for case in gold.cases(connection, scopes, ids=list(wrong))
        )


def named(failed: Sequence[Failed], withheld: int, asker: str | None) -> Iterator[str]:
    """The cases that failed, in lines for a terminal. `withheld`: how many more `asker` may not read."""
    if failed or withheld:
        yield f"not as expected: {counted(len(failed) + withheld, 'case')}"
    for each in failed:
        if each.case is None:
            yield f"  {each.result.case_id}  {each.verdict}"
            continue
        yield f"  {each.result.case_id}  {clip(' '.join(each.case.question.split()), QUESTION_CHARS)}"
        yield from (f"    expected: {line}" for line in gold_lines.today(each.case, each.places))
        yield f"    happened: {each.verdict}"
    if withheld:
        yield f"  {counted(withheld, 'case')} that {asker} may not read"


def told(result: dict[str, Any]) -> Iterator[str]:
    """The result in lines for a terminal; `cases` and `abstention` are in it for the gold set only."""
    cases = result.get("cases")
    if cases and not cases["all"]:
        yield NO_CASES
        return
    ms = result["ms_per_query"]
    yield f"{counted(result['queries'], 'question')}, p50 {_figure(ms['p50'], 0)} ms, p95 {_figure(ms['p95'], 0)} ms"
    if cases is None or cases["used"] > cases["absent"]:
        yield from _table(result)
    else:
        yield "no accepted case could be looked for in the documents, so there is no recall; see `footnote gold`"
    if cases:
        yield from _besides(cases, result["abstention"])


def _table(result: dict[str, Any]) -> Iterator[str]:
    measures = list(result["metrics"])
    yield f"{'stage':12}" + "".join(f"{measure:>12}" for measure in measures)
    for stage, values in result["stages"].items():
        yield f"{stage:12}" + "".join(f"{_figure(values.get(measure), 3):>12}" for measure in measures)


def _besides(cases: dict[str, int], abstention: dict[str, float | None]) -> Iterator[str]:
    if cases["absent"]:
        precision, recall = (_figure(abstention[name], 3) for name in ("precision", "recall"))
        yield f"abstention, precision {precision}: share of the questions it did not answer that were rightly not answered"
        absent = counted(cases["absent"], "question")
        yield f"abstention, recall {recall}: share of the {absent} not in the documents that it did not answer"
        if doubtful := abstention["doubtful"]:
            headed = "that it gave quotes for, headed as doubtful; they count as answered"
            yield f"abstention, doubtful {_figure(doubtful, 3)}: share of these {headed}"
    for state, why in (("stale", "what they expect is gone"), ("failed", "the log says why")):
        if cases[state]:
            yield f"{state}, counted nowhere: {cases[state]}; {why}"


def _figure(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"
