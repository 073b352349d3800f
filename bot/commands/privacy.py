"""`footnote forget` and `footnote export`: what is kept about one person."""

from typing import Annotated

import typer

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


def forget(user: User, config: Config = None, json: Json = False) -> None:
    """Delete what is kept about one person. Messages in Slack stay."""
    chosen = settings(config)
    person = person_id(chosen, user)
    with started(chosen) as opened, opened.database.writing() as connection:
        counts = privacy.forget(connection, person)
    if json:
        return print_json({"person": person, **counts})
    if not any(counts.values()):
        return say(f"nothing is kept about {person}")
    for name, count in counts.items():
        say(f"{count:6}  {name.replace('_', ' ')}")
    if counts["in_progress"]:
        say("some questions were just being answered: run this again when they are done")


def export(user: User, config: Config = None, json: Json = False) -> None:
    """Print what is kept about one person. What they asked, got, voted and proposed, and Slack's facts."""
    chosen = settings(config)
    person = person_id(chosen, user)
    with started(chosen) as opened:
        data = privacy.export(opened.database, person, _may_read(chosen, opened.database, person))
    if json:
        return print_json(data)
    if not any(data[name] for name in (*LISTED, "facts")):
        return say(f"nothing is kept about {person}")
    for name in LISTED:
        say(f"{name.replace('_', ' ')}: {len(data[name])}")
        for row in data[name]:
            say("  " + "  ".join(str(value) for value in row.values() if value is not None))
    say(f"facts: {', '.join(data['facts']) or 'none'}")


def _may_read(chosen: Settings, database: Database, user: str) -> Scopes:
    """What they may read now; nothing when nobody here knows them, as after they left."""
    try:
        return decision(chosen, database, user, DIRECT).allowed
    except SettingsInvalid as error:
        typer.echo(f"footnote: texts of answers and gold cases are left out: {error}", err=True)
        return NOTHING
