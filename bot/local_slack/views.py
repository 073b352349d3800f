"""Modals and Home tabs: what each person has open, and the pure reading of their input fields."""

import secrets
from collections.abc import Mapping
from typing import Any

from bot.local_slack.errors import ActionRefused, UnknownName

Json = dict[str, Any]

# "an app can have up to three views in the stack", https://docs.slack.dev/surfaces/modals
MODAL_DEPTH = 3


class ViewStore:
    """Per person one Home tab and one stack of modals (the last one is on top)."""

    def __init__(self) -> None:
        self.homes: dict[str, Json] = {}
        self.modals: dict[str, list[Json]] = {}

    def find(self, *, view_id: str | None = None, external_id: str | None = None) -> tuple[str, Json] | None:
        """Owner and view, by either id."""
        everything = [(user, view) for user, stack in self.modals.items() for view in stack]
        everything += self.homes.items()
        for user, view in everything:
            if (view_id and view["id"] == view_id) or (external_id and view.get("external_id") == external_id):
                return user, view
        return None

    def replace(self, user: str, old: Json, new: Json) -> None:
        if self.homes.get(user) is old:
            self.homes[user] = new
        stack = self.modals.get(user, [])
        self.modals[user] = [new if view is old else view for view in stack]

    def remove(self, user: str, view: Json) -> None:
        self.modals[user] = [each for each in self.modals.get(user, []) if each is not view]

    def clear(self, user: str) -> None:
        self.modals[user] = []


def new_view(view: Mapping[str, Any], *, team: str, app: str, bot: str, root: str | None = None) -> Json:
    """The view as Slack returns it: what the app sent plus ids, hash and empty state."""
    view_id = "V" + secrets.token_hex(5).upper()
    return {
        "private_metadata": "",
        "callback_id": "",
        "external_id": "",
        "clear_on_close": False,
        "notify_on_close": False,
        "close": None,
        "submit": None,
        "previous_view_id": None,
        **view,
        "id": view_id,
        "team_id": team,
        "app_id": app,
        "bot_id": bot,
        "root_view_id": root or view_id,
        "hash": secrets.token_hex(8),
        "state": {"values": {}},
        "blocks": with_block_ids(view.get("blocks", [])),
    }


def with_block_ids(blocks: list[Json]) -> list[Json]:
    """Slack gives every block an id, and every interactive element an action id, when the app did not."""
    return [
        {**_with_action_ids(block), "block_id": block.get("block_id") or secrets.token_urlsafe(4)} for block in blocks
    ]


def _with_action_ids(block: Json) -> Json:
    if isinstance(block.get("elements"), list) and block["type"] in ("actions", "context_actions"):
        return {**block, "elements": [_with_action_id(element) for element in block["elements"]]}
    named = {key: _with_action_id(block[key]) for key in ("element", "accessory") if isinstance(block.get(key), dict)}
    return {**block, **named}


def _with_action_id(element: Json) -> Json:
    if element.get("type") == "image" or element.get("action_id"):
        return element
    return {**element, "action_id": secrets.token_urlsafe(4)}


def state_values(view: Mapping[str, Any], given: Mapping[str, Any]) -> Json:
    """`view.state.values` for what a person entered.

    `given` maps an action id or block id to a plain value: text, an option's value, a list of them. Fields not
    given keep their initial value. Raises UnknownName for a field the view lacks, ActionRefused for a required
    field left empty, both as Slack's own client would before it sends anything.
    """
    fields = [
        (block, element)
        for block in view["blocks"]
        for element in (block.get("element"), block.get("accessory"), *block.get("elements", ()))
        if isinstance(element, dict) and element.get("type") in _FIELDS
    ]
    known = {name for block, element in fields for name in (block["block_id"], element["action_id"])}
    if unknown := set(given) - known:
        raise UnknownName(f"the view has no fields {sorted(unknown)}; it has {sorted(known)}")
    values: Json = {}
    for block, element in fields:
        value = given.get(element["action_id"], given.get(block["block_id"]))
        state = field_state(element, value)
        if block["type"] == "input" and not block.get("optional") and _is_empty(state):
            raise ActionRefused(f"the field {block['block_id']!r} ({block['label']['text']}) is required")
        values.setdefault(block["block_id"], {})[element["action_id"]] = state
    return values


def field_state(element: Mapping[str, Any], value: Any) -> Json:
    """One field's entry in `state.values`; a `value` of None means untouched, so the initial value counts."""
    kind: str = element["type"]
    key, initial = _FIELDS[kind]
    if value is None:
        return {"type": kind, key: element.get(initial, [] if key.endswith("s") else None)}
    if key == "selected_option":
        return {"type": kind, key: option(element, value)}
    if key == "selected_options":
        return {"type": kind, key: [option(element, each) for each in value]}
    return {"type": kind, key: value}


def option(element: Mapping[str, Any], value: Any) -> Json:
    """The option of a select, radio or overflow element whose value (or label) is `value`. Raises UnknownName."""
    options: list[Json] = list(element.get("options", ()))
    options += [each for group in element.get("option_groups", ()) for each in group["options"]]
    for each in options:
        if value in (each.get("value"), each["text"]["text"]):
            return each
    raise UnknownName(f"no option {value!r}; there are {[each.get('value') for each in options]}")


def _is_empty(state: Json) -> bool:
    return not any(value for key, value in state.items() if key != "type")


# element type -> (its key in state.values, the element's key for the initial value)
_FIELDS: dict[str, tuple[str, str]] = {
    "plain_text_input": ("value", "initial_value"),
    "email_text_input": ("value", "initial_value"),
    "url_text_input": ("value", "initial_value"),
    "number_input": ("value", "initial_value"),
    "static_select": ("selected_option", "initial_option"),
    "radio_buttons": ("selected_option", "initial_option"),
    "checkboxes": ("selected_options", "initial_options"),
    "multi_static_select": ("selected_options", "initial_options"),
    "users_select": ("selected_user", "initial_user"),
    "multi_users_select": ("selected_users", "initial_users"),
    "channels_select": ("selected_channel", "initial_channel"),
    "conversations_select": ("selected_conversation", "initial_conversation"),
    "datepicker": ("selected_date", "initial_date"),
    "timepicker": ("selected_time", "initial_time"),
}
