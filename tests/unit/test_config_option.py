"""The settings file may be named before the command as well as after it, and by a variable; what is nearest wins."""

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from bot.cli import app
from bot.errors import UsageWrong
from knowledge.errors import SettingsInvalid

COMMANDS = (["access", "--as", "ana"], ["sync"], ["gold", "list", "--as", "ana"], ["gold", "suggest"])


def run(*arguments: str, variable: str = "") -> Result:
    return CliRunner().invoke(app, arguments, env={"FOOTNOTE_CONFIG": variable})


@pytest.fixture(autouse=True)
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """None of the files is there, so the refusal names the one that was to be read."""
    monkeypatch.chdir(tmp_path)


def read(result: Result) -> str:
    assert isinstance(result.exception, SettingsInvalid)
    return str(result.exception).partition(" does not exist")[0]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_the_option_before_the_command_is_the_default_of_the_commands_own(command: list[str]) -> None:
    assert read(run("--config", "first.toml", *command)) == "first.toml"
    assert read(run("-c", "first.toml", *command, "--config", "second.toml")) == "second.toml"


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_either_option_wins_over_the_variable(command: list[str]) -> None:
    assert read(run(*command, variable="variable.toml")) == "variable.toml"
    assert read(run("--config", "first.toml", *command, variable="variable.toml")) == "first.toml"
    assert read(run(*command, "--config", "second.toml", variable="variable.toml")) == "second.toml"


@pytest.mark.parametrize("command", ["demo", "manifest"])
def test_a_command_without_settings_refuses_the_option_and_leaves_the_variable_alone(command: str) -> None:
    refused = run("--config", "first.toml", command).exception
    assert isinstance(refused, UsageWrong)
    assert str(refused) == f"`footnote {command}` reads no settings file; leave out --config first.toml"
    assert run(command, "--help", variable="variable.toml").exit_code == 0


def test_it_may_stand_between_a_group_and_its_command() -> None:
    assert read(run("gold", "--config", "first.toml", "list", "--as", "ana")) == "first.toml"
    assert read(run("--config", "before.toml", "gold", "-c", "first.toml", "list", "--as", "ana")) == "first.toml"
    assert read(run("gold", "-c", "first.toml", "list", "--as", "ana", "--config", "second.toml")) == "second.toml"
