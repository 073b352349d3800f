"""Slack's facts about people and channels, as the permission rules want them. It cannot know: it raises, nobody reads.

Facts are kept in the database with the moment from which they are known, so that an event which one process hears
counts in all of them. Ids are keys; names are for showing only.
"""

from collections.abc import Callable, Collection, Iterable
from datetime import datetime, timedelta
from typing import Any

from slack_sdk import WebClient

from bot import wording
from bot.client import Identity
from bot.enquiries import Enquiries, Json
from bot.errors import SlackUnavailable
from bot.settings import Slack
from knowledge import workspace
from knowledge.db import Database
from knowledge.permissions import (
    NOTHING,
    Decision,
    Person,
    PersonKind,
    Place,
    PlaceKind,
    Scopes,
    audience_ceiling,
    channel_scope,
    decide,
)

ONE_BY_ONE = 20
"""Up to this many unknown people are asked for singly (100 calls a minute are allowed), more as one list (20 a minute)."""
IN_FLIGHT = 5
"""How often a fact is asked for again because it changed while it was asked for."""
READERS = frozenset({PersonKind.MEMBER, PersonKind.GUEST, PersonKind.EXTERNAL})


class Directory:
    """Threads share it. Every method that needs Slack raises `SlackUnavailable` when Slack does not say."""

    def __init__(self, client: WebClient, database: Database, settings: Slack, me: Identity) -> None:
        self._enquiries = Enquiries(client, me.team)
        self._database = database
        self._max_age = timedelta(seconds=settings.facts_max_age_s)
        self._trusted_bots = frozenset(settings.trusted_bots)
        self._admins = frozenset(settings.admins)
        self._me = me

    def decide(self, asker: str, channel: str | None, *, live: bool = False) -> Decision:
        """The scopes a reply to `asker` in `channel` may use.

        `channel` None: the asker alone sees the reply (ephemeral, modal, Home). `live`: facts about the asker and
        the channel are asked for now, however fresh the stored ones are.
        """
        since = self._since(live)
        person = self._person(asker, since)
        place = Place(asker, PlaceKind.DIRECT) if channel is None else self._place(channel, asker, since)
        return decide(person, place, self._public_channels(since), self._trusted_bots)

    def audience(self, channel: str) -> Scopes:
        """What everyone who reads a channel, now or later, may open; asked for now. Nothing for a direct conversation."""
        since = self._since(live=True)
        public = self._public_channels(since)
        ceiling, _ = audience_ceiling(self._place(channel, "", since), public)
        return NOTHING if ceiling is None else ceiling

    def person(self, person_id: str) -> Person:
        return self._person(person_id, self._since())

    def place(self, channel_id: str, asker: str) -> Place:
        return self._place(channel_id, asker, self._since())

    def public_channels(self) -> frozenset[str]:
        return self._public_channels(self._since())

    def is_member(self, person_id: str, channel_id: str, *, live: bool = False) -> bool:
        """Whether this person can open what is posted in the channel. `live` as in `decide`."""
        since = self._since(live)
        person, place = self._person(person_id, since), self._place(channel_id, person_id, since)
        if person.kind not in READERS:
            return False
        everyone = place.kind is PlaceKind.PUBLIC and person.kind is PersonKind.MEMBER
        return everyone or place.kind is PlaceKind.DIRECT or channel_id in person.channels

    def is_admin(self, person_id: str) -> bool:
        """An administrator by configuration, or one of the workspace who is not a guest or deactivated."""
        facts = self._facts_of([person_id], self._since())[person_id]
        return facts["kind"] == PersonKind.MEMBER and (person_id in self._admins or bool(facts["admin"]))

    def names(
        self, people: Iterable[str], channels: Iterable[str], place: str, asker: str | None = None
    ) -> dict[str, str]:
        """Names by id, as they may be shown in `place` (to `asker`, or None: to all who read it).

        A channel that not everyone there could open has no name. While people cannot be looked up they are left out.
        """
        known = self._nameable(place, asker) if channels else NOTHING
        named = self._people_names(set(people))
        named |= {channel: self._channel_name(channel) for channel in channels if channel_scope(channel) in known}
        return {**dict.fromkeys(channels, wording.NO_CHANNEL), **{key: name for key, name in named.items() if name}}

    def _nameable(self, place: str, asker: str | None) -> Scopes:
        try:
            return self.audience(place) if asker is None else self.decide(asker, place).allowed
        except SlackUnavailable:
            return NOTHING

    def _people_names(self, people: Collection[str]) -> dict[str, str]:
        try:
            return {person: str(facts["name"]) for person, facts in self._facts_of(people, self._since()).items()}
        except SlackUnavailable:
            return {}

    def _channel_name(self, channel: str) -> str:
        try:
            return str(self._channel(channel, self._since())["name"])
        except SlackUnavailable:
            return ""

    # what the rules want, from stored or fresh facts

    def _person(self, person_id: str, since: datetime) -> Person:
        kind = PersonKind(self._facts_of([person_id], since)[person_id]["kind"])
        if kind not in READERS:
            return Person(person_id, kind)
        channels = self._fact(f"channels_of:{person_id}", since, lambda: self._enquiries.channels_of(person_id))
        return Person(person_id, kind, frozenset(channels))

    def _place(self, channel_id: str, asker: str, since: datetime) -> Place:
        facts = self._channel(channel_id, since)
        kind = PlaceKind(facts["kind"])
        if kind is PlaceKind.DIRECT:
            return Place(channel_id, kind if facts["with"] == asker else PlaceKind.UNKNOWN)
        if kind is PlaceKind.UNKNOWN:
            return Place(channel_id, kind)
        members = self._fact(f"members:{channel_id}", since, lambda: self._enquiries.members(channel_id))
        # People's kinds change far less often than memberships: stored ones do until they expire.
        kinds = {facts["kind"] for facts in self._facts_of(members, self._since()).values()}
        return Place(
            channel_id,
            kind,
            has_guests=bool(kinds & {PersonKind.GUEST, PersonKind.UNKNOWN}),
            shared=bool(facts["shared"]) or PersonKind.EXTERNAL in kinds,
            # The bot hears the question because it is a member: a list without it is not whole.
            members_known=self._me.user in members,
        )

    def _channel(self, channel_id: str, since: datetime) -> Json:
        channel: Json = self._fact(f"channel:{channel_id}", since, lambda: self._enquiries.channel(channel_id))
        return channel

    def _public_channels(self, since: datetime) -> frozenset[str]:
        return frozenset(self._fact("public_channels:", since, self._enquiries.public_channels))

    def _since(self, live: bool = False) -> datetime:
        with self._database.plain() as connection:
            now = workspace.moment(connection)
        return now if live else now - self._max_age

    def _fact(self, key: str, since: datetime, ask: Callable[[], Any]) -> Any:
        for _ in range(IN_FLIGHT):
            with self._database.plain() as connection:
                known = workspace.read(connection, [key], since)
            if key in known.values:
                return known.values[key]
            value = ask()
            with self._database.plain() as connection:
                if workspace.write(connection, {key: value}, known.moment):
                    return value
        raise SlackUnavailable(f"{key} keeps changing while it is asked for")

    def _facts_of(self, people: Iterable[str], since: datetime) -> dict[str, Json]:
        """Name, kind and admin of each person."""
        wanted = {person: f"person:{person}" for person in people}
        for _ in range(IN_FLIGHT):
            with self._database.plain() as connection:
                known = workspace.read(connection, wanted.values(), since)
            missing = [person for person, key in wanted.items() if key not in known.values]
            if not missing:
                return {person: known.values[key] for person, key in wanted.items()}
            self._learn(missing, known.moment)
        raise SlackUnavailable(f"facts about {len(wanted)} people keep changing while they are asked for")

    def _learn(self, people: list[str], asked_at: datetime) -> None:
        listed = self._enquiries.everyone() if len(people) > ONE_BY_ONE else {}
        singly = {person: self._enquiries.person(person) for person in people if person not in listed}
        with self._database.plain() as connection:
            for person, facts in {**listed, **singly}.items():
                workspace.write(connection, {f"person:{person}": facts}, asked_at)
