"""The workspace file: who and what exists when the local Slack starts.

A strict YAML document; unknown keys are refused so that a misspelt flag cannot silently widen anybody's rights:

    team: {id: T0LOCAL, name: Larkfield}            # domain: optional
    bot: {id: UFOOTNOTE, name: footnote}            # real_name: optional
    people:
      - {id: UANA, name: ana, real_name: Ana Ruiz, email: ana@larkfield.example, admin: true, title: Head of People}
      - {id: UEXT, name: eve, real_name: Eve Outside, kind: external, team: T0OTHER}
    channels:
      - {id: CGENERAL, name: general, kind: public, members: [UANA, UFOOTNOTE], topic: Company news}
    messages:                                       # optional: what was said before the start
      - {channel: CGENERAL, user: UANA, text: "Welcome!", minutes_ago: 90,
         replies: [{user: UANA, text: "All settled in?", minutes_ago: 80}], reactions: {wave: [UANA]}}

`kind` of a person: member (default), guest, single_channel_guest, external, bot, deactivated.
`kind` of a channel: public (default), private, group_dm. `shared` and `pending_shared` are Slack Connect's states.
Direct messages are not written down; they exist between every person and the bot.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

import yaml

from bot.local_slack.errors import WorkspaceError
from knowledge import spelling

KEYS = ("team", "bot", "people", "channels", "messages")
PERSON_KINDS = ("member", "guest", "single_channel_guest", "external", "bot", "deactivated")
CHANNEL_KINDS = ("public", "private", "group_dm")


@dataclass(frozen=True)
class Team:
    id: str
    name: str
    domain: str = "local"


@dataclass(frozen=True)
class Bot:
    """The app under test: its user (`U…`), with the bot id (`B…`) and app id (`A…`) derived from it."""

    id: str
    name: str
    real_name: str = ""

    @property
    def bot_id(self) -> str:
        return "B" + self.id[1:]

    @property
    def app_id(self) -> str:
        return "A" + self.id[1:]


@dataclass(frozen=True)
class Person:
    id: str
    name: str
    real_name: str = ""
    email: str = ""
    kind: str = "member"
    admin: bool = False
    title: str = ""
    team: str = ""

    @property
    def is_guest(self) -> bool:
        return self.kind in ("guest", "single_channel_guest")

    @property
    def is_full_member(self) -> bool:
        return self.kind == "member"


@dataclass(frozen=True)
class Channel:
    """A conversation. `kind` is one of CHANNEL_KINDS or, for those made at run time, "im"."""

    id: str
    name: str
    kind: str = "public"
    members: frozenset[str] = frozenset()
    topic: str = ""
    purpose: str = ""
    shared: bool = False
    pending_shared: bool = False
    archived: bool = False


@dataclass(frozen=True)
class PastMessage:
    """Something said `minutes_ago` minutes before the start; `channel` is empty in a reply."""

    user: str
    text: str
    channel: str = ""
    minutes_ago: float = 60.0
    replies: tuple["PastMessage", ...] = ()
    reactions: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Workspace:
    team: Team
    bot: Bot
    people: tuple[Person, ...] = ()
    channels: tuple[Channel, ...] = ()
    messages: tuple[PastMessage, ...] = ()


Entry = TypeVar("Entry", Team, Bot, Person, Channel, PastMessage)


def load_workspace(path: Path) -> Workspace:
    """Read a workspace file. Raises WorkspaceError, naming the file, when it cannot be read or is not valid."""
    try:
        return parse_workspace(yaml.safe_load(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise WorkspaceError(f"{path} cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise WorkspaceError(f"{path} is not YAML: {error}") from error
    except WorkspaceError as error:
        raise WorkspaceError(f"{path}: {error}") from error


def parse_workspace(document: object) -> Workspace:
    """Build and check a Workspace from the parsed document. Raises WorkspaceError naming the bad entry."""
    top = _mapping(document, "the workspace file")
    unknown = set(top) - set(KEYS)
    if unknown or not {"team", "bot"} <= set(top):
        has = "the workspace file has the keys team, bot (both required), people, channels and messages"
        raise WorkspaceError(f"{has}; found {sorted(map(str, top))}{_meant(unknown, KEYS)}")
    workspace = Workspace(
        team=_entry(Team, top["team"], "team"),
        bot=_entry(Bot, top["bot"], "bot"),
        people=tuple(_entry(Person, each, "person") for each in _list(top.get("people"), "people")),
        channels=tuple(_channel(each) for each in _list(top.get("channels"), "channels")),
        messages=tuple(_message(each) for each in _list(top.get("messages"), "messages")),
    )
    _check(workspace)
    return workspace


def _channel(value: object) -> Channel:
    entry = dict(_mapping(value, "channel"))
    members = _list(entry.get("members"), f"members of {entry.get('name')}")
    if odd := [each for each in members if not isinstance(each, str)]:
        raise WorkspaceError(f"members of {entry.get('name')} are ids, such as U0123456789, not {odd[0]!r}")
    entry["members"] = frozenset(members)
    return _entry(Channel, entry, "channel")


def _message(value: object) -> PastMessage:
    entry = dict(_mapping(value, "message"))
    entry["replies"] = tuple(_message(each) for each in _list(entry.get("replies"), "replies"))
    return _entry(PastMessage, entry, "message")


def _entry(kind: type[Entry], value: object, what: str) -> Entry:
    entry = _mapping(value, what)
    known = {each.name: each for each in fields(kind)}
    if unknown := sorted(map(str, set(entry) - set(known))):
        raise WorkspaceError(
            f"{what} {dict(entry)!r}: unknown keys {', '.join(unknown)}; known keys are {', '.join(sorted(known))}{_meant(unknown, known)}"
        )
    for name, each in known.items():
        required = each.default is MISSING and each.default_factory is MISSING
        if required and not isinstance(entry.get(name), str):
            raise WorkspaceError(f"{what} {dict(entry)!r}: {name} must be given as a string")
        if each.type is bool and name in entry and not isinstance(entry[name], bool):
            raise WorkspaceError(f"{what} {dict(entry)!r}: {name} is true or false, not {entry[name]!r}")
    return kind(**entry)


def _mapping(value: object, what: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise WorkspaceError(f"{what} must be a mapping of names to values, not {value!r}")
    return value


def _list(value: object, what: str) -> list[Any]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise WorkspaceError(f"{what} must be a list, not {value!r}")
    return value


def _check(workspace: Workspace) -> None:
    people = {person.id: person for person in workspace.people}
    ids = [workspace.bot.id, *(p.id for p in workspace.people), *(c.id for c in workspace.channels)]
    names = [workspace.bot.name, *(person.name for person in workspace.people)]
    for values in (ids, names, [channel.name for channel in workspace.channels]):
        repeated = sorted({value for value in values if values.count(value) > 1})
        if repeated:
            raise WorkspaceError(f"used more than once: {repeated}")
    for person in workspace.people:
        _check_person(person, workspace)
    for channel in workspace.channels:
        _check_channel(channel, people, workspace.bot.id)
    known = {*people, workspace.bot.id}
    channels = {channel.id for channel in workspace.channels}
    for message in workspace.messages:
        if message.channel not in channels:
            meant = _meant([message.channel], channels)
            raise WorkspaceError(f"message {message.text!r}: no channel {message.channel!r}{meant}")
        for each in (message, *message.replies):
            strangers = {each.user, *(user for users in each.reactions.values() for user in users)} - known
            if strangers:
                raise WorkspaceError(f"message {each.text!r}: {_nobody(strangers, known)}")


def _check_person(person: Person, workspace: Workspace) -> None:
    if person.kind not in PERSON_KINDS:
        raise WorkspaceError(f"person {person.id}: {_no_kind(person.kind, PERSON_KINDS)}")
    if person.admin and person.kind != "member":
        raise WorkspaceError(f"person {person.id}: only a member can be an admin, this is a {person.kind}")
    foreign = bool(person.team) and person.team != workspace.team.id
    if foreign != (person.kind == "external"):
        raise WorkspaceError(f"person {person.id}: kind external and another team's id go together")
    memberships = [channel.name for channel in workspace.channels if person.id in channel.members]
    if person.kind == "single_channel_guest" and len(memberships) > 1:
        raise WorkspaceError(f"person {person.id}: a single-channel guest cannot be in {memberships}")


def _check_channel(channel: Channel, people: Mapping[str, Person], bot: str) -> None:
    if channel.kind not in CHANNEL_KINDS:
        raise WorkspaceError(f"channel {channel.id}: {_no_kind(channel.kind, CHANNEL_KINDS)}")
    known = {*people, bot}
    if strangers := channel.members - known:
        raise WorkspaceError(f"channel {channel.id}: {_nobody(strangers, known)}")
    outsiders = [user for user in channel.members if user != bot and people[user].kind == "external"]
    if outsiders and not channel.shared:
        raise WorkspaceError(f"channel {channel.id}: external people {sorted(outsiders)} need shared: true")


def _nobody(strangers: Iterable[str], known: Collection[str]) -> str:
    wrong = sorted(map(str, strangers))
    meant = _meant(wrong, known) or f"; the file has {', '.join(sorted(known))}"
    return f"no such people as {', '.join(wrong)}{meant}"


def _no_kind(kind: object, kinds: Collection[str]) -> str:
    return f"kind {kind!r} is not one of {', '.join(kinds)}{_meant([kind], kinds)}"


def _meant(wrong: Iterable[object], known: Collection[str]) -> str:
    """What may be meant by names that there are not, to be said at the end; empty when nothing is called nearly so."""
    near = [name for each in wrong for name in spelling.nearest(str(each), known, 1)]
    return f"; did you mean {', '.join(dict.fromkeys(near))}?" if near else ""
