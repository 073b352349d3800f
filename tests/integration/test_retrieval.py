"""Search over a real database with the real model: what is found, in which order, and for whom."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pytest
import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from knowledge import acls, embeddings, generations, keywords
from knowledge.db import Database
from knowledge.embeddings import ChunkKey
from knowledge.encoders import Embedder, load_embedder
from knowledge.reranking import LateInteraction
from knowledge.retrieval import Retriever
from knowledge.settings import Models, Retrieval
from knowledge.tables import chunks, documents, sources

WORKSPACE = frozenset({"workspace"})


@pytest.fixture(scope="session")
def embedder() -> Embedder:
    return load_embedder(Models())


@dataclass(frozen=True)
class Page:
    title: str
    text: str
    scopes: Iterable[str] = ("workspace",)


def index(database: Database, embedder: Embedder, pages: Sequence[Page]) -> dict[str, int]:
    """Each page as a document of one chunk; the chunk ids by title."""
    ids: dict[str, int] = {}
    with database.writing() as connection:
        generation = generations.active(connection, embedder)
        connection.execute(
            insert(sources).values(name="wiki", kind="folder", location=".", scopes=[]).on_conflict_do_nothing()
        )
        keys = []
        for page in pages:
            acl_id = acls.intern(connection, page.scopes)
            document_id = connection.execute(
                sa.insert(documents)
                .values(
                    source="wiki", external_id=page.title, acl_id=acl_id, title=page.title, revision="1", state="ok"
                )
                .returning(documents.c.id)
            ).scalar_one()
            ids[page.title] = 1000 + document_id
            keys.append(ChunkKey(ids[page.title], document_id, acl_id))
            place = {"ordinal": 0, "start": 0, "end": len(page.text), "tokens": 1, "embedded_hash": ""}
            connection.execute(
                sa.insert(chunks).values(
                    id=ids[page.title],
                    document_id=document_id,
                    acl_id=acl_id,
                    text=page.text,
                    heading_path=[page.title],
                    **place,
                )
            )
        texts = [f"{page.title}\n{page.text}" for page in pages]
        embeddings.write(connection, generation, keys, embedder.encode_passages(texts))
        keywords.write(connection, keys, texts)
    return ids


def retriever(database: Database, embedder: Embedder, **settings: object) -> Retriever:
    return Retriever(database, embedder, LateInteraction(), Retrieval.model_validate(settings))


HANDBOOK = (
    Page("Holidays", "Everyone has thirty days of paid leave a year. Unused days expire in March."),
    Page("Expenses", "Send receipts within four weeks. Error E4012 in the form means that the receipt is missing."),
    Page("Laptops", "A broken laptop is replaced by the service desk on the same day."),
    Page("Salaries", "The salary bands of the sales team start at forty thousand.", ("channel:C1",)),
)


def test_a_question_finds_the_passage_that_answers_it_and_says_at_which_ranks(
    database: Database, embedder: Embedder
) -> None:
    ids = index(database, embedder, HANDBOOK)
    found = retriever(database, embedder).search("How much vacation do I get?", WORKSPACE)
    assert found.passages[0].chunk_id == ids["Holidays"]
    assert found.passages[0].ranks.vector == 1
    assert found.passages[0].ranks.rerank == 1
    assert found.reranker == "late-interaction"
    assert set(found.stages) == {"vector", "keyword", "fused", "reranked"}
    assert set(found.ms) == {"encode", "candidates", "read", "rank"}


def test_a_reader_finds_only_what_their_scopes_cover(database: Database, embedder: Embedder) -> None:
    ids = index(database, embedder, HANDBOOK)
    search = retriever(database, embedder).search
    question = "salary bands of the sales team"
    assert search(question, frozenset({"channel:C1"})).passages[0].chunk_id == ids["Salaries"]
    for scopes in (WORKSPACE, frozenset({"channel:C2"}), frozenset[str]()):
        found = search(question, scopes)
        assert ids["Salaries"] not in {p.chunk_id for p in found.passages}
        assert ids["Salaries"] not in {hit.chunk_id for hits in found.stages.values() for hit in hits}
    assert search(question, frozenset()).passages == ()
