"""What every command shares: settings from the shell's environment, the engine's lifetime, and how results are printed."""

import json
import os
import shlex
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from bot import wording
from bot.client import identify, web_client
from bot.directory import Directory
from bot.facts import DIRECT, WorkspaceFacts
from bot.settings import FILE, Settings, load
from bot.standing import NO_REPLY, is_shut_out, named, standing
from knowledge.db import Database
from knowledge.engine import Engine, open_engine
from knowledge.errors import SettingsInvalid
from knowledge.permissions import Decision, Place, PlaceKind
from knowledge.settings import is_id

Config = Annotated[
    Path | None,
    typer.Option("--config", "-c", help="The settings file; default: FOOTNOTE_CONFIG, or ./footnote.toml if there."),
]
"""The variable is read by the option of the same name before the command (`bot.cli`), whose value is this one's default."""
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on standard output.")]
As = Annotated[
    str,
    typer.Option("--as", metavar="ASKER", help="Who asks: a person's id in Slack, or a name in the workspace file."),
]
In = Annotated[
    str,
    typer.Option("--in", metavar="PLACE", help="Where: a channel's id in Slack, a name in the workspace file, or dm."),
]


BY_ID = "a person's id in Slack, such as U012ABCDEF"


def settings(config: Path | None) -> Settings:
    """The settings of this call. Without `config`, `footnote.toml` in the current folder is used when it exists."""
    here = Path(FILE)
    return load(config or (here if here.exists() else None), os.environ)


@contextmanager
def engine(config: Path | None) -> Iterator[tuple[Settings, Engine]]:
    chosen = settings(config)
    with started(chosen) as opened:
        yield chosen, opened


@contextmanager
def started(chosen: Settings) -> Iterator[Engine]:
    with open_engine(chosen.knowledge) as opened:
        yield opened


@dataclass(frozen=True)
class Reader:
    """Who would read a reply and where, by id (`dm`: a direct message), what the reply may use, and the reader's standing.

    `is_shut_out`: they could neither ask for that reply nor read it. `names` by id, a channel's with a #.
    """

    person: str
    place: str
    decision: Decision
    notes: tuple[str, ...]
    is_shut_out: bool
    names: Mapping[str, str]

    @property
    def remarks(self) -> tuple[str, ...]:
        """The notes for a person to read: that there is no such reply comes first."""
        return (*([NO_REPLY] if self.is_shut_out else ()), *map(self.named, self.notes))

    def named(self, text: str) -> str:
        return named(text, self.names)


def decision(chosen: Settings, database: Database | None, asker: str, place: str) -> Decision:
    """What `asker` may use in `place`, as `reader` knows it."""
    return reader(chosen, database, asker, place).decision


def reader(chosen: Settings, database: Database | None, asker: str, place: str) -> Reader:
    """By the workspace file of the settings when there is one, else by Slack itself, which takes ids only.

    `database` is where Slack's facts are kept; None when only a workspace file will do.
    """
    if chosen.slack.facts is not None:
        facts = WorkspaceFacts.read(chosen.slack.facts, frozenset(chosen.slack.trusted_bots))
        person, where = facts.person(asker), facts.place(place)
        allowed, names = facts.decide(asker, place), facts.names
        return Reader(person.id, where.id, allowed, standing(person, where), is_shut_out(person, where), names)
    if database is None or chosen.slack.bot_token is None:
        facts_needed = (
            "facts about people and channels are needed: connect Slack (SLACK_BOT_TOKEN) and give ids, "
            "or set `facts` in [slack] to a workspace file"
        )
        raise SettingsInvalid(f"{_without_file(chosen)}{facts_needed}")
    for given in (asker, *(() if place == DIRECT else (place,))):
        if not is_id(given):
            of = BY_ID if given == asker else "a channel's id in Slack, such as C0123456789"
            raise _no_name(chosen, given, of)
    client = web_client(chosen.slack)
    directory = Directory(client, database, chosen.slack, identify(client))
    allowed = directory.decide(asker, None if place == DIRECT else place)
    where = Place(place, PlaceKind.DIRECT) if place == DIRECT else directory.place(place, asker)
    person, names = directory.person(asker), _names(directory, asker, where)
    return Reader(asker, place, allowed, standing(person, where), is_shut_out(person, where), names)


def _names(directory: Directory, asker: str, place: Place) -> dict[str, str]:
    """Of the two, as far as the asker may know them: a channel that is not open to them stands by its id alone."""
    channels = () if place.kind is PlaceKind.DIRECT else (place.id,)
    known = directory.names((asker,), channels, place.id, asker)
    return {key: f"#{name}" if key in channels else name for key, name in known.items() if name != wording.NO_CHANNEL}


def person_id(chosen: Settings, user: str) -> str:
    """The id itself, also of somebody who left, or the one behind a name in the workspace file.

    Raises `SettingsInvalid` for a name that nobody has.
    """
    if is_id(user):
        return user
    if chosen.slack.facts is None:
        raise _no_name(chosen, user, BY_ID)
    try:
        return WorkspaceFacts.read(chosen.slack.facts).person(user).id
    except SettingsInvalid as error:
        raise SettingsInvalid(f"{error}; or give {BY_ID}") from error


def _no_name(chosen: Settings, given: str, by_id: str) -> SettingsInvalid:
    """Names are in a workspace file, and the settings have none."""
    how = f"{given!r} is not an id; give {by_id}, or set `facts` in [slack] to a workspace file"
    return SettingsInvalid(f"{_without_file(chosen)}{how}")


def _without_file(chosen: Settings) -> str:
    """To be said before what is the matter without a settings file; empty when there is one."""
    return "" if chosen.no_file is None else f"{chosen.no_file.says}: {chosen.no_file.remedy}. Without it, "


def command(config: Path | None, *words: str) -> str:
    """A command of ours for a shell, under the settings of this call."""
    chosen = ("--config", str(config)) if config else ()
    return shlex.join(("footnote", *words, *chosen))


def defaults(command: object, config: str) -> dict[str, Any]:
    """What `--config` before a command makes the defaults of: by parameter, in a group by command first; nothing for a
    command without the option.
    """
    if isinstance(command, TyperGroup):
        return {name: defaults(each, config) for name, each in command.commands.items()}
    takes_it = isinstance(command, TyperCommand) and any(each.name == "config" for each in command.params)
    return {"config": config} if takes_it else {}


def print_json(value: Any) -> None:
    json.dump(value, sys.stdout, ensure_ascii=False, indent=2, default=str, allow_nan=False)
    sys.stdout.write("\n")


def say(text: str = "") -> None:
    sys.stdout.write(text + "\n")
