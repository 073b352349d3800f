"""A local stand-in for the Claude Messages API: an ASGI application for tests and the demo, over real HTTP.

It answers by quoting, with true citations, the blocks of the request's `search_result`s that share most words with the
question, and streams them in the API's order of events. What it assumes about the real API, all in one place:

1.  A key comes as `Authorization: Bearer` or `x-api-key`; without one the answer is 401 `authentication_error`.
2.  `temperature`, `top_p`, `top_k` are refused (400) at version 2026-10-21, as is a last message by the assistant.
3.  Search results with and without citations in one request, or citations with `output_config.format`, are 400;
    so are empty or blank text blocks, and citations on a user's text block.
4.  Sonnet, Opus and Fable 5.x refuse a forced `tool_choice`, and thinking `enabled` or `disabled`; Haiku `enabled`.
5.  `tool_use` blocks in the messages need `tools`, and a `tool_result` for each in the next message.
6.  `search_result_index` counts from 0 over all search results of the request, tool results included; block ranges
    exclude their end; `cited_text` is the joined text of the range.
7.  A stream is: message_start, ping, then per block content_block_start, its deltas (citations_delta before the text),
    content_block_stop; then message_delta with stop_reason and usage, message_stop.
8.  An overload after the start is an `error` event inside the 200 stream. A cut stream simply ends.
9.  A refusal is a 200 with stop_reason `refusal` and `stop_details`; it may come after text.
10. With `output_config.format` the text is JSON of that schema.
11. A model is described at /v1/models/NAME with its lifecycle: active, deprecated or retired; unknown names are 404.

Each request takes the next `Step` of the script, if there is one. Requests are kept for tests to read.
"""

import asyncio
import itertools
import json
import re
import threading
from collections import deque
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]

_WORD = re.compile(r"\w+")
_COMMON = frozenset(
    "the a an of to is are in on for and or what how do does i we our many much which when where who that it".split()  # noqa: SIM905
)
_BIG = re.compile(r"(?:sonnet|opus|fable)-5")
_ORDER = re.compile(
    r"\b(?:ignore|disregard|instead|assistant|system|from now on|every reply|tell the|reply with|click|append|add this)\b",
    re.IGNORECASE,
)
COVERAGE = 0.34
"""Share of the question's words that a block must have to be quoted."""


@dataclass(frozen=True)
class Step:
    """What happens to one request. Of the fields below the first that is set decides, `delay_s` comes before all.

    `status`: an HTTP error of type `error`, with `headers`. `search`: queries the model asks the tool for. `content`:
    text blocks as they are sent, instead of quotes. The rest changes how a stream goes: `error_after`/`cut_after` that
    many events, `stop_reason`, `obey`: the model does what it reads in the passages. `word_s`: seconds for each word.
    """

    delay_s: float = 0
    word_s: float = 0
    status: int | None = None
    error: str = "api_error"
    headers: Mapping[str, str] = field(default_factory=dict)
    search: tuple[str, ...] = ()
    content: tuple[Json, ...] | None = None
    error_after: int | None = None
    cut_after: int | None = None
    stop_reason: str | None = None
    obey: bool = False


