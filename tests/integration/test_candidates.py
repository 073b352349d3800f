"""The vector list under rights: exact, through the index, and never a row of another reader."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa

from knowledge import acls, candidates, embeddings, generations, vector_index
from knowledge.candidates import Candidate, Query, Route
from knowledge.db import Database
from knowledge.embeddings import ChunkKey
from knowledge.encoders import Encoded, Floats
from knowledge.errors import ModelUnavailable
from knowledge.generations import Generation
from knowledge.keywords import Weighted
from knowledge.tables import acls as acls_table
from knowledge.tables import chunk_tokens, chunk_vectors
from tests.plans import explain

DIMENSION = 16
BIG, SMALL, OTHER = "channel:BIG", "channel:SMALL", "channel:OTHER"


class Model:
    def __init__(self, name: str = "test", revision: str = "1") -> None:
        self.name, self.revision, self.dimension = name, revision, DIMENSION


def unit(vectors: np.ndarray[Any, Any]) -> Floats:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=-1, keepdims=True), dtype=np.float32)


def store(database: Database, groups: dict[str, Floats]) -> Generation:
    """Vectors of chunks 1, 2, … of each scope in turn; there are no texts, so nothing refers to a chunk's row."""
    with database.writing() as connection:
        connection.execute(sa.text("alter table chunk_vectors drop constraint fk_chunk_vectors_chunk_id"))
        generation = generations.active(connection, Model())
        number = 0
        for scope, vectors in groups.items():
            acl_id = acls.intern(connection, [scope])
            keys = [ChunkKey(number + i + 1, 0, acl_id) for i in range(len(vectors))]
            number += len(vectors)
            embeddings.write(connection, generation, keys, Encoded(vectors, ()))
            connection.execute(sa.update(acls_table).where(acls_table.c.id == acl_id).values(chunk_count=len(vectors)))
    return generation


def ask(
    database: Database, generation: Generation, vector: Floats, scopes: Sequence[str], limit: int, exact_below: int = 0
) -> list[int]:
    query = Query(generation, vector, Weighted({}, {}, 0), frozenset(scopes), limit)
    with database.reading(frozenset(scopes)) as connection:
        found = candidates.find(connection, query, exact_below)
    return [c.chunk_id for c in sorted(found, key=lambda c: c.vector_rank or 0)]


@pytest.fixture
def far_apart(database: Database) -> tuple[Database, Generation, Floats, Floats]:
    """A channel of 3,000 chunks around the question and one of 30 that are far from it, with the HNSW index on."""
    random = np.random.default_rng(11)
    centre = unit(random.standard_normal(DIMENSION).astype(np.float32))
    big = unit(centre + 0.3 * random.standard_normal((3_000, DIMENSION)))
    small = unit(-centre + 0.5 * random.standard_normal((30, DIMENSION)))
    generation = store(database, {BIG: big, SMALL: small})
    assert vector_index.tend(database, generation, above=3_029)
    return database, generation, centre, np.concatenate([big, small])


def nearest(vectors: Floats, vector: Floats, numbers: range, limit: int) -> list[int]:
    rounded = vectors.astype(np.float16).astype(np.float32)
    return sorted(numbers, key=lambda n: -float(rounded[n - 1] @ vector.astype(np.float16)))[:limit]


@pytest.mark.parametrize("exact_below", [0, 50_000])
def test_a_reader_of_few_chunks_far_from_the_question_gets_the_best_of_them(
    far_apart: tuple[Database, Generation, Floats, Floats], exact_below: int
) -> None:
    database, generation, centre, vectors = far_apart
    found = ask(database, generation, centre, [SMALL], 10, exact_below)
    assert set(found) == set(nearest(vectors, centre, range(3_001, 3_031), 10))


@pytest.mark.parametrize("exact_below", [0, 50_000])
def test_a_filter_never_lets_a_row_through_and_never_leaves_places_free(
    far_apart: tuple[Database, Generation, Floats, Floats], exact_below: int
) -> None:
    database, generation, centre, _ = far_apart
    for scopes, readable in (
        ([SMALL], range(3_001, 3_031)),
        ([BIG], range(1, 3_001)),
        ([BIG, SMALL, OTHER], range(1, 3_031)),
    ):
        for limit in (5, 20, 50):
            found = ask(database, generation, centre, scopes, limit, exact_below)
            assert len(found) == min(limit, len(readable))
            assert set(found) <= set(readable)
    assert ask(database, generation, centre, [OTHER], 5, exact_below) == []
    assert ask(database, generation, centre, [], 5, exact_below) == []


