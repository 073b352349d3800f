"""Receiving over Socket Mode: connected until told to stop, and connected anew when the line is quiet or dead."""

import threading

import structlog
from slack_bolt import App
from slack_bolt.adapter.socket_mode import SocketModeHandler

from bot.client import FAILURES
from bot.errors import SlackMisconfigured
from bot.settings import Slack

log = structlog.get_logger()

CHECK_EVERY_S = 5.0
RECONNECT_PAUSE_S = 2.0


class SocketReceiver:
    """A connection to Slack that repairs itself; `healthy` tells whether it stands at this moment."""

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
        """Receive until `stop` is set; then nothing more is taken, and what is being written down is finished."""
        self._connect(stop)
        while not stop.wait(CHECK_EVERY_S):
            if not self.healthy:
                log.warning("the connection to Slack is dead; connecting anew")
                self._connect(stop)
        self.close()

    def close(self) -> None:
        self._handler.client.close()
        executor = self._app.listener_runner.listener_executor
        executor.shutdown(wait=True)

    def _connect(self, stop: threading.Event) -> None:
        while not stop.is_set():
            try:
                self._handler.client.connect_to_new_endpoint(force=True)
            except FAILURES as error:
                log.warning("Slack does not take a connection", error=type(error).__name__)
            if self.healthy:
                return
            stop.wait(RECONNECT_PAUSE_S)
