"""A sync that dies at any point: what readers see is whole all the time, and the next sync ends what it began."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from knowledge import generations
from knowledge.errors import ModelUnavailable
from knowledge.outcomes import SyncOutcome
from knowledge.tables import documents
from tests.folder import ALL, LAB, Library
from tests.word_embedder import WordEmbedder

ROOT = Path(__file__).parents[2]

SYNCING = """
import os, signal, sys
import sqlalchemy as sa
from knowledge.db import Database
from knowledge.index import Indexer
from knowledge.settings import Chunking, Source
from tests.word_embedder import WordEmbedder

url, folder, how, model = sys.argv[1:]

class Embedder(WordEmbedder):
    def encode_passages(self, texts):
        if how == "wait":
            print("encoding", flush=True)
            sys.stdin.readline()
        return super().encode_passages(texts)

def sync(full=False, dies_at=None):
    statements = iter(range(1, 1_000_000))
    def die(*_):
        if next(statements) == dies_at:
            os.kill(os.getpid(), signal.SIGKILL)
    with Database(url) as database:
        if dies_at:
            sa.event.listen(database.engine, "before_cursor_execute", die)
            sa.event.listen(database.engine, "commit", die)
        chunking = Chunking(max_tokens=60, min_tokens=10)
        source = Source(name="docs", location=folder, scopes=("workspace",), url="https://docs.example/{path}")
        return Indexer(database, Embedder(model), chunking).sync(source, full=full)

if how == "wait":
    print(sync().added)
else:  # one line on standard input: one sync, killed at that statement of its own
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            sync(how == "full", int(line))
            os._exit(0)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class Syncing:
    """A process that syncs the library's folder, and dies when it is told to."""

    def __init__(self, library: Library, how: str, model: str = "words") -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", SYNCING, library.database.url, str(library.folder), how, model],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
            text=True,
        )

    def say(self, line: str = "") -> None:
        assert self._process.stdin
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def hear(self) -> str:
        assert self._process.stdout
        return self._process.stdout.readline().strip()

    def was_killed_at(self, statement: int) -> bool:
        """False when the sync ended before it came to that statement."""
        self.say(str(statement))
        return int(self.hear()) == -signal.SIGKILL

    def kill(self) -> None:
        with self._process:
            self._process.kill()


@pytest.fixture
def processes() -> Iterator[list[Syncing]]:
    started: list[Syncing] = []
    yield started
    for process in started:
        process.kill()


def pages(word: str, count: int = 3) -> str:
    return "# Tea\n\nConstant.\n" + "".join(f"\n## Step {i}\n\n{word} {i}.\n" for i in range(count))


def seen(library: Library) -> dict[str, list[str]]:
    """Text by document, as readers of everything see it."""
    with library.database.writing() as connection:
        names = connection.scalars(sa.select(documents.c.external_id)).all()
    return {name: library.texts_of(name) for name in names}


def test_a_sync_killed_at_any_statement_leaves_whole_documents_and_is_ended_by_the_next(
    library: Library,
    processes: list[Syncing],
) -> None:
    for name in ("a", "b"):
        library.write(f"{name}.md", pages("Old"))
    for name in ("gone", "narrowed", "moved", "same"):
        library.write(f"{name}.md", f"Words of {name}.\n")
    library.sync()
    before = seen(library)
    for name in ("a", "b"):
        library.write(f"{name}.md", pages("New", 4))
    library.write("narrowed.md", "---\nscopes: [channel:CLAB]\n---\nWords of narrowed.\n")
    library.write("added.md", "Words of added.\n")
    (library.folder / "gone.md").unlink()
    (library.folder / "moved.md").rename(library.folder / "to.md")
    after = {
        "a.md": ["Constant.", *(f"New {i}." for i in range(4))],
        "b.md": ["Constant.", *(f"New {i}." for i in range(4))],
        "narrowed.md": [],
        "added.md": ["Words of added."],
        "to.md": ["Words of moved."],
        "same.md": before["same.md"],
    }
    process = Syncing(library, "again")
    processes.append(process)
    killed = 0
    for statement in range(3, 1000, 7):
        ended = not process.was_killed_at(statement)
        library.check()
        now = seen(library)
        for name, texts in now.items():
            assert texts in (before.get(name, []), after.get(name, []), []), (statement, name)
        for name in ("a.md", "b.md", "same.md"):
            assert now[name], (statement, name)
        if ended:
            break
        killed += 1
    assert killed > 4
    assert seen(library) == after
    assert library.texts(LAB) == []
    outcome = library.sync()
    assert outcome == SyncOutcome("docs", same=6, failed=outcome.failed)
    assert [name for name, _ in outcome.failed] == ["narrowed.md"]  # it is nobody's


def test_a_full_sync_killed_halfway_serves_the_old_model_until_another_one_ends(
    library: Library,
    processes: list[Syncing],
) -> None:
    for i in range(4):
        library.write(f"{i}.md", pages(f"Page {i} step", 180))  # three of them are exchanged at once
    library.sync()
    texts = library.texts()
    process = Syncing(library, "full", model="better words")
    processes.append(process)
    for statement in (15, 40):
        assert process.was_killed_at(statement)
        with library.database.plain() as connection:
            assert generations.active(connection, library.embedder).model == "words"
        assert library.texts(ALL) == texts
    library.embedder = WordEmbedder("better words")
    with pytest.raises(ModelUnavailable, match="footnote sync --full"):
        library.indexer.sync(library.settings)
    assert 0 < library.sync(full=True).chunks_embedded <= 181
    with library.database.plain() as connection:
        assert generations.active(connection, library.embedder).model == "better words"
    assert library.texts() == texts
    assert library.sync() == SyncOutcome("docs", same=4)


def test_two_processes_never_sync_one_source_at_once_and_a_dead_one_stands_in_nobodys_way(
    library: Library,
    processes: list[Syncing],
) -> None:
    library.write("tea.md", "Green.\n")
    first = Syncing(library, "wait")
    processes.append(first)
    assert first.hear() == "encoding"
    assert "already running" in library.indexer.sync(library.settings).error
    first.say()
    assert first.hear() == "1"
    assert library.sync() == SyncOutcome("docs", same=1)
    library.write("milk.md", "Cold.\n")
    second = Syncing(library, "wait")
    processes.append(second)
    assert second.hear() == "encoding"
    second.kill()
    outcome = library.sync()
    while "already running" in outcome.error:  # until the server has seen that the connection is gone
        outcome = library.sync()
    assert outcome.added == 1
