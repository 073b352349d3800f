"""What Slack sends when a person uses a command, a shortcut, a button or a form. Pure apart from the ids passed in."""

from collections.abc import Mapping
from typing import Any

from bot.local_slack.errors import UnknownName
from bot.local_slack.message import Message
from bot.local_slack.objects import message_object
from bot.local_slack.state import State
from bot.local_slack.views import field_state, option
from bot.local_slack.workspace import Channel, Person

Json = dict[str, Any]


def command_payload(
    state: State, person: Person, channel: Channel, name: str, text: str, *, trigger_id: str, response_url: str
) -> Json:
    return {
        "token": "verification-token-is-deprecated",
        "team_id": state.team.id,
        "team_domain": state.team.domain,
        "channel_id": channel.id,
        "channel_name": "directmessage" if channel.kind == "im" else channel.name,
        "user_id": person.id,
        "user_name": person.name,
        "command": name,
        "text": text,
        "api_app_id": state.bot.app_id,
        "is_enterprise_install": "false",
        "response_url": response_url,
        "trigger_id": trigger_id,
    }


def interaction(state: State, person: Person, kind: str, trigger_id: str) -> Json:
    """The fields that every interactive payload has."""
    return {
        "type": kind,
        "token": "verification-token-is-deprecated",
        "user": {
            "id": person.id,
            "username": person.name,
            "name": person.name,
            "team_id": person.team or state.team.id,
        },
        "api_app_id": state.bot.app_id,
        "team": {"id": state.team.id, "domain": state.team.domain},
        "enterprise": None,
        "is_enterprise_install": False,
        "trigger_id": trigger_id,
    }


def message_source(state: State, message: Message) -> Json:
    """Where a click happened. As in Slack, an ephemeral message is not repeated in the payload."""
    channel = state.channels[message.channel]
    container: Json = {
        "type": "message",
        "message_ts": message.ts,
        "channel_id": message.channel,
        "is_ephemeral": message.only_for is not None,
    }
    if message.thread_ts:
        container["thread_ts"] = message.thread_ts
    name = "directmessage" if channel.kind == "im" else channel.name
    source: Json = {"container": container, "channel": {"id": channel.id, "name": name}}
    if message.only_for is None:
        source["message"] = message_object(state, message)
    return source


def view_source(view: Mapping[str, Any]) -> Json:
    return {"container": {"type": "view", "view_id": view["id"]}, "view": dict(view)}


def find_element(blocks: list[Json], action_id: str, block_id: str | None) -> tuple[Json, Json]:
    """The block and the interactive element with this action id. Raises UnknownName."""
    known = []
    for block in blocks:
        for element in (block.get("accessory"), block.get("element"), *block.get("elements", ())):
            if isinstance(element, dict) and "action_id" in element:
                known.append(element["action_id"])
                if element["action_id"] == action_id and block_id in (None, block.get("block_id")):
                    return block, element
    raise UnknownName(f"nothing to click with action id {action_id!r}; there are {known}")


def action(block: Json, element: Json, value: Any, action_ts: str) -> Json:
    """One entry of `actions`. `value` is the choice of a select or feedback element, None for a plain button.

    A feedback element takes "positive", "negative" or either button's own value. Raises UnknownName.
    """
    kind: str = element["type"]
    base = {
        "type": kind,
        "action_id": element["action_id"],
        "block_id": block.get("block_id", ""),
        "action_ts": action_ts,
    }
    match kind:
        case "button" | "icon_button":
            extra = {"text": element["text"]} | ({"value": element["value"]} if "value" in element else {})
        case "feedback_buttons":
            extra = _feedback(element, value)
        case "overflow":
            extra = {"selected_option": option(element, value)}
        case _:
            extra = field_state(element, value)
    return base | extra


def _feedback(element: Json, value: Any) -> Json:
    buttons = {"positive": element["positive_button"], "negative": element["negative_button"]}
    for name, button in buttons.items():
        if value in (name, button["value"]):
            return {"text": button["text"], "value": button["value"]}
    raise UnknownName(f"no feedback {value!r}; there are {[button['value'] for button in buttons.values()]}")
