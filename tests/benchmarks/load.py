"""Many people asking the whole bot.

    python -m tests.benchmarks.load [--rate N] [--minutes M] [--workers N …] [--chunks N] [--json]

`--people` ask about the sample company's documents in eight channels of the local Slack, which counts calls by Slack's
published limits, at random moments, `--rate` a minute in total. Claude is the local one, which begins after a second
and writes ten words a second: its answers are short, and so take as long as longer ones. For each number of `--workers` in turn: 0 is one `footnote run`, N is one receiver and N
workers, each a process. Times are those of the messages in Slack: `first` is when any of a reply's text could be read
and `final` when all of it could, both in seconds since the question. The database's own memory is not counted.
"""

import argparse
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.error import URLError

import sqlalchemy as sa

from bot.local_slack import LocalSlack, Message, Server, Workspace, parse_workspace, serve
from bot.script import read_script
from knowledge import samples
from knowledge.db import Database
from knowledge.encoders import load_embedder
from knowledge.local_claude import LocalClaude, Step
from knowledge.local_claude import serve as serve_claude
from knowledge.metrics import percentile
from knowledge.postgres import EmbeddedPostgres
from knowledge.settings import Models
from knowledge.tables import answers, inbox
from tests.benchmarks import library
from tests.benchmarks.machine import machine

CHANNELS = 8
FINISHED_WITHIN_S = 300.0
READY_WITHIN_S = 120.0
FOOTNOTE = (sys.executable, "-c", "from bot.cli import main; main()")
CONFIG = """
monitoring_port = {port}

[[sources]]
name = "everything"
location = "{documents}"
scopes = ["workspace"]

[schedule]
sync = "0 0 1 1 *"

[slack]
facts_max_age_s = {facts_age}
"""


