"""One's own documents without a Slack workspace: the README's files, and the commands as people start them."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from typer.testing import CliRunner

from bot.cli import app
from tests.company import until

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def shown(name: str) -> str:
    """The block of the README behind this mark."""
    found = re.search(rf"<!-- {name} -->\n```\w+\n(.*?)```", README, re.DOTALL)
    assert found, f"the README has no block {name}"
    return found[1]


@contextmanager
def started(folder: Path, environment: Mapping[str, str], *arguments: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", "from bot.cli import main; main()", *arguments]
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def get(address: str, body: Mapping[str, str] | None = None) -> Any:
    with urlopen(address, json.dumps(body).encode() if body else None) as answer:
        return json.load(answer)


def test_a_bot_in_a_shell_of_its_own_answers_in_the_local_slack(postgres_url: str, tmp_path: Path) -> None:
    (tmp_path / "workspace.yaml").write_text(shown("own-workspace"))
    (tmp_path / "footnote.toml").write_text(shown("own-settings"))
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents" / "leave.md").write_text("# Leave\n\nEveryone gets 31 days of annual leave a year.\n")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("SLACK_", "ANTHROPIC_"))}
    clean |= {"FOOTNOTE_DATABASE_URL": postgres_url, "FOOTNOTE_HOME": str(tmp_path), "PYTHONUNBUFFERED": "1"}
    with started(tmp_path, clean, "demo", "--slack-only", "--workspace", "workspace.yaml") as slack:
        assert slack.stdout is not None
        lines = iter(slack.stdout.readline, "footnote run\n")
        exported = dict(line.split()[1].split("=", 1) for line in lines if line.startswith("export "))
        settings = clean | exported | {"FOOTNOTE_CONFIG": str(tmp_path / "footnote.toml")}
        assert CliRunner().invoke(app, ["sync"], env=settings).exit_code == 0
        with started(tmp_path, settings, "run") as bot:
            page = exported["SLACK_API_URL"].removesuffix("api/")
            text = "<@UFOOTNOTE> How many days of annual leave does everyone get?"
            asked = get(f"{page}_control/say", {"user": "sam", "channel": "general", "text": text})
            thread = f"{page}_page/thread?as=USAM&channel={asked['channel']}&ts={asked['ts']}"
            until(lambda: get(f"{page}_control/calls"))  # the bot is there
            until(lambda: "31 days" in json.dumps(get(thread)["messages"][1:]))
            for process in (bot, slack):
                process.send_signal(signal.SIGINT)
                assert process.wait(30) == 0
        assert "stopping…\n" in slack.stdout.read()


def test_a_folder_inside_another_one_is_kept_to_fewer_people(postgres_url: str, tmp_path: Path) -> None:
    (tmp_path / "workspace.yaml").write_text(shown("own-workspace"))
    (tmp_path / "footnote.toml").write_text(shown("two-sources") + '\n[slack]\nfacts = "workspace.yaml"\n')
    (tmp_path / "documents" / "salaries").mkdir(parents=True)
    (tmp_path / "documents" / "leave.md").write_text("# Leave\n\nEveryone gets 31 days of annual leave a year.\n")
    (tmp_path / "documents" / "salaries" / "bands.md").write_text("# Bands\n\nBand Heron earns 88 thousand a year.\n")
    environment = {"FOOTNOTE_DATABASE_URL": postgres_url, "FOOTNOTE_CONFIG": str(tmp_path / "footnote.toml")}

    def ran(*arguments: str) -> str:
        done = CliRunner().invoke(app, arguments, env=environment)
        assert done.exit_code == 0, done.output
        return done.stdout

    synced = {each["name"]: each["added"] for each in json.loads(ran("sync", "--json"))["sources"]}
    assert synced == {"handbook": 1, "salaries": 1}
    asked = "What does band Heron earn?"
    assert "88 thousand" in ran("ask", asked, "--as", "alex", "--in", "finance")
    assert "88 thousand" not in ran("ask", asked, "--as", "alex", "--in", "general")
    assert "88 thousand" not in ran("ask", asked, "--as", "sam", "--in", "dm")
