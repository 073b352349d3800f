"""Whatever a command is given, it ends with a sentence and an exit status, never with a traceback."""

import socket
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy as sa

from bot.cli import main
from tests.company import WORKSPACE
from tests.integration.cable import cut_at

Fails = Callable[..., str]


@pytest.fixture
def fails(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Fails:
    """Runs a command that must fail; what it said on standard error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FOOTNOTE_DATABASE_URL", "postgresql+psycopg://nobody@127.0.0.1:1/none")
    for name in ("SLACK_BOT_TOKEN", "FOOTNOTE_CONFIG"):
        monkeypatch.delenv(name, raising=False)

    def run(*arguments: str) -> str:
        monkeypatch.setattr(sys, "argv", ["footnote", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code in (1, 2)
        said = capsys.readouterr().err
        assert said.startswith("footnote: ")
        assert "Traceback" not in said
        return said

    return run


@pytest.mark.parametrize(
    "command",
    [
        ("chunks", "gone.md"),
        ("access", "--as", "ana", "--config", "gone.toml"),
        ("access", "--as", "ana", "--config", "."),
        ("access", "--as", "ana", "--config", "bad.toml"),
        ("demo", "--slack-only", "--workspace", "gone.yaml"),
    ],
    ids=" ".join,
)
def test_a_file_that_cannot_be_used_is_named(fails: Fails, tmp_path: Path, command: tuple[str, ...]) -> None:
    (tmp_path / "bad.toml").write_bytes(b"{\xff")
    assert next(word for word in reversed(command) if "." in word) in fails(*command)


@pytest.mark.parametrize("text", [None, "", "people: [", "team: {id: T1}", "[]", "\udcff"])
def test_a_workspace_file_that_is_none_is_named(fails: Fails, tmp_path: Path, text: str | None) -> None:
    (tmp_path / "footnote.toml").write_text('[slack]\nfacts = "people.yaml"\n')
    if text is not None:
        (tmp_path / "people.yaml").write_bytes(text.encode(errors="surrogateescape"))
    assert "slack.facts: " in (said := fails("access", "--as", "ana"))
    assert "people.yaml" in said


def test_a_port_in_use_is_named(fails: Fails) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert port in fails("demo", "--slack-only", "--workspace", str(WORKSPACE), "--port", port)


@pytest.mark.parametrize("free", [False, True])
def test_a_port_that_the_demo_cannot_have_is_named_before_anything_is_started(
    fails: Fails, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: bool
) -> None:
    monkeypatch.setenv("FOOTNOTE_HOME", str(tmp_path / "home"))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = 99999 if free else taken.getsockname()[1]
        why = "there is no such port" if free else "Address already in use"
        told = f"port {port} of 127.0.0.1 cannot be used: {why}; name another one with --port\n"
        assert fails("demo", "--port", str(port)).endswith(told)
    assert not (tmp_path / "home").exists()


def test_a_database_that_does_not_answer_is_named(fails: Fails) -> None:
    assert "127.0.0.1:1" in fails("forget", "--user", "UANA")


@pytest.mark.parametrize(
    "command",
    [
        ("sync",),
        ("sync", "--full"),
        ("sync", "--remove", "gone"),
        ("ask", "How warm is green tea?", "--as", "ana"),
        ("why", "abcdefghij", "--as", "ana"),
        ("eval",),
        ("gold", "list", "--as", "ana"),
        ("gold", "export", "--as", "ana"),
        ("forget", "--user", "UANA"),
        ("export", "--user", "UANA"),
    ],
    ids=" ".join,
)
def test_a_database_that_is_lost_in_the_middle_is_named(
    fails: Fails, tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "tea.md").write_text("Green tea wants water of 70 degrees.\n")
    source = '[[sources]]\nname = "docs"\nlocation = "docs"\nscopes = ["workspace"]\n'
    (tmp_path / "footnote.toml").write_text(f'{source}[slack]\nfacts = "{WORKSPACE}"\n')
    monkeypatch.setenv("FOOTNOTE_HOME", str(tmp_path / "home"))
    with cut_at(postgres_url, b"set_config('footnote.") as address:
        monkeypatch.setenv("FOOTNOTE_DATABASE_URL", address)
        said = fails(*command)
    assert said.count("\n") == 1
    url = sa.make_url(address)
    assert f"the database {url.render_as_string()} failed: " in said
    assert url.password
    assert url.password not in said
    assert "run the command again" in said


@pytest.mark.parametrize("command", [("--slack-only", "--once"), ("--workspace", "here.yaml")], ids=" ".join)
def test_options_that_do_not_go_together_are_named(fails: Fails, command: tuple[str, ...]) -> None:
    assert "--slack-only" in fails("demo", *command)


@pytest.mark.parametrize(
    "command",
    [
        ("ask", "How warm is green tea?", "--as", "sam"),
        ("ask", "How warm is green tea?", "--as", "USAM", "--in", "general"),
        ("access", "--as", "sam"),
        ("eval", "--as", "sam"),
        ("gold", "list", "--as", "sam"),
        ("forget", "--user", "sam"),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("token", ["", "xoxb-1"])
def test_a_name_without_a_settings_file_is_told_first_that_there_is_no_file(
    fails: Fails,
    tmp_path: Path,
    postgres_url: str,
    monkeypatch: pytest.MonkeyPatch,
    command: tuple[str, ...],
    token: str,
) -> None:
    """As in a wrong folder, also where the variables of a Slack are set; ids would do there, names would not."""
    monkeypatch.setenv("FOOTNOTE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("FOOTNOTE_DATABASE_URL", postgres_url)
    monkeypatch.setenv("SLACK_API_URL", "http://127.0.0.1:9/api/")
    monkeypatch.setenv("SLACK_BOT_TOKEN", token)
    missing = (
        f"footnote: there is no footnote.toml in {tmp_path}: go to the folder that has it, or name it with --config."
    )
    said = fails(*command)
    assert said.startswith(missing)
    if token or command[0] == "forget":
        assert f"Without it, {command[-1]!r} is not an id; give " in said
    (tmp_path / "footnote.toml").write_text("")
    assert "footnote.toml" not in fails(*command)
