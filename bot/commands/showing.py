"""`footnote demo`: in the browser, or once as a script."""

import os
import signal
import threading
from pathlib import Path
from typing import Annotated, Any

import typer

from bot import terminal
from bot.commands.console import Json, print_json, say
from bot.demo import Demo, Played, running_demo
from bot.errors import UsageWrong
from bot.local_slack import serve
from bot.script import read_script
from bot.service import Part
from bot.settings import default_home
from knowledge import samples
from knowledge.answers import cited_as_json


def demo(
    once: Annotated[bool, typer.Option("--once", help="Play the scripted conversation, print it, and end.")] = False,
    json: Json = False,
    port: Annotated[int, typer.Option(help="Port of the page on 127.0.0.1; 0: any free one.")] = 0,
    slack_only: Annotated[
        bool, typer.Option("--slack-only", help="Start the local Slack alone, for a bot of your own beside it.")
    ] = False,
    workspace: Annotated[
        Path, typer.Option(help="With --slack-only: who and what is in it.", show_default="the invented company")
    ] = samples.WORKSPACE,
) -> None:
    """Show the whole product on an invented company. No account, no key, no Docker, no model download."""
    if slack_only and (once or json):
        raise UsageWrong("--slack-only plays nothing: leave out --once and --json")
    if workspace != samples.WORKSPACE and not slack_only:
        raise UsageWrong("--workspace goes with --slack-only: the demo has the invented company's own")
    if slack_only:
        return _slack(workspace, port)
    home = Path(os.environ.get("FOOTNOTE_HOME") or default_home(os.environ))
    parts = (Part.RECEIVER, Part.WORKER) if once else tuple(Part)
    with running_demo(home, os.environ, _quiet if json else say, parts=parts, port=port) as running:
        if once:
            _play(running, json)
        else:
            _until_interrupted(running)


def _slack(workspace: Path, port: int) -> None:
    """A local Slack until it is interrupted. Whoever can reach it on this machine is everybody in it."""
    with serve(workspace, port) as slack:
        stop = _interrupted()
        tokens = slack.tokens
        say(f"A local Slack is at {slack.state.address}. For a bot beside it, in another shell:\n")
        say(f"export SLACK_API_URL={slack.state.address}/api/")
        say(f"export SLACK_BOT_TOKEN={tokens.bot}")
        say(f"export SLACK_APP_TOKEN={tokens.app}")
        say(f"export SLACK_SIGNING_SECRET={tokens.signing_secret}")
        say("footnote run\n\nCtrl-C ends it; nothing in it is kept.")
        stop.wait()


def _play(running: Demo, json: bool) -> None:
    played = []
    for turn in running.play(read_script(samples.CONVERSATION)):
        played.append(turn)
        if not json:
            say(f"\n{terminal.played(turn.turn, turn.reply, turn.faults)}")
    if json:
        print_json({"turns": [_as_json(turn) for turn in played]})
    right = sum(not turn.faults for turn in played)
    if not json:
        say(f"\n{right} of {len(played)} questions ended as expected")
    if right < len(played):
        raise typer.Exit(1)


def _as_json(played: Played) -> dict[str, Any]:
    turn, reply = played.turn, played.reply
    return {
        "turn": turn.number,
        "about": turn.about,
        "as": turn.asker,
        "place": turn.place,
        "asked": turn.asked,
        "reply": {
            "text": reply.text,
            "outcome": reply.outcome,
            "abstained": reply.outcome not in {"answered", "quoted"},
            "citations": [cited_as_json(cited) for cited in reply.citations],
        },
        "faults": list(played.faults),
    }


def _until_interrupted(running: Demo) -> None:
    stop = _interrupted()
    say(f"\nOpen {running.server.url} and ask. Ctrl-C ends it.")
    running.service.wait(stop)


def _interrupted() -> threading.Event:
    """Set when the process is told to stop, which is answered at once: the rest may take some seconds."""
    stop = threading.Event()

    def heard(*_: object) -> None:
        if not stop.is_set():
            os.write(1, b"stopping\xe2\x80\xa6\n")  # a handler may interrupt a write that holds the stream's lock
        stop.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, heard)
    return stop


def _quiet(_: str) -> None:
    return None
