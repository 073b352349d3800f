"""`footnote sync` and `footnote chunks`: from files to what is indexed."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from bot.channel_source import opener
from bot.commands.console import Config, Json, engine, print_json, say, settings
from knowledge.errors import SettingsInvalid
from knowledge.sync import Progress


def sync(
    sources: Annotated[list[str] | None, typer.Argument(help="Names of sources; none: all of them.")] = None,
    full: Annotated[bool, typer.Option("--full", help="Load and encode everything again.")] = False,
    config: Config = None,
    json: Json = False,
) -> None:
    """Bring the index up to date with the sources now."""
    with engine(config) as (chosen, opened):
        known = {source.name: source for source in chosen.sources}
        if unknown := sorted(set(sources or ()) - set(known)):
            raise SettingsInvalid(f"no source is called {unknown[0]!r}; the settings have {', '.join(known) or 'none'}")
        indexer = opened.indexer.opening({"slack": opener(chosen.slack, opened.database)})
        outcomes = []
        for name in sources or known:
            with _bar(name) as on_progress:
                outcomes.append(indexer.sync(known[name], full=full, on_progress=on_progress))
        if not sources:
            indexer.remove_missing_sources(list(known))
    if json:
        print_json({"sources": [outcome.as_json() for outcome in outcomes]})
    else:
        for outcome in outcomes:
            say(outcome.summary())
    if any(outcome.error for outcome in outcomes):
        raise typer.Exit(1)


@contextmanager
def _bar(source: str) -> Iterator[Progress]:
    """A progress bar while standard error is a terminal: documents done, documents to do, time left."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bar(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(source, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def chunks(
    file: Annotated[Path, typer.Argument(help="A document.")], config: Config = None, json: Json = False
) -> None:
    """Load and cut one file, and show what would be indexed."""
    from knowledge.encoders import load_embedder
    from knowledge.preview import preview

    chosen = settings(config)
    shown = preview(file, load_embedder(chosen.models), chosen.chunking)
    if json:
        print_json(shown.as_json())
        return
    for chunk in shown.chunks:
        say(f"── {' › '.join(chunk.heading_path) or shown.title}  ({chunk.tokens} tokens, {chunk.start}-{chunk.end})")
        say(chunk.prefix + chunk.text)
