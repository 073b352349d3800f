"""The ASGI app: Web API, sockets, transfers, control API and page, for loopback callers only."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from bot.local_slack.control import Control
from bot.local_slack.page_server import PageServer
from bot.local_slack.transfers import Transfers

if TYPE_CHECKING:
    from bot.local_slack.slack import LocalSlack

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


def build_app(slack: "LocalSlack", page: PageServer) -> Starlette:
    """The app of one LocalSlack; its lifespan runs the delivery of events."""
    control = Control(slack)
    transfers = Transfers(slack)

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        slack.loop = asyncio.get_running_loop()
        page.start(slack.loop)
        delivery = asyncio.create_task(slack.delivery.run())
        slack.running.set()
        yield
        slack.running.clear()
        delivery.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await delivery

    routes = [
        Route("/api/{method:str}", slack.web_api.endpoint, methods=["GET", "POST"]),
        WebSocketRoute("/_socket", slack.socket_mode.serve),
        Route("/upload/{file_id:str}", transfers.upload, methods=["POST"]),
        Route("/files/{file_id:str}/{name:str}", transfers.download),
        Route("/response/{key:str}", transfers.answer, methods=["POST"]),
        Route("/_control/calls", control.calls),
        Route("/_control/refresh", control.refresh, methods=["POST"]),
        Route("/_control/{action:str}", control.act, methods=["POST"]),
        *page.routes(),
    ]
    return Starlette(routes=routes, middleware=[Middleware(LoopbackOnly)], lifespan=lifespan)


class LoopbackOnly:
    """Refuses other host names and foreign origins: a web page elsewhere cannot drive this one through the browser."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or self._is_local(dict(scope["headers"])):
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008})
        else:
            await PlainTextResponse("Only for 127.0.0.1 and its own page.", 403)(scope, receive, send)

    def _is_local(self, headers: dict[bytes, bytes]) -> bool:
        host = headers.get(b"host", b"").decode("latin-1")
        origin = headers.get(b"origin", b"").decode("latin-1")
        return urlsplit(f"//{host}").hostname in LOOPBACK and (not origin or urlsplit(origin).netloc == host)
