"""reactions.*"""

from typing import Any

from bot.local_slack.arguments import Arguments
from bot.local_slack.errors import ApiError
from bot.local_slack.message import Message
from bot.local_slack.methods.registry import method, visible_channel, visible_message
from bot.local_slack.objects import message_object
from bot.local_slack.state import State

Json = dict[str, Any]


@method("reactions.add", "reactions:write")
def reactions_add(state: State, arguments: Arguments) -> Json:
    message = _target(state, arguments)
    if not state.react(message, state.bot.id, _name(arguments), added=True):
        raise ApiError("already_reacted")
    return {}


@method("reactions.remove", "reactions:write", tier="2")
def reactions_remove(state: State, arguments: Arguments) -> Json:
    message = _target(state, arguments)
    if not state.react(message, state.bot.id, _name(arguments), added=False):
        raise ApiError("no_reaction")
    return {}


@method("reactions.get", "reactions:read")
def reactions_get(state: State, arguments: Arguments) -> Json:
    message = _target(state, arguments)
    return {"type": "message", "channel": message.channel, "message": message_object(state, message)}


def _target(state: State, arguments: Arguments) -> Message:
    channel = visible_channel(state, arguments.required("channel"))
    if state.bot.id not in channel.members:
        raise ApiError("not_in_channel")
    if channel.archived:
        raise ApiError("is_archived")
    return visible_message(state, channel, arguments.required("timestamp"))


def _name(arguments: Arguments) -> str:
    name = arguments.required("name").strip(":")
    if not name.replace("_", "").replace("-", "").replace("+", "").replace(":", "").replace("'", "").isalnum():
        if name in ("-1", "+1"):
            return name
        raise ApiError("invalid_name")
    return name
