"""Rows for tests that need some in the tables and do not care how they came there."""

from collections.abc import Iterable

import sqlalchemy as sa
from pgvector import SparseVector
from sqlalchemy.dialects.postgresql import insert

from knowledge import acls
from knowledge.acls import visible
from knowledge.db import Database
from knowledge.permissions import Scopes
from knowledge.tables import (
    TERM_SPACE,
    answers,
    chunk_terms,
    chunk_tokens,
    chunk_vectors,
    chunks,
    documents,
    eval_results,
    eval_runs,
    generations,
    gold_cases,
    sources,
)


def add_chunk(connection: sa.Connection, number: int, scopes: Iterable[str]) -> None:
    """A document of one chunk under these scopes, with its rows for both arms of the search."""
    acl_id = acls.intern(connection, scopes)
    connection.execute(
        insert(sources).values(name="handbook", kind="folder", location=".", scopes=[]).on_conflict_do_nothing()
    )
    connection.execute(
        insert(generations)
        .values(id=1, model="test", revision="1", dimension=2, state="active")
        .on_conflict_do_nothing()
    )
    name = f"document-{number}"
    document_id = connection.execute(
        sa.insert(documents)
        .values(source="handbook", external_id=name, acl_id=acl_id, title=name, revision="1", state="ok")
        .returning(documents.c.id)
    ).scalar_one()
    place = {"ordinal": 0, "start": 0, "end": 4, "tokens": 1, "embedded_hash": "", "heading_path": []}
    connection.execute(
        sa.insert(chunks).values(id=number, document_id=document_id, acl_id=acl_id, text=f"text {number}", **place)
    )
    key = {"chunk_id": number, "acl_id": acl_id}
    connection.execute(sa.insert(chunk_vectors).values(**key, generation_id=1, embedding=[1.0, 0.0]))
    connection.execute(sa.insert(chunk_tokens).values(**key, generation_id=1, bits=b"12345678"))
    connection.execute(
        sa.insert(chunk_terms).values(**key, length=1, terms=[7], weights=SparseVector({7: 1.0}, TERM_SPACE))
    )


def add_answer(connection: sa.Connection, answer_id: str, scopes: Iterable[str]) -> None:
    texts = dict.fromkeys(("asker", "place", "question", "standalone", "text", "model", "prompt_hash"), "")
    objects: dict[str, object] = {name: {} for name in ("citations", "stages", "removed", "usage", "ms")}
    connection.execute(
        sa.insert(answers).values(id=answer_id, scopes=sorted(scopes), outcome="answered", **texts, **objects)
    )


def add_gold_case(connection: sa.Connection, case_id: str, scopes: Iterable[str]) -> None:
    texts = {"question": "", "standalone": "", "state": "accepted", "origin": "vote"}
    lists: dict[str, list[object]] = {name: [] for name in ("expected", "proposed_by", "history")}
    connection.execute(sa.insert(gold_cases).values(id=case_id, scopes=sorted(scopes), **texts, **lists))


def add_eval_result(connection: sa.Connection, case_id: str, scopes: Iterable[str]) -> None:
    """The outcome of a gold case, in a run of its own."""
    run_id = connection.execute(sa.insert(eval_runs).values(configuration={}).returning(eval_runs.c.id)).scalar_one()
    connection.execute(
        sa.insert(eval_results).values(run_id=run_id, case_id=case_id, scopes=sorted(scopes), outcome="hit", ranks={})
    )


def readable_texts(database: Database, scopes: Scopes) -> list[str]:
    """Text of every chunk a holder of the scopes can read, through the reader's role."""
    query = (
        sa.select(chunks.c.text)
        .join(documents, documents.c.id == chunks.c.document_id)
        .where(visible(chunks.c.acl_id, scopes))
        .order_by(documents.c.external_id, chunks.c.ordinal)
    )
    with database.reading(scopes) as connection:
        return list(connection.scalars(query))
