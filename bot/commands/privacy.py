"""`footnote forget` and `footnote export`: what is kept about one person.

When nobody is known by the id, that is said, and the exit status is 0 all the same: who was forgotten before, or left
long ago, is not known either, and to forget them again is no failure.
"""

from typing import Annotated

import typer

from bot import strangers
from bot.commands.console import Config, Json, decision, person_id, print_json, say, settings, started
from bot.facts import DIRECT
from bot.settings import Settings
from knowledge import privacy
from knowledge.db import Database
from knowledge.errors import SettingsInvalid
from knowledge.permissions import NOTHING, Scopes

User = Annotated[
    str,
    typer.Option("--user", help="The person's id in Slack, such as U012ABCDEF, or a name in the workspace file."),
]

LISTED = ("received", "answers", "votes", "gold_cases")

WHY_KEPT = "accepted, or not theirs alone; the question stays, without the person's id"


def forget(user: User, config: Config = None, json: Json = False) -> None:
    """Delete what is kept about one person. Messages in Slack stay."""
    chosen = settings(config)
    person = person_id(chosen, user)
    with started(chosen) as opened, opened.database.writing() as connection:
        counts = privacy.forget(connection, person)
    notes = _notes(chosen, person, any(count for name, count in counts.items() if name != "facts"))
    if json:
        return print_json({"person": person, **counts, "notes": notes})
    if not any(counts.values()):
        say(f"nothing is kept about {person}")
    else:
        for name, count in counts.items():
            why = f": {WHY_KEPT}" if name == "gold_cases_kept" and count else ""
            say(f"{count:6}  {name.replace('_', ' ')}{why}")
    if counts["in_progress"]:
        say("some questions were just being answered: run this again when they are done")
    for note in notes:
        say(f"note: {note}")


def export(user: User, config: Config = None, json: Json = False) -> None:
    """Print what is kept about one person. What they asked, got, voted and proposed, and Slack's facts."""
    chosen = settings(config)
    person = person_id(chosen, user)
    with started(chosen) as opened:
        scopes, unknown = _may_read(chosen, opened.database, person)
        data = privacy.export(opened.database, person, scopes)
    kept = any(data[name] for name in LISTED)
    notes = _notes(chosen, person, kept)
    if unknown and kept:
        typer.echo(f"footnote: texts of answers and gold cases are left out: {unknown}", err=True)
    if json:
        return print_json({**data, "notes": notes})
    if not kept and not data["facts"]:
        say(f"nothing is kept about {person}")
    else:
        for name in LISTED:
            say(f"{name.replace('_', ' ')}: {len(data[name])}")
            for row in data[name]:
                say("  " + "  ".join(str(value) for value in row.values() if value is not None))
        say(f"facts: {', '.join(data['facts']) or 'none'}")
    for note in notes:
        say(f"note: {note}")


def _notes(chosen: Settings, person: str, kept: bool) -> tuple[str, ...]:
    """Whether the id may be mistyped, when there was nothing of theirs; Slack's facts do not count, which hold that it
    knows nobody of that id, too.
    """
    return () if kept else strangers.doubts(chosen, person)


def _may_read(chosen: Settings, database: Database, user: str) -> tuple[Scopes, str]:
    """What they may read now; nothing, and why, when nobody here knows them, as after they left."""
    try:
        return decision(chosen, database, user, DIRECT).allowed, ""
    except SettingsInvalid as error:
        return NOTHING, str(error)
