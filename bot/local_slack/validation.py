"""Slack's limits on blocks and views: slack_sdk's own models plus the documented limits that those do not check. Pure."""

from collections.abc import Iterator, Sequence
from typing import Any

from slack_sdk.errors import SlackObjectFormationError
from slack_sdk.models.blocks import Block
from slack_sdk.models.views import View

from bot.local_slack.errors import ApiError

Json = dict[str, Any]

MESSAGE_BLOCKS = 50
MARKDOWN_CHARS = 12_000
# Undocumented, measured by others (bolt-js issue 2509): the blocks of one message together.
MESSAGE_BLOCKS_CHARS = 13_200
TABLE_ROWS, TABLE_COLUMNS = 100, 20
TEXT_CHARS = 40_000
UPDATE_TEXT_CHARS = 4_000
VIEW_BYTES = 250_000
# In Slack's reference, without a model in slack_sdk 3.48.
_UNMODELLED = frozenset({"data_table"})


def check_message_blocks(blocks: Sequence[Json]) -> None:
    """Raises ApiError: invalid_blocks, msg_blocks_too_long or invalid_attachments, with the reason in the metadata."""
    if len(blocks) > MESSAGE_BLOCKS:
        raise invalid_blocks(f"no more than {MESSAGE_BLOCKS} items allowed [json-pointer:/blocks]")
    _check_each(blocks)
    if sum(block.get("type") == "table" for block in blocks) > 1:
        raise ApiError("invalid_attachments", response_metadata={"messages": ["[ERROR] only_one_table_allowed"]})
    if sum(map(len, _texts(blocks))) > MESSAGE_BLOCKS_CHARS:
        raise ApiError("msg_blocks_too_long")


def check_view(view: Json) -> None:
    """Raises ApiError("invalid_arguments") or ApiError("view_too_large")."""
    blocks = view.get("blocks", [])
    try:
        View(**view).to_dict()
        _check_each(blocks)
    except (SlackObjectFormationError, TypeError) as error:
        raise _invalid_view(str(error)) from error
    except ApiError as error:
        raise _invalid_view(str(error.details)) from error
    if view.get("type") == "modal" and not view.get("title"):
        raise _invalid_view("missing required field: title [json-pointer:/view]")
    if any(block["type"] == "input" for block in blocks) and view["type"] == "modal" and not view.get("submit"):
        raise _invalid_view("missing required field: submit [json-pointer:/view]")
    if len(str(view).encode()) > VIEW_BYTES:
        raise ApiError("view_too_large")


def invalid_blocks(reason: str) -> ApiError:
    return ApiError("invalid_blocks", errors=[reason], response_metadata={"messages": [f"[ERROR] {reason}"]})


def _invalid_view(reason: str) -> ApiError:
    return ApiError("invalid_arguments", response_metadata={"messages": [f"[ERROR] {reason}"]})


def _check_each(blocks: Sequence[Json]) -> None:
    seen: set[str] = set()
    for number, block in enumerate(blocks):
        where = f"[json-pointer:/blocks/{number}]"
        if not isinstance(block, dict) or "type" not in block:
            raise invalid_blocks(f"missing required field: type {where}")
        if block.get("block_id") in seen:
            raise invalid_blocks(f"block_id already exists: {block['block_id']} {where}")
        seen |= {block["block_id"]} if block.get("block_id") else set()
        _check_model(block, where)
        if block["type"] == "table":
            _check_table(block, where)
        if any(not text for text in _texts([block])):
            raise invalid_blocks(f"must be more than 0 characters {where}")
        ids = [
            each["action_id"] for each in block.get("elements", ()) if isinstance(each, dict) and "action_id" in each
        ]
        if len(ids) != len(set(ids)):
            raise invalid_blocks(f"action_id already exists in this block {where}")


def _check_model(block: Json, where: str) -> None:
    if block["type"] in _UNMODELLED:
        return
    try:
        parsed = Block.parse(block)
        if parsed is None:
            raise invalid_blocks(f"unsupported type: {block['type']} {where}")
        parsed.to_dict()
    except (SlackObjectFormationError, TypeError, AttributeError, KeyError) as error:
        raise invalid_blocks(f"{error} {where}") from error
    if unknown := sorted(set(block) - set(parsed.attributes)):
        raise invalid_blocks(f"invalid additional property: {', '.join(unknown)} {where}")


def _check_table(block: Json, where: str) -> None:
    rows = block.get("rows", ())
    if not 1 <= len(rows) <= TABLE_ROWS or any(not 1 <= len(row) <= TABLE_COLUMNS for row in rows):
        raise invalid_blocks(f"a table has at most {TABLE_ROWS} rows of {TABLE_COLUMNS} cells {where}")
    if len({len(row) for row in rows}) != 1:
        raise invalid_blocks(f"the rows of a table have the same number of cells {where}")


def _texts(value: object) -> Iterator[str]:
    """Every text a reader would see in some blocks, wherever it is nested."""
    if isinstance(value, dict):
        if isinstance(value.get("text"), str):
            yield value["text"]
        for key, each in value.items():
            if key != "text" or not isinstance(each, str):
                yield from _texts(each)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _texts(each)
