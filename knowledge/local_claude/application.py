"""The ASGI application: paths, the script, and the message that answers a request."""

import asyncio
import itertools
import json
from collections import deque
from collections.abc import Mapping
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from knowledge.local_claude.request import Json, refused, tokens
from knowledge.local_claude.step import Step
from knowledge.local_claude.stream import stream
from knowledge.local_claude.writing import written

QUOTE = Step()
"""What happens when nothing is scripted."""


class LocalClaude:
    """The application. `always`: the step for requests beyond the script. `lifecycles`: of models that are not active."""

    def __init__(self, *script: Step, always: Step = QUOTE) -> None:
        self.script = deque(script)
        self.always = always
        self.lifecycles: dict[str, str] = {}
        self.requests: list[Json] = []
        self._numbers = itertools.count(1)
        self._app = Starlette(routes=[Route("/{path:path}", self._answer, methods=["GET", "POST"])])

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self._app(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        body = json.loads(await request.body() or b"{}")
        headers = dict(request.headers)
        self.requests.append({"path": request.url.path, "headers": headers, "body": body})
        request_id = f"req_{next(self._numbers)}"
        response = await self._respond(request.url.path, body, headers, request_id)
        response.headers["request-id"] = request_id
        return response

    async def _respond(self, path: str, body: Json, headers: Mapping[str, str], request_id: str) -> Response:
        if path == "/v1/messages/count_tokens":
            return JSONResponse({"input_tokens": tokens(body)})
        if path.startswith("/v1/models/claude-"):
            return JSONResponse(self._model(path.removeprefix("/v1/models/")))
        if path != "/v1/messages":
            return _error(404, "not_found_error", f"no such path: {path}", request_id)
        step = self.script.popleft() if self.script else self.always
        await asyncio.sleep(step.delay_s)
        if step.status:
            return _error(step.status, step.error, "scripted", request_id, step.headers)
        if fault := refused(body, headers):
            return _error(*fault, request_id)
        message = self._message(body, step)
        if not body.get("stream"):
            return JSONResponse(message)
        return StreamingResponse(stream(message, step), media_type="text/event-stream")

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
                "input_tokens": tokens(body),
                "output_tokens": max(1, sum(len(b.get("text", "")) for b in content) // 4),
                "cache_read_input_tokens": 0,
                "cache_creation_input_tokens": 0,
            },
        }


def _error(status: int, kind: str, message: str, request_id: str, headers: Mapping[str, str] | None = None) -> Response:
    error = {"type": "error", "error": {"type": kind, "message": message}, "request_id": request_id}
    return JSONResponse(error, status, headers)
