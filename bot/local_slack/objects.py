"""Slack's JSON objects for people, channels, messages and files, as its API reference shows them. Pure reads."""

import re
from typing import Any

from bot.local_slack.files import StoredFile
from bot.local_slack.message import Message
from bot.local_slack.state import State
from bot.local_slack.workspace import Channel, Person

Json = dict[str, Any]


def user_object(state: State, person: Person, *, with_email: bool) -> Json:
    """`is_stranger` is left out on purpose: Slack sends it for some external people only."""
    team = person.team or state.team.id
    profile = {
        "real_name": person.real_name or person.name,
        "display_name": person.name,
        "title": person.title,
        "team": team,
    }
    if with_email and person.email:
        profile["email"] = person.email
    user: Json = {
        "id": person.id,
        "team_id": team,
        "name": person.name,
        "deleted": person.kind == "deactivated",
        "is_bot": person.kind == "bot",
        "is_app_user": False,
        "updated": 0,
        "profile": profile,
    }
    if person.kind == "bot":
        user["profile"]["bot_id"] = state.bot.bot_id
    if person.kind != "deactivated":
        user |= {
            "real_name": person.real_name or person.name,
            "tz": "Etc/UTC",
            "is_admin": person.admin,
            "is_owner": False,
            "is_restricted": person.is_guest,
            "is_ultra_restricted": person.kind == "single_channel_guest",
        }
    return user


def channel_object(state: State, channel: Channel) -> Json:
    if channel.kind == "im":
        other = next(user for user in channel.members if user != state.bot.id)
        return {"id": channel.id, "is_im": True, "is_private": True, "user": other, "is_user_deleted": False}
    others = {state.people[user].team for user in channel.members} - {"", state.team.id}
    return {
        "id": channel.id,
        "name": channel.name,
        "name_normalized": channel.name,
        "is_channel": channel.kind == "public",
        "is_group": channel.kind == "private",
        "is_im": False,
        "is_mpim": channel.kind == "group_dm",
        "is_private": channel.kind != "public",
        "is_archived": channel.archived,
        "is_general": channel.name == "general",
        "is_shared": channel.shared,
        "is_ext_shared": channel.shared,
        "is_org_shared": False,
        "is_pending_ext_shared": channel.pending_shared,
        "shared_team_ids": sorted({state.team.id, *others}) if channel.shared else [state.team.id],
        "context_team_id": state.team.id,
        "is_member": state.bot.id in channel.members,
        "num_members": len(channel.members),
        "topic": {"value": channel.topic, "creator": "", "last_set": 0},
        "purpose": {"value": channel.purpose, "creator": "", "last_set": 0},
        "creator": "",
        "created": 0,
    }


def message_object(state: State, message: Message, *, with_metadata: bool = False) -> Json:
    author = state.people.get(message.user)
    shown: Json = {
        "type": "message",
        "user": message.user,
        "text": message.text,
        "ts": message.ts,
        "team": (author.team if author else "") or state.team.id,
    }
    optional = {
        "subtype": message.subtype,
        "thread_ts": message.thread_ts,
        "blocks": message.blocks,
        "attachments": message.attachments,
        "files": [file_object(state, file) for each in message.files if (file := state.files.get(each))],
        "edited": {"user": message.edited_by, "ts": message.edited_ts} if message.edited_ts else None,
        "reactions": [
            {"name": name, "users": list(users), "count": len(users)} for name, users in message.reactions.items()
        ],
        "metadata": message.metadata if with_metadata else None,
    }
    shown |= {key: value for key, value in optional.items() if value}
    if message.from_bot:
        shown |= {
            "bot_id": state.bot.bot_id,
            "app_id": state.bot.app_id,
            "bot_profile": {"id": state.bot.bot_id, "app_id": state.bot.app_id, "name": state.bot.name},
        }
    if message.stream:
        is_open = message.stream.is_open(state.clock.now())
        shown["streaming_state"] = "in_progress" if is_open else "completed"
        shown["text"] = message.text or mrkdwn(message.stream.markdown())
    replies = [] if message.is_reply else state.thread(message.channel, message.ts)[1:]
    if replies:
        writers = list(dict.fromkeys(reply.user for reply in replies))
        shown |= {
            "thread_ts": message.ts,
            "reply_count": len(replies),
            "reply_users": writers,
            "reply_users_count": len(writers),
            "latest_reply": replies[-1].ts,
        }
    return shown


def file_object(state: State, file: StoredFile) -> Json:
    extension = file.name.rpartition(".")[2].lower()
    link = f"{state.address}/files/{file.id}/{file.name}"
    return {
        "id": file.id,
        "created": file.created,
        "timestamp": file.created,
        "name": file.name,
        "title": file.title or file.name,
        "alt_txt": file.alt_text,
        "mimetype": mimetype(file.name),
        "filetype": extension,
        "user": file.user,
        "size": len(file.content or b""),
        "mode": "hosted",
        "is_external": False,
        "is_public": any(state.channels[channel].kind == "public" for channel in file.channels),
        "url_private": link,
        "url_private_download": link,
        "permalink": link,
        "channels": [each for each in file.channels if state.channels[each].kind == "public"],
        "groups": [each for each in file.channels if state.channels[each].kind in ("private", "group_dm")],
        "ims": [each for each in file.channels if state.channels[each].kind == "im"],
    }


def mimetype(name: str) -> str:
    """By extension; only pictures get a type that a browser would draw."""
    known = {
        "png": "image/png",
        "jpg": "image/jpeg",
        "jpeg": "image/jpeg",
        "gif": "image/gif",
        "pdf": "application/pdf",
    }
    extension = name.rpartition(".")[2].lower()
    return known.get(extension, "text/plain" if extension in ("txt", "md", "csv") else "application/octet-stream")


def mrkdwn(markdown: str) -> str:
    """A stream's Markdown as Slack reads it back in `text`: bold, headings, bullets and links in its own notation."""
    text = re.sub(r"\[([^\]]*)\]\(([^)\s]*)\)", r"<\2|\1>", markdown)
    text = re.sub(r"\*\*([^\n]+?)\*\*", r"*\1*", text)
    text = re.sub(r"(?m)^#+ ", "", text)
    return re.sub(r"(?m)^[-*] ", "• ", text)
