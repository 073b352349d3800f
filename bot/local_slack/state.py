"""The living workspace: people, channels, messages, views, files. One lock; every change is told to subscribers."""

import copy
import secrets
import threading
from collections.abc import Callable, Iterable
from dataclasses import replace

from bot.local_slack.changes import (
    Change,
    ChannelChanged,
    Deleted,
    Edited,
    Joined,
    Left,
    PersonChanged,
    Posted,
    Reacted,
    StatusChanged,
)
from bot.local_slack.clock import Clock, format_timestamp
from bot.local_slack.errors import UnknownName
from bot.local_slack.files import FileStore
from bot.local_slack.interactions import Interactions
from bot.local_slack.manifest import Manifest
from bot.local_slack.message import Message
from bot.local_slack.statuses import Statuses
from bot.local_slack.views import ViewStore
from bot.local_slack.workspace import Channel, PastMessage, Person, Workspace


class State:
    """Everything the Web API reads and writes. Callers hold `changed` (a re-entrant condition) around compound work."""

    def __init__(self, workspace: Workspace, manifest: Manifest, clock: Clock) -> None:
        self.team = workspace.team
        self.bot = workspace.bot
        self.manifest = manifest
        self.clock = clock
        self.address = ""
        self.revision = 0
        self.changed = threading.Condition(threading.RLock())
        self.people: dict[str, Person] = {person.id: person for person in workspace.people}
        self.people[self.bot.id] = Person(
            self.bot.id, self.bot.name, self.bot.real_name or self.bot.name, kind="bot", team=self.team.id
        )
        self.channels: dict[str, Channel] = {channel.id: channel for channel in workspace.channels}
        self.messages: dict[str, dict[str, Message]] = {}
        self.ephemerals: list[Message] = []
        self.views = ViewStore()
        self.files = FileStore()
        self.statuses = Statuses()
        self.interactions = Interactions()
        self.tickets: set[str] = set()
        self._subscribers: list[Callable[[Change], None]] = []
        for message in workspace.messages:
            self._remember(message)

    def subscribe(self, subscriber: Callable[[Change], None]) -> None:
        """`subscriber` is called under the lock, in the order of the changes; it must not block."""
        self._subscribers.append(subscriber)

    def tell(self, *changes: Change) -> None:
        with self.changed:
            for change in changes:
                self.revision += 1
                for subscriber in self._subscribers:
                    subscriber(change)
            self.changed.notify_all()

    def new_ticket(self) -> str:
        """A single-use right to open one Socket Mode connection."""
        ticket = secrets.token_urlsafe(16)
        self.tickets.add(ticket)
        return ticket

    # people and channels

    def person(self, reference: str) -> Person:
        """By id or handle. Raises UnknownName."""
        name = reference.removeprefix("@")
        for person in self.people.values():
            if name in (person.id, person.name):
                return person
        raise UnknownName(f"no person {reference!r}; there are {sorted(each.name for each in self.people.values())}")

    def channel(self, reference: str) -> Channel:
        """By id or name. Raises UnknownName."""
        name = reference.removeprefix("#")
        for channel in self.channels.values():
            if name in (channel.id, channel.name):
                return channel
        raise UnknownName(f"no channel {reference!r}; there are {sorted(each.name for each in self.channels.values())}")

    def dm(self, user: str) -> Channel:
        """The direct conversation between `user` and the bot, made on first use."""
        with self.changed:
            person = self.person(user)
            dm_id = "D" + person.id[1:]
            if dm_id not in self.channels:
                members = frozenset({person.id, self.bot.id})
                self.put_channel(Channel(dm_id, f"dm-{person.name}", kind="im", members=members))
            return self.channels[dm_id]

    def put_person(self, person: Person) -> None:
        with self.changed:
            before = self.people.get(person.id)
            self.people[person.id] = person
            self.tell(PersonChanged(person, before))

    def put_channel(self, channel: Channel) -> None:
        with self.changed:
            before = self.channels.get(channel.id)
            self.channels[channel.id] = channel
            self.tell(ChannelChanged(channel, before))

    def add_member(self, channel: Channel, user: str, inviter: str | None = None) -> None:
        with self.changed:
            if user not in channel.members:
                joined = replace(channel, members=channel.members | {user})
                self.channels[channel.id] = joined
                self.tell(Joined(joined, user, inviter))
                self.say(joined.id, user, f"<@{user}> has joined the channel", subtype="channel_join")

    def remove_member(self, channel: Channel, user: str) -> None:
        with self.changed:
            if user in channel.members:
                left = replace(channel, members=channel.members - {user})
                self.channels[channel.id] = left
                self.tell(Left(left, user))
                self.say(left.id, user, f"<@{user}> has left the channel", subtype="channel_leave")

    # messages

    def say(self, channel: str, user: str, text: str, **details: object) -> Message:
        """Post `text` as `user`; `details` are further fields of Message."""
        message = Message(channel, self.clock.timestamp(), user, text, **details)  # type: ignore[arg-type]  # by name
        return self.post(message)

    def post(self, message: Message) -> Message:
        with self.changed:
            if message.only_for:
                self.ephemerals.append(message)
            else:
                self.messages.setdefault(message.channel, {})[message.ts] = message
            self.tell(Posted(message))
            if message.from_bot and not message.only_for and self.statuses.clear(message.channel, message.root):
                self.tell(StatusChanged(message.channel, message.root))
            return message

    def find(self, channel: str, ts: str) -> Message | None:
        """The message or the ephemeral message at `ts`, None when there is none."""
        message = self.messages.get(channel, {}).get(ts)
        ephemerals = (each for each in self.ephemerals if (each.channel, each.ts) == (channel, ts))
        return message or next(ephemerals, None)

    def edit(self, message: Message, change: Callable[[Message], None], *, quiet: bool = False) -> None:
        with self.changed:
            before = copy.deepcopy(message)
            change(message)
            self.tell(Edited(message, before, quiet))

    def delete(self, message: Message) -> None:
        with self.changed:
            if message.only_for:
                self.ephemerals.remove(message)
            else:
                del self.messages[message.channel][message.ts]
            self.tell(Deleted(message))

    def react(self, message: Message, user: str, reaction: str, *, added: bool) -> bool:
        """Add or withdraw one reaction; False when it was already so."""
        with self.changed:
            users = message.reactions.setdefault(reaction, [])
            if added == (user in users):
                return False
            if added:
                users.append(user)
            else:
                users.remove(user)
            if not users:
                del message.reactions[reaction]
            self.tell(Reacted(message, user, reaction, added))
            return True

    def history(self, channel: str) -> list[Message]:
        """The root messages of a channel (and replies that were also sent to it), newest first."""
        shown = (
            m for m in self.messages.get(channel, {}).values() if not m.is_reply or m.subtype == "thread_broadcast"
        )
        return sorted(shown, key=_by_time, reverse=True)

    def thread(self, channel: str, root: str) -> list[Message]:
        """The root and its replies, oldest first."""
        return sorted((m for m in self.messages.get(channel, {}).values() if m.root == root), key=_by_time)

    def everything(self) -> Iterable[Message]:
        """Every message in every channel, oldest first, without the ephemeral ones."""
        return sorted((m for channel in self.messages.values() for m in channel.values()), key=_by_time)

    def _remember(self, past: PastMessage, root: Message | None = None) -> None:
        channel = root.channel if root else past.channel
        ts = format_timestamp(self.clock.now() - past.minutes_ago * 60)
        while ts in self.messages.get(channel, {}):
            ts = format_timestamp(float(ts) + 0.000001)
        message = Message(channel, ts, past.user, past.text, from_bot=past.user == self.bot.id)
        message.thread_ts = root.ts if root else None
        message.reactions = {name: list(users) for name, users in past.reactions.items()}
        self.messages.setdefault(channel, {})[ts] = message
        for reply in past.replies:
            self._remember(reply, message)


def _by_time(message: Message) -> float:
    return float(message.ts)
