"""What is particular about a person in a place, in words for an administrator. Pure."""

from collections.abc import Set

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


def kind_of(person_id: str, kind: PersonKind) -> str:
    return f"{person_id} is {KINDS[kind]}" if kind in KINDS else f"Slack knows nobody with the id {person_id}"


def standing(person: Person, place: Place) -> tuple[str, ...]:
    """Nothing for a member who is in the place, or alone with the bot."""
    notes = [] if person.kind is PersonKind.MEMBER else [kind_of(person.id, person.kind)]
    if person.kind in READERS and place.kind in ROOMS and place.id not in person.channels:
        open_to_all = place.kind is PlaceKind.PUBLIC and person.kind is PersonKind.MEMBER
        all_the_same = ", which every member can open all the same"
        shut_out = ": they can neither ask there nor read the reply"
        notes.append(f"{person.id} is not in {place.id}{all_the_same if open_to_all else shut_out}")
    return tuple(notes)


def lacking(person_id: str, scopes: Set[str]) -> tuple[Denial, ...]:
    """Why somebody does not hold these scopes."""

    def reason(scope: str) -> str:
        kind, _, of = scope.partition(":")
        if scope == WORKSPACE:
            return f"{person_id} is not a full member of the workspace"
        return f"{person_id} is not in {of}" if kind == "channel" else f"it is for {of} alone"

    return tuple(Denial(scope, reason(scope)) for scope in sorted(scopes))
