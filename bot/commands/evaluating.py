"""`footnote eval`: how well retrieval does on the gold set, or on a labelled set in BEIR form."""

from pathlib import Path
from typing import Annotated, Any

import typer

from bot.commands.console import Config, Json, engine, print_json, say


def eval(
    beir: Annotated[
        Path | None, typer.Option("--beir", help="A folder with corpus.jsonl, queries.jsonl and qrels.tsv.")
    ] = None,
    config: Config = None,
    json: Json = False,
) -> None:
    """Measure retrieval, stage by stage."""
    from knowledge.beir import evaluate

    with engine(config) as (_, opened):
        result = evaluate(beir, opened)
    if json:
        print_json(result)
    else:
        _show(result)


def _show(result: dict[str, Any]) -> None:
    stages = {**result["stages"]}
    measures = list(next(iter(stages.values())))
    say(
        f"{result['queries']} questions, p50 {result['ms_per_query']['p50']:.0f} ms, p95 {result['ms_per_query']['p95']:.0f} ms"
    )
    say(f"{'stage':12}" + "".join(f"{measure:>12}" for measure in measures))
    for stage, values in stages.items():
        say(f"{stage:12}" + "".join(f"{values[measure]:12.3f}" for measure in measures))
