"""conversations.* as a bot token sees them."""

from typing import Any

from bot.local_slack.arguments import Arguments
from bot.local_slack.errors import ApiError
from bot.local_slack.message import Message
from bot.local_slack.methods.registry import method, need_scope, page, visible_channel, wanted_kinds
from bot.local_slack.objects import channel_object, message_object
from bot.local_slack.state import State
from bot.local_slack.workspace import Channel

Json = dict[str, Any]


@method("conversations.info")
def conversations_info(state: State, arguments: Arguments) -> Json:
    channel = visible_channel(state, arguments.required("channel"), "read")
    shown = channel_object(state, channel)
    if not arguments.flag("include_num_members"):
        shown.pop("num_members", None)
    return {"channel": shown}


@method("conversations.list", tier="2")
def conversations_list(state: State, arguments: Arguments) -> Json:
    kinds = wanted_kinds(state, arguments)
    seen = [
        channel
        for channel in state.channels.values()
        if channel.kind in kinds
        and (channel.kind == "public" or state.bot.id in channel.members)
        and not (channel.archived and arguments.flag("exclude_archived"))
    ]
    channels, metadata = page(seen, arguments)
    return {"channels": [channel_object(state, each) for each in channels], "response_metadata": metadata}


@method("conversations.members", tier="4")
def conversations_members(state: State, arguments: Arguments) -> Json:
    channel = visible_channel(state, arguments.required("channel"), "read")
    members, metadata = page(sorted(channel.members), arguments)
    return {"members": members, "response_metadata": metadata}


@method("conversations.history")
def conversations_history(state: State, arguments: Arguments) -> Json:
    channel = _readable(state, arguments)
    messages = [each for each in state.history(channel.id) if _in_window(each, arguments)]
    shown, metadata = page(messages, arguments)
    return _messages(state, shown, metadata, arguments)


@method("conversations.replies")
def conversations_replies(state: State, arguments: Arguments) -> Json:
    channel = _readable(state, arguments)
    message = state.messages.get(channel.id, {}).get(arguments.required("ts"))
    if message is None:
        raise ApiError("thread_not_found")
    thread = state.thread(channel.id, message.root)
    replies = [each for each in thread if each.ts == message.root or _in_window(each, arguments)]
    shown, metadata = page(replies, arguments)
    return _messages(state, shown, metadata, arguments)


@method("conversations.open")
def conversations_open(state: State, arguments: Arguments) -> Json:
    """Opens the DM with one user; group DMs are not opened by the bot."""
    need_scope(state, "im:write")
    users = arguments.words("users")
    if reference := arguments.text("channel"):
        return {"channel": {"id": visible_channel(state, reference).id}}
    if len(users) != 1:
        raise ApiError("users_list_not_supplied" if not users else "not_supported")
    if users[0] not in state.people or users[0] == state.bot.id:
        raise ApiError("user_not_found")
    if state.people[users[0]].kind == "deactivated":
        raise ApiError("user_disabled")
    return {"channel": {"id": state.dm(users[0]).id}}


@method("conversations.join", "channels:join")
def conversations_join(state: State, arguments: Arguments) -> Json:
    channel = visible_channel(state, arguments.required("channel"))
    if channel.kind != "public":
        raise ApiError("method_not_supported_for_channel_type")
    if channel.archived:
        raise ApiError("is_archived")
    state.add_member(channel, state.bot.id)
    return {"channel": channel_object(state, state.channels[channel.id])}


def _readable(state: State, arguments: Arguments) -> Channel:
    channel = visible_channel(state, arguments.required("channel"), "history")
    if state.bot.id not in channel.members:
        raise ApiError("not_in_channel")
    return channel


def _in_window(message: Message, arguments: Arguments) -> bool:
    try:
        oldest = float(arguments.text("oldest") or 0)
        latest = float(arguments.text("latest") or "inf")
    except ValueError as error:
        raise ApiError("invalid_ts_oldest") from error
    time = float(message.ts)
    on_edge = arguments.flag("inclusive") and time in (oldest, latest)
    return oldest < time < latest or on_edge


def _messages(state: State, messages: list[Message], metadata: Json, arguments: Arguments) -> Json:
    with_metadata = arguments.flag("include_all_metadata")
    return {
        "messages": [message_object(state, each, with_metadata=with_metadata) for each in messages],
        "has_more": bool(metadata["next_cursor"]),
        "response_metadata": metadata,
    }
