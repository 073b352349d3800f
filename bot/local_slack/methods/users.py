"""users.* as a bot token sees them."""

from typing import Any

from bot.local_slack.arguments import Arguments
from bot.local_slack.errors import ApiError
from bot.local_slack.methods.registry import method, page, wanted_kinds
from bot.local_slack.objects import channel_object, user_object
from bot.local_slack.state import State
from bot.local_slack.workspace import Person

Json = dict[str, Any]


@method("users.info", "users:read", tier="4")
def users_info(state: State, arguments: Arguments) -> Json:
    person = state.people.get(arguments.required("user"))
    if person is None:
        raise ApiError("user_not_found")
    return {"user": _shown(state, person)}


@method("users.list", "users:read", tier="2")
def users_list(state: State, arguments: Arguments) -> Json:
    people, metadata = page(list(state.people.values()), arguments)
    return {"members": [_shown(state, person) for person in people], "response_metadata": metadata}


@method("users.lookupByEmail", "users:read.email")
def users_lookup_by_email(state: State, arguments: Arguments) -> Json:
    email = arguments.required("email").lower()
    for person in state.people.values():
        if person.email.lower() == email and person.kind != "deactivated":
            return {"user": _shown(state, person)}
    raise ApiError("users_not_found")


@method("users.conversations")
def users_conversations(state: State, arguments: Arguments) -> Json:
    """The user's public channels, and of the private ones only those the bot is in as well."""
    kinds = wanted_kinds(state, arguments)
    user = arguments.text("user") or state.bot.id
    if user not in state.people:
        raise ApiError("user_not_found")
    shared_with_bot = [
        channel
        for channel in state.channels.values()
        if user in channel.members
        and channel.kind in kinds
        and (channel.kind == "public" or state.bot.id in channel.members)
        and not (channel.archived and arguments.flag("exclude_archived"))
    ]
    channels, metadata = page(shared_with_bot, arguments)
    shown = [channel_object(state, channel) for channel in channels]
    for each in shown:
        each.pop("is_member", None)
        each.pop("num_members", None)
    return {"channels": shown, "response_metadata": metadata}


def _shown(state: State, person: Person) -> Json:
    return user_object(state, person, with_email="users:read.email" in state.manifest.scopes)
