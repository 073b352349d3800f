"""What is particular about a person in a place, in words for an administrator. Pure."""

import re
from collections.abc import Mapping, Set

from bot.directory import READERS
from knowledge.permissions import WORKSPACE, Denial, Person, PersonKind, Place, PlaceKind

KINDS = {
    PersonKind.MEMBER: "a member",
    PersonKind.GUEST: "a guest",
    PersonKind.EXTERNAL: "of another workspace",
    PersonKind.DEACTIVATED: "deactivated",
    PersonKind.BOT: "a bot",
}
ROOMS = frozenset({PlaceKind.PUBLIC, PlaceKind.PRIVATE, PlaceKind.GROUP_DM})
NO_REPLY = "no such reply can come about"

_ID = re.compile(r"\b(channel:|user:)?(\w+)\b")


def kind_of(person_id: str, kind: PersonKind) -> str:
    return f"{person_id} is {KINDS[kind]}" if kind in KINDS else f"Slack knows nobody with the id {person_id}"


def standing(person: Person, place: Place) -> tuple[str, ...]:
    """Nothing for a member who is in the place, or alone with the bot."""
    notes = [] if person.kind is PersonKind.MEMBER else [kind_of(person.id, person.kind)]
    if is_shut_out(person, place):
        notes.append(f"{person.id} is not in {place.id}: they can neither ask there nor read the reply")
    elif _is_elsewhere(person, place):
        notes.append(f"{person.id} is not in {place.id}, which every member can open all the same")
    return tuple(notes)


def is_shut_out(person: Person, place: Place) -> bool:
    """Whether somebody can neither ask in the place nor read what is said there."""
    open_to_all = place.kind is PlaceKind.PUBLIC and person.kind is PersonKind.MEMBER
    return _is_elsewhere(person, place) and not open_to_all


def _is_elsewhere(person: Person, place: Place) -> bool:
    return person.kind in READERS and place.kind in ROOMS and place.id not in person.channels


def named(text: str, names: Mapping[str, str]) -> str:
    """The text with names beside the ids that have one: `sam (USAM)`, `channel:CFINANCE (#finance)`."""

    def beside(found: re.Match[str]) -> str:
        kind, key = found.groups(default="")
        if key not in names:
            return found[0]
        return f"{kind}{key} ({names[key]})" if kind else f"{names[key]} ({key})"

    return _ID.sub(beside, text)


def lacking(person_id: str, scopes: Set[str]) -> tuple[Denial, ...]:
    """Why somebody does not hold these scopes."""

    def reason(scope: str) -> str:
        kind, _, of = scope.partition(":")
        if scope == WORKSPACE:
            return f"{person_id} is not a full member of the workspace"
        return f"{person_id} is not in {of}" if kind == "channel" else f"it is for {of} alone"

    return tuple(Denial(scope, reason(scope)) for scope in sorted(scopes))
