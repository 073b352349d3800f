"""Running a LocalSlack: uvicorn in a thread, on 127.0.0.1 and nowhere else."""

import asyncio
import socket
import threading
from collections.abc import Coroutine
from pathlib import Path
from types import TracebackType

import uvicorn

from bot.local_slack.errors import LocalSlackError
from bot.local_slack.manifest import Manifest
from bot.local_slack.slack import LocalSlack
from bot.local_slack.web_api import Tokens
from bot.local_slack.workspace import Workspace

START_TIMEOUT_S = 20.0


class Server:
    """A LocalSlack that is listening. A context manager; `stop` may be called more than once."""

    def __init__(self, slack: LocalSlack, port: int = 0) -> None:
        """Listens when it returns. Raises LocalSlackError when the port is taken, or when it does not start."""
        self.slack = slack
        self._socket = _listening(port)
        self.port: int = self._socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/"
        self.base_url = f"{self.url}api/"
        slack.state.address = self.url.rstrip("/")
        config = uvicorn.Config(
            slack.app, log_config=None, access_log=False, lifespan="on", timeout_graceful_shutdown=1
        )
        self._uvicorn = uvicorn.Server(config)
        self._thread = threading.Thread(
            target=self._uvicorn.run, args=([self._socket],), name="local-slack", daemon=True
        )
        self._thread.start()
        if not slack.running.wait(START_TIMEOUT_S):
            raise LocalSlackError(f"the local Slack did not start within {START_TIMEOUT_S:.0f} s")

    def refresh(self) -> None:
        """Ask the app to open its Socket Mode connections anew."""
        self._in_loop(self.slack.socket_mode.refresh())

    def break_connections(self) -> None:
        """Close every Socket Mode connection without a word, as a failing network does."""
        self._in_loop(self.slack.socket_mode.break_all())

    def break_pages(self) -> None:
        """The same for every open page."""
        self._in_loop(self.slack.page.break_all())

    def stop(self) -> None:
        self._uvicorn.should_exit = True
        self._thread.join()
        self._socket.close()

    def _in_loop(self, work: Coroutine[None, None, None]) -> None:
        assert self.slack.loop is not None
        asyncio.run_coroutine_threadsafe(work, self.slack.loop).result(START_TIMEOUT_S)

    def __enter__(self) -> LocalSlack:
        return self.slack

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def serve(
    workspace: Workspace | Path | LocalSlack,
    port: int = 0,
    manifest: Manifest | None = None,
    tokens: Tokens | None = None,
) -> Server:
    """Start a local Slack on a free port (or `port`). `with serve(path) as slack:` or keep the Server and stop() it."""
    slack = workspace if isinstance(workspace, LocalSlack) else LocalSlack(workspace, manifest, tokens)
    return Server(slack, port)


def _listening(port: int) -> socket.socket:
    opened = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        opened.bind(("127.0.0.1", port))
        opened.listen(128)
    except (OSError, OverflowError) as error:
        opened.close()
        reason = getattr(error, "strerror", None) or "there is no such port"
        raise LocalSlackError(
            f"port {port} of 127.0.0.1 cannot be used: {reason}; name another one with --port"
        ) from error
    return opened
