"""What `footnote --help` says is whole on a terminal of 80 columns."""

from importlib.metadata import version

import pytest
from typer.testing import CliRunner

from bot.cli import app


@pytest.mark.parametrize("group", [(), ("gold",)])
def test_no_description_is_cut(group: tuple[str, ...]) -> None:
    shown = CliRunner().invoke(app, [*group, "--help"], env={"COLUMNS": "80"}).stdout
    _, _, commands = shown.partition("Commands:\n")
    assert commands
    assert [line for line in commands.splitlines() if line and not line.endswith(".")] == []
    assert "..." not in commands


def test_it_tells_its_version() -> None:
    assert CliRunner().invoke(app, ["--version"]).stdout == f"footnote {version('footnote-bot')}\n"
