"""The first wall: every statement that reads text filters by itself, in a transaction where nothing else would."""

from collections.abc import Iterable
from datetime import UTC, datetime

import numpy as np
import pytest
import sqlalchemy as sa

from knowledge import activity, candidates, catalog, generations, gold, labels, retrieval
from knowledge.candidates import Query, Route
from knowledge.db import Database
from knowledge.errors import GoldCaseUnknown
from knowledge.keywords import Weighted
from knowledge.labels import Label
from knowledge.permissions import NOTHING, Scopes
from knowledge.replied import Replied, replied
from knowledge.tables import answers, documents
from tests.rows import add_answer, add_chunk, add_gold_case

WORKSPACE: Scopes = frozenset({"workspace"})
LEGAL: Scopes = frozenset({"workspace", "channel:CLEGAL"})
CHANNELS: Scopes = frozenset(f"channel:C{number}" for number in range(50))
ROWS: tuple[list[str], ...] = (["workspace"], ["channel:CLEGAL"], [])
LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)

every_reader = pytest.mark.parametrize(
    ("scopes", "expected"),
    [(NOTHING, set()), (WORKSPACE, {0}), (LEGAL, {0, 1}), (CHANNELS, set()), (LEGAL | CHANNELS, {0, 1})],
    ids=["nobody", "everyone", "a lawyer", "a guest of many channels", "a lawyer in many channels"],
)


@pytest.fixture
def rows(database: Database) -> Iterable[sa.Connection]:
    """One row for the workspace, one for #legal and one that is nobody's, numbered, all open to the transaction."""
    with database.writing() as connection:
        for number, scopes in enumerate(ROWS):
            add_chunk(connection, number, scopes)
            add_answer(connection, f"answer-{number}", scopes)
            add_gold_case(connection, f"case-{number}", scopes)
        connection.execute(sa.update(answers).values(outcome="abstained", question=answers.c.id))
        yield connection


def found(names: Iterable[object]) -> set[int]:
    """The numbers at the ends of the names."""
    return {int(str(name)[-1]) for name in names}


def document_ids(connection: sa.Connection) -> list[int]:
    return list(connection.scalars(sa.select(documents.c.id).order_by(documents.c.id)))


@every_reader
def test_passages(rows: sa.Connection, scopes: Scopes, expected: set[int]) -> None:
    assert set(retrieval.read(rows, (0, 1, 2), scopes)) == expected
    assert catalog.readable_chunks(rows, (0, 1, 2), scopes) == expected


@every_reader
def test_documents_by_their_ids(rows: sa.Connection, scopes: Scopes, expected: set[int]) -> None:
    ids = document_ids(rows)
    assert catalog.readable_documents(rows, ids, scopes) == {ids[number] for number in expected}


NO_TERMS = Weighted({}, {}, 3)
ONE_TERM = Weighted({7: 1.0}, {7: 3}, 3)
A_RARER_TERM_BESIDE_IT = Weighted({9: 1.0, 7: 1.0}, {9: 1, 7: 3}, 3, budgets=(1,))


@every_reader
@pytest.mark.parametrize(
    ("terms", "route", "ranked"),
    [
        (NO_TERMS, Route(exact=True, score_all=False), "vector_rank"),
        (NO_TERMS, Route(exact=False, score_all=False), "vector_rank"),
        (ONE_TERM, Route(exact=True, score_all=True), "keyword_rank"),
        (ONE_TERM, Route(exact=True, score_all=False), "keyword_rank"),
        (A_RARER_TERM_BESIDE_IT, Route(exact=True, score_all=False), "keyword_rank"),
    ],
)
def test_candidates(
    rows: sa.Connection, scopes: Scopes, expected: set[int], terms: Weighted, route: Route, ranked: str
) -> None:
    generation = generations.serving(rows)
    assert generation is not None
    query = Query(generation, np.array([1.0, 0.0], dtype=np.float32), terms, scopes, limit=9)
    hits = rows.execute(candidates.statement(query, route)).all()
    column = {"vector_rank": 1, "keyword_rank": 2}[ranked]
    assert {hit[0] for hit in hits if hit[column]} == expected


@every_reader
def test_documents(rows: sa.Connection, scopes: Scopes, expected: set[int]) -> None:
    ids = document_ids(rows)
    assert {n for n, i in enumerate(ids) if catalog.document(rows, i, scopes)} == expected
    assert found(entry.title for entry in catalog.find(rows, "document", scopes)) == expected
    assert {n for n in range(3) if catalog.find(rows, f"document-{n}", scopes)} == expected
    assert found(entry.title for entry in catalog.latest(rows, scopes, 10)) == expected
    assert [state.documents for state in catalog.source_states(rows, scopes)] == ([len(expected)] if expected else [])


def test_a_document_without_readable_text_is_not_found_by_its_name(rows: sa.Connection) -> None:
    rows.execute(sa.update(documents).values(state="failed"))
    assert catalog.find(rows, "document-0", WORKSPACE) == ()


@every_reader
def test_labels(rows: sa.Connection, scopes: Scopes, expected: set[int]) -> None:
    named = [Label("handbook", f"document-{n}") for n in range(3)]
    assert found(label.external_id for label in labels.stamped(rows, named, scopes)) == expected
    assert {n for n, place in enumerate(labels.locate(rows, named, scopes)) if place.chunk_ids} == expected


@every_reader
def test_questions_and_gold_cases(rows: sa.Connection, scopes: Scopes, expected: set[int]) -> None:
    before = {"answer-0": "answer-1", "answer-1": "answer-2"}
    asked = activity.unanswered(rows, LONG_AGO, scopes, before)
    assert found(each.question for each in asked) == expected
    assert found(each.followed for each in asked if each.followed) == ({1} if {0, 1} <= expected else set())
    assert found(case.id for case in gold.cases(rows, scopes)) == expected
    hidden = f"case-{min({0, 1, 2} - expected)}"
    with pytest.raises(GoldCaseUnknown):
        gold.get(rows, hidden, scopes)


@every_reader
def test_replies_that_are_shown_for_review(rows: sa.Connection, scopes: Scopes, expected: set[int]) -> None:
    assert {n for n in range(3) if replied(rows, f"answer-{n}", scopes) == Replied("")} == expected
    assert replied(rows, None, scopes) is None
