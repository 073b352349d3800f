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
from knowledge.errors import ModelUnavailable
from knowledge.reranking import LateInteraction, NoReranker
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
    assert set(found.ms) == {"spell", "encode", "candidates", "read", "rank"}


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


@pytest.mark.parametrize("question", ["", "   ", "???", "\x00", "\ud800", "…!"])
def test_what_has_no_letters_and_digits_finds_nothing(database: Database, embedder: Embedder, question: str) -> None:
    index(database, embedder, HANDBOOK)
    found = retriever(database, embedder).search(question, WORKSPACE)
    assert found.passages == ()
    assert found.stages == {}


@pytest.mark.parametrize(
    "question", ["who are you", "paid\x00 leave", "a\ud800b", "'; drop table chunks; --", "%_\\ & | ! <-> x"]
)
def test_any_other_text_is_a_question(database: Database, embedder: Embedder, question: str) -> None:
    index(database, embedder, HANDBOOK)
    assert len(retriever(database, embedder).search(question, WORKSPACE).passages) == 3


def test_an_index_that_was_never_built_finds_nothing(database: Database, embedder: Embedder) -> None:
    assert retriever(database, embedder).search("paid leave", WORKSPACE).passages == ()


def test_an_index_of_another_model_is_refused(database: Database, embedder: Embedder) -> None:
    index(database, embedder, HANDBOOK)
    with database.plain() as connection:
        connection.execute(sa.text("update generations set revision = 'older'"))
    with pytest.raises(ModelUnavailable, match="footnote sync --full"):
        retriever(database, embedder).search("paid leave", WORKSPACE)


def test_a_pasted_log_with_the_question_in_its_last_line_finds_the_code(database: Database, embedder: Embedder) -> None:
    ids = index(database, embedder, HANDBOOK)
    lines = [f"at frame {n} of net.kite.Pool" for n in range(1, 1201)]
    lines[699] = "E4012"
    found = retriever(database, embedder).search("\n".join([*lines, "what should I do about this?"]), WORKSPACE)
    assert found.passages[0].chunk_id == ids["Expenses"]


@pytest.mark.parametrize("fusion", ["convex", "rrf"])
@pytest.mark.parametrize("reranker", [LateInteraction(), NoReranker()])
def test_every_combination_of_fusion_and_reranker_ranks_the_same_candidates(
    database: Database, embedder: Embedder, fusion: str, reranker: LateInteraction | NoReranker
) -> None:
    ids = index(database, embedder, HANDBOOK)
    settings = Retrieval.model_validate({"fusion": fusion})
    found = Retriever(database, embedder, reranker, settings).search("What does error E4012 mean?", WORKSPACE)
    assert found.passages[0].chunk_id == ids["Expenses"]
    assert all(0 <= passage.score <= 1 for passage in found.passages)
    fused, reranked = found.stages["fused"], found.stages["reranked"]
    assert (
        {hit.chunk_id for hit in fused} == {hit.chunk_id for hit in reranked} == set(ids.values()) - {ids["Salaries"]}
    )


def test_the_same_text_in_two_places_is_handed_on_once_and_as_the_reader_may_see_it(
    database: Database, embedder: Embedder
) -> None:
    text = "Visitors sign in at the front desk, wear a badge on every floor and leave it there when they go home."
    ids = index(database, embedder, [Page("Board visitors", text, ("channel:C1",)), Page("Visitors", text), *HANDBOOK])
    search = retriever(database, embedder).search
    everyone = search("Do visitors wear a badge?", WORKSPACE)
    assert ids["Visitors"] in {p.chunk_id for p in everyone.passages}
    both = search("Do visitors wear a badge?", WORKSPACE | {"channel:C1"})
    assert len({ids["Visitors"], ids["Board visitors"]} & {p.chunk_id for p in both.passages}) == 1


def test_the_limit_is_the_number_of_passages(database: Database, embedder: Embedder) -> None:
    index(database, embedder, HANDBOOK)
    assert len(retriever(database, embedder, passages=2).search("paid leave", WORKSPACE).passages) == 2
    assert len(retriever(database, embedder).search("paid leave", WORKSPACE, limit=1).passages) == 1


def test_japanese_text_is_found_by_its_words(database: Database, embedder: Embedder) -> None:
    pages = [
        Page("点検手順 › 日常", "毎朝、温度と圧力を記録してください。異常がなければ署名します。"),
        Page("点検手順 › 非常時", "緊急停止コードは七七三一です。担当者へ連絡してください。"),
    ]
    ids = index(database, embedder, pages)
    for question in ("緊急停止コード", "七七三一", "緊急停止コードは何ですか"):
        found = retriever(database, embedder).search(question, WORKSPACE)
        assert found.passages[0].chunk_id == ids["点検手順 › 非常時"]
