"""`footnote sync` from the shell: what it refuses, what it leaves alone, and what it removes when told to."""

import json
from pathlib import Path

import pytest
import sqlalchemy as sa

from bot.cli import main
from bot.local_slack import serve
from knowledge.db import Database
from knowledge.tables import documents, generations
from tests.company import WORKSPACE


class Shell:
    """Runs `footnote` as a process would; `status` is the last exit status."""

    def __init__(self, folder: Path, postgres_url: str, patch: pytest.MonkeyPatch, out: pytest.CaptureFixture[str]):
        self.folder, self._patch, self._out = folder, patch, out
        self.status = 0
        patch.setenv("FOOTNOTE_DATABASE_URL", postgres_url)
        patch.setenv("FOOTNOTE_HOME", str(folder / "home"))
        patch.chdir(folder)

    def configure(self, *sources: str) -> None:
        tables = (f'[[sources]]\nname = "{name}"\nlocation = "{name}"\nscopes = ["workspace"]\n' for name in sources)
        (self.folder / "footnote.toml").write_text("".join(tables))

    def write(self, path: str) -> None:
        (self.folder / path).parent.mkdir(exist_ok=True)
        (self.folder / path).write_text(f"What is written in {path}.")

    def __call__(self, *arguments: str) -> str:
        """Standard output and error of the command."""
        self._patch.setattr("sys.argv", ["footnote", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        self.status = int(ended.value.code or 0)
        return "".join(self._out.readouterr())

    def keep_to(self, scope: str, section: str) -> None:
        """Only the board, for the holders of this scope."""
        source = f'[[sources]]\nname = "board"\nlocation = "board"\nscopes = ["{scope}"]\n'
        (self.folder / "footnote.toml").write_text(source + section)


@pytest.fixture
def shell(
    tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Shell:
    made = Shell(tmp_path, postgres_url, monkeypatch, capsys)
    for path in ("board/a.md", "board/b.md", "handbook/c.md", "handbook/d.md", "handbook/e.md"):
        made.write(path)
    made.configure("board", "handbook")
    return made


def indexed(database: Database) -> list[str]:
    with database.writing() as connection:
        rows = connection.execute(sa.select(documents.c.source, documents.c.external_id))
        return sorted(f"{row.source}/{row.external_id}" for row in rows)


def test_a_source_that_vanished_from_the_settings_stays_until_it_is_named(shell: Shell, database: Database) -> None:
    shell("sync")
    assert shell.status == 0
    everything = indexed(database)
    assert len(everything) == 5

    shell.configure()
    said = shell("sync")
    assert (shell.status, indexed(database)) == (2, everything)
    assert "no sources are configured" in said
    assert "[[sources]]" in said
    (shell.folder / "footnote.toml").unlink()
    missing = f"there is no footnote.toml in {shell.folder}"
    for command in (("sync",), ("sync", "--remove", "board")):
        said = shell(*command)
        assert said.startswith(f"footnote: {missing}, so ")
        assert said.endswith("; go to the folder that has it, or name it with --config\n")
        assert (shell.status, indexed(database)) == (2, everything)
    checks = shell("doctor")
    assert f"warn  source board: in the index with 2 documents; {missing} to name it  → go to the folder that" in checks
    assert f"warn  sources: {missing}  → go to the folder that has it, or name it with --config\n" in checks
    assert "--remove" not in checks

    shell.configure("handbook")
    said = shell("sync")
    assert (shell.status, indexed(database)) == (0, everything)
    assert "board: not in the settings any more; its 2 documents stay until `footnote sync --remove board`" in said
    assert json.loads(shell("sync", "--json"))["not_in_settings"] == [{"name": "board", "documents": 2}]

    for name, why in (("handbook", "is in the settings"), ("bored", "not in the settings are: board")):
        assert why in shell("sync", "--remove", name)
        assert (shell.status, indexed(database)) == (2, everything)
    assert shell("sync", "--remove", "board") == "board: removed from the index with its 2 documents\n"
    assert indexed(database) == ["handbook/c.md", "handbook/d.md", "handbook/e.md"]
    assert "not in the settings" not in shell("sync")


def test_a_source_without_documents_may_leave_the_settings_without_a_word(shell: Shell) -> None:
    (shell.folder / "empty").mkdir()
    shell.configure("empty", "handbook")
    shell("sync")
    shell.configure("handbook")
    assert "empty" not in shell("sync")
    assert shell.status == 0
    assert json.loads(shell("sync", "--json"))["not_in_settings"] == [{"name": "empty", "documents": 0}]
    checks = shell("doctor")
    assert (
        "warn  source empty: not in the settings any more, and without documents; monitoring still counts it" in checks
    )
    assert "`footnote sync --remove empty`" in checks
    assert shell("sync", "--remove", "empty") == "empty: removed from the index\n"


def test_a_new_model_that_waits_for_a_vanished_source_is_told(shell: Shell, database: Database) -> None:
    shell("sync")
    with database.writing() as connection:
        connection.execute(sa.update(generations).values(model="the one before"))
    shell.configure("handbook")
    assert "does not serve before they are removed" in shell("sync", "--full")
    shell("sync", "--remove", "board")
    assert "does not serve" not in shell("sync", "--full")
    with database.writing() as connection:
        served = connection.scalar(sa.select(generations.c.model).where(generations.c.state == "active"))
    assert served == "all-MiniLM-L6-v2"


def test_a_refused_deletion_names_the_way_to_allow_it_once(shell: Shell, database: Database) -> None:
    shell("sync")
    for name in ("c.md", "d.md"):
        (shell.folder / "handbook" / name).unlink()
    said = shell("sync", "handbook")
    assert (shell.status, len(indexed(database))) == (1, 5)
    assert "sources[].max_deleted_share = 0.5" in said
    assert "`footnote sync handbook --allow-deletions`" in said
    assert "needs the names" in shell("sync", "--allow-deletions")
    assert (shell.status, len(indexed(database))) == (2, 5)
    shell("sync", "handbook", "--allow-deletions")
    assert (shell.status, indexed(database)) == (0, ["board/a.md", "board/b.md", "handbook/e.md"])


def test_a_location_that_is_no_folder_is_told_with_the_one_beside_it(shell: Shell) -> None:
    file = shell.folder / "footnote.toml"
    for location, says in (
        ("handbok", "'{}' is not a folder (did you mean handbook?); nothing was deleted"),
        ("elsewhere", "'{}' is not a folder (is it mounted?); nothing was deleted"),
        ("board/a.md", "'{}' is a file, not a folder (name the folder that it is in, and the file in `include`)"),
    ):
        file.write_text(f'[[sources]]\nname = "all"\nlocation = "{location}"\nscopes = ["workspace"]\n')
        assert "all: " + says.format(shell.folder / location) in shell("sync")
        assert shell.status == 1


def two_sources(outer: str, inner: str, more: str = "") -> str:
    """A folder for everybody and, for a channel, one that may lie in it."""
    return (
        f'[[sources]]\nname = "all"\nlocation = "{outer}"\nscopes = ["workspace"]\n{more}\n'
        f'[[sources]]\nname = "finance"\nlocation = "{inner}"\nscopes = ["channel:CFINANCE"]\n'
    )


def test_a_folder_that_another_source_shows_to_more_people_is_told(shell: Shell) -> None:
    file = shell.folder / "footnote.toml"
    file.write_text(two_sources(".", "handbook"))
    said = shell("sync")
    assert "all and finance: 3 documents are in both, and all shows them to people for whom finance does not" in said
    assert 'write exclude = ["handbook/**"] in all, and run `footnote sync all`' in said
    assert json.loads(shell("sync", "--json"))["overlaps"] == [
        {"outer": "all", "inner": "finance", "below": "handbook", "documents": 3}
    ]
    file.write_text(two_sources(".", "handbook", 'exclude = ["handbook/**"]\nmax_deleted_share = 1.0'))
    assert "in both" not in shell("sync")


def test_the_same_folder_twice_is_told_once(shell: Shell) -> None:
    (shell.folder / "footnote.toml").write_text(two_sources("handbook", "handbook/../handbook"))
    said = shell("sync")
    assert said.count("in both") == 1
    assert "take one of the two out of the settings" in said


def test_a_folder_for_more_people_than_the_one_around_it_is_no_overlap(shell: Shell) -> None:
    (shell.folder / "footnote.toml").write_text(two_sources("handbook", "."))
    assert "in both" not in shell("sync")
    (shell.folder / "footnote.toml").write_text(two_sources("handbook", "board"))
    assert "in both" not in shell("sync", "all")


FACTS = f'[slack]\nfacts = "{WORKSPACE}"\n'


@pytest.mark.parametrize(
    ("scope", "says"),
    [
        ("channel:CLEGA", "workspace.yaml has no channel CLEGA, so it lets nobody in; did you mean CLEGAL?"),
        ("user:U0NOBODY", "workspace.yaml has no person U0NOBODY, so it lets nobody in; compare the id with those"),
    ],
)
def test_an_id_in_a_scope_that_the_workspace_file_does_not_have_is_told(shell: Shell, scope: str, says: str) -> None:
    shell.keep_to(scope, FACTS)
    assert f"scopes of board: {says}" in shell("sync")
    assert shell.status == 0
    [told] = json.loads(shell("sync", "--json"))["unknown_scopes"]
    assert says in told
    shell.keep_to("channel:CLEGAL", FACTS)
    assert "scopes of board" not in shell("sync")


def test_a_workspace_file_that_is_not_there_is_told_and_stops_no_sync(shell: Shell, database: Database) -> None:
    shell.keep_to("channel:CLEGAL", '[slack]\nfacts = "nowhere.yaml"\n')
    told = f"slack.facts: {shell.folder}/nowhere.yaml cannot be read: No such file or directory; "
    assert told + "correct `facts` in [slack] of footnote.toml, or take it out" in shell("sync")
    assert (shell.status, len(indexed(database))) == (0, 2)
    (shell.folder / "no-where.yaml").touch()
    assert told + "did you mean no-where.yaml?" in shell("access", "--as", "ana", "--in", "dm")
    assert shell.status == 1


def test_without_a_workspace_file_slack_is_asked_and_its_silence_stops_no_sync(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(WORKSPACE)
    with server:
        monkeypatch.setenv("SLACK_BOT_TOKEN", server.slack.tokens.bot)
        monkeypatch.setenv("SLACK_API_URL", server.base_url)
        shell.keep_to("channel:C0NOPE0000", "")
        assert "scopes of board: Slack shows the bot no channel C0NOPE0000" in shell("sync")
        shell.keep_to("channel:CLEGAL", '[schedule]\ndigest_channel = "C0NOPE0000"\n')
        assert "C0NOPE0000" not in shell("sync")
        monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-wrong")
        assert "Slack" not in shell("sync")
        assert shell.status == 0
