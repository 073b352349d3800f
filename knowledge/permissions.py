"""Who may read what: pure rules from facts about a person and a place to the scopes a reply may use.

1. A person *holds* scopes: what they could open themselves.
2. A reply has an audience: everyone who can read the place it goes to, now or later.
3. `allowed` = what the asker holds, cut down to what that audience may read.

Whatever the rules do not know (a kind of person or place, a failed look-up, a cut member list) gets nothing.
"""

from collections.abc import Set
from dataclasses import dataclass, field
from enum import StrEnum

Scopes = frozenset[str]
"""Scope strings: `workspace`, `channel:<id>`, `user:<id>`. The empty set reads nothing."""

WORKSPACE = "workspace"
NOTHING: Scopes = frozenset()


def channel_scope(channel_id: str) -> str:
    return f"channel:{channel_id}"


def user_scope(person_id: str) -> str:
    return f"user:{person_id}"


class PersonKind(StrEnum):
    MEMBER = "member"
    GUEST = "guest"
    EXTERNAL = "external"
    DEACTIVATED = "deactivated"
    BOT = "bot"
    UNKNOWN = "unknown"


class PlaceKind(StrEnum):
    PUBLIC = "public"
    PRIVATE = "private"
    GROUP_DM = "group_dm"
    DIRECT = "direct"
    """Read by the asker alone: a DM with the bot, an ephemeral message, a modal, App Home."""
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Person:
    """`channels`: ids of every channel and group DM the person is in, public ones included, as far as they could be known."""

    id: str
    kind: PersonKind
    channels: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Place:
    """`members_known` is False when the member list could not be read whole: the audience is then unknown."""

    id: str
    kind: PlaceKind
    has_guests: bool = False
    shared: bool = False
    members_known: bool = True


@dataclass(frozen=True)
class Denial:
    """One scope the asker holds (or the whole place) that this reply may not use, and why, in words for an administrator."""

    scope: str
    reason: str


@dataclass(frozen=True)
class Decision:
    """`held`: what the asker could open alone. `allowed`: what this reply may use; always a subset of `held`."""

    held: Scopes
    allowed: Scopes
    denials: tuple[Denial, ...] = field(default=())

    @property
    def withheld(self) -> Scopes:
        return self.held - self.allowed


def held_scopes(person: Person, public_channels: Set[str]) -> Scopes:
    """What one person may read. `public_channels`: ids of every public channel of the workspace."""
    inside = {channel_scope(c) for c in person.channels}
    match person.kind:
        case PersonKind.MEMBER:
            public = {channel_scope(c) for c in public_channels}
            return frozenset({WORKSPACE, user_scope(person.id)} | public | inside)
        case PersonKind.GUEST:
            return frozenset({user_scope(person.id)} | inside)
        case PersonKind.EXTERNAL:
            return frozenset(inside)
        case _:
            return NOTHING


def audience_ceiling(place: Place, public_channels: Set[str]) -> tuple[Scopes | None, str]:
    """The most that the place's readers, present and future, may see, and the rule behind it. `None`: no ceiling."""
    own = channel_scope(place.id)
    public = frozenset({WORKSPACE} | {channel_scope(c) for c in public_channels})
    match place.kind:
        case PlaceKind.DIRECT:
            return None, "only the asker reads this reply"
        case PlaceKind.PUBLIC | PlaceKind.PRIVATE | PlaceKind.GROUP_DM if not place.members_known:
            return NOTHING, "the member list of this channel could not be read whole"
        case PlaceKind.PUBLIC | PlaceKind.PRIVATE | PlaceKind.GROUP_DM if place.shared:
            return frozenset({own}), "this channel is shared with another workspace"
        case PlaceKind.PUBLIC | PlaceKind.PRIVATE | PlaceKind.GROUP_DM if place.has_guests:
            return frozenset({own}), "a guest reads this channel"
        case PlaceKind.PUBLIC:
            return public, "everyone in the workspace can read this channel"
        case PlaceKind.PRIVATE | PlaceKind.GROUP_DM:
            return public | {own}, "people who join this channel later read its history"
        case _:
            return NOTHING, "this kind of place is not known"


def decide(asker: Person, place: Place, public_channels: Set[str], trusted_bots: Set[str] = frozenset()) -> Decision:
    """The scopes a reply in `place` to `asker` may use, with a reason for each denial.

    `trusted_bots`: ids an administrator allowed to ask; such a bot reads the place's own documents at most.
    """
    if asker.kind is PersonKind.BOT and asker.id in trusted_bots and place.kind is not PlaceKind.DIRECT:
        held: Scopes = frozenset({channel_scope(place.id)})
    else:
        held = held_scopes(asker, public_channels)
    if not held:
        return Decision(NOTHING, NOTHING, (Denial("*", f"the asker is {asker.kind.value} and may read nothing"),))
    ceiling, rule = audience_ceiling(place, public_channels)
    allowed = held if ceiling is None else held & ceiling
    denials = tuple(Denial(scope, rule) for scope in sorted(held - allowed))
    return Decision(held, allowed, denials)