def test_a_shorter_list_is_the_beginning_of_a_longer_one(
    far_apart: tuple[Database, Generation, Floats, Floats],
) -> None:
    database, generation, centre, _ = far_apart
    longer = ask(database, generation, centre, [BIG], 20, 50_000)
    assert ask(database, generation, centre, [BIG], 5, 50_000) == longer[:5]


def test_above_the_limit_the_statement_goes_through_the_index(
    far_apart: tuple[Database, Generation, Floats, Floats],
) -> None:
    database, generation, centre, _ = far_apart
    query = Query(generation, centre, Weighted({}, {}, 0), frozenset({BIG}), 10)
    with database.reading(query.scopes) as connection:
        assert not candidates.route(connection, query, exact_below=100).exact
        assert candidates.route(connection, query, exact_below=3_000).exact
        connection.execute(sa.text("set local enable_seqscan = off"))
        connection.execute(sa.text("set local enable_sort = off"))
        plans = {exact: explain(connection, candidates.statement(query, Route(exact, True))) for exact in (True, False)}
    assert vector_index.name(generation) in plans[False]
    assert vector_index.name(generation) not in plans[True]


def test_the_index_is_taken_although_the_planner_cannot_know_how_much_the_reader_may_read(database: Database) -> None:
    """Most chunks are under one access list, and there are many others: by the average it would be a few rows to scan."""
    random = np.random.default_rng(5)
    groups = {BIG: unit(random.standard_normal((3_000, DIMENSION)))}
    groups |= {f"channel:C{n}": unit(random.standard_normal((1, DIMENSION))) for n in range(300)}
    generation = store(database, groups)
    vector_index.tend(database, generation, above=0)
    with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(sa.text("analyze"))
    query = Query(generation, groups[BIG][0], Weighted({}, {}, 0), frozenset({BIG}), 10)
    with database.reading(query.scopes) as connection:
        chosen = candidates.route(connection, query, exact_below=2_999)
        assert not chosen.exact
        assert vector_index.name(generation) in explain(connection, candidates.statement(query, chosen))


def test_what_the_words_found_tells_when_the_index_missed_a_region() -> None:
    listed = [Candidate(n, n, None, 1 - n / 100, 0.0, b"") for n in range(1, 21)]
    assert not candidates.lacks(listed, 20)
    assert candidates.lacks(listed, 21), "short"
    assert not candidates.lacks([*listed, Candidate(30, None, 1, 0.9, 2.0, b"")], 20)
    assert candidates.lacks([*listed, Candidate(30, None, 1, 0.91, 2.0, b"")], 20)
    assert candidates.lacks([*listed[:5], Candidate(30, None, 1, 0.96, 2.0, b"")], 5)


def test_a_vector_that_is_not_a_number_is_left_out_and_named(database: Database) -> None:
    vectors = unit(np.random.default_rng(1).standard_normal((4, DIMENSION)).astype(np.float32))
    vectors[1, 3], vectors[2, 0] = np.nan, np.inf
    with database.writing() as connection:
        connection.execute(sa.text("alter table chunk_vectors drop constraint fk_chunk_vectors_chunk_id"))
        connection.execute(sa.text("alter table chunk_tokens drop constraint fk_chunk_tokens_chunk_id"))
        generation = generations.active(connection, Model())
        keys = [ChunkKey(n, 0, 1) for n in range(1, 5)]
        bits = tuple(bytes([n]) * 24 for n in range(4))
        assert embeddings.write(connection, generation, keys, Encoded(vectors, bits)) == (2, 3)
        assert set(connection.scalars(sa.select(chunk_vectors.c.chunk_id))) == {1, 4}
        stored = connection.execute(sa.select(chunk_tokens.c.chunk_id, chunk_tokens.c.bits))
        assert {chunk_id: value for chunk_id, value in stored} == {1: bits[0], 4: bits[3]}


def test_the_similarity_of_a_text_with_itself_is_one_at_most(database: Database) -> None:
    vector = unit(np.full((1, DIMENSION), 0.111, np.float32))
    generation = store(database, {BIG: vector})
    query = Query(generation, unit(np.full(DIMENSION, 0.1, np.float32)), Weighted({}, {}, 0), frozenset({BIG}), 5)
    with database.reading(query.scopes) as connection:
        [found] = candidates.find(connection, query, 50_000)
    assert isinstance(found, Candidate)
    assert found.cosine == pytest.approx(1.0, abs=1e-3)
    assert found.cosine <= 1.0


@pytest.mark.parametrize("other", [Model(name="other"), Model(revision="2")])
def test_vectors_of_another_model_are_never_compared(database: Database, other: Model) -> None:
    with database.writing() as connection:
        first = generations.active(connection, Model())
        assert generations.active(connection, Model()) == first
        with pytest.raises(ModelUnavailable, match=r"built with test \(1\).*footnote sync --full"):
            generations.active(connection, other)
