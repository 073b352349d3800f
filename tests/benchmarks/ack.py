"""How long Slack waits for the bot's acknowledgement while answers are being written.

`python -m tests.benchmarks.ack [--workers N] [--payloads N] [--json]`: one `footnote run` and four more workers write
20 answers (four each) with a slow local Claude; meanwhile messages, commands and clicks arrive in turn. Beside it an app on Bolt's default executor
whose listeners take as long for an answer. Seconds; what is not acknowledged within Slack's three counts as three.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from slack_bolt import Ack, App
from slack_bolt.adapter.socket_mode import SocketModeHandler
from slack_sdk import WebClient

from bot.local_slack import LocalSlack, serve
from bot.local_slack.delivery import ACK_TIMEOUT_S, Envelope
from knowledge.db import Database
from knowledge.local_claude import LocalClaude, Step
from knowledge.local_claude import serve as serve_claude
from knowledge.metrics import percentile
from knowledge.postgres import EmbeddedPostgres
from tests.benchmarks.delivery import WORKSPACE, crowd
from tests.benchmarks.machine import machine

ANSWERS_EACH = 4
"""A process works on so many questions at a time."""
WORD_S = 3.0
ANSWER_S = 40.0
EVERY_S = 0.05
STARTED_WITHIN_S = 300.0
QUESTION = "how many days of annual leave do full-time staff get a year?"


def measure(payloads: int, workers: int, url: str) -> dict[str, dict[str, float]]:
    """By app and kind: median and 99th percentile of the acknowledgements, and their ratio at the latter."""
    figures: dict[str, dict[str, float]] = {}
    for name, app in (("footnote", footnote), ("bolt", bolt)):
        with ExitStack() as stack:
            server = serve(WORKSPACE)
            stack.callback(server.stop)
            stack.enter_context(app(server.slack, server.base_url, workers, url))
            for kind, times in acknowledged(arrived(server.slack, payloads)).items():
                figures[f"{name} {kind}"] = {
                    "p50": round(percentile(times, 0.5) or 0, 4),
                    "p99": round(percentile(times, 0.99) or 0, 4),
                    "lost": sum(each >= ACK_TIMEOUT_S for each in times),
                }
    kinds = [name.partition(" ")[2] for name in figures if name.startswith("footnote")]
    ratio = {kind: round(figures[f"footnote {kind}"]["p99"] / figures[f"bolt {kind}"]["p99"], 4) for kind in kinds}
    return {**figures, "p99 of footnote over bolt": ratio}


@contextmanager
def footnote(slack: LocalSlack, address: str, workers: int, url: str) -> Iterator[None]:
    """The bot with as many answers begun, none of them finished."""
    claude = LocalClaude(always=Step(word_s=WORD_S))
    with serve_claude(claude) as claude_url, tempfile.TemporaryDirectory(prefix="footnote-ack-") as home:
        environment = {"ANTHROPIC_API_KEY": "sk-local", "ANTHROPIC_BASE_URL": claude_url}
        with crowd(Path(home), url, slack, address, environment, ("", *["worker"] * workers)):
            ask(slack, workers)
            deadline = time.monotonic() + STARTED_WITHIN_S
            while len(claude.requests) < ANSWERS_EACH * (1 + workers):
                if time.monotonic() > deadline:
                    raise TimeoutError(f"only {len(claude.requests)} answers begun within {STARTED_WITHIN_S:.0f} s")
                time.sleep(0.1)
            yield


@contextmanager
def bolt(slack: LocalSlack, address: str, workers: int, url: str) -> Iterator[None]:
    with subprocess.Popen([sys.executable, "-m", "tests.benchmarks.ack", "--app", address]) as process:
        try:
            slack.wait_for_connection(timeout=STARTED_WITHIN_S)
            ask(slack, workers)
            slack.wait_until_idle()
            yield
        finally:
            process.kill()


def ask(slack: LocalSlack, workers: int) -> None:
    for number in range(ANSWERS_EACH * (1 + workers)):
        slack.say("ana", "general", f"<@UFOOTNOTE> {number}: {QUESTION}")


def arrived(slack: LocalSlack, payloads: int) -> list[Envelope]:
    """Messages, commands and clicks in turn, until all are acknowledged or lost."""
    button = {"type": "button", "action_id": "feedback", "text": {"type": "plain_text", "text": "Yes"}, "value": "+1:x"}
    text = "Was this helpful?"
    client = WebClient(slack.tokens.bot, base_url=f"{slack.state.address}/api/")
    blocks = [{"type": "actions", "elements": [button]}]
    ts = str(client.chat_postMessage(channel="CGENERAL", text=text, blocks=blocks)["ts"])
    slack.wait_until_idle()
    before = len(slack.delivery.sent)
    for number in range(payloads):
        match number % 3:
            case 0:
                slack.say("ben", "general", f"{number} is a number")
            case 1:
                slack.command("ben", "general", "/reindex status")
            case _:
                slack.click("ben", "general", ts, "feedback")
        time.sleep(EVERY_S)
    slack.wait_until_idle(60)
    return slack.delivery.sent[before:]


def acknowledged(sent: Sequence[Envelope]) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {}
    for each in sent:
        if each.attempt == 0 and each.sent_at is not None:
            took_s = ACK_TIMEOUT_S if each.acked_at is None else each.acked_at - each.sent_at
            times.setdefault(each.kind, []).append(took_s)
    return times


def run_app(address: str) -> None:
    """A Bolt app as its tutorial writes it: the listener answers."""
    app = App(client=WebClient("xoxb-local", base_url=address))
    app.event("app_mention")(lambda: time.sleep(ANSWER_S))
    app.event("message")(lambda: None)

    def acknowledge(ack: Ack) -> None:
        ack()

    app.command("/reindex")(acknowledge)
    app.action("feedback")(acknowledge)
    SocketModeHandler(app, "xapp-local").connect()  # type: ignore[no-untyped-call]
    threading.Event().wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--payloads", type=int, default=450)
    parser.add_argument("--workers", type=int, default=4, help="beside the process that is all of the bot")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--app", metavar="ADDRESS", help="be the app to compare with")
    chosen = parser.parse_args()
    if chosen.app:
        return run_app(chosen.app)
    home = Path(tempfile.mkdtemp(prefix="footnote-ack-server-"))
    home.chmod(0o711)
    server = EmbeddedPostgres(home / "postgres").start()
    try:
        with Database(server.url("postgres")) as administration, administration.scratch() as database:
            figures = measure(chosen.payloads, chosen.workers, database.url)
    finally:
        server.release()
    if chosen.json:
        print(json.dumps({**figures, "machine": machine()}))
    else:
        print("\n".join(f"{name:26} {values}" for name, values in figures.items()))


if __name__ == "__main__":
    main()
