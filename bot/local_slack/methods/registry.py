"""The table of Web API methods, and the checks that many of them share."""

import base64
import binascii
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from bot.local_slack.arguments import Arguments
from bot.local_slack.errors import ApiError
from bot.local_slack.message import Message
from bot.local_slack.state import State
from bot.local_slack.workspace import Channel

Json = dict[str, Any]
Run = Callable[[State, Arguments], Json]
Item = TypeVar("Item")

MAX_PAGE = 1000


@dataclass(frozen=True)
class Method:
    """`scopes` are all needed; `tier` is a key of limits.PER_MINUTE; `token` is "bot" or "app"."""

    name: str
    run: Run
    scopes: tuple[str, ...]
    tier: str
    token: str


METHODS: dict[str, Method] = {}


def method(name: str, *scopes: str, tier: str = "3", token: str = "bot") -> Callable[[Run], Run]:
    """Register a function as the Web API method `name`."""

    def register(run: Run) -> Run:
        METHODS[name] = Method(name, run, scopes, tier, token)
        return run

    return register


# Which scope family covers which kind of conversation: "channels:read" for public channels, and so on.
FAMILIES = {"public": "channels", "private": "groups", "group_dm": "mpim", "im": "im"}
KINDS = {"public_channel": "public", "private_channel": "private", "mpim": "group_dm", "im": "im"}


def need_scope(state: State, scope: str) -> None:
    """Raises ApiError("missing_scope")."""
    if scope not in state.manifest.scopes:
        raise ApiError("missing_scope", needed=scope, provided=",".join(sorted(state.manifest.scopes)))


def wanted_kinds(state: State, arguments: Arguments) -> set[str]:
    """The conversation kinds in `types`, public channels when not given. Raises invalid_types or missing_scope."""
    types = arguments.words("types", "public_channel")
    if unknown := [each for each in types if each not in KINDS]:
        raise ApiError("invalid_types", provided=unknown)
    for each in types:
        need_scope(state, f"{FAMILIES[KINDS[each]]}:read")
    return {KINDS[each] for each in types}


def visible_channel(state: State, reference: str, access: str = "") -> Channel:
    """A conversation the bot can see: public, or one it is in. `access` ("read", "history") names the scope needed.

    Raises ApiError("channel_not_found") for the others, which is how Slack keeps a private channel's existence secret.
    """
    channel = state.channels.get(reference)
    if channel is None or (channel.kind != "public" and state.bot.id not in channel.members):
        raise ApiError("channel_not_found")
    if access:
        need_scope(state, f"{FAMILIES[channel.kind]}:{access}")
    return channel


def writable_channel(state: State, reference: str) -> Channel:
    """A conversation the bot may post in. A user's id means the DM; "#name" works as in chat.postMessage."""
    if reference in state.people and reference != state.bot.id:
        if state.people[reference].kind == "deactivated":
            raise ApiError("user_disabled")
        return state.dm(reference)
    if reference.startswith("#"):
        names = {channel.name: channel.id for channel in state.channels.values()}
        reference = names.get(reference[1:], reference)
    channel = visible_channel(state, reference)
    if state.bot.id not in channel.members and "chat:write.public" not in state.manifest.scopes:
        raise ApiError("not_in_channel")
    if channel.archived:
        raise ApiError("is_archived")
    return channel


def visible_message(state: State, channel: Channel, ts: str) -> Message:
    """Raises ApiError("message_not_found"); ephemeral messages cannot be found, as in Slack."""
    message = state.messages.get(channel.id, {}).get(ts)
    if message is None:
        raise ApiError("message_not_found")
    return message


def page(items: Sequence[Item], arguments: Arguments, default: int = 100) -> tuple[list[Item], Json]:
    """One page by `limit` and `cursor`, and the metadata with the next cursor ("" at the end).

    Raises ApiError: invalid_limit, invalid_cursor.
    """
    limit = arguments.number("limit", default)
    if not 1 <= limit <= MAX_PAGE:
        raise ApiError("invalid_limit")
    start = 0
    if cursor := arguments.text("cursor"):
        try:
            start = int(base64.b64decode(cursor, validate=True).decode().removeprefix("next:"))
        except (ValueError, binascii.Error) as error:
            raise ApiError("invalid_cursor") from error
    end = start + limit
    following = base64.b64encode(f"next:{end}".encode()).decode() if end < len(items) else ""
    return list(items[start:end]), {"next_cursor": following}
