"""`footnote sync` and `footnote chunks`: from files to what is indexed."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from bot import named_ids
from bot.channel_source import opener
from bot.commands.console import Config, Json, print_json, say, settings, started
from bot.errors import UsageWrong
from bot.settings import Settings
from knowledge import generations
from knowledge.db import Database
from knowledge.engine import Engine
from knowledge.outcomes import SyncOutcome
from knowledge.overlaps import overlaps
from knowledge.strays import Stray, remove, strays
from knowledge.sync import Progress


def sync(
    sources: Annotated[list[str] | None, typer.Argument(help="Names of sources; none: all of them.")] = None,
    full: Annotated[bool, typer.Option("--full", help="Load and encode everything again.")] = False,
    allow_deletions: Annotated[
        bool,
        typer.Option("--allow-deletions", help="This once, of the named sources any number of documents may be gone."),
    ] = False,
    gone: Annotated[
        list[str] | None,
        typer.Option("--remove", help="Only take this source, which the settings do not have, out of the index."),
    ] = None,
    config: Config = None,
    json: Json = False,
) -> None:
    """Bring the index up to date with the sources now."""
    chosen = settings(config)
    if gone:
        return _remove(chosen, gone, json)
    _check(chosen, sources or (), allow_deletions)
    with started(chosen) as opened:
        outcomes = _sync(chosen, opened, sources or (), full, allow_deletions)
        left = strays(opened.database, [source.name for source in chosen.sources])
        shared = overlaps(opened.database, chosen.sources)
        held_up = _held_up(opened.database, left) if full else ()
    doubts = named_ids.doubts(chosen, [outcome.name for outcome in outcomes])
    if json:
        not_in_settings = [vars(stray) for stray in left]
        done = [outcome.as_json() for outcome in outcomes]
        told = {"overlaps": [vars(each) for each in shared], "unknown_scopes": doubts}
        print_json({"sources": done, "not_in_settings": not_in_settings, **told})
    else:
        kept = [stray for stray in left if stray.documents]
        for line in (*(outcome.summary() for outcome in outcomes), *kept, *shared, *held_up, *doubts):
            say(str(line))
    if any(outcome.error for outcome in outcomes):
        raise typer.Exit(1)


def _check(chosen: Settings, names: Collection[str], allow_deletions: bool) -> None:
    """Raises `UsageWrong` for what cannot be meant; nothing was touched by then."""
    known = [source.name for source in chosen.sources]
    if lack := chosen.no_sources:
        raise UsageWrong(f"{lack.says}, so there is nothing to sync and nothing was changed; {lack.remedy}")
    if unknown := sorted(set(names) - set(known)):
        raise UsageWrong(f"no source is called {unknown[0]!r}; the settings have {', '.join(known)}")
    if allow_deletions and not names:
        raise UsageWrong("--allow-deletions needs the names of the sources that it is meant for")


def _sync(
    chosen: Settings, opened: Engine, names: Collection[str], full: bool, allow_deletions: bool
) -> list[SyncOutcome]:
    indexer = opened.indexer.opening({"slack": opener(chosen.slack, opened.database)})
    outcomes = []
    for source in (source for source in chosen.sources if not names or source.name in names):
        believed = source.model_copy(update={"max_deleted_share": 1.0}) if allow_deletions else source
        with _bar(source.name) as on_progress:
            outcomes.append(indexer.sync(believed, full=full, on_progress=on_progress))
    return outcomes


def _held_up(database: Database, left: Collection[Stray]) -> tuple[str, ...]:
    """What to say when another model's index waits for documents that no sync can read any more."""
    with database.writing() as connection:
        waiting = generations.building(connection)
    if waiting is None or waiting.held or not any(stray.documents for stray in left):
        return ()
    cannot = "does not serve before they are removed, since they cannot be read for it; then run `footnote sync --full` again"
    return (f"the index of {waiting.model} {cannot}",)


def _remove(chosen: Settings, names: Collection[str], json: bool) -> None:
    """Raises `UsageWrong`, before anything is removed, for a source that is in the settings or not in the index, and where
    no settings were read that could have it.
    """
    if lack := chosen.no_file:
        raise UsageWrong(f"{lack.says}, so nothing was removed; {lack.remedy}")
    known = [source.name for source in chosen.sources]
    if kept := sorted(set(names) & set(known)):
        raise UsageWrong(f"{kept[0]!r} is in the settings; take it out of them before it is removed from the index")
    with started(chosen) as opened:
        found = {stray.name: stray for stray in strays(opened.database, known)}
        if unknown := sorted(set(names) - set(found)):
            there = ", ".join(found) or "none"
            raise UsageWrong(f"the index has no source {unknown[0]!r}; not in the settings are: {there}")
        removed: list[Stray] = [found[name] for name in dict.fromkeys(names)]
        for stray in removed:
            remove(opened.database, stray)
    if json:
        return print_json({"removed": [vars(stray) for stray in removed]})
    for stray in removed:
        say(f"{stray.name}: removed from the index" + (f" with its {stray.counted}" if stray.documents else ""))


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
    for remark in shown.loaded.remarks:
        say(f"remark: {remark}")
