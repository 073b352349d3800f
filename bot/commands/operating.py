"""`footnote run`: the bot itself, whole or in parts."""

import signal
import threading
from typing import Annotated

import typer

from bot.commands.console import Config, engine
from bot.service import Part, Service


def run(
    only: Annotated[
        list[Part] | None, typer.Option("--only", help="Run a part of it, for several machines; may be repeated.")
    ] = None,
    config: Config = None,
) -> None:
    """Run the bot until it is told to stop: receiver, worker and schedule in one process."""
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    with engine(config) as (chosen, opened):
        service = Service(chosen, opened, tuple(only) if only else tuple(Part))
        try:
            service.start()
            service.wait(stop)
        finally:
            service.stop()
    if not stop.is_set():
        raise typer.Exit(1)
