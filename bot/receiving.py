"""Receiving, over Socket Mode or as signed HTTP requests: each until told to stop, finishing what is being written down."""

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

import structlog
import uvicorn
from slack_bolt import App, BoltRequest, BoltResponse
from slack_bolt.adapter.asgi import SlackRequestHandler
from slack_bolt.adapter.asgi.http_request import AsgiHttpRequest
from slack_bolt.adapter.socket_mode.internals import run_bolt_app, send_response
from slack_sdk.errors import SlackApiError
from slack_sdk.socket_mode.builtin import SocketModeClient
from slack_sdk.socket_mode.client import BaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest

from bot.client import FAILURES, reason, refused, unlogged
from bot.errors import SlackMisconfigured
from bot.ports import listening
from bot.settings import Slack

log = structlog.get_logger()

DRAIN_S = 5.0
"""So long what has arrived may take to be given to its workers when the bot stops."""

CHECK_EVERY_S = 5.0
RECONNECT_PAUSE_S = 2.0
PING_EVERY_S = 5.0
LASTING_S = 60.0
"""A connection that ends sooner makes the next one wait, each time longer, up to half of this."""
WRONG_TOKEN = (
    "invalid_auth",
    "not_authed",
    "not_allowed_token_type",
    "missing_scope",
    "token_revoked",
    "token_expired",
)
"""Refusals that no waiting changes."""
REQUESTS = 32
"""What is written down at the same time; more waits."""


class Receiver(Protocol):
    """`healthy` tells whether something that Slack sends at this moment would arrive."""

    @property
    def healthy(self) -> bool: ...

    def run(self, stop: threading.Event) -> None:
        """Receive until `stop` is set; then nothing more is taken, and what is being written down is finished."""


def receiver(app: App, settings: Slack) -> Receiver:
    """As `settings.mode` says. Raises `SlackMisconfigured` when what that needs is missing, `PortUnusable` when it is taken."""
    return HttpReceiver(app, settings) if settings.mode == "http" else SocketReceiver(app, settings)


class SocketReceiver:
    """A connection to Slack that repairs itself when the line is quiet or dead."""

    def __init__(self, app: App, settings: Slack, ping_every_s: float = PING_EVERY_S) -> None:
        """Raises `SlackMisconfigured` without an app token. Without an answer to four pings the line counts as dead."""
        if settings.app_token is None:
            raise SlackMisconfigured("no app token: set SLACK_APP_TOKEN to the app-level token that begins with xapp-")
        self._app = app
        self._client = _PatientClient(
            settings.app_token.get_secret_value(),
            logger=app.logger,
            web_client=app.client,
            ping_interval=ping_every_s,
            concurrency=REQUESTS,
        )
        self._client.socket_mode_request_listeners.append(self._handle)

    @property
    def healthy(self) -> bool:
        return self._client.is_connected()

    def run(self, stop: threading.Event) -> None:
        """Raises `SlackMisconfigured` when Slack refuses the token for the first connection; later ones are tried for ever."""
        try:
            self._connect(stop, first=True)
            while not stop.wait(CHECK_EVERY_S):
                if not self.healthy:
                    log.warning("the connection to Slack is dead; connecting anew")
                    self._connect(stop)
        finally:
            self._client.finish()
            self._client.close()
            _finish(self._app)

    def _handle(self, client: BaseSocketModeClient, request: SocketModeRequest) -> None:
        began = time.time()
        send_response(client, request, run_bolt_app(self._app, request), began)

    def _connect(self, stop: threading.Event, first: bool = False) -> None:
        while not stop.is_set():
            try:
                self._client.connect_to_new_endpoint()
            except FAILURES as error:
                if first and isinstance(error, SlackApiError) and reason(error) in WRONG_TOKEN:
                    raise refused("SLACK_APP_TOKEN", error) from error
                log.warning("Slack does not take a connection", error=type(error).__name__, reason=reason(error))
            if self.healthy:
                log.info("connected to Slack")
                return
            stop.wait(RECONNECT_PAUSE_S)


class _PatientClient(SocketModeClient):
    """Slack's own client connects again at once, for ever, when Slack closes each connection because there are too many."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self._finishing = threading.Event()
        super().__init__(*arguments, **options)
        self._asked_at = -LASTING_S
        self._pause_s = 0.0
        self._closing = threading.Event()

    def issue_new_wss_url(self) -> str:
        brief = time.monotonic() - self._asked_at < LASTING_S
        self._closing.wait(self._pause_s if brief else 0.0)
        self._pause_s = min(max(0.5, 2 * self._pause_s), LASTING_S / 2) if brief else 0.0
        self._asked_at = time.monotonic()
        with unlogged():  # whoever connects says what came of it
            return super().issue_new_wss_url()

    def enqueue_message(self, message: str) -> None:
        if not self._finishing.is_set():  # Slack sends it again, to whoever is connected then
            super().enqueue_message(message)

    def process_message(self) -> None:
        try:
            super().process_message()  # type: ignore[no-untyped-call]  # the library does not annotate it
        except RuntimeError:  # taken from the queue at the moment when its workers ended
            if not self._finishing.is_set():
                raise

    def finish(self) -> None:
        """Acknowledge what has arrived, before the line is cut: clicks and commands would not come again. Take nothing more."""
        self.auto_reconnect_enabled = False
        self._finishing.set()
        until = time.monotonic() + DRAIN_S
        while not self.message_queue.empty() and time.monotonic() < until:
            self._closing.wait(0.01)
        self.message_workers.shutdown(wait=True)

    def close(self) -> None:
        self._closing.set()
        super().close()


class HttpReceiver:
    """A server on 127.0.0.1, behind whatever terminates TLS on this machine. Requests are checked by their signature.

    `port`: where it listens; with the setting 0 that is a free one.
    """

    def __init__(self, app: App, settings: Slack) -> None:
        """Listens from now on; what comes before `run` waits. Raises `PortUnusable`, and `SlackMisconfigured` without a
        signing secret: Bolt would check against an empty one, as anybody can.
        """
        if settings.signing_secret is None or not settings.signing_secret.get_secret_value():
            raise SlackMisconfigured("no signing secret: set SLACK_SIGNING_SECRET, from the app's Basic Information")
        self._app = app
        self._socket = listening("slack.http_port", "127.0.0.1", settings.http_port)
        self.port = self._socket.getsockname()[1]
        self._server = uvicorn.Server(uvicorn.Config(asgi(app), log_config=None, access_log=False))
        self._listening = threading.Event()

    @property
    def healthy(self) -> bool:
        return self._listening.is_set()

    def run(self, stop: threading.Event) -> None:
        with self._socket:
            serving = threading.Thread(target=self._server.run, args=([self._socket],), name="footnote-http")
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
