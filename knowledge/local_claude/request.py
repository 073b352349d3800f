"""A request: its search results, its question, its length, and what the API would refuse in it."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

Json = dict[str, Any]

_BIG = re.compile(r"(?:sonnet|opus|fable)-5")


def refused(body: Json, headers: Mapping[str, str]) -> tuple[int, str, str] | None:
    """Status, type and message of what the API would refuse in this request; `None` when it would take it."""
    if not (headers.get("authorization", "").startswith("Bearer ") or headers.get("x-api-key")):
        return 401, "authentication_error", "a key is required"
    for message in _problems(body, headers):
        return 400, "invalid_request_error", message
    return None


def _problems(body: Json, headers: Mapping[str, str]) -> Iterator[str]:
    if headers.get("anthropic-version", "") >= "2026-10-21":
        yield from (
            f"{name}: extra inputs are not permitted" for name in ("temperature", "top_p", "top_k") if name in body
        )
    cited = {bool(result.get("citations", {}).get("enabled")) for result in search_results(body)}
    if len(cited) > 1:
        yield "citations must be enabled on all or none of the search results"
    if True in cited and (body.get("output_config") or {}).get("format"):
        yield "citations are incompatible with output_config.format"
    big = bool(_BIG.search(body["model"]))
    if big and (body.get("tool_choice") or {}).get("type") in ("any", "tool"):
        yield "forced tool_choice is not supported by this model"
    if (body.get("thinking") or {}).get("type") in (("disabled", "enabled") if big else ("enabled",)):
        yield "this type of thinking is not supported by this model"
    if body["messages"][-1]["role"] == "assistant":
        yield "prefill is not supported by this model"
    yield from _block_problems(body)


def _block_problems(body: Json) -> Iterator[str]:
    waiting: set[str] = set()
    for message in body["messages"]:
        blocks = message["content"] if isinstance(message["content"], list) else []
        if missing := waiting - {b.get("tool_use_id") for b in blocks}:
            yield f"tool_use without a tool_result: {sorted(missing)}"
        waiting = {b["id"] for b in blocks if b["type"] == "tool_use"}
        if waiting and not body.get("tools"):
            yield "tool_use blocks need tools"
        for block in blocks:
            inner = block.get("content") if block["type"] in ("search_result", "tool_result") else [block]
            for text in (b for b in inner or () if isinstance(b, dict) and b.get("type") == "text"):
                if not text["text"].strip():
                    yield "text content blocks must not be blank"
                if message["role"] == "user" and text.get("citations"):
                    yield "citations are not permitted here"


def search_results(body: Json) -> Iterator[Json]:
    """All search results of a request in the order of their indexes."""
    for message in body["messages"]:
        for block in message["content"] if isinstance(message["content"], list) else ():
            if block["type"] == "search_result":
                yield block
            elif block["type"] == "tool_result" and isinstance(block.get("content"), list):
                yield from (b for b in block["content"] if b["type"] == "search_result")


def question(body: Json) -> str:
    """The last text a user wrote, in any of the messages."""
    for message in reversed(body["messages"]):
        if message["role"] != "user":
            continue
        content = message["content"]
        texts = [content] if isinstance(content, str) else [b["text"] for b in content if b["type"] == "text"]
        if texts:
            return re.split(r"(?:New question|Question): ", str(texts[-1]))[-1].strip()
    return ""


def tokens(body: Json) -> int:
    """About as many as the model would count."""
    return max(1, len(json.dumps(body)) // 4)
