"""What people do with messages: say, edit, delete, react, upload."""

from bot.local_slack.access import may_read, may_write
from bot.local_slack.changes import FileShared
from bot.local_slack.composer import encode
from bot.local_slack.errors import ActionRefused, UnknownName
from bot.local_slack.message import Message
from bot.local_slack.state import State
from bot.local_slack.workspace import Channel, Person

# Who signs the local workspace's own notices; not a person, so nobody can be mistaken for it.
NOTICE_USER = "ULOCALNOTICE"


class Speech:
    """People and channels are given by id or by name everywhere."""

    state: State

    def say(self, user: str, channel: str, text: str, thread_ts: str | None = None) -> Message:
        """Post `text` (Slack's notation, as `<@U123>`) as a person. Raises ActionRefused, UnknownName."""
        with self.state.changed:
            person, place = self._writer(user, channel)
            if thread_ts and thread_ts not in self.state.messages.get(place.id, {}):
                raise UnknownName(f"no message {thread_ts!r} in {place.name}")
            message = self.state.say(place.id, person.id, text, thread_ts=thread_ts)
            if f"<@{self.state.bot.id}>" in text and self.state.bot.id not in place.members:
                self.notice(
                    person, place, f"<@{self.state.bot.id}> is not in this channel: /invite it first.", thread_ts
                )
            return message

    def type(self, user: str, channel: str, text: str, thread_ts: str | None = None) -> Message:
        """Like `say`, with `text` as typed: @names and #channels become references, the rest is escaped."""
        people = {person.name: person.id for person in self.state.people.values()}
        channels = {each.name: each.id for each in self.state.channels.values() if each.kind != "im"}
        return self.say(user, channel, encode(text, people, channels), thread_ts)

    def edit(self, user: str, channel: str, ts: str, text: str) -> Message:
        with self.state.changed:
            message = self._own_message(user, channel, ts)
            now = self.state.clock.timestamp()

            def apply(target: Message) -> None:
                target.text, target.edited_ts, target.edited_by = text, now, target.user

            self.state.edit(message, apply)
            return message

    def delete(self, user: str, channel: str, ts: str) -> None:
        with self.state.changed:
            self.state.delete(self._own_message(user, channel, ts))

    def react(self, user: str, channel: str, ts: str, name: str) -> None:
        """Add a reaction by its canonical name, such as "-1". Adding it twice changes nothing."""
        self._set_reaction(user, channel, ts, name, added=True)

    def unreact(self, user: str, channel: str, ts: str, name: str) -> None:
        self._set_reaction(user, channel, ts, name, added=False)

    def upload(self, user: str, channel: str, name: str, content: bytes, *, text: str = "", title: str = "") -> Message:
        """Share a file in a channel with a comment."""
        with self.state.changed:
            person, place = self._writer(user, channel)
            file = self.state.files.announce(name, person.id, self.state.clock.now(), len(content))
            self.state.files.receive(file.id, content)
            ts = self.state.clock.timestamp()
            self.state.files.share(file.id, title, place.id, ts)
            message = Message(place.id, ts, person.id, text, subtype="file_share", files=[file.id])
            self.state.post(message)
            self.state.tell(FileShared(file.id, place.id, person.id))
            return message

    def notice(self, person: Person, place: Channel, text: str, thread_ts: str | None = None) -> Message:
        """A note from the workspace itself that only `person` sees."""
        return self.state.say(place.id, NOTICE_USER, text, only_for=person.id, thread_ts=thread_ts)

    def _set_reaction(self, user: str, channel: str, ts: str, name: str, *, added: bool) -> None:
        with self.state.changed:
            person, place = self._reader(user, channel)
            message = self.state.messages.get(place.id, {}).get(ts)
            if message is None:
                raise UnknownName(f"no message {ts!r} in {place.name}")
            self.state.react(message, person.id, name.strip(":"), added=added)

    def _own_message(self, user: str, channel: str, ts: str) -> Message:
        person, place = self._writer(user, channel)
        message = self.state.messages.get(place.id, {}).get(ts)
        if message is None:
            raise UnknownName(f"no message {ts!r} in {place.name}")
        if message.user != person.id:
            raise ActionRefused(f"{person.name} did not write {ts}")
        return message

    def _reader(self, user: str, channel: str) -> tuple[Person, Channel]:
        person, place = self.state.person(user), self.state.channel(channel)
        if not may_read(person, place):
            raise ActionRefused(f"{person.name} cannot open {place.name}")
        return person, place

    def _writer(self, user: str, channel: str) -> tuple[Person, Channel]:
        person, place = self._reader(user, channel)
        if not may_write(person, place):
            reason = "it is archived" if place.archived else f"{person.name} has not joined it"
            raise ActionRefused(f"{person.name} cannot post in {place.name}: {reason}")
        return person, place