@dataclass(frozen=True)
class Part:
    """A running process of the bot, and the seconds, and those of a processor, from its start until it was ready."""

    name: str
    process: subprocess.Popen[bytes]
    ready_s: float = 0.0
    ready_cpu_s: float = 0.0

    def peak_mb(self) -> int:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return next(int(line.split()[1]) // 1024 for line in status.splitlines() if line.startswith("VmHWM"))

    def cpu_s(self) -> float:
        """Processor time so far, user and system."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def bot(home: Path, environment: dict[str, str], workers: int, facts_age: float) -> Iterator[list[Part]]:
    """The bot's processes with the documents indexed, ready; they are stopped at the end."""
    config = _config(home, facts_age)
    subprocess.run(
        (*FOOTNOTE, "sync"), env={**environment, "FOOTNOTE_CONFIG": str(config)}, check=True, stdout=subprocess.DEVNULL
    )
    parts: list[Part] = []
    try:
        for name in ["receiver", *["worker"] * workers] if workers else ["all"]:
            parts.append(_start(home, environment, name, facts_age))
        yield parts
    finally:
        for part in parts:
            part.process.terminate()
        for part in parts:
            part.process.wait(60)


def _config(home: Path, facts_age: float) -> Path:
    """A settings file with a monitoring port that is free."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    file = home / f"footnote-{port}.toml"
    file.write_text(CONFIG.format(port=port, documents=samples.DOCUMENTS, facts_age=facts_age))
    return file


def _start(home: Path, environment: dict[str, str], name: str, facts_age: float) -> Part:
    config = _config(home, facts_age)
    port = config.stem.removeprefix("footnote-")
    only = () if name == "all" else ("--only", name)
    started = time.monotonic()
    with (home / "log.txt").open("ab") as log:
        process = subprocess.Popen(
            (*FOOTNOTE, "run", *only), env={**environment, "FOOTNOTE_CONFIG": str(config)}, stdout=log, stderr=log
        )
    while not _is_ready(port):
        if process.poll() is not None or time.monotonic() - started > READY_WITHIN_S:
            process.kill()
            raise RuntimeError(f"{name} did not become ready: {(home / 'log.txt').read_text()[-2000:]}")
        time.sleep(0.05)
    part = Part(name, process)
    return replace(part, ready_s=round(time.monotonic() - started, 1), ready_cpu_s=round(part.cpu_s(), 1))


def _is_ready(port: str) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=5):
            return True
    except (URLError, OSError):
        return False


def crowded(people: int) -> Workspace:
    """A workspace of so many members, all of them in every channel, with the bot."""
    everyone = [{"id": f"U{number:04}", "name": f"person{number}"} for number in range(people)]
    members = [*(person["id"] for person in everyone), "UFOOTNOTE"]
    return parse_workspace(
        {
            "team": {"id": "T0LOCAL", "name": "Crowd"},
            "bot": {"id": "UFOOTNOTE", "name": "footnote"},
            "people": everyone,
            "channels": [{"id": f"C{n}", "name": f"channel{n}", "members": members} for n in range(CHANNELS)],
        }
    )


def ask(slack: LocalSlack, rate: float, minutes: float, people: int, seed: int = 11) -> list[Message]:
    """Ask `rate * minutes` questions at random moments; returns after the last one."""
    chance = random.Random(seed)
    questions = [turn.asked for turn in read_script(samples.CONVERSATION) if turn.place == "general"]
    began = time.monotonic()
    asked = []
    for moment in sorted(chance.uniform(0, minutes * 60) for _ in range(round(rate * minutes))):
        time.sleep(max(0.0, began + moment - time.monotonic()))
        person, channel = f"U{chance.randrange(people):04}", f"C{chance.randrange(CHANNELS)}"
        asked.append(slack.say(person, channel, f"<@UFOOTNOTE> {chance.choice(questions)}"))
    return asked


def finished(database: Database, count: int) -> Counter[str]:
    """Questions by the state they ended in, once all have ended; after a while without all, those that have."""
    deadline = time.monotonic() + FINISHED_WITHIN_S
    ended = inbox.c.state.not_in(("received", "working"))
    while True:
        with database.plain() as connection:
            query = sa.select(inbox.c.state).where(inbox.c.message_key.is_not(None), ended)
            states = Counter(connection.scalars(query))
        if sum(states.values()) >= count or time.monotonic() > deadline:
            return states
        time.sleep(0.2)


def measure(home: Path, url: str, server: Server, claude: str, workers: int, arguments: argparse.Namespace) -> Any:
    slack = server.slack
    environment = {
        **os.environ,
        "FOOTNOTE_HOME": str(home),
        "FOOTNOTE_DATABASE_URL": url,
        "SLACK_API_URL": server.base_url,
        "SLACK_BOT_TOKEN": slack.tokens.bot,
        "SLACK_APP_TOKEN": slack.tokens.app,
        "ANTHROPIC_API_KEY": "sk-test",
        "ANTHROPIC_BASE_URL": claude,
    }
    with Database(url) as database, ExitStack() as stack:
        if arguments.chunks:
            library.fill(database, load_embedder(Models()), arguments.chunks)
        parts = stack.enter_context(bot(home, environment, workers, arguments.facts_age))
        before = [part.cpu_s() for part in parts]
        asked = ask(slack, arguments.rate, arguments.minutes, arguments.people)
        states = finished(database, len(asked))
        slack.wait_until_idle()
        used = [part.cpu_s() - cpu for part, cpu in zip(parts, before, strict=True)]
        with database.writing() as connection:
            outcomes = Counter(connection.scalars(sa.select(answers.c.outcome)))
        return {
            "workers": workers,
            "questions": len(asked),
            "states": dict(states),
            "outcomes": dict(outcomes),
            **timings(slack, asked),
            "limited": dict(Counter(c.method for c in slack.calls if c.answer.get("error") == "ratelimited")),
            "cpu_s_per_question": round(sum(used) / len(asked), 3),
            "processes": [
                {"part": p.name, "ready_s": p.ready_s, "ready_cpu_s": p.ready_cpu_s, "peak_mb": p.peak_mb()}
                for p in parts
            ],
        }


def timings(slack: LocalSlack, asked: Sequence[Message]) -> dict[str, Any]:
    """By the messages in Slack: how many questions have one reply, and after how many seconds."""
    replies = [(message, slack.replies(message)) for message in asked]
    pairs = [(message, found[0]) for message, found in replies if found]
    first = [float(reply.ts) - float(message.ts) for message, reply in pairs]
    final = [float(reply.edited_ts or reply.ts) - float(message.ts) for message, reply in pairs]
    return {
        "answered_once": sum(len(found) == 1 for _, found in replies),
        "streamed": sum(reply.edited_ts is not None for _, reply in pairs),
        **{
            f"{name}_p{share * 100:.0f}_s": round(percentile(values, share) or 0, 1)
            for name, values in (("first", first), ("final", final))
            for share in (0.5, 0.95)
        },
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", type=float, default=60, help="questions a minute, all people together")
    parser.add_argument("--minutes", type=float, default=4)
    parser.add_argument("--people", type=int, default=200)
    parser.add_argument("--facts-age", type=float, default=60, help="slack.facts_max_age_s")
    parser.add_argument("--workers", type=int, nargs="+", default=[0])
    parser.add_argument("--chunks", type=int, default=0, help="of other documents, which are in the index as well")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    runs = []
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="footnote-load-")))
        home.chmod(0o711)
        postgres = EmbeddedPostgres(home / "postgres").start()
        stack.callback(postgres.release)
        administration = stack.enter_context(Database(postgres.url("postgres")))
        claude = stack.enter_context(serve_claude(LocalClaude(always=Step(delay_s=1.0, word_s=0.1))))
        for workers in arguments.workers:
            server = serve(LocalSlack(crowded(arguments.people), rate_limits=True))
            with server, administration.scratch() as database:
                runs.append(measure(home, database.url, server, claude, workers, arguments))
    if arguments.json:
        print(json.dumps({"runs": runs, "rate": arguments.rate, "machine": machine()}))
        return
    for run in runs:
        print("\n".join(f"{name:20} {value}" for name, value in run.items()), end="\n\n")


if __name__ == "__main__":
    main()
