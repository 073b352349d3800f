"""`footnote gold`: the questions that retrieval is measured on, reviewed from the shell."""

import json as jsonlib
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from bot import gold_lines
from bot.check import counted
from bot.commands.console import As, Config, Json, command, defaults, engine, print_json, reader, say
from bot.conversation import is_small_talk
from bot.errors import UsageWrong
from bot.facts import DIRECT
from bot.settings import Settings
from knowledge import contradictions, gold, gold_file, labels, reviews, suggestions
from knowledge.db import Database
from knowledge.engine import Engine
from knowledge.errors import SettingsInvalid
from knowledge.gold import GoldCase, State
from knowledge.labels import Label
from knowledge.permissions import Scopes
from knowledge.replied import Replied, replied
from knowledge.strays import strays
from knowledge.tasks import gather

app = typer.Typer(name="gold", help="Gold cases: questions with the documents that answer them.", no_args_is_help=True)

HOW_THEY_COME = "votes in Slack, `footnote gold suggest` and `footnote gold import` propose some"

Case = Annotated[str, typer.Argument(help="A case's id.")]


@app.callback()
def options(context: typer.Context, config: Config = None) -> None:
    if config is not None:
        context.default_map = defaults(context.command, str(config))


@app.command("list")
def show_all(
    asker: As,
    state: Annotated[State | None, typer.Option(help="proposed, accepted or retired.")] = None,
    config: Config = None,
    json: Json = False,
) -> None:
    """List the cases that ASKER may read. With the places that answer each and what the bot replied, as far as ASKER can
    open it today."""
    with _reading(config, asker) as (opened, scopes, _), opened.database.reading(scopes) as connection:
        cases = gold.cases(connection, scopes, state)
        if json:
            return print_json({"cases": [case.to_json() for case in cases]})
        located = [labels.locate(connection, case.expected or (), scopes) for case in cases]
        replies = [replied(connection, case.answer_id, scopes) for case in cases]
    for case, places, reply in zip(cases, located, replies, strict=True):
        say(f"{case.id}  {case.state:9} {case.question}")
        for line in gold_lines.today(case, places, reply):
            say(f"    {line}")
    if not cases:
        say(f"no {state} case that {asker} may read" if state else f"no case that {asker} may read; {HOW_THEY_COME}")


@app.command()
def show(case: Case, asker: As, config: Config = None, json: Json = False) -> None:
    """Show one case. With the whole reply that it came from, as far as ASKER may read it, and its history."""
    with _reading(config, asker) as (opened, scopes, _), opened.database.reading(scopes) as connection:
        found = gold.get(connection, case, scopes)
        reply = replied(connection, found.answer_id, scopes)
    if json:
        return print_json(found.to_json())
    _say(found, reply)


@app.command()
def accept(
    case: Case,
    asker: As,
    document: Annotated[
        list[str] | None, typer.Option("--document", help="SOURCE/PATH that answers it instead; may be repeated.")
    ] = None,
    nowhere: Annotated[bool, typer.Option("--nowhere", help="It is not in the documents.")] = False,
    config: Config = None,
) -> None:
    """Take a proposed case into the gold set. As proposed, or with other documents."""
    if nowhere and document:
        raise UsageWrong("--nowhere and --document contradict each other; leave one of them out")
    named = [_label(name) for name in document or ()]
    with engine(config) as (chosen, opened):
        scopes, reviewer = _rights(chosen, opened, asker)
        with opened.database.reading(scopes) as connection:
            found = gold.get(connection, case, scopes)
        expected = () if nowhere else reviews.places(opened.database, found, named, scopes) if named else None
        with opened.database.writing() as connection:
            accepted = gold.accept(connection, case, reviewer, expected)
        _say(accepted)
        for other in contradictions.of_case(opened.database, accepted, scopes):
            say(gold_lines.contradicted(accepted, other, command(config, "gold", "retire", other.id, "--as", asker)))
        _say_missing(chosen, opened.database, {case: found.scopes})


@app.command()
def retire(
    case: Case, asker: As, reason: Annotated[str, typer.Option(help="Kept in its history.")] = "", config: Config = None
) -> None:
    """Take a case out of the gold set, or refuse a proposal."""
    with _reading(config, asker) as (opened, scopes, reviewer):
        with opened.database.reading(scopes) as connection:
            found = gold.get(connection, case, scopes)
        with opened.database.writing() as connection:
            retired = gold.retire(connection, case, reviewer, reason)
        if found.state == "retired":
            say(f"{case} is retired already; nothing was changed")
        _say(retired)


