"""`footnote access` says what is particular about the person and the place, by a workspace file and by Slack alike."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from bot import wording
from bot.cli import app
from bot.standing import NO_REPLY
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


def by_ids(text: str) -> str:
    """The same without the names beside ids."""
    return re.sub(r"\S+ \((\w+)\)", r"\1", re.sub(r"(:\w+) \(\S+\)", r"\1", text))


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
    lines = by_ids(access("--as", person, "--in", place).stdout).splitlines()
    told = [line.removeprefix("note:    ") for line in lines if line.startswith("note:")]
    shut_out = any("they can neither ask there" in note for note in notes)
    assert told == ([NO_REPLY, *notes] if shut_out else notes)
    assert lines[len(told)].startswith("allowed: ")
    assert json.loads(access("--as", person, "--in", place, "--json").stdout)["notes"] == notes


@pytest.mark.parametrize("access", ["workspace file"], indirect=True)
def test_names_of_the_workspace_file_stand_beside_ids(access: Access) -> None:
    told = access("--as", "ben", "--in", "legal").stdout
    assert told.splitlines() == [
        "note:    no such reply can come about",
        "note:    ben (UBEN) is not in #legal (CLEGAL): they can neither ask there nor read the reply",
        "allowed: channel:CGENERAL (#general), channel:CGUESTS (#guests), channel:COLD (#old-project), "
        "channel:CPARTNER (#partner), channel:CRANDOM (#random), workspace",
        "denied:  channel:GLUNCH (#lunch): people who join this channel later read its history",
        "denied:  user:UBEN (ben): people who join this channel later read its history",
        "denied:  channel:CLEGAL (#legal): ben (UBEN) is not in #legal (CLEGAL)",
        "denied:  user:UANA (ana): it is for ana (UANA) alone",
    ]
    printed = json.loads(access("--as", "ben", "--in", "legal", "--json").stdout)
    assert {"scope": "channel:CLEGAL", "reason": "UBEN is not in CLEGAL"} in printed["denied"]
    assert "channel:CGENERAL" in printed["allowed_scopes"]


@pytest.mark.parametrize("access", ["Slack"], indirect=True)
@pytest.mark.parametrize(
    ("person", "place", "first"),
    [
        ("UANA", "CLEGAL", "allowed: channel:CGENERAL, "),
        ("UBEN", "CGUESTS", "note:    ben (UBEN) is not in #guests (CGUESTS), which every member"),
        ("UGUS", "dm", "note:    gus (UGUS) is a guest"),
    ],
)
def test_names_that_slack_knows_stand_beside_the_ids_that_were_given(
    access: Access, person: str, place: str, first: str
) -> None:
    assert access("--as", person, "--in", place).stdout.startswith(first)


@pytest.mark.parametrize("access", ["Slack"], indirect=True)
def test_a_private_channel_of_slacks_that_is_not_open_to_the_asker_is_not_named(access: Access) -> None:
    told = access("--as", "UBEN", "--in", "CLEGAL").stdout
    assert "note:    ben (UBEN) is not in CLEGAL: " in told
    assert "legal" not in told
    assert wording.NO_CHANNEL not in told
    assert "channel:CLEGAL (#legal)" in access("--as", "UANA", "--in", "CLEGAL").stdout


@pytest.mark.parametrize(
    ("person", "lacks"),
    [
        ("UANA", []),
        ("UBEN", ["channel:CLEGAL: UBEN is not in CLEGAL", "user:UANA: it is for UANA alone"]),
        (
            "UGUS",
            [
                "channel:CLEGAL: UGUS is not in CLEGAL",
                "user:UANA: it is for UANA alone",
                "workspace: UGUS is not a full member of the workspace",
            ],
        ),
        ("UOLD", ["*: the asker is deactivated and may read nothing"]),
    ],
)
def test_why_a_person_has_no_part_of_a_source_is_said(access: Access, person: str, lacks: list[str]) -> None:
    lines = by_ids(access("--as", person).stdout).splitlines()
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