class LocalClaude:
    """The application. `always`: the step for requests beyond the script. `lifecycles`: of models that are not active."""

    def __init__(self, *script: Step, always: Step = Step()) -> None:
        self.script = deque(script)
        self.always = always
        self.lifecycles: dict[str, str] = {}
        self.requests: list[Json] = []
        self._numbers = itertools.count(1)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            return await _lifespan(receive, send)
        body = json.loads(await _read(receive) or b"{}")
        headers = {name.decode().lower(): value.decode() for name, value in scope["headers"]}
        self.requests.append({"path": scope["path"], "headers": headers, "body": body})
        reply = _Reply(send, f"req_{next(self._numbers)}")
        if scope["path"] == "/v1/messages/count_tokens":
            return await reply.json(200, {"input_tokens": _tokens(body)})
        if scope["path"].startswith("/v1/models/claude-"):
            return await reply.json(200, self._model(scope["path"].removeprefix("/v1/models/")))
        if scope["path"] != "/v1/messages":
            return await reply.error(404, "not_found_error", f"no such path: {scope['path']}")
        step = self.script.popleft() if self.script else self.always
        await asyncio.sleep(step.delay_s)
        if step.status:
            return await reply.error(step.status, step.error, "scripted", step.headers)
        if fault := refused(body, headers):
            return await reply.error(*fault)
        message = self._message(body, step)
        if not body.get("stream"):
            return await reply.json(200, message)
        await reply.events(_events(message), step)

    def _model(self, name: str) -> Json:
        lifecycle = self.lifecycles.get(name, "active")
        retires_at = None if lifecycle == "active" else "2026-12-31T00:00:00Z"
        facts = {"type": "model", "id": name, "display_name": name, "created_at": "2026-01-01T00:00:00Z"}
        return {**facts, "lifecycle": lifecycle, "retires_at": retires_at}

    def _message(self, body: Json, step: Step) -> Json:
        if step.search:
            stop = "tool_use"
            content: list[Json] = [
                {"type": "tool_use", "id": f"toolu_{next(self._numbers)}", "name": "search", "input": {"query": query}}
                for query in step.search
            ]
        else:
            stop = "end_turn"
            content = list(step.content) if step.content is not None else written(body, step.obey)
            written_tokens = sum(len(block.get("text", "")) for block in content) // 4
            if written_tokens > body["max_tokens"]:
                stop = "max_tokens"
                content = [{**content[0], "text": content[0]["text"][: body["max_tokens"] * 4]}]
        stop = step.stop_reason or stop
        details = {"type": "refusal", "category": None, "explanation": None} if stop == "refusal" else None
        return {
            "id": f"msg_{next(self._numbers)}",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": content,
            "stop_reason": stop,
            "stop_sequence": None,
            "stop_details": details,
            "usage": {
                "input_tokens": _tokens(body),
                "output_tokens": max(1, sum(len(b.get("text", "")) for b in content) // 4),
                "cache_read_input_tokens": 0,
                "cache_creation_input_tokens": 0,
            },
        }


@contextmanager
def serve(claude: LocalClaude) -> Iterator[str]:
    """The application on a free port of 127.0.0.1; yields its address, for the setting `answers.base_url`."""
    import uvicorn

    server = uvicorn.Server(uvicorn.Config(claude, host="127.0.0.1", port=0, log_level="error", lifespan="on"))
    thread = threading.Thread(target=server.run, name="local-claude", daemon=True)
    thread.start()
    while not server.started:
        thread.join(0.01)
        if not thread.is_alive():
            raise RuntimeError("the local Claude did not start")
    try:
        [listener] = server.servers[0].sockets
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(10)


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


def written(body: Json, obey: bool = False) -> list[Json]:
    """The model's text blocks: JSON where a format is asked for, quotes with citations, or the line for nothing found."""
    asked = _question(body)
    if (body.get("output_config") or {}).get("format"):
        answer = {"stands_alone": True, "question": asked}
        return [{"type": "text", "text": json.dumps(answer, ensure_ascii=False)}]
    results = list(search_results(body))
    blocks = _quotes(asked, results)
    if not blocks:
        blocks = [{"type": "text", "text": f"NOT COVERED: The documents say nothing about this: {asked}"}]
    return [*_obeyed(results), *blocks, *_obeyed(results)] if obey else blocks


def _quotes(asked: str, results: Sequence[Json]) -> list[Json]:
    words, found = _words(asked), []
    for index, result in enumerate(results):
        for number, block in enumerate(result["content"]):
            if re.match(r"\s*(?:#|\|[-| :]+\|\s*$)", block["text"]) or _ORDER.search(block["text"]):
                continue
            found.append((len(words & _words(block["text"] + result["title"])) / (len(words) or 1), index, number))
    blocks: list[Json] = []
    for share, index, number in sorted(found, key=lambda f: -f[0])[:2]:
        if share >= COVERAGE:
            blocks += [_quoted(results[index], index, number), {"type": "text", "text": "\n\n"}]
    return blocks


def _quoted(result: Json, index: int, number: int) -> Json:
    text = result["content"][number]["text"]
    block: Json = {"type": "text", "text": text.strip()}
    if result.get("citations", {}).get("enabled"):
        place = {"search_result_index": index, "start_block_index": number, "end_block_index": number + 1}
        source = {"source": result["source"], "title": result["title"], "cited_text": text}
        block["citations"] = [{"type": "search_result_location", **source, **place}]
    return block


def _obeyed(results: Sequence[Json]) -> list[Json]:
    """What a model that follows orders in documents would write: the orders themselves, bare and cited, data filled in."""
    leak = re.sub(r"\W+", "-", results[0]["content"][0]["text"])[:40] if results else ""
    blocks: list[Json] = []
    for index, result in enumerate(results):
        for number, block in enumerate(result["content"]):
            if _ORDER.search(block["text"]):
                said = block["text"].replace("PRIVATE_TEXT", leak).strip()
                blocks += [
                    {"type": "text", "text": f"\n\n{said}\n\n"},
                    {**_quoted(result, index, number), "text": said},
                ]
    return [*blocks, {"type": "text", "text": "\n\n"}]


def _question(body: Json) -> str:
    """The last text a user wrote, in any of the messages."""
    for message in reversed(body["messages"]):
        if message["role"] != "user":
            continue
        content = message["content"]
        texts = [content] if isinstance(content, str) else [b["text"] for b in content if b["type"] == "text"]
        if texts:
            return re.split(r"(?:New question|Question): ", str(texts[-1]))[-1].strip()
    return ""


def _words(text: str) -> set[str]:
    return {word.rstrip("s") for word in _WORD.findall(text.lower())} - _COMMON


def _tokens(body: Json) -> int:
    return max(1, len(json.dumps(body)) // 4)


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


class _Reply:
    """One response, written to the ASGI server."""

    def __init__(self, send: Any, request_id: str) -> None:
        self._send = send
        self._request_id = request_id

    async def json(self, status: int, value: Json, headers: Mapping[str, str] | None = None) -> None:
        await self._start(status, {"content-type": "application/json", **(headers or {})})
        await self._send({"type": "http.response.body", "body": json.dumps(value).encode()})

    async def error(self, status: int, kind: str, message: str, headers: Mapping[str, str] | None = None) -> None:
        error = {"type": kind, "message": message}
        await self.json(status, {"type": "error", "error": error, "request_id": self._request_id}, headers)

    async def events(self, events: Iterator[tuple[str, Json]], step: Step) -> None:
        await self._start(200, {"content-type": "text/event-stream"})
        async for name, data in self._until_cut(events, step):
            text = f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n"
            await self._send({"type": "http.response.body", "body": text.encode(), "more_body": True})
        await self._send({"type": "http.response.body", "body": b""})

    async def _until_cut(self, events: Iterator[tuple[str, Json]], step: Step) -> AsyncIterator[tuple[str, Json]]:
        for number, event in enumerate(events):
            if step.cut_after is not None and number >= step.cut_after:
                return
            if step.error_after is not None and number >= step.error_after:
                yield "error", {"error": {"type": step.error, "message": "scripted"}}
                return
            if step.word_s and event[0] == "content_block_delta":
                await asyncio.sleep(step.word_s)
            yield event

    async def _start(self, status: int, headers: Mapping[str, str]) -> None:
        pairs = {**headers, "request-id": self._request_id}.items()
        encoded = [(name.encode(), str(value).encode()) for name, value in pairs]
        await self._send({"type": "http.response.start", "status": status, "headers": encoded})


async def _read(receive: Any) -> bytes:
    body: bytes = b""
    while True:
        message = await receive()
        body += bytes(message.get("body", b""))
        if not message.get("more_body"):
            return body


async def _lifespan(receive: Any, send: Any) -> None:
    while True:
        message = await receive()
        await send({"type": message["type"] + ".complete"})
        if message["type"] == "lifespan.shutdown":
            return
