"""The page's own API: what one person sees, as documents to load and as frames while it changes.

Loopback only and without passwords: whoever uses the page may be anybody in the workspace, that is its purpose. Each
answer is still cut to what the chosen person can read, so that rights can be felt.
"""

import asyncio
import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from bot.local_slack import sight
from bot.local_slack.changes import Change
from bot.local_slack.errors import UnknownName
from bot.local_slack.objects import mimetype
from bot.local_slack.workspace import Person

if TYPE_CHECKING:
    from bot.local_slack.slack import LocalSlack

Json = dict[str, Any]

PAGE = Path(__file__).parent / "page"
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}


class PageServer:
    def __init__(self, slack: "LocalSlack") -> None:
        self._state = slack.state
        self._viewers: dict[asyncio.Queue[Json], Person] = {}
        self._sockets: set[WebSocket] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        slack.state.subscribe(self._broadcast)

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop

    def routes(self) -> list[BaseRoute]:
        return [
            Route("/", self._asset("index.html")),
            Route("/archives/{channel:str}/{message:str}", self._asset("index.html")),
            Route("/page/{name:str}", self.asset),
            Route("/_page/people", self.people),
            Route("/_page/workspace", self._seen(lambda person, _: sight.workspace(self._state, person))),
            Route("/_page/channel", self._seen(self._channel)),
            Route("/_page/thread", self._seen(self._thread)),
            Route("/_page/views", self._seen(lambda person, _: sight.views(self._state, person))),
            Route("/_page/files/{file_id:str}", self.file),
            WebSocketRoute("/_page/live", self.live),
        ]

    async def asset(self, request: Request) -> Response:
        path = PAGE / request.path_params["name"]
        if path.parent != PAGE or not path.is_file():
            return PlainTextResponse("not found", 404)
        return FileResponse(path, headers=_HEADERS)

    async def people(self, request: Request) -> Response:
        """Everybody one can be on the page, full members first."""
        people = sight.selves(self._state)
        return JSONResponse([{"id": person.id, "name": person.name} for person in people])

    async def file(self, request: Request) -> Response:
        """A shared file for somebody who can read one of its channels; never shown as a page of its own."""
        file = self._state.files.get(request.path_params["file_id"])
        person = self._state.person(request.query_params.get("as", ""))
        if file is None or file.content is None or not sight.may_open(self._state, person, file):
            return PlainTextResponse("not found", 404)
        media_type = mimetype(file.name)
        drawn = media_type.startswith("image/")
        disposition = "inline" if drawn else "attachment"
        return Response(file.content, media_type=media_type, headers=_HEADERS | {"Content-Disposition": disposition})

    async def live(self, socket: WebSocket) -> None:
        """Frames for one person until they look away."""
        try:
            person = self._state.person(socket.query_params.get("as", ""))
        except UnknownName:
            await socket.close(1008)
            return
        await socket.accept()
        queue: asyncio.Queue[Json] = asyncio.Queue()
        self._viewers[queue] = person
        self._sockets.add(socket)
        reader = asyncio.create_task(_until_closed(socket))
        try:
            while not reader.done():
                writer = asyncio.create_task(queue.get())
                await asyncio.wait({reader, writer}, return_when=asyncio.FIRST_COMPLETED)
                if writer.done():
                    await socket.send_json(writer.result())
                else:
                    writer.cancel()
        except (WebSocketDisconnect, RuntimeError):
            pass
        finally:
            reader.cancel()
            del self._viewers[queue]
            self._sockets.discard(socket)

    async def break_all(self) -> None:
        """The network fails: every open page loses its connection."""
        for socket in list(self._sockets):
            await socket.close(1011)

    def _broadcast(self, change: Change) -> None:
        if self._loop is None or self._loop.is_closed():
            return
        for queue, viewer in list(self._viewers.items()):
            person = self._state.people.get(viewer.id, viewer)
            for frame in sight.frames(self._state, person, change):
                self._loop.call_soon_threadsafe(queue.put_nowait, frame)

    def _seen(self, read: Callable[[Person, Request], Json]) -> Callable[[Request], Any]:
        async def endpoint(request: Request) -> Response:
            try:
                with self._state.changed:
                    return JSONResponse(read(self._state.person(request.query_params.get("as", "")), request))
            except UnknownName as error:
                return JSONResponse({"error": str(error)}, 404)

        return endpoint

    def _channel(self, person: Person, request: Request) -> Json:
        return sight.conversation(self._state, person, request.query_params.get("channel", ""))

    def _thread(self, person: Person, request: Request) -> Json:
        channel, ts = request.query_params.get("channel", ""), request.query_params.get("ts", "")
        return sight.thread(self._state, person, channel, ts)

    def _asset(self, name: str) -> Callable[[Request], Any]:
        async def endpoint(_: Request) -> Response:
            return FileResponse(PAGE / name, headers=_HEADERS)

        return endpoint


async def _until_closed(socket: WebSocket) -> None:
    with contextlib.suppress(WebSocketDisconnect, RuntimeError):
        while True:
            await socket.receive_text()
