"""Faults in footnote.toml and the environment are told by place, value and remedy, and never quote a secret."""

from pathlib import Path

import pytest

from bot.settings import load
from knowledge.errors import SettingsInvalid

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
            BOARD + 'scopes = ["workspace", "everyone"]\n',
            "FILE, source 'board': `scopes[1]` is 'everyone'; a scope is `workspace`, `channel:<id>` or `user:<id>`, "
            "such as channel:C0123456789",
        ),
        (
            BOARD,
            "FILE, source 'board': `scopes` is missing. Who may read it: `workspace`, `channel:<id>`, `user:<id>`.",
        ),
        ("[[sources]]\nscopes = ['workspace']\n", "FILE, source number 1: `name` is missing"),
        ("[sources]\nname = 'board'\n", "FILE: `sources` (write [[sources]] above each of them) it should be a valid"),
        (
            "[retrieval]\npassages = 99\n",
            "FILE, [retrieval]: `passages` is 99; it should be less than or equal to 30",
        ),
        (
            BOARD + "scopes = ['workspace']\nschedule = 'daily'\n",
            "FILE, source 'board': `schedule`: 'daily' is not a cron expression",
        ),
        ("slack = 3\n", "FILE: `slack` is 3; it should be"),
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


def test_every_fault_is_told_at_once(tmp_path: Path) -> None:
    said = refusal(tmp_path, "[chunking]\noverlap = 2\n[answers]\nmodle = 'x'\n")
    assert "`overlap` is 2" in said
    assert "did you mean `model`?" in said


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
