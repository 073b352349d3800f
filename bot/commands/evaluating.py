"""`footnote eval`: how well retrieval does on the gold set, or on a labelled set in BEIR form."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from bot.check import counted
from bot.commands.console import Config, Json, engine, print_json, say
from jobs import evaluation
from knowledge import evals, prompting
from knowledge.beir import evaluate
from knowledge.engine import Engine

NO_CASES = "no accepted cases; see `footnote gold`"


def eval(
    beir: Annotated[
        Path | None, typer.Option("--beir", help="A folder with corpus.jsonl, queries.jsonl and qrels.tsv.")
    ] = None,
    config: Config = None,
    json: Json = False,
) -> None:
    """Measure retrieval stage by stage. On the gold set, or on a labelled set."""
    with engine(config) as (_, opened):
        result = _gold(opened) if beir is None else evaluate(beir, opened)
    if json:
        print_json(result)
        return
    for line in told(result):
        say(line)


def _gold(opened: Engine) -> dict[str, Any]:
    """A run over the accepted gold cases, stored like a nightly one."""
    answers = opened.settings.answers
    written = {
        "prompt": prompting.prompt_hash(answers.citations),
        "answers": answers.model if answers.api_key else "quotes",
    }
    opened.answerer.warm()  # else the first case's time is that of loading the models
    run_id = evaluation.run(opened.database, opened.retriever, opened.answerer.answer, written)
    with opened.database.writing() as connection:
        run = next(run for run in evals.runs(connection) if run.id == run_id)
    figures = dict(run.metrics or {})
    return {"queries": figures["cases"]["used"], "metrics": figures["stages"]["reranked"], **figures}


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
    for state, why in (("stale", "what they expect is gone"), ("failed", "the log says why")):
        if cases[state]:
            yield f"{state}, counted nowhere: {cases[state]}; {why}"


def _figure(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"
