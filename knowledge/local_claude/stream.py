"""A message as the API's events, and how a script lets them go wrong."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator

from knowledge.local_claude.request import Json
from knowledge.local_claude.step import Step


async def stream(message: Json, step: Step) -> AsyncIterator[str]:
    """The lines of an event stream; ends early, or with an error event, when the step says so."""
    async for name, data in _until_cut(_events(message), step):
        yield f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n"


async def _until_cut(events: Iterator[tuple[str, Json]], step: Step) -> AsyncIterator[tuple[str, Json]]:
    for number, event in enumerate(events):
        if step.cut_after is not None and number >= step.cut_after:
            return
        if step.error_after is not None and number >= step.error_after:
            yield "error", {"error": {"type": step.error, "message": "scripted"}}
            return
        if step.word_s and event[0] == "content_block_delta":
            await asyncio.sleep(step.word_s)
        yield event


def _events(message: Json) -> Iterator[tuple[str, Json]]:
    yield "message_start", {"message": {**message, "content": [], "stop_reason": None, "stop_details": None}}
    yield "ping", {}
    for index, block in enumerate(message["content"]):
        yield from _block_events(index, block)
    delta = {name: message[name] for name in ("stop_reason", "stop_sequence", "stop_details")}
    yield "message_delta", {"delta": delta, "usage": {"output_tokens": message["usage"]["output_tokens"]}}
    yield "message_stop", {}


def _block_events(index: int, block: Json) -> Iterator[tuple[str, Json]]:
    start: Json = {"tool_use": {**block, "input": {}}, "thinking": {**block, "thinking": "", "signature": ""}}.get(
        block["type"], {"type": "text", "text": "", **({"citations": []} if block.get("citations") else {})}
    )
    yield "content_block_start", {"index": index, "content_block": start}
    deltas: list[Json] = [{"type": "citations_delta", "citation": c} for c in block.get("citations") or ()]
    if block["type"] == "tool_use":
        deltas.append({"type": "input_json_delta", "partial_json": json.dumps(block["input"])})
    elif block["type"] == "thinking":
        deltas += [
            {"type": "thinking_delta", "thinking": block["thinking"]},
            {"type": "signature_delta", "signature": block.get("signature", "s")},
        ]
    else:
        deltas += [{"type": "text_delta", "text": word} for word in re.findall(r"\S+\s*|\s+", block["text"])]
    for delta in deltas:
        yield "content_block_delta", {"index": index, "delta": delta}
    yield "content_block_stop", {"index": index}
