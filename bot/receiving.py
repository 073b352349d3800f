"""Receiving, over Socket Mode or as signed HTTP requests: each until told to stop, finishing what is being written down."""

import asyncio
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

import structlog
import uvicorn
from slack_bolt import App, BoltRequest, BoltResponse
from slack_bolt.adapter.asgi import SlackRequestHandler
from slack_bolt.adapter.asgi.http_request import AsgiHttpRequest
from slack_bolt.adapter.socket_mode import SocketModeHandler

from bot.client import FAILURES
from bot.errors import SlackMisconfigured
from bot.settings import Slack

log = structlog.get_logger()

CHECK_EVERY_S = 5.0
RECONNECT_PAUSE_S = 2.0
REQUESTS = 32
"""HTTP requests that are written down at the same time; further ones wait."""


class Receiver(Protocol):
    """`healthy` tells whether something that Slack sends at this moment would arrive."""

    @property
    def healthy(self) -> bool: ...

    def run(self, stop: threading.Event) -> None:
        """Receive until `stop` is set; then nothing more is taken, and what is being written down is finished."""


def receiver(app: App, settings: Slack) -> Receiver:
    """As `settings.mode` says. Raises `SlackMisconfigured` when what that needs is missing."""
    return HttpReceiver(app, settings) if settings.mode == "http" else SocketReceiver(app, settings)


class SocketReceiver:
    """A connection to Slack that repairs itself when the line is quiet or dead."""

    def __init__(self, app: App, settings: Slack) -> None:
        """Raises `SlackMisconfigured` without an app token."""
        if settings.app_token is None:
            raise SlackMisconfigured("no app token: set SLACK_APP_TOKEN to the app-level token that begins with xapp-")
        self._app = app
        self._handler = SocketModeHandler(app, settings.app_token.get_secret_value())

    @property
    def healthy(self) -> bool:
        return self._handler.client.is_connected()

    def run(self, stop: threading.Event) -> None:
        self._connect(stop)
        while not stop.wait(CHECK_EVERY_S):
            if not self.healthy:
                log.warning("the connection to Slack is dead; connecting anew")
                self._connect(stop)
        self._handler.client.close()
        _finish(self._app)

    def _connect(self, stop: threading.Event) -> None:
        while not stop.is_set():
            try:
                self._handler.client.connect_to_new_endpoint(force=True)
            except FAILURES as error:
                log.warning("Slack does not take a connection", error=type(error).__name__)
            if self.healthy:
                return
            stop.wait(RECONNECT_PAUSE_S)


class HttpReceiver:
    """A server on 127.0.0.1, behind whatever terminates TLS on this machine. Requests are checked by their signature.

    `port`: where it listens once it is healthy; with the setting 0 that is a free one.
    """

    def __init__(self, app: App, settings: Slack) -> None:
        """Raises `SlackMisconfigured` without a signing secret: Bolt would check against an empty one, as anybody can."""
        if settings.signing_secret is None or not settings.signing_secret.get_secret_value():
            raise SlackMisconfigured("no signing secret: set SLACK_SIGNING_SECRET, from the app's Basic Information")
        self._app = app
        self.port = settings.http_port
        self._server = uvicorn.Server(uvicorn.Config(asgi(app), log_config=None, access_log=False))
        self._listening = threading.Event()

    @property
    def healthy(self) -> bool:
        return self._listening.is_set()

    def run(self, stop: threading.Event) -> None:
        """Raises OSError when the port is taken."""
        with socket.create_server(("127.0.0.1", self.port)) as listening:
            self.port = listening.getsockname()[1]
            serving = threading.Thread(target=self._server.run, args=([listening],), name="footnote-http")
            serving.start()
            self._listening.set()
            while serving.is_alive() and not stop.wait(0.2):
                pass
            self._listening.clear()
            self._server.should_exit = True
            serving.join()
        _finish(self._app)


def asgi(app: App) -> Any:
    """The app as an ASGI application at /slack/events."""
    return _Threaded(app)


class _Threaded(SlackRequestHandler):
    """Bolt's own handler does all work in the event loop, so that one slow write would hold up every other request."""

    def __init__(self, app: App) -> None:
        super().__init__(app)
        self._threads = ThreadPoolExecutor(REQUESTS, thread_name_prefix="footnote-request")

    async def dispatch(self, request: AsgiHttpRequest) -> BoltResponse:
        body, headers = await request.get_raw_body(), request.get_headers()
        received = BoltRequest(body=body, query=request.query_string, headers=headers)
        return await asyncio.get_running_loop().run_in_executor(self._threads, self.app.dispatch, received)


def _finish(app: App) -> None:
    app.listener_runner.listener_executor.shutdown(wait=True)
