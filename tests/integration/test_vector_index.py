"""The HNSW index: there once it pays, beside readers and writers, whole again after a crash, and true to the exact scan."""

import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa

from knowledge import candidates, documents, generations, vector_index
from knowledge.candidates import Query
from knowledge.db import Database
from knowledge.index import Indexer
from knowledge.keywords import Weighted
from knowledge.settings import Chunking, Source
from knowledge.vector_index import VectorIndex
from tests.plans import explain
from tests.word_embedder import WordEmbedder

WORKSPACE = frozenset({"workspace"})
WORDS = [
    "harbour",
    "valve",
    "ledger",
    "permit",
    "rota",
    "depot",
    "winch",
    "anchor",
    "beacon",
    "cargo",
    "dredge",
    "ferry",
    "gantry",
    "hatch",
    "jetty",
    "keel",
]


@pytest.fixture
def source(tmp_path: Path) -> Source:
    """Forty documents of one chunk, no two alike."""
    for i in range(40):
        text = " ".join(WORDS[(i * step) % len(WORDS)] for step in (1, 3, 5, 7, 11))
        (tmp_path / f"{i:02}.md").write_text(f"{text} {i}\n")
    return Source(name="pages", location=str(tmp_path), scopes=("workspace",))


def indexer(database: Database, exact_below: int, model: str = "words") -> Indexer:
    return Indexer(database, WordEmbedder(model), Chunking(max_tokens=60, min_tokens=10), exact_below=exact_below)


def ask(database: Database, question: str, exact_below: int) -> tuple[bool, list[int]]:
    """Whether the plan of this route goes through the index, and the vector list it gives, with no second try."""
    with database.reading(WORKSPACE) as connection:
        generation = generations.serving(connection)
        assert generation is not None
        [vector] = WordEmbedder(generation.model).encode_texts([question])
        query = Query(generation, vector, Weighted({}, {}, 0), WORKSPACE, 10)
        statement = candidates.statement(query, candidates.route(connection, query, exact_below))
        connection.execute(sa.text("set local enable_seqscan = off"))  # so few rows would be sorted
        connection.execute(sa.text("set local enable_sort = off"))
        indexed = vector_index.name(generation) in explain(connection, statement)
        return indexed, [row[0] for row in connection.execute(statement)]


def look(database: Database) -> VectorIndex:
    with database.plain() as connection:
        generation = generations.serving(connection)
        assert generation is not None
        return vector_index.look(connection, generation)


def indexes(database: Database) -> dict[str, bool]:
    """The HNSW indexes there are, and whether they are finished."""
    with database.plain() as connection:
        rows = connection.execute(
            sa.text(
                "select relname, indisvalid from pg_index join pg_class on oid = indexrelid where relname like '%hnsw%'"
            )
        )
        return {str(name): bool(valid) for name, valid in rows}


def test_a_sync_builds_the_index_when_there_is_more_than_is_scanned_exactly(database: Database, source: Source) -> None:
    indexer(database, exact_below=40).sync(source)
    assert look(database) == VectorIndex(chunks=40, size_mb=None)
    assert not ask(database, "harbour valve", exact_below=0)[0]
    indexer(database, exact_below=39).sync(source)
    built = look(database)
    assert built.chunks == 40
    assert built.size_mb
    (searched, found), (indexed, scanned) = (ask(database, "permit cargo", limit) for limit in (39, 40))
    assert (searched, indexed) == (True, False)
    assert len(found) == 10
    assert set(found) == set(scanned)


def test_without_a_limit_no_index_is_built(database: Database, source: Source) -> None:
    Indexer(database, WordEmbedder(), Chunking(max_tokens=60, min_tokens=10)).sync(source)
    assert not indexes(database)


def test_another_model_serves_with_its_index_and_the_old_one_goes(database: Database, source: Source) -> None:
    indexer(database, 10).sync(source)
    [old] = indexes(database)
    indexer(database, 10, "better words").sync(source, full=True)
    [new] = indexes(database).keys() - {old}
    indexed, found = ask(database, "permit cargo", exact_below=10)
    assert indexed
    assert len(found) == 10
    indexer(database, 10, "better words").sync(source)
    assert indexes(database) == {new: True}


@contextmanager
def building(database: Database) -> Iterator[tuple[Future[bool], int]]:
    """A build that cannot finish while this lasts, because of a transaction that wrote before it began; and its backend."""
    with database.plain() as connection:
        generation = generations.serving(connection)
        assert generation is not None
    with ThreadPoolExecutor(1) as pool, database.engine.connect() as writer:
        writer.execute(sa.text("update chunk_vectors set acl_id = acl_id"))
        future = pool.submit(vector_index.tend, database, generation, 10)
        yield future, backend(database)


def backend(database: Database) -> int:
    """The process of the build, once it waits for the transaction."""
    waiting = sa.text(
        "select pid from pg_stat_activity where query like 'create index concurrently%' and wait_event_type = 'Lock' "
        "and datname = current_database()"
    )
    pause = threading.Event()
    for _ in range(1_000):
        with database.plain() as connection:
            if pid := connection.scalar(waiting):
                return int(pid)
        pause.wait(0.01)
    raise AssertionError("the build never waited")


def test_a_build_keeps_nobody_waiting_and_happens_once(database: Database, source: Source) -> None:
    indexer(database, exact_below=100).sync(source)
    with building(database) as (build, _):
        indexed, found = ask(database, "permit cargo", exact_below=10)
        assert not indexed, "an unfinished index must not be searched"
        assert len(found) == 10
        with database.writing() as connection:
            connection.execute(sa.text("set local lock_timeout = '5s'"))
            documents.delete(connection, [1])
            generation = generations.serving(connection)
        assert generation is not None
        assert not vector_index.tend(database, generation, 10), "another process is at it"
        assert not build.done()
    assert build.result(timeout=30)
    assert look(database).chunks == 39
    assert ask(database, "permit cargo", exact_below=10)[0]


def test_a_killed_build_is_done_again_by_the_next_sync_and_fails_none(database: Database, source: Source) -> None:
    indexer(database, exact_below=100).sync(source)
    with building(database) as (build, pid):
        with database.plain() as connection:
            connection.execute(sa.text("select pg_terminate_backend(:pid)"), {"pid": pid})
        with pytest.raises(sa.exc.DBAPIError):
            build.result(timeout=30)
    assert set(indexes(database).values()) == {False}
    assert not ask(database, "permit cargo", exact_below=10)[0]
    outcome = indexer(database, exact_below=10).sync(source)
    assert (outcome.same, outcome.error) == (40, "")
    assert set(indexes(database).values()) == {True}
    assert ask(database, "permit cargo", exact_below=10)[0]
