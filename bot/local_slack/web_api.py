"""The Web API over HTTP: GET and POST, query, form and JSON; tokens, scopes, rate limits and faults before the method."""

import asyncio
import json
import urllib.parse
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from bot.local_slack import methods
from bot.local_slack.arguments import Arguments
from bot.local_slack.errors import ApiError, RateLimited
from bot.local_slack.faults import API_FAULTS, Fault, Faults
from bot.local_slack.limits import RateLimiter
from bot.local_slack.methods.registry import METHODS, Method, need_scope
from bot.local_slack.state import State

assert methods  # imported to fill METHODS

Json = dict[str, Any]


@dataclass(frozen=True)
class Tokens:
    """What the app authenticates with; any other token is invalid_auth."""

    bot: str = "xoxb-local"
    app: str = "xapp-local"
    signing_secret: str = "local-signing-secret"


@dataclass(frozen=True)
class Call:
    """One API call as it came in and as it was answered; `arguments` without the token."""

    method: str
    arguments: Json
    status: int
    answer: Json
    at: float

    @property
    def ok(self) -> bool:
        return self.status == 200 and bool(self.answer.get("ok"))


class WebApi:
    """Answers `/api/{method}` and keeps a record of every call."""

    def __init__(self, state: State, tokens: Tokens, faults: Faults, limiter: RateLimiter) -> None:
        self.calls: list[Call] = []
        self._state = state
        self._tokens = tokens
        self._faults = faults
        self._limiter = limiter

    async def endpoint(self, request: Request) -> Response:
        name: str = request.path_params["method"]
        try:
            values = await _values(request)
        except ValueError:
            return JSONResponse({"ok": False, "error": "invalid_json"})
        token = bearer(request) or str(values.pop("token", ""))
        fault = self._faults.take(API_FAULTS, name)
        if fault and fault.kind == "slow":
            await asyncio.sleep(fault.seconds)
        status, answer, headers = self._answer(name, token, Arguments(values), fault)
        with self._state.changed:
            self.calls.append(Call(name, values, status, answer, self._state.clock.now()))
            self._state.changed.notify_all()
        if status == 500:
            return PlainTextResponse("Internal Server Error", status)
        return JSONResponse(answer, status, headers)

    def call(self, name: str, token: str, arguments: Arguments) -> Json:
        """Run one method. Raises ApiError or RateLimited."""
        method = METHODS.get(name)
        if method is None:
            raise ApiError("unknown_method", req_method=name)
        self._authenticate(method, token)
        channel = arguments.text("channel") or arguments.text("channel_id")
        self._limiter.count(name, method.tier, channel, self._state.clock.now())
        for scope in method.scopes:
            need_scope(self._state, scope)
        with self._state.changed:
            return method.run(self._state, arguments)

    def _answer(
        self, name: str, token: str, arguments: Arguments, fault: Fault | None
    ) -> tuple[int, Json, dict[str, str]]:
        try:
            match fault.kind if fault else "":
                case "rate_limited":
                    assert fault
                    raise RateLimited(max(1, int(fault.seconds)))
                case "server_error":
                    return 500, {}, {}
                case "api_error":
                    assert fault
                    raise ApiError(fault.error)
            return 200, {"ok": True, **self.call(name, token, arguments)}, self._scope_headers()
        except RateLimited as limited:
            return 429, {"ok": False, "error": "ratelimited"}, {"Retry-After": str(limited.retry_after)}
        except ApiError as error:
            return 200, {"ok": False, "error": error.code, **error.details}, self._scope_headers()

    def _authenticate(self, method: Method, token: str) -> None:
        known = {self._tokens.bot: "bot", self._tokens.app: "app"}
        if not token:
            raise ApiError("not_authed")
        if token not in known:
            raise ApiError("invalid_auth")
        if known[token] != method.token:
            raise ApiError("not_allowed_token_type")

    def _scope_headers(self) -> dict[str, str]:
        return {"X-OAuth-Scopes": ",".join(sorted(self._state.manifest.scopes))}


def bearer(request: Request) -> str:
    """The token of the Authorization header, "" when there is none."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token if scheme.lower() == "bearer" else ""


async def _values(request: Request) -> Json:
    """Query and body merged. Raises ValueError for a JSON body that is not an object."""
    values: Json = dict(request.query_params)
    body = await request.body()
    content_type = request.headers.get("content-type", "")
    if not body:
        return values
    if content_type.startswith("application/json"):
        document = json.loads(body)
        if not isinstance(document, dict):
            raise ValueError(f"a JSON object is expected, not {document!r}")
        return values | document
    return values | dict(urllib.parse.parse_qsl(body.decode(), keep_blank_values=True))