@app.command()
def suggest(
    count: Annotated[int, typer.Option(min=1, help="At most so many.")] = 30,
    unanswered: Annotated[int, typer.Option(min=0, help="So many of them without an answer, if there are.")] = 5,
    asker: Annotated[
        str | None,
        typer.Option("--as", metavar="ASKER", help="Only those that this person may read, as `gold list` does."),
    ] = None,
    config: Config = None,
    json: Json = False,
) -> None:
    """Propose questions that were really asked, to begin with. `gold list` and the review in Slack show them; greetings and
    thanks are none.
    """
    with engine(config) as (chosen, opened):
        readable = None if asker is None else _rights(chosen, opened, asker)[0]
        encode = opened.embedder.encode_texts
        ids = suggestions.suggest(opened.database, encode, count, unanswered, readable, is_small_talk)
    if json:
        return print_json({"proposed": ids})
    if not ids:
        theirs = f"that {asker} may read " if asker else ""
        return say(f"0 questions proposed: none {theirs}was asked that is not a case already")
    say(f"{counted(len(ids), 'question')} proposed; nothing is measured before somebody accepts it")
    to_list = command(config, "gold", "list", "--as", asker or "PERSON", "--state", "proposed")
    say(f"to see {'it' if len(ids) == 1 else 'them'}: {to_list}")


@app.command("import")
def load(
    file: Annotated[Path, typer.Argument(help="JSON lines, as `gold export` writes them.")],
    accepted: Annotated[
        bool, typer.Option("--accepted", help="Lines without a `state` were reviewed already.")
    ] = False,
    config: Config = None,
) -> None:
    """Read cases from a file, all or none. A case with a known id is replaced; accepted, it stays so unless its line has
    another `state`. A source that is neither in the settings nor in the index refuses the file.

    A line: {"id": …, "question": …, "scopes": ["workspace"], "expected": [{"source": …, "external_id": …}]}. Empty
    `expected`: not in the documents; null: not said yet. Optional: `heading_path` and `quote` of a place, `state`.
    """
    lines = gold_file.read(file, "accepted" if accepted else None)
    with engine(config) as (chosen, opened):
        gold_file.check_sources(file, lines, _sources(chosen, opened.database))
        with opened.database.writing() as connection:
            loaded = gold_file.load(connection, lines, "import")
        for said in gold_lines.imported(loaded, command(config, "gold", "accept", "CASE", "--as", "PERSON")):
            say(said)
        for case, other in contradictions.of_ids(opened.database, [line.id for line in lines]):
            say(gold_lines.contradicted(case, other, command(config, "gold", "retire", other.id, "--as", "PERSON")))
        _say_missing(chosen, opened.database, {line.id: frozenset(line.scopes) for line in lines})


@app.command()
def export(asker: As, config: Config = None) -> None:
    """Write the cases that ASKER may read as JSON lines."""
    with _reading(config, asker) as (opened, scopes, _), opened.database.reading(scopes) as connection:
        for case in gold.cases(connection, scopes):
            say(jsonlib.dumps(case.to_json(), ensure_ascii=False))


@contextmanager
def _reading(config: Path | None, asker: str) -> Iterator[tuple[Engine, Scopes, str]]:
    """The engine, what `asker` may read, and the id behind their name."""
    with engine(config) as (chosen, opened):
        yield opened, *_rights(chosen, opened, asker)


def _rights(chosen: Settings, opened: Engine, asker: str) -> tuple[Scopes, str]:
    found = reader(chosen, opened.database, asker, DIRECT)
    return found.decision.allowed, found.person


def _label(name: str) -> Label:
    source, _, path = name.partition("/")
    if not path:
        raise SettingsInvalid(f"{name!r} names no document; write SOURCE/PATH, such as handbook/annual-leave.md")
    return Label(source, path)


def _say_missing(chosen: Settings, database: Database, rights: Mapping[str, Scopes]) -> None:
    """A line for each place of these cases that their own readers do not find in the index."""
    known = _sources(chosen, database)
    for task in gather(database, rights):
        for label in (place.label for place in task.located if not place.chunk_ids):
            say(f"{task.case.id}: {_why_missing(label, known)}")


def _sources(chosen: Settings, database: Database) -> tuple[str, ...]:
    """Names of the sources in the settings, and of others that have documents in the index."""
    names = [source.name for source in chosen.sources]
    return (*names, *(stray.name for stray in strays(database, names) if stray.documents))


def _why_missing(label: Label, known: Collection[str]) -> str:
    if label.source not in known:
        return gold_file.no_source(label.source, known)
    return f"its scopes find no such place in {label.source}/{label.external_id} today"


def _say(case: GoldCase, reply: Replied | None = None) -> None:
    for line in gold_lines.whole(case, reply):
        say(line)
