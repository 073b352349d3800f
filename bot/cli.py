"""The command `footnote`. Each command is a function in `bot.commands`; here they are only named."""

import os
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer

from bot import logs
from bot.commands import asking, documents, evaluating, gold, operating, privacy, showing
from bot.commands.console import defaults, say
from bot.errors import UsageWrong
from bot.local_slack.errors import LocalSlackError
from knowledge.errors import FootnoteError

app = typer.Typer(
    name="footnote",
    help="Answers questions in Slack from your own documents, with sources, under each reader's own rights.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

app.command()(showing.demo)
app.command()(operating.run)
app.command()(asking.ask)
app.command()(asking.access)
app.command()(documents.sync)
app.command()(documents.chunks)
app.command()(evaluating.eval)
app.command()(asking.why)
app.command()(operating.doctor)
app.command()(operating.manifest)
app.command()(privacy.forget)
app.command()(privacy.export)
app.add_typer(gold.app)


def _version(wanted: bool) -> None:
    if wanted:
        say(f"footnote {version('footnote-bot')}")
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    log_level: Annotated[
        str, typer.Option(envvar="FOOTNOTE_LOG_LEVEL", help="DEBUG, INFO, WARNING or ERROR.")
    ] = "WARNING",
    config: Annotated[
        Path | None,
        typer.Option(
            "--config", "-c", envvar="FOOTNOTE_CONFIG", help="The settings file, unless the command itself names one."
        ),
    ] = None,
) -> None:
    level = log_level.upper()
    if level not in {"DEBUG", "INFO", "WARNING", "ERROR"}:
        raise typer.BadParameter(f"{log_level!r} is not a level; use DEBUG, INFO, WARNING or ERROR")
    logs.configure(level)
    if config is not None:
        _pass_on(context, config)


def _pass_on(context: typer.Context, config: Path) -> None:
    """Make it the default of every command's own `--config`. Raises `UsageWrong` when it was typed for a command that has
    none; a variable is set for all of them.
    """
    context.default_map = defaults(context.command, str(config))
    source, name = context.get_parameter_source("config"), context.invoked_subcommand
    if source is not None and source.name == "COMMANDLINE" and name and not context.default_map[name]:
        raise UsageWrong(f"`footnote {name}` reads no settings file; leave out --config {config}")


def main() -> None:
    """Entry point. Exit status: 0 answered or abstained, 1 the work failed, 2 wrong usage."""
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    try:
        app()
    except (FootnoteError, LocalSlackError) as error:
        sys.stderr.write(f"footnote: {error}\n")
        sys.exit(2 if isinstance(error, UsageWrong) else 1)
    except OSError as error:
        sys.stderr.write(f"footnote: {f'{error.filename}: {error.strerror}' if error.filename else error}\n")
        sys.exit(1)
