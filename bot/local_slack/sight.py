"""What one person sees of the workspace: the page's documents and live frames, cut to their rights. Pure reads."""

from typing import Any

from bot.local_slack import changes
from bot.local_slack.access import may_read, may_write
from bot.local_slack.errors import UnknownName
from bot.local_slack.files import StoredFile
from bot.local_slack.message import Message
from bot.local_slack.objects import message_object
from bot.local_slack.state import State
from bot.local_slack.workspace import Channel, Person

Json = dict[str, Any]


def workspace(state: State, person: Person) -> Json:
    """Everything but the messages."""
    manifest = state.manifest
    return {
        "team": {"id": state.team.id, "name": state.team.name},
        "bot": {"id": state.bot.id, "name": state.bot.name},
        "me": person.id,
        "people": [_person(each) for each in state.people.values()],
        "channels": [
            _channel(person, each) for each in state.channels.values() if each.kind != "im" and may_read(person, each)
        ],
        "dm": state.dm(person.id).id if person.kind not in ("deactivated", "bot") else None,
        "commands": [{"name": c.name, "description": c.description, "hint": c.usage_hint} for c in manifest.commands],
        "shortcuts": [{"id": each.callback_id, "name": each.name, "kind": each.kind} for each in manifest.shortcuts],
        "prompts": [{"title": each.title, "message": each.message} for each in manifest.prompts],
    }


def selves(state: State) -> list[Person]:
    """The people one can be, full members first."""
    people = [person for person in state.people.values() if person.kind not in ("bot", "deactivated")]
    return sorted(people, key=lambda person: not person.is_full_member)


def conversation(state: State, person: Person, reference: str) -> Json:
    """The root messages of a conversation, oldest first, with the ephemeral ones of this person in their places.

    Raises UnknownName when the person cannot open it.
    """
    channel = readable(state, person, reference)
    roots = [_message(state, each) for each in reversed(state.history(channel.id))]
    private = [_message(state, each) for each in _ephemerals(state, person, channel) if not each.thread_ts]
    return {
        "channel": _channel(person, channel),
        "revision": state.revision,
        "messages": sorted(roots + private, key=lambda each: float(each["ts"])),
        "statuses": [_status(state, *key) for key in state.statuses.all(state.clock.now()) if key[0] == channel.id],
        "prompts": state.statuses.prompts.get((channel.id, ""), []),
    }


def thread(state: State, person: Person, reference: str, ts: str) -> Json:
    """A root and its replies, oldest first."""
    channel = readable(state, person, reference)
    private = [each for each in _ephemerals(state, person, channel) if each.thread_ts == ts]
    messages = sorted([*state.thread(channel.id, ts), *private], key=lambda each: float(each.ts))
    return {
        "revision": state.revision,
        "messages": [_message(state, each) for each in messages],
        "status": _status(state, channel.id, ts),
    }


def views(state: State, person: Person) -> Json:
    return {"home": state.views.homes.get(person.id), "modals": state.views.modals.get(person.id, [])}


def readable(state: State, person: Person, reference: str) -> Channel:
    channel = state.channels.get(reference)
    if channel is None or not may_read(person, channel):
        raise UnknownName(f"{person.name} sees no conversation {reference!r}")
    return channel


def may_open(state: State, person: Person, file: StoredFile) -> bool:
    return any(each in state.channels and may_read(person, state.channels[each]) for each in file.channels)


def frames(state: State, person: Person, change: changes.Change) -> list[Json]:
    """What to tell somebody who is looking, nothing when the change is none of their business.

    `revision` lets the page put frames and loaded documents, which travel separately, in order.
    """
    return [{**frame, "revision": state.revision} for frame in _frames(state, person, change)]


def _frames(state: State, person: Person, change: changes.Change) -> list[Json]:
    match change:
        case changes.Posted(message) | changes.Edited(message) | changes.Reacted(message):
            return _message_frames(state, person, message)
        case changes.Deleted(message):
            if not _sees(state, person, message):
                return []
            gone = {"type": "deleted", "channel": message.channel, "ts": message.ts, "thread_ts": message.thread_ts}
            return [gone, *_root_frame(state, message)]
        case changes.StatusChanged(channel, thread_ts):
            place = state.channels.get(channel)
            visible = place is not None and may_read(person, place)
            return [{"type": "status", **_status(state, channel, thread_ts)}] if visible else []
        case changes.ViewChanged(user):
            return [{"type": "views", **views(state, person)}] if user == person.id else []
        case changes.Joined() | changes.Left() | changes.ChannelChanged() | changes.PersonChanged():
            return [{"type": "workspace"}]
        case _:
            return []


def _message_frames(state: State, person: Person, message: Message) -> list[Json]:
    if not _sees(state, person, message):
        return []
    return [{"type": "message", "message": _message(state, message)}, *_root_frame(state, message)]


def _root_frame(state: State, message: Message) -> list[Json]:
    """A reply changes what is shown under its root."""
    root = state.messages.get(message.channel, {}).get(message.thread_ts or "")
    if root is None or root is message:
        return []
    return [{"type": "message", "message": _message(state, root)}]


def _sees(state: State, person: Person, message: Message) -> bool:
    channel = state.channels.get(message.channel)
    return channel is not None and may_read(person, channel) and message.only_for in (None, person.id)


def _ephemerals(state: State, person: Person, channel: Channel) -> list[Message]:
    return [each for each in state.ephemerals if each.channel == channel.id and each.only_for == person.id]


def _message(state: State, message: Message) -> Json:
    shown = message_object(state, message) | {"channel": message.channel, "private": message.only_for is not None}
    if message.stream:
        shown["stream"] = {"open": message.stream.is_open(state.clock.now()), "chunks": message.stream.chunks}
    return shown


def _status(state: State, channel: str, thread_ts: str) -> Json:
    status = state.statuses.get(channel, thread_ts, state.clock.now())
    return {
        "channel": channel,
        "thread_ts": thread_ts,
        "text": status.text if status else "",
        "loading": list(status.loading_messages) if status else [],
        "title": state.statuses.titles.get((channel, thread_ts), ""),
        "prompts": state.statuses.prompts.get((channel, thread_ts), []),
    }


def _person(person: Person) -> Json:
    return {
        "id": person.id,
        "name": person.name,
        "real_name": person.real_name or person.name,
        "kind": person.kind,
        "admin": person.admin,
        "title": person.title,
    }


def _channel(person: Person, channel: Channel) -> Json:
    return {
        "id": channel.id,
        "name": channel.name,
        "kind": channel.kind,
        "topic": channel.topic,
        "shared": channel.shared,
        "archived": channel.archived,
        "members": sorted(channel.members),
        "writable": may_write(person, channel),
    }
