"""What the README says of commands, settings, variables and scopes is what the code has."""

import re
from pathlib import Path

import yaml
from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from bot.cli import app
from bot.local_slack.manifest import DEFAULT_MANIFEST
from bot.local_slack.workspace import CHANNEL_KINDS, PERSON_KINDS
from bot.settings import ENVIRONMENT, Settings

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def table(name: str) -> list[str]:
    """The rows below the header of a marked table."""
    found = re.search(rf"<!-- {name} -->\n(.*?)<!-- /{name} -->", README, re.DOTALL)
    assert found, f"the README has no table {name}"
    return found[1].splitlines()[2:]


def commands() -> list[str]:
    rows = []
    for command in app.registered_commands:
        assert command.callback is not None
        rows.append((command.name or command.callback.__name__, command.callback.__doc__))
    for group in app.registered_groups:
        assert group.typer_instance is not None
        rows.append((str(group.typer_instance.info.name), str(group.typer_instance.info.help)))
    return [f"| `footnote {name}` | {' '.join((doc or '').split()).rstrip('.')} |" for name, doc in rows]


def settings(model: type[BaseModel] = Settings, prefix: str = "") -> list[str]:
    rows = []
    for name, field in model.model_fields.items():
        key = f"{prefix}{name}"
        secret = key in ENVIRONMENT.values()
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            rows += settings(field.annotation, f"{key}.")
        elif key == "sources":
            rows += settings(Settings.model_fields[name].annotation.__args__[0], "sources[].")  # type: ignore[union-attr]  # a tuple of Source
        elif not secret:
            default = "required" if field.default is PydanticUndefined else f"`{_shown(field.default)}`"
            rows.append(f"| `{key}` | {default} | {' '.join((field.description or '').split()).rstrip('.')} |")
    return rows


def _shown(default: object) -> str:
    return str(list(default) if isinstance(default, tuple) else "" if default is None else default) or "none"


def scopes() -> list[str]:
    lines = re.findall(r"^ +- ([a-z_]+:[a-z.]+|commands)(?: # (.*))?$", DEFAULT_MANIFEST.read_text(), re.MULTILINE)
    declared = yaml.safe_load(DEFAULT_MANIFEST.read_text())["oauth_config"]["scopes"]["bot"]
    assert [name for name, _ in lines] == declared
    return [f"| `{name}` | {why} |" for name, why in lines]


def test_every_command_is_in_the_readme_with_what_it_does() -> None:
    assert table("commands") == commands()


def test_every_setting_is_in_the_readme_with_its_default() -> None:
    assert table("settings") == settings()
    assert all(not row.endswith("|  |") for row in settings())


def test_every_variable_is_in_the_readme_with_its_setting() -> None:
    assert table("environment") == [f"| `{name}` | `{key}` |" for name, key in ENVIRONMENT.items()]


def test_every_scope_is_explained_in_the_readme() -> None:
    assert table("scopes") == scopes()
    assert all(not row.endswith("|  |") for row in scopes())


def test_every_kind_of_person_and_channel_of_a_workspace_file_is_named() -> None:
    _, _, own = README.partition("## Try your own documents")
    own, _, _ = own.partition("## Run the tests")
    assert [kind for kind in (*PERSON_KINDS, *CHANNEL_KINDS) if f"`{kind}`" not in own] == []
