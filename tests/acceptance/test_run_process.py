"""`footnote run` as people run it: a process that says when it is ready, and ends when it is told to."""

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bot.local_slack import Server, serve
from tests.company import WORKSPACE

COMMAND = [sys.executable, "-c", "from bot.cli import main; main()", "run"]
READY = "ready; Ctrl-C ends it\n"
SILENT_S = 120.0
"""A process that says nothing for so long is ended, so that the test fails and does not hang."""

Start = Callable[..., subprocess.Popen[str]]


HTTP = '[slack]\nmode = "http"\nsigning_secret = "hush"\nhttp_port = '
"""A `footnote.toml` before its port."""


@pytest.fixture
def server() -> Iterator[Server]:
    running = serve(WORKSPACE)
    with running:
        yield running


@pytest.fixture
def start(server: Server, postgres_url: str, home: Path, tmp_path: Path) -> Start:
    (tmp_path / "footnote.toml").write_text("")
    environment = {
        **{name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ},
        "PYTHONPATH": os.pathsep.join(sys.path),
        "PYTHONUNBUFFERED": "1",
        "FOOTNOTE_CONFIG": str(tmp_path / "footnote.toml"),
        "FOOTNOTE_HOME": str(home),
        "FOOTNOTE_DATABASE_URL": postgres_url,
        "SLACK_API_URL": server.base_url,
        "SLACK_BOT_TOKEN": server.slack.tokens.bot,
        "SLACK_APP_TOKEN": server.slack.tokens.app,
    }
    return lambda **changes: subprocess.Popen(
        COMMAND, env=environment | changes, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def test_it_says_once_that_it_is_ready_when_slack_is_connected_and_ends_on_ctrl_c(server: Server, start: Start) -> None:
    with start() as process:
        assert process.stdout is not None
        silent = threading.Timer(SILENT_S, process.kill)
        silent.start()
        assert process.stdout.readline().startswith("no sources are configured")
        assert process.stdout.readline() == READY
        silent.cancel()
        assert len(server.slack.socket_mode.connections) == 1
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=60)
    assert (process.returncode, rest) == (0, "")
    assert "Traceback" not in errors


def test_without_a_settings_file_it_runs_by_its_variables_and_says_that_there_is_none(start: Start) -> None:
    with start(FOOTNOTE_CONFIG="") as process:
        assert process.stdout is not None
        silent = threading.Timer(SILENT_S, process.kill)
        silent.start()
        assert process.stdout.readline().startswith(f"there is no footnote.toml in {Path.cwd()}, so the index stays")
        assert process.stdout.readline() == READY
        silent.cancel()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    assert process.returncode == 0


def refusal(process: subprocess.Popen[str]) -> str:
    """The one line that a start which fails ends with, on standard error."""
    with process:
        said, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert READY not in said
    [line] = errors.splitlines()
    return line


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        (
            {"SLACK_APP_TOKEN": "xapp-wrong"},
            "Slack refused SLACK_APP_TOKEN (invalid_auth): copy the app-level token that begins with xapp- and has "
            "connections:write",
        ),
        (
            {"SLACK_BOT_TOKEN": "xoxb-wrong"},
            "Slack refused SLACK_BOT_TOKEN (invalid_auth): reinstall the app and copy its xoxb- token",
        ),
        (
            {"SLACK_API_URL": "http://127.0.0.1:9/api/"},
            "Slack cannot be reached at http://127.0.0.1:9/api/: Connection refused; check the network and the address in "
            "SLACK_API_URL",
        ),
        (
            {"SLACK_API_URL": "http://127.0.0.1:9/api/", "SLACK_BOT_TOKEN": "abc"},
            "SLACK_BOT_TOKEN should begin with xoxb-: copy the Bot User OAuth Token of the app",
        ),
    ],
)
def test_a_start_that_cannot_go_on_is_told_in_one_line_with_the_remedy(
    start: Start, changes: dict[str, str], says: str
) -> None:
    assert refusal(start(**changes)) == f"footnote: {says}"


def test_a_port_that_is_taken_is_told_in_one_line_with_its_setting(start: Start, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        why = f"is {port}, and port {port} of 127.0.0.1 cannot be used: another program listens there; stop that one, or set"
        said = refusal(start(FOOTNOTE_MONITORING_PORT=str(port)))
        assert said == f"footnote: monitoring_port (FOOTNOTE_MONITORING_PORT) {why} another port"
        (tmp_path / "footnote.toml").write_text(f"{HTTP}{port}\n")
        assert refusal(start()) == f"footnote: slack.http_port {why} another port"
