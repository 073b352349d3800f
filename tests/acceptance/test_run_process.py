"""`footnote run` as people run it: a process that says when it is ready, and ends when it is told to."""

import os
import signal
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


def test_it_is_never_ready_with_a_token_that_slack_refuses(start: Start) -> None:
    with start(SLACK_APP_TOKEN="xapp-wrong") as process:
        said, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert READY not in said
    assert "Slack refused SLACK_APP_TOKEN (invalid_auth)" in said + errors


def test_a_slack_that_cannot_be_reached_is_told_once(start: Start) -> None:
    with start(SLACK_API_URL="http://127.0.0.1:9/api/") as process:
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    [said] = errors.splitlines()
    assert said.startswith("footnote: Slack cannot be reached at http://127.0.0.1:9/api/: ")
