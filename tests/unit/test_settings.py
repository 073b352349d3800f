"""Faults in footnote.toml and the environment are told by place, value and remedy, and never quote a secret."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import BaseModel, SecretStr

from bot.settings import Settings, load
from knowledge.errors import SettingsInvalid
from knowledge.settings import Source

BOARD = '[[sources]]\nname = "board"\nlocation = "board"\n'


def refusal(folder: Path, text: str, environment: dict[str, str] | None = None) -> str:
    file = folder / "footnote.toml"
    file.write_text(text)
    with pytest.raises(SettingsInvalid) as refused:
        load(file, environment or {})
    return str(refused.value).replace(str(file), "FILE")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            BOARD + 'scopes = ["workspace"]\nloction = "b"\n',
            "FILE, source 'board': `loction` is not a known key; did you mean `location`?",
        ),
        ("[retreival]\nfusion = 'rrf'\n", "FILE: `retreival` is not a known key; did you mean `retrieval`?"),
        (
            "[retrieval]\nfusion_wieght = 1\n",
            "FILE, [retrieval]: `fusion_wieght` is not a known key; did you mean `fusion_weight`?",
        ),
        (
            "[chunking]\nxyzzy = 1\n",
            "FILE, [chunking]: `xyzzy` is not a known key; known here are: max_tokens, min_tokens, overlap",
        ),
        (
            "[chunking]\nmin_tokens = 500\n",
            "FILE: `chunking` min_tokens is 500, more than max_tokens, which is 240",
        ),
        (
            BOARD + 'scopes = ["workspace", "everyone"]\n',
            "FILE, source 'board': `scopes[1]` is 'everyone'; a scope is `workspace`, `channel:<id>` or `user:<id>`, "
            "such as channel:C0123456789",
        ),
        (
            BOARD,
            "FILE, source 'board': `scopes` is missing. Who may read it: `workspace`, `channel:<id>`, `user:<id>`.",
        ),
        (
            "[[sources]]\nname = 'board'\nscopes = ['workspace']\n",
            "FILE, source 'board': `location` is missing. A folder, a repository address, a start URL, or a channel id.",
        ),
        (
            "[[sources]]\nname = 'board'\nscopes = ['workspace']\nlocation = ' '\n",
            "FILE, source 'board': `location` is ' '; it should be a folder, a repository address, a start URL, or a channel",
        ),
        (
            BOARD + "scopes = []\n",
            "FILE, source 'board': `scopes` is empty, so that nobody could read it; name at least one, such as workspace. To "
            "take a source out of the index, delete its entry and run `footnote sync --remove board`",
        ),
        (
            BOARD + "scopes = ['workspace']\nurl = 'wiki.example.com/{path}'\n",
            "FILE, source 'board': `url` is 'wiki.example.com/{path}'; it should be an address that begins with https:// or",
        ),
        (
            "[[sources]]\nname = 'site'\nkind = 'website'\nlocation = 'not a url'\nscopes = ['workspace']\n",
            "FILE, source 'site': `location` is 'not a url'; it should be an address that begins with https:// or http://",
        ),
        (
            "[slack]\napi_url = 'slack.local/api/'\n",
            "FILE, [slack]: `api_url` is 'slack.local/api/'; it should be an address that begins with https:// or http://",
        ),
        ("[[sources]]\nscopes = ['workspace']\n", "FILE, source number 1: `name` is missing"),
        (
            "[sources]\nname = 'board'\n",
            "FILE: `sources` (write [[sources]] above each of them) has keys; it should be a list",
        ),
        ("sources = ['board']\n", "FILE: `sources[0]` (write [[sources]] above each of them) is 'board'; it should"),
        (
            "[retrieval]\npassages = 99\n",
            "FILE, [retrieval]: `passages` is 99; it should be less than or equal to 30",
        ),
        (
            BOARD + "scopes = ['workspace']\nschedule = 'daily'\n",
            "FILE, source 'board': `schedule` is 'daily'; it is no cron expression (Wrong",
        ),
        (
            "[schedule]\nsync = '*/99 * * * *'\n",
            "FILE, [schedule]: `sync` is '*/99 * * * *'; it is no cron expression (minute: a "
            "step of 99 is more than its 60 values)",
        ),
        (
            "[schedule]\nsync = 'text'\n",
            "FILE, [schedule]: `sync` is 'text'; it is no cron expression (Wrong number of",
        ),
        (
            "[schedule]\ntimezone = 'Mars'\n",
            "FILE, [schedule]: `timezone` is 'Mars'; a time zone is named such as Europe/Berlin",
        ),
        (
            "[schedule]\ndigest_channel = 'general'\n",
            "FILE, [schedule]: `digest_channel` is 'general'; a channel is named by its id, such as C0123456789, which is "
            "at the end of the channel's About tab in Slack",
        ),
        (
            "[[sources]]\nname = 'talk'\nkind = 'slack'\nlocation = 'general'\nscopes = ['channel:CGENERAL']\n",
            "source 'talk': `location` is 'general'; a channel is named by its id, such as C0123456789, which is at the end",
        ),
        (
            "[slack]\nadmins = ['ana']\n",
            "FILE, [slack]: `admins[0]` is 'ana'; a person is named by their member ID, such as U0123456789, which can be "
            "copied from their profile in Slack",
        ),
        (
            "[slack]\ntrusted_bots = ['deploybot']\n",
            "FILE, [slack]: `trusted_bots[0]` is 'deploybot'; a person is named",
        ),
        ("slack = 3\n", "FILE: `slack` is 3; it should be a table: write [slack] above its keys"),
        (
            BOARD + "scopes = ['workspace']\ndrop_stale = true\n",
            "FILE, source 'board': drop_stale of source 'board' needs",
        ),
        (
            "[slack]\nbot_token = 'x'\n[answers\n",
            "FILE is not valid TOML: Expected ']' at the end of a table declaration (at line 3, column 9)",
        ),
        (
            "home = 'x'\nname = [1,",
            "FILE is not valid TOML: Invalid value (at line 2, column 11, the end of the file)",
        ),
    ],
)
def test_a_fault_of_the_file_is_named_with_what_would_do(tmp_path: Path, text: str, says: str) -> None:
    assert refusal(tmp_path, text, {"SLACK_BOT_TOKEN": "xoxb-secret"}).startswith(says)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            BOARD + 'scopes = "workspace"\n',
            "FILE, source 'board': `scopes` is 'workspace'; it should be a list, such as [\"workspace\"]",
        ),
        (
            BOARD + "scopes = ['workspace']\ninclude = {a = 1}\n",
            "FILE, source 'board': `include` has keys; it should be a list, such as [\"**/*\"]",
        ),
        (
            "[schedule]\nsync = 15\n",
            'FILE, [schedule]: `sync` is 15; it should be text in quotes, such as "*/15 * * * *"',
        ),
        (
            "[schedule]\ndigest_channel = ['C0123456789']\n",
            "FILE, [schedule]: `digest_channel` is a list; it should be text in quotes. Channel id of the nightly digest",
        ),
        (
            "[schedule]\ntimezone = 2026-01-01\n",
            'FILE, [schedule]: `timezone` is 2026-01-01; it should be text in quotes, such as "UTC"',
        ),
        ("[slack]\nadmins = [15]\n", "FILE, [slack]: `admins[0]` is 15; it should be text in quotes"),
        ("[slack]\napp_token = 15\n", "FILE, [slack]: `app_token` should be text in quotes"),
        ("[slack]\nstreaming = 'always'\n", "FILE, [slack]: `streaming` is 'always'; it should be true or false"),
        ("[slack]\nfacts = true\n", "FILE, [slack]: `facts` is true; it should be a path in quotes. A workspace file"),
        (
            "[slack]\nkeep_reaction = ':key:'\n",
            "FILE, [slack]: `keep_reaction` is ':key:'; a reaction is named without its colons, such as white_check_mark",
        ),
        (
            "[[sources]]\nname = 'Our Board'\nscopes = ['workspace']\n",
            "FILE, source 'Our Board': `name` is 'Our Board'; a name is small letters, digits, - and _, such as handbook",
        ),
        (
            "[retrieval]\npassages = 1.5\n",
            "FILE, [retrieval]: `passages` is 1.5; it should be a whole number, such as 8",
        ),
        ("[retrieval]\ndiversity = ''\n", "FILE, [retrieval]: `diversity` is ''; it should be a number, such as 1.0"),
        (
            "[answers]\nbase_url = 'claude.local'\n",
            "FILE, [answers]: `base_url` is 'claude.local'; it should be an address that begins with https:// or http://",
        ),
    ],
)
def test_a_value_of_another_type_is_told_what_would_do(tmp_path: Path, text: str, says: str) -> None:
    assert refusal(tmp_path, text).startswith(says)


UNENDED = (
    "FILE is not valid TOML: a text in quotes has to end on its line, and here its closing quote is missing (at line "
)
QUOTES = 'FILE is not valid TOML: a text stands in straight quotes, such as "workspace" (at line '


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('[[sources]]\nlocation = "documets\nname = "board"\n', UNENDED + '2, column 21):\n  location = "documets'),
        ('[[sources]]\r\nlocation = "documets\r\n', UNENDED + '2, column 21):\n  location = "documets'),
        ('[[sources]]\nlocation = "documets', UNENDED + '2, column 12):\n  location = "documets'),
        ("[[sources]]\nlocation = 'documets\nscopes = []\n", UNENDED + "2, column 12):\n  location = 'documets"),
        ("location = 'documets\nname = 'board'\n", UNENDED + "1, column 21):\n  location = 'documets"),
        ('name = """board\nscopes = []\n', UNENDED + '1, column 10):\n  name = """board'),
        ('include = [\n  "**/*.md,\n]\n', UNENDED + '2, column 12):\n  "**/*.md,'),
        ("location = documents\n", QUOTES + "1, column 12):\n  location = documents"),
        ("location = “documents”\n", QUOTES + "1, column 12):\n  location = “documents”"),
        (
            "[slack]\nstreaming = True\n",
            "FILE is not valid TOML: true and false are written small (at line 2, column 13):\n  streaming = True",
        ),
        (
            'scopes = ["workspace, "channel:CLAB"]\n',
            "FILE is not valid TOML: in this list, or before it, a comma or a quote is missing (at line 1, column 24):"
            '\n  scopes = ["workspace, "channel:CLAB"]',
        ),
        (
            "[slack\n",
            "FILE is not valid TOML: Expected ']' at the end of a table declaration (at line 1, column 7):\n  [slack",
        ),
    ],
)
def test_a_file_that_is_not_toml_is_told_what_is_likely_with_its_line(tmp_path: Path, text: str, says: str) -> None:
    assert refusal(tmp_path, text) == says


@pytest.mark.parametrize(
    "line",
    [
        'signing_secret = "hush',
        "signing_secret = hush",
        'signing_secrt = "hush',
        'signing_secrt "hush"',
        'hush"',
        "hush",
        "signing_secrt hush",
        'slack = {signing_secret = "hush',
        'slack.signing_secret = "hush',
        'slack.signing_secrt = "hush',
        'url = "https://me:hush@wiki.example.com',
        '"signing_secrt" = "hush',
    ],
)
def test_a_line_that_may_have_a_secret_is_not_shown(tmp_path: Path, line: str) -> None:
    said = refusal(tmp_path, f"[slack]\n{line}\n")
    assert "line 2" in said
    assert "hush" not in said


def files() -> Iterator[str]:
    """One for each setting and each TOML type; many are right."""
    values = ('"text"', '""', "15", "-1", "1.5", "inf", "true", "2026-01-01", '["a"]', "[15]", "[]", "{a = 1}")
    for value in values:
        for name, field in Settings.model_fields.items():
            yield f"{name} = {value}\n"
            if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
                yield from (f"[{name}]\n{key} = {value}\n" for key in field.annotation.model_fields)
        for key in Source.model_fields:
            source = {"name": '"board"', "location": '"board"', "scopes": '["workspace"]', key: value}
            yield "[[sources]]\n" + "".join(f"{name} = {given}\n" for name, given in source.items())


def test_no_wrong_value_is_told_in_the_words_of_the_library(tmp_path: Path) -> None:
    file, told = tmp_path / "footnote.toml", []
    for text in files():
        file.write_text(text)
        try:
            load(file, {})
        except SettingsInvalid as refused:
            told.append(str(refused))
    assert len(told) > 500
    assert [t for t in told if re.search(r"valid|instance|<class|Input|String |Tuple |pattern|parse|` it ", t)] == []


def test_every_fault_is_told_at_once(tmp_path: Path) -> None:
    said = refusal(tmp_path, "[chunking]\noverlap = 2\n[answers]\nmodle = 'x'\n")
    assert "`overlap` is 2" in said
    assert "did you mean `model`?" in said


SWAPPED = "are the two tokens swapped?"


@pytest.mark.parametrize(
    ("bot", "app", "says"),
    [
        ("xoxb-1", "xapp-1", ""),
        ("xoxe.xoxb-1", "xapp-1", ""),
        ("hush", "xapp-1", "SLACK_BOT_TOKEN should begin with xoxb-: copy the Bot User OAuth Token of the app"),
        ("xoxb-1", "xoxp-hush", "SLACK_APP_TOKEN should begin with xapp-: copy the app-level token with the scope "),
        (
            "xapp-hush",
            "xoxb-hush",
            f"SLACK_BOT_TOKEN should begin with xoxb- and begins with xapp-: {SWAPPED}\n"
            f"  SLACK_APP_TOKEN should begin with xapp- and begins with xoxb-: {SWAPPED}",
        ),
    ],
)
def test_a_token_of_another_form_is_told_by_its_variable_and_not_repeated(bot: str, app: str, says: str) -> None:
    environment = {"SLACK_BOT_TOKEN": bot, "SLACK_APP_TOKEN": app}
    if not says:
        assert load(None, environment).slack.bot_token == SecretStr(bot)
        return
    with pytest.raises(SettingsInvalid) as refused:
        load(None, environment)
    assert str(refused.value).startswith(says)
    assert "hush" not in str(refused.value)


@pytest.mark.parametrize(
    ("url", "why"), [("my-secret", "is not a database URL"), ("mysql://me:my-secret@h/d", "only PostgreSQL will do")]
)
def test_a_bad_database_address_is_blamed_on_where_it_was_read(tmp_path: Path, url: str, why: str) -> None:
    good = "postgresql://me@localhost/footnote"
    in_file = refusal(tmp_path, f'database_url = "{url}"\n')
    assert in_file.startswith("FILE: `database_url` is")
    in_environment = refusal(tmp_path, f'database_url = "{good}"\n', {"FOOTNOTE_DATABASE_URL": url})
    assert in_environment.startswith("FOOTNOTE_DATABASE_URL is")
    for said in (in_file, in_environment):
        assert why in said
        assert "my-secret" not in said
