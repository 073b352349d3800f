"""Which events Slack would send for a change, and with which fields. Pure.

The bot hears of a conversation only while it is in it, apart from archived, deleted and shared public channels, which
Slack tells to every app that may read channels. One mention yields two events, `app_mention` and `message`, with
different event ids. A name like "message.groups" is the subscription's; the event's own type is "message".
"""

from typing import Any

from bot.local_slack import changes
from bot.local_slack.event import Event
from bot.local_slack.objects import channel_object, file_object, message_object, user_object
from bot.local_slack.state import State
from bot.local_slack.workspace import Channel

Json = dict[str, Any]

_MESSAGE_EVENTS = {
    "public": ("message.channels", "channel"),
    "private": ("message.groups", "group"),
    "group_dm": ("message.mpim", "mpim"),
    "im": ("message.im", "im"),
}


def events_for(change: changes.Change, state: State) -> list[Event]:
    """The events of one change that the app's manifest subscribes to."""
    return [event for event in _all_events(change, state) if event.subscription in state.manifest.events]


def _all_events(change: changes.Change, state: State) -> list[Event]:
    match change:
        case changes.Posted():
            return _posted(change, state)
        case changes.Edited():
            return _edited(change, state)
        case changes.Deleted():
            return _deleted(change, state)
        case changes.Reacted():
            return _reacted(change, state)
        case changes.Joined():
            return _membership("member_joined_channel", change.channel, change.user, state, inviter=change.inviter)
        case changes.Left():
            return _left(change, state)
        case changes.ChannelChanged():
            return _channel_changed(change, state)
        case changes.PersonChanged():
            return _person_changed(change, state)
        case changes.HomeOpened():
            return _home_opened(change, state)
        case changes.FileShared():
            return _file_shared(change, state)
        case _:
            return []


def _posted(change: changes.Posted, state: State) -> list[Event]:
    message = change.message
    channel = state.channels[message.channel]
    if message.only_for or state.bot.id not in channel.members:
        return []
    subscription, channel_type = _MESSAGE_EVENTS[channel.kind]
    body = message_object(state, message) | {"channel": channel.id, "event_ts": message.ts}
    events = [Event(subscription, body | {"channel_type": channel_type}, channel)]
    return _mentions(body, channel, state) + events


def _mentions(body: Json, channel: Channel, state: State) -> list[Event]:
    mentioned = f"<@{state.bot.id}>" in body["text"] or f"<@{state.bot.id}|" in body["text"]
    if not mentioned or channel.kind == "im" or "bot_id" in body or body.get("subtype") not in (None, "file_share"):
        return []
    return [Event("app_mention", {**body, "type": "app_mention"}, channel)]


def _edited(change: changes.Edited, state: State) -> list[Event]:
    channel = state.channels[change.message.channel]
    if change.quiet or change.message.only_for or state.bot.id not in channel.members:
        return []
    subscription, channel_type = _MESSAGE_EVENTS[channel.kind]
    now = state.clock.timestamp()
    after = message_object(state, change.message)
    body = {
        "type": "message",
        "subtype": "message_changed",
        "hidden": True,
        "channel": channel.id,
        "channel_type": channel_type,
        "ts": now,
        "event_ts": now,
        "message": after,
        "previous_message": message_object(state, change.before),
    }
    newly = [] if f"<@{state.bot.id}" in change.before.text else _mentions(after, channel, state)
    mentions = [
        Event(each.subscription, each.body | {"channel": channel.id, "event_ts": now}, channel) for each in newly
    ]
    return [*mentions, Event(subscription, body, channel)]


def _deleted(change: changes.Deleted, state: State) -> list[Event]:
    channel = state.channels[change.message.channel]
    if change.message.only_for or state.bot.id not in channel.members:
        return []
    subscription, channel_type = _MESSAGE_EVENTS[channel.kind]
    now = state.clock.timestamp()
    body = {
        "type": "message",
        "subtype": "message_deleted",
        "hidden": True,
        "channel": channel.id,
        "channel_type": channel_type,
        "ts": now,
        "event_ts": now,
        "deleted_ts": change.message.ts,
        "previous_message": message_object(state, change.message),
    }
    return [Event(subscription, body, channel)]


