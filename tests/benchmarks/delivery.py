"""Exactly one reply to each question, while receivers and workers are killed and Slack repeats and reorders its events.

`python -m tests.benchmarks.delivery [--questions N] [--kills N] [--json]`: two receiver and two worker processes on one
database; at random moments one of them is killed with SIGKILL and another takes its place.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from bot.local_slack import LocalSlack, Message, serve
from knowledge.db import Database
from knowledge.postgres import EmbeddedPostgres
from tests.benchmarks.machine import machine

WORKSPACE = Path(__file__).parents[1] / "data" / "workspace.yaml"
PEOPLE = ("ana", "ben")
CONFIG = """
[[sources]]
name = "everyone"
location = "documents"
scopes = ["workspace"]

[schedule]
sync = "0 0 1 1 *"
"""
DOCUMENT = "# Annual leave\n\nFull-time staff get 25 days of annual leave a year.\n"
PARTS = ("receiver", "receiver", "worker", "worker")
GIVEN_UP_AFTER_S = 120.0
"""Without a single new reply for that long, the rest will never come."""
SETTLED_AFTER_S = 5.0


@dataclass
class Crowd:
    """The bot's processes, by the part they play; "" is all of them."""

    environment: dict[str, str]
    log: Path
    running: list[tuple[str, subprocess.Popen[bytes]]] = field(default_factory=list)

    def start(self, part: str) -> None:
        command = [sys.executable, "-c", "from bot.cli import main; main()", "run", *(["--only", part] if part else [])]
        with self.log.open("ab") as log:
            self.running.append((part, subprocess.Popen(command, env=self.environment, stdout=log, stderr=log)))

    def kill(self, number: int) -> None:
        """SIGKILL one and start another in its place."""
        part, process = self.running.pop(number)
        process.kill()
        process.wait()
        self.start(part)

    def stop(self) -> None:
        for _, process in self.running:
            process.terminate()
        for _, process in self.running:
            try:
                process.wait(40)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@contextmanager
def crowd(
    home: Path,
    url: str,
    slack: LocalSlack,
    address: str,
    more: Mapping[str, str] = MappingProxyType({}),
    parts: Sequence[str] = PARTS,
) -> Iterator[Crowd]:
    """`address` is of Slack's Web API; `more` is added to the processes' environment."""
    (home / "documents").mkdir()
    (home / "documents" / "leave.md").write_text(DOCUMENT)
    (home / "footnote.toml").write_text(CONFIG)
    settings = {
        "FOOTNOTE_CONFIG": str(home / "footnote.toml"),
        "FOOTNOTE_HOME": str(home),
        "FOOTNOTE_DATABASE_URL": url,
        "SLACK_API_URL": address,
        "SLACK_BOT_TOKEN": slack.tokens.bot,
        "SLACK_APP_TOKEN": slack.tokens.app,
    }
    made = Crowd({**os.environ, **settings, **more}, home / "log.txt")
    indexing = [sys.executable, "-c", "from bot.cli import main; main()", "sync"]
    subprocess.run(indexing, env=made.environment, check=True, capture_output=True)
    try:
        for part in parts:
            made.start(part)
        slack.wait_for_connection(sum(part != "worker" for part in parts), timeout=120)
        yield made
    finally:
        made.stop()


def measure(questions: int, kills: int, seed: int, url: str) -> dict[str, int]:
    """Counts of questions answered once, twice or more, and never."""
    chance = random.Random(seed)
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="footnote-delivery-")))
        server = serve(WORKSPACE)
        stack.callback(server.stop)
        slack = server.slack
        processes = stack.enter_context(crowd(home, url, slack, server.base_url))
        moments = Counter(chance.randrange(questions) for _ in range(kills))
        asked = []
        for number in range(questions):
            if chance.random() < 0.2:
                slack.fault(chance.choice(("duplicate", "reordered")))
            asked.append(_ask(slack, chance.choice(PEOPLE), number))
            for _ in range(moments[number]):
                processes.kill(chance.randrange(len(PARTS)))
            time.sleep(chance.uniform(0, 0.2))
        replies = Counter(_replies(slack, asked).values())
    return {
        "questions": questions,
        "answered_once": replies[1],
        "twice": sum(count for number, count in replies.items() if number > 1),
        "never": replies[0],
        "kills": kills,
    }


def _ask(slack: LocalSlack, person: str, number: int) -> Message:
    return slack.say(person, "general", f"<@UFOOTNOTE> question {number}: how many days of annual leave do staff get?")


def _replies(slack: LocalSlack, asked: list[Message]) -> dict[str, int]:
    """How many replies each question has, once all have one and nothing more comes for a while."""
    quiet_since, last = time.monotonic(), -1
    while True:
        with slack.state.changed:
            counts = {message.ts: len(slack.replies(message)) for message in asked}
        if sum(counts.values()) != last:
            quiet_since, last = time.monotonic(), sum(counts.values())
        quiet_s = time.monotonic() - quiet_since
        if quiet_s > GIVEN_UP_AFTER_S or (all(counts.values()) and quiet_s > SETTLED_AFTER_S):
            return counts
        time.sleep(0.2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=1000)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    home = Path(tempfile.mkdtemp(prefix="footnote-delivery-server-"))
    home.chmod(0o711)
    server = EmbeddedPostgres(home / "postgres").start()
    try:
        with Database(server.url("postgres")) as administration, administration.scratch() as database:
            figures = measure(chosen.questions, chosen.kills, chosen.seed, database.url)
    finally:
        server.release()
    if chosen.json:
        print(json.dumps({**figures, "machine": machine()}))
    else:
        print("\n".join(f"{name:14} {count:6}" for name, count in figures.items()))


if __name__ == "__main__":
    main()
