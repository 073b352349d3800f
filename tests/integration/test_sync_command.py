"""`footnote sync` from the shell: what it refuses, what it leaves alone, and what it removes when told to."""

import json
from pathlib import Path

import pytest
import sqlalchemy as sa

from bot.cli import main
from knowledge.db import Database
from knowledge.tables import documents, generations


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
    assert "no sources are configured" in shell("sync")
    assert (shell.status, indexed(database)) == (2, everything)

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