def _reacted(change: changes.Reacted, state: State) -> list[Event]:
    channel = state.channels[change.message.channel]
    if state.bot.id not in channel.members:
        return []
    name = "reaction_added" if change.added else "reaction_removed"
    body = {
        "type": name,
        "user": change.user,
        "reaction": change.reaction,
        "item": {"type": "message", "channel": channel.id, "ts": change.message.ts},
        "item_user": change.message.user,
        "event_ts": state.clock.timestamp(),
    }
    return [Event(name, body, channel)]


def _membership(name: str, channel: Channel, user: str, state: State, inviter: str | None = None) -> list[Event]:
    if state.bot.id not in channel.members:
        return []
    body = {
        "type": name,
        "user": user,
        "channel": channel.id,
        "channel_type": "C" if channel.kind == "public" else "G",
        "team": state.team.id,
        "event_ts": state.clock.timestamp(),
    }
    return [Event(name, body | ({"inviter": inviter} if inviter else {}), channel)]


def _left(change: changes.Left, state: State) -> list[Event]:
    if change.user != state.bot.id:
        return _membership("member_left_channel", change.channel, change.user, state)
    name = "channel_left" if change.channel.kind == "public" else "group_left"
    body = {"type": name, "channel": change.channel.id, "event_ts": state.clock.timestamp()}
    return [Event(name, body, change.channel)]


def _channel_changed(change: changes.ChannelChanged, state: State) -> list[Event]:
    before, channel = change.before, change.channel
    public = channel.kind == "public"
    if before is None or (not public and state.bot.id not in before.members):
        return []
    now = state.clock.timestamp()
    prefix = "channel" if public else "group"
    if channel.id not in state.channels:
        name = f"{prefix}_deleted"
        return [Event(name, {"type": name, "channel": channel.id, "event_ts": now}, channel)]
    events: list[Event] = []
    if before.archived != channel.archived:
        name = f"{prefix}_archive" if channel.archived else f"{prefix}_unarchive"
        events.append(Event(name, {"type": name, "channel": channel.id, "user": "", "event_ts": now}, channel))
    if before.name != channel.name:
        name = f"{prefix}_rename"
        body = {"id": channel.id, "name": channel.name, "created": 0}
        events.append(Event(name, {"type": name, "channel": body, "event_ts": now}, channel))
    if before.shared != channel.shared:
        name = "channel_shared" if channel.shared else "channel_unshared"
        team = next(iter(set(channel_object(state, channel)["shared_team_ids"]) - {state.team.id}), "")
        body = {"type": name, "channel": channel.id, "connected_team_id": team, "event_ts": now}
        events.append(Event(name, body, channel))
    return events


def _person_changed(change: changes.PersonChanged, state: State) -> list[Event]:
    name = "user_change" if change.before else "team_join"
    user = user_object(state, change.person, with_email="users:read.email" in state.manifest.scopes)
    now = state.clock.timestamp()
    return [Event(name, {"type": name, "user": user, "cache_ts": int(state.clock.now()), "event_ts": now})]


def _home_opened(change: changes.HomeOpened, state: State) -> list[Event]:
    body: Json = {
        "type": "app_home_opened",
        "user": change.user,
        "channel": change.channel,
        "tab": change.tab,
        "event_ts": state.clock.timestamp(),
    }
    if change.tab == "home" and change.user in state.views.homes:
        body["view"] = state.views.homes[change.user]
    return [Event("app_home_opened", body)]


def _file_shared(change: changes.FileShared, state: State) -> list[Event]:
    channel = state.channels[change.channel]
    file = state.files.get(change.file_id)
    if file is None or state.bot.id not in channel.members:
        return []
    body = {
        "type": "file_shared",
        "file_id": file.id,
        "file": {"id": file_object(state, file)["id"]},
        "user_id": change.user,
        "channel_id": channel.id,
        "event_ts": state.clock.timestamp(),
    }
    return [Event("file_shared", body, channel)]
