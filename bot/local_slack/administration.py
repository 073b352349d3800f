"""What changes who may see what: joining, leaving, guests, sharing, converting, archiving, deactivating."""

from collections.abc import Sequence
from dataclasses import replace

from bot.local_slack.changes import ChannelChanged, StatusChanged
from bot.local_slack.errors import ActionRefused
from bot.local_slack.state import State
from bot.local_slack.workspace import Channel, Person


class Administration:
    """People and channels are given by id or by name."""

    state: State

    def join(self, user: str, channel: str, inviter: str | None = None) -> Channel:
        """Become a member; with `inviter` somebody else asked them in. The bot joins like anybody."""
        with self.state.changed:
            person, place = self.state.person(user), self.state.channel(channel)
            if person.kind == "external" and not place.shared:
                raise ActionRefused(f"{person.name} is external and {place.name} is not shared")
            self.state.add_member(place, person.id, self.state.person(inviter).id if inviter else None)
            return self.state.channels[place.id]

    def leave(self, user: str, channel: str) -> Channel:
        with self.state.changed:
            person, place = self.state.person(user), self.state.channel(channel)
            self.state.remove_member(place, person.id)
            return self.state.channels[place.id]

    def add_person(self, person: Person) -> Person:
        """Somebody new joins the workspace."""
        self.state.put_person(person)
        return person

    def invite_guest(self, user_id: str, name: str, channel: str, single_channel: bool = True) -> Person:
        """Make a guest account that is a member of one channel."""
        kind = "single_channel_guest" if single_channel else "guest"
        guest = self.add_person(Person(user_id, name, name.title(), kind=kind))
        self.join(user_id, channel)
        return guest

    def make_guest(self, user: str, single_channel: bool = False) -> Person:
        """Turn a member into a guest, who keeps their channels."""
        return self._change_person(user, kind="single_channel_guest" if single_channel else "guest", admin=False)

    def make_member(self, user: str) -> Person:
        return self._change_person(user, kind="member")

    def deactivate(self, user: str) -> Person:
        """Close the account. Slack takes the person out of every channel."""
        with self.state.changed:
            person = self._change_person(user, kind="deactivated", admin=False)
            for channel in list(self.state.channels.values()):
                if person.id in channel.members and channel.kind != "im":
                    self.state.channels[channel.id] = replace(channel, members=channel.members - {person.id})
            return person

    def share_channel(self, channel: str, shared: bool = True) -> Channel:
        """Connect a channel with another workspace, or end that; then external people leave."""
        with self.state.changed:
            place = self.state.channel(channel)
            outsiders = {user for user in place.members if self.state.people[user].kind == "external"}
            members = place.members if shared else place.members - outsiders
            return self._put(replace(place, shared=shared, pending_shared=False, members=members))

    def offer_sharing(self, channel: str) -> Channel:
        """Send the invitation to another workspace; it is not accepted yet."""
        return self._put(replace(self.state.channel(channel), pending_shared=True))

    def convert(self, channel: str, kind: str = "private", by: str | None = None) -> Channel:
        """Make a public channel private, or a private one public."""
        if kind not in ("private", "public"):
            raise ActionRefused(f"a channel becomes private or public, not {kind!r}")
        with self.state.changed:
            place = self._put(replace(self.state.channel(channel), kind=kind))
            actor = self.state.person(by).id if by else sorted(place.members - {self.state.bot.id} or place.members)[0]
            text = f"made this channel *{kind}*"
            self.state.say(place.id, actor, text, subtype=f"channel_convert_to_{kind}")
            return place

    def archive(self, channel: str, archived: bool = True) -> Channel:
        return self._put(replace(self.state.channel(channel), archived=archived))

    def rename(self, channel: str, name: str) -> Channel:
        return self._put(replace(self.state.channel(channel), name=name))

    def suggest(self, channel: str, questions: Sequence[str]) -> None:
        """What the page offers to ask in this channel, instead of the app's own prompts."""
        place = self.state.channel(channel)
        self.state.statuses.prompts[place.id, ""] = [{"title": each, "message": each} for each in questions]
        self.state.tell(StatusChanged(place.id, ""))

    def delete_channel(self, channel: str) -> None:
        """Delete a channel with everything in it. No event names it afterwards but channel_deleted."""
        with self.state.changed:
            place = self.state.channel(channel)
            del self.state.channels[place.id]
            self.state.messages.pop(place.id, None)
            self.state.tell(ChannelChanged(replace(place, members=frozenset()), place))

    def _put(self, channel: Channel) -> Channel:
        self.state.put_channel(channel)
        return channel

    def _change_person(self, user: str, **fields: str | bool) -> Person:
        with self.state.changed:
            person = replace(self.state.person(user), **fields)  # type: ignore[arg-type]  # names are this module's own
            self.state.put_person(person)
            return person
