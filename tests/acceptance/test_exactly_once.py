"""Two receivers and two workers in processes of their own, and a Slack that sends things twice: one reply each."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from bot.local_slack import LocalSlack, Server
from tests.company import WORKSPACE

SETTINGS = """
[[sources]]
name = "everyone"
location = "{documents}"
scopes = ["workspace"]
"""
DOCUMENT = (
    "# Bicycles\n\nThe bicycle cellar is opened with the code 4711. It is cleaned on the first Friday of a month.\n"
)


@contextmanager
def process(*arguments: str, environment: dict[str, str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-c", "from bot.cli import main; main()", "--log-level", "INFO", *arguments]
    with log.open("wb") as output, subprocess.Popen(command, env=environment, stdout=output, stderr=output) as started:
        yield started
        started.terminate()
        assert started.wait(60) == 0, log.read_text()


@pytest.fixture
def slack(postgres_url: str, home: Path, tmp_path: Path) -> Iterator[LocalSlack]:
    """A workspace that two receivers are connected to, with two workers behind them."""
    documents = tmp_path / "documents"
    documents.mkdir()
    (documents / "bicycles.md").write_text(DOCUMENT)
    settings = tmp_path / "footnote.toml"
    settings.write_text(SETTINGS.format(documents=documents))
    server = Server(LocalSlack(WORKSPACE))
    environment = {
        **{name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ},
        "PYTHONPATH": str(Path(__file__).parents[2]),
        "FOOTNOTE_CONFIG": str(settings),
        "FOOTNOTE_HOME": str(home),
        "FOOTNOTE_DATABASE_URL": postgres_url,
        "SLACK_API_URL": server.base_url,
        "SLACK_BOT_TOKEN": server.slack.tokens.bot,
        "SLACK_APP_TOKEN": server.slack.tokens.app,
    }
    with ExitStack() as stack:
        stack.callback(server.stop)
        with process("sync", environment=environment, log=tmp_path / "sync.log") as syncing:
            assert syncing.wait(120) == 0, (tmp_path / "sync.log").read_text()
        for part in ("receiver", "receiver", "worker", "worker"):
            log = tmp_path / f"{part}-{len(list(tmp_path.glob('*.log')))}.log"
            stack.enter_context(process("run", "--only", part, environment=environment, log=log))
        server.slack.wait_for_connection(2, timeout=120)
        yield server.slack


def test_an_event_sent_twice_to_two_receivers_is_answered_once(slack: LocalSlack) -> None:
    bot = slack.state.bot.id
    questions = []
    for number in range(6):
        slack.fault("duplicate", times=2)
        questions.append(slack.say("ana", "general", f"<@{bot}> {number}: what is the code of the bicycle cellar?"))
    for question in questions:
        slack.wait_for_reply(question, timeout=120)
    slack.wait_until_idle()
    posts = [call for call in slack.calls if call.method == "chat.postMessage" and call.ok]
    assert len(posts) == len(questions)
    for question in questions:
        [reply] = slack.replies(question)
        assert "4711" in reply.text
