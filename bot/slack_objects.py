"""Slack's objects and events as the facts that are kept of them; whatever they do not say is unknown. Pure."""

from collections.abc import Mapping
from typing import Any

from knowledge.permissions import PersonKind, PlaceKind

Json = Mapping[str, Any]


def person_facts(user: Json, our_team: str) -> dict[str, Any]:
    """What is kept of Slack's user object. Whatever it does not say makes the kind `unknown`."""
    profile = user.get("profile") or {}
    name = profile.get("display_name") or profile.get("real_name") or user.get("name") or ""
    return {
        "name": name,
        "kind": _person_kind(user, our_team),
        "admin": bool(user.get("is_admin") or user.get("is_owner")),
    }


def _person_kind(user: Json, our_team: str) -> PersonKind:
    teams = {user.get("team_id"), *((user.get("enterprise_user") or {}).get("teams") or ())}
    if not user.get("id") or "deleted" not in user or not user.get("team_id"):
        return PersonKind.UNKNOWN
    if user["deleted"]:
        return PersonKind.DEACTIVATED
    if user.get("is_bot") or user["id"] == "USLACKBOT":
        return PersonKind.BOT
    if our_team not in teams or user.get("is_stranger"):
        return PersonKind.EXTERNAL
    if user.get("is_restricted") or user.get("is_ultra_restricted"):
        return PersonKind.GUEST
    return PersonKind.MEMBER if "is_restricted" in user else PersonKind.UNKNOWN


def channel_facts(channel: Json) -> dict[str, Any]:
    """What is kept of Slack's conversation object; a conversation of no known kind is `unknown`."""
    shares = (
        "is_shared",
        "is_ext_shared",
        "is_org_shared",
        "is_pending_ext_shared",
        "pending_shared",
        "pending_connected_team_ids",
    )
    return {
        "name": channel.get("name") or "",
        "kind": _place_kind(channel),
        "shared": any(channel.get(share) for share in shares),
        "archived": bool(channel.get("is_archived")),
        "with": channel.get("user") or "",
    }


def _place_kind(channel: Json) -> PlaceKind:
    if channel.get("is_im"):
        return PlaceKind.DIRECT
    if channel.get("is_mpim"):
        return PlaceKind.GROUP_DM
    if channel.get("is_private") or channel.get("is_group"):
        return PlaceKind.PRIVATE
    # Only an explicit `false` makes a channel public.
    return PlaceKind.PUBLIC if channel.get("is_channel") and channel.get("is_private") is False else PlaceKind.UNKNOWN


CONVERSIONS = frozenset({"channel_convert_to_private", "channel_convert_to_public"})
"""Not events of their own: they come as the subtype of a message."""


def doubtful(event: Json) -> tuple[str, ...]:
    """The keys of the facts that an event of Slack makes doubtful; `kind:*` for all of a kind."""
    kind = str(event.get("type"))
    channel, person = _id(event.get("channel")), _id(event.get("user"))
    everything_of = (f"channel:{channel}", f"members:{channel}", "public_channels:")
    if kind == "message" and event.get("subtype") in CONVERSIONS:
        return everything_of
    match kind:
        case "member_joined_channel" | "member_left_channel":
            return (f"members:{channel}", f"channels_of:{person}")
        case "channel_left" | "group_left" | "channel_deleted" | "group_deleted" | "channel_created":
            return (*everything_of, "channels_of:*")
        case "channel_archive" | "channel_unarchive" | "group_archive" | "group_unarchive":
            return everything_of
        case "channel_rename" | "group_rename" | "channel_shared" | "channel_unshared":
            return everything_of
        case "channel_id_changed":
            renamed = [_id(event.get(key)) for key in ("old_channel_id", "new_channel_id")]
            each = [key for c in renamed for key in (f"channel:{c}", f"members:{c}")]
            return (*each, "public_channels:", "channels_of:*")
        case "user_change" | "team_join":
            return (f"person:{person}", f"channels_of:{person}")
        case _:
            return ()


def _id(value: object) -> str:
    """Slack names a channel or user by id in one event and by object in another."""
    return str(value.get("id", "")) if isinstance(value, Mapping) else str(value or "")
