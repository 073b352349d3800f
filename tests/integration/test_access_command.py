"""`footnote access` says what is particular about the person and the place, by a workspace file and by Slack alike."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from bot.cli import app
from tests.company import WORKSPACE, Company

Access = Callable[..., Result]
BOARD = ["workspace", "channel:CLEGAL", "user:UANA"]
"""The readers of a source in the settings."""


@pytest.fixture(params=["workspace file", "Slack"])
def access(request: pytest.FixtureRequest, company: Company, tmp_path: Path) -> Access:
    """Runs the command for ids."""
    url, token = company.settings.database_url, company.settings.slack.bot_token
    assert url is not None
    assert token is not None
    config = tmp_path / "footnote.toml"
    sources = f'[[sources]]\nname = "board"\nlocation = "."\nscopes = {BOARD}\n'
    facts = f'[slack]\nfacts = "{WORKSPACE}"\n' if request.param == "workspace file" else ""
    config.write_text(facts + sources)
    environment = {
        "FOOTNOTE_DATABASE_URL": url.get_secret_value(),
        "FOOTNOTE_CONFIG": str(config),
        "SLACK_BOT_TOKEN": token.get_secret_value(),
        "SLACK_API_URL": company.server.base_url,
    }
    return lambda *arguments: CliRunner().invoke(app, ("access", *arguments), env=environment)


@pytest.mark.parametrize(
    ("person", "place", "notes"),
    [
        ("UANA", "CLEGAL", []),
        ("UANA", "dm", []),
        ("UBEN", "CLEGAL", ["UBEN is not in CLEGAL: they can neither ask there nor read the reply"]),
        ("UBEN", "CGUESTS", ["UBEN is not in CGUESTS, which every member can open all the same"]),
        ("UGUS", "CGUESTS", ["UGUS is a guest"]),
        ("UGUS", "dm", ["UGUS is a guest"]),
        (
            "UGUS",
            "CGENERAL",
            ["UGUS is a guest", "UGUS is not in CGENERAL: they can neither ask there nor read the reply"],
        ),
        ("UEVE", "CPARTNER", ["UEVE is of another workspace"]),
        ("UOLD", "CGENERAL", ["UOLD is deactivated"]),
        ("UBOT2", "CGENERAL", ["UBOT2 is a bot"]),
    ],
)
def test_what_is_particular_about_a_person_in_a_place_is_said_first(
    access: Access, person: str, place: str, notes: list[str]
) -> None:
    lines = access("--as", person, "--in", place).stdout.splitlines()
    assert [line.removeprefix("note:    ") for line in lines if line.startswith("note:")] == notes
    assert lines[len(notes)].startswith("allowed: ")
    assert json.loads(access("--as", person, "--in", place, "--json").stdout)["notes"] == notes


@pytest.mark.parametrize(
    ("person", "lacks"),
    [
        ("UANA", []),
        ("UBEN", ["channel:CLEGAL (UBEN is not in CLEGAL)", "user:UANA (it is for UANA alone)"]),
        (
            "UGUS",
            [
                "channel:CLEGAL (UGUS is not in CLEGAL)",
                "user:UANA (it is for UANA alone)",
                "workspace (UGUS is not a full member of the workspace)",
            ],
        ),
        ("UOLD", ["* (the asker is deactivated and may read nothing)"]),
    ],
)
def test_why_a_person_has_no_part_of_a_source_is_said(access: Access, person: str, lacks: list[str]) -> None:
    lines = access("--as", person).stdout.splitlines()
    assert [line.removeprefix("denied:  ") for line in lines if line.startswith("denied:")] == lacks


@pytest.mark.parametrize("access", ["Slack"], indirect=True)
@pytest.mark.parametrize("channel", ["CBOARD", "CNOPE"])
def test_a_channel_that_slack_does_not_show_the_bot_is_told_in_the_words_of_doctor(
    access: Access, channel: str
) -> None:
    said = str(access("--as", "UANA", "--in", channel).exception)
    assert said.startswith(
        f"Slack shows the bot no channel {channel} (channel_not_found): the id is wrong, or the channel"
    )
