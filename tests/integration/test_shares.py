"""A first index that several processes work on: every document once, also when one of them is killed."""

import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
import sqlalchemy as sa

from bot.service import Part, Service
from knowledge import shares
from knowledge.db import Database
from knowledge.encoders import Embedder, Encoded
from knowledge.index import Indexer
from knowledge.outcomes import SyncOutcome
from knowledge.reranking import Reranker
from knowledge.settings import Chunking, Source
from knowledge.tables import acls, chunks, documents
from tests.company import running
from tests.rows import readable_texts
from tests.word_embedder import WordEmbedder

PAGES = 64
KILLED = """
import sys
from knowledge.db import Database
from knowledge.index import Indexer
from knowledge.settings import Chunking, Source
from tests.word_embedder import Dying

with Database(sys.argv[1]) as database:
    Indexer(database, Dying(), Chunking()).help(Source(name="docs", location=sys.argv[2], scopes=("workspace",)), int(sys.argv[3]))
"""


@pytest.fixture(autouse=True)
def small_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a few documents each, so that few documents make several."""
    monkeypatch.setattr(shares, "ALONE_BELOW", 8)
    monkeypatch.setattr(shares, "SHARE", 8)


@pytest.fixture
def source(tmp_path: Path) -> Source:
    for number in range(PAGES):
        (tmp_path / f"{number}.md").write_text(f"Page {number}.\n")
    return Source(name="docs", location=str(tmp_path), scopes=("workspace",))


def pages(database: Database) -> list[str]:
    with database.writing() as connection:
        counted = connection.scalar(sa.select(sa.func.sum(acls.c.chunk_count)))
        texts = list(connection.scalars(sa.select(chunks.c.text)))
    assert (counted or 0) == len(texts)
    return texts


def test_a_helper_that_is_killed_leaves_its_share_to_others(database: Database, source: Source) -> None:
    helper = threading.Thread()
    stored = 0

    def invite(name: str, count: int) -> None:
        nonlocal helper, stored
        command = [sys.executable, "-c", KILLED, database.url, source.location, str(count)]
        killed = subprocess.run(command, cwd=Path(__file__).parents[2], check=False)
        assert killed.returncode == -signal.SIGKILL
        stored = len(pages(database))
        helper = threading.Thread(target=Indexer(database, WordEmbedder(), Chunking()).help, args=(source, count))
        helper.start()

    outcome = Indexer(database, WordEmbedder(), Chunking(), invite=invite).sync(source)
    helper.join()
    assert stored > 0
    assert outcome.added == PAGES
    assert 0 < outcome.chunks_embedded <= PAGES - stored
    assert sorted(pages(database)) == sorted(f"Page {number}." for number in range(PAGES))


def test_what_is_wrong_with_a_document_that_a_helper_stored_is_said_too(database: Database, source: Source) -> None:
    (Path(source.location) / "0.md").write_text("---\nscopes: [channel:CLAB]\n---\nPage 0.\n")

    def invite(_: str, count: int) -> None:
        Indexer(database, WordEmbedder(), Chunking()).help(source, count)

    outcome = Indexer(database, WordEmbedder(), Chunking(), invite=invite).sync(source)
    assert (outcome.added, outcome.chunks_embedded) == (PAGES, 0)
    assert [name for name, reason in outcome.failed if "nobody may read it" in reason] == ["0.md"]


def test_what_a_helper_read_is_not_stored_once_the_sync_has_ended(database: Database, source: Source) -> None:
    class Slow(WordEmbedder):
        def encode_passages(self, texts: Sequence[str]) -> Encoded:
            with database.plain() as connection:
                shares.finish(connection, SyncOutcome("docs"))
            return super().encode_passages(texts)

    Indexer(database, WordEmbedder(), Chunking()).sync(source.model_copy(update={"include": ("nothing",)}))
    with database.plain() as connection:
        shares.begin(connection, source, datetime.now(UTC))
    assert Indexer(database, Slow(), Chunking()).help(source, 1) == 0
    assert pages(database) == []


@pytest.mark.parametrize("change", [{"scopes": ("channel:CLAB",)}, {"location": "/elsewhere"}])
def test_nobody_helps_under_other_settings(database: Database, source: Source, change: dict[str, object]) -> None:
    with database.plain() as connection:
        shares.begin(connection, source, datetime.now(UTC))
    Indexer(database, WordEmbedder(), Chunking()).sync(Source(name="other", location=source.location, scopes=()))
    helper = WordEmbedder()
    assert Indexer(database, helper, Chunking()).help(source.model_copy(update=change), 1) == 0
    assert helper.encoded == []


def test_workers_are_invited_through_the_queue(
    tmp_path: Path, postgres_url: str, models: tuple[Embedder, Reranker]
) -> None:
    with running(tmp_path, postgres_url, models, documents={}) as company:
        company.start(Part.WORKER)
        for number in range(16):
            company.write(f"everyone/{number}.md", f"Page {number}.\n")
        [everyone, *_] = company.service.sync()
        assert everyone.added == 16
        company.settled()
        with company.database.writing() as connection:
            assert connection.scalar(sa.select(sa.func.count()).select_from(documents)) == 16


def test_a_bot_that_starts_with_narrower_settings_waits_for_no_sync_to_narrow(
    tmp_path: Path, postgres_url: str, models: tuple[Embedder, Reranker]
) -> None:
    everybody = frozenset({"workspace"})
    with running(tmp_path, postgres_url, models) as company:
        assert readable_texts(company.database, everybody)
        sources = tuple(each.model_copy(update={"scopes": ("channel:CLEGAL",)}) for each in company.settings.sources)
        narrower = Service(company.settings.model_copy(update={"sources": sources}), company.engine, ())
        narrower.start()
        narrower.stop()
        assert readable_texts(company.database, everybody) == []
