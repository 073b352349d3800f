"""`footnote eval`: how well retrieval does on the gold set, or on a labelled set in BEIR form."""

from pathlib import Path
from typing import Annotated, Any

import typer

from bot.commands.console import Config, Json, engine, print_json, say
from jobs import evaluation
from knowledge import evals, prompting
from knowledge.beir import evaluate
from knowledge.engine import Engine


def eval(
    beir: Annotated[
        Path | None, typer.Option("--beir", help="A folder with corpus.jsonl, queries.jsonl and qrels.tsv.")
    ] = None,
    config: Config = None,
    json: Json = False,
) -> None:
    """Measure retrieval stage by stage: on the gold set, or on a labelled set"""
    with engine(config) as (_, opened):
        result = _gold(opened) if beir is None else evaluate(beir, opened)
    if json:
        print_json(result)
    else:
        _show(result)


def _gold(opened: Engine) -> dict[str, Any]:
    """A run over the accepted gold cases, stored like a nightly one."""
    answers = opened.settings.answers
    written = {
        "prompt": prompting.prompt_hash(answers.citations),
        "answers": answers.model if answers.api_key else "quotes",
    }
    run_id = evaluation.run(opened.database, opened.retriever, opened.answerer.answer, written)
    with opened.database.writing() as connection:
        run = next(run for run in evals.runs(connection) if run.id == run_id)
    figures = dict(run.metrics or {})
    return {"queries": figures["cases"]["used"], "metrics": figures["stages"]["reranked"], **figures}


def _show(result: dict[str, Any]) -> None:
    ms = result["ms_per_query"]
    say(f"{result['queries']} questions, p50 {_figure(ms['p50'], 0)} ms, p95 {_figure(ms['p95'], 0)} ms")
    measures = list(result["metrics"])
    say(f"{'stage':12}" + "".join(f"{measure:>12}" for measure in measures))
    for stage, values in result["stages"].items():
        say(f"{stage:12}" + "".join(f"{_figure(values.get(measure), 3):>12}" for measure in measures))


def _figure(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"
