"""`footnote run`, `doctor` and `manifest`: what an administrator needs."""

import signal
import threading
from typing import Annotated

import typer

from bot.client import unlogged
from bot.commands.console import Config, Json, engine, print_json, say, settings
from bot.doctor import examine, worst
from bot.local_slack.manifest import DEFAULT_MANIFEST as MANIFEST
from bot.service import Part, Service


def run(
    only: Annotated[
        list[Part] | None, typer.Option("--only", help="Run a part of it, for several machines; may be repeated.")
    ] = None,
    config: Config = None,
) -> None:
    """Run the bot until it is told to stop. Receiver, worker and schedule in one process."""
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    with engine(config) as (chosen, opened):
        if lack := chosen.no_sources:
            say(f"{lack.says}, so the index stays as it is; {lack.remedy}")
        service = Service(chosen, opened, tuple(only) if only else tuple(Part))
        try:
            service.start()
            service.wait(stop, on_ready=lambda: say("ready; Ctrl-C ends it"))
        finally:
            service.stop()
    if not stop.is_set():
        raise typer.Exit(1)


def doctor(config: Config = None, json: Json = False) -> None:
    """Check everything that the bot needs. Each fault comes with a remedy."""
    checks = []
    with unlogged():
        for check in examine(settings(config)):
            checks.append(check)
            if not json:
                say(f"{check.state:5} {check.name}: {check.says}" + (f"  → {check.remedy}" if check.remedy else ""))
    if json:
        print_json({"state": worst(checks), "checks": [vars(check) for check in checks]})
    if worst(checks) == "fail":
        raise typer.Exit(1)


def manifest() -> None:
    """Print the app manifest to paste into Slack."""
    say(MANIFEST.read_text(encoding="utf-8").rstrip())
