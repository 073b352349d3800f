"""Retrieval measured on a labelled set in BEIR's form (Thakur et al., 2021), through the whole real pipeline.

A folder holds `corpus.jsonl` (`_id` or `id`, `title`, `text`), `queries.jsonl` (`_id` or `id`, `text`) and `qrels.tsv` or
`qrels/test.tsv` (query, document, relevance). The corpus goes into a scratch database of the same server, cut and
encoded like any document. Chunks are ranked; a document has the place of its best chunk.
"""

import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from dataclasses import replace as dc_replace
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from knowledge import documents, generations, metrics
from knowledge.chunk_rows import Draft, draft, replace
from knowledge.chunking import chunk
from knowledge.db import Database
from knowledge.encoders import Embedder, Floats
from knowledge.engine import Engine
from knowledge.errors import SettingsInvalid
from knowledge.permissions import WORKSPACE
from knowledge.retrieval import Retriever
from knowledge.settings import Chunking
from knowledge.tables import chunks, sources
from knowledge.tables import documents as documents_table

MEASURES = ("recall@5", "recall@10", "recall@50", "mrr@10", "ndcg@10")
SOURCE = "labelled"
STORED_AT_ONCE = 200
"""Documents a transaction."""


@dataclass(frozen=True)
class Labelled:
    """`documents`: (id, title, text). `questions`: id -> text. `gains`: question id -> document id -> relevance above 0."""

    documents: tuple[tuple[str, str, str], ...]
    questions: Mapping[str, str]
    gains: Mapping[str, Mapping[str, float]]


def evaluate(directory: Path, engine: Engine) -> dict[str, Any]:
    """Figures of every stage over the questions that have a relevant document, as `footnote eval --beir --json` prints.

    Raises `SettingsInvalid` when the folder is not in BEIR's form.
    """
    labelled = read(directory)
    with indexed(labelled, engine) as (retriever, document_of):
        retriever.warm()
        return measure(labelled, retriever, document_of)


def read(directory: Path) -> Labelled:
    """The set in a folder. Raises `SettingsInvalid` with the file that is missing or wrong."""
    corpus = [
        (_id(row), str(row.get("title") or ""), str(row.get("text") or ""))
        for row in _lines(directory / "corpus.jsonl")
    ]
    questions = {_id(row): str(row["text"]) for row in _lines(directory / "queries.jsonl")}
    known = {document for document, _, _ in corpus}
    gains: dict[str, dict[str, float]] = {}
    for question, document, gain in _judgements(directory):
        if question in questions and document in known and gain > 0:
            gains.setdefault(question, {})[document] = gain
    if not gains:
        raise SettingsInvalid(f"no judgement in {directory} is about one of its questions and documents")
    return Labelled(tuple(corpus), {q: questions[q] for q in questions if q in gains}, gains)


@contextmanager
def indexed(labelled: Labelled, engine: Engine, headings: bool = True) -> Iterator[tuple[Retriever, Mapping[int, str]]]:
    """A retriever over a scratch index of the set, and the document of each chunk.

    `headings=False`: the same chunks without their titles and heading paths, to see what those add.
    """
    with engine.database.scratch() as database:
        _index(database, engine.embedder, engine.settings.chunking, labelled, headings)
        with database.writing() as connection:
            rows = connection.execute(sa.select(chunks.c.id, documents_table.c.external_id).join(documents_table))
            document_of = {int(chunk_id): str(document) for chunk_id, document in rows}
        yield (
            Retriever(database, engine.embedder, engine.retriever.reranker, engine.settings.retrieval),
            document_of,
        )


def measure(labelled: Labelled, retriever: Retriever, document_of: Mapping[int, str]) -> dict[str, Any]:
    """Asks every question and takes the means; `ms_per_query` is wall time of the whole search.

    `handed_on`: the share of the relevant documents that the passages for an answer are from.
    """
    figures: dict[str, list[Mapping[str, float | None]]] = {}
    ms: list[float] = []
    handed_on: list[float | None] = []
    for question, text in labelled.questions.items():
        started = time.perf_counter()
        found = retriever.search(text, frozenset({WORKSPACE}))
        ms.append((time.perf_counter() - started) * 1000)
        for stage in ("vector", "keyword", "fused", "reranked"):
            ranking = _documents((hit.chunk_id for hit in found.stages.get(stage, ())), document_of)
            figures.setdefault(stage, []).append(metrics.figures(ranking, labelled.gains[question]))
        given = _documents((passage.chunk_id for passage in found.passages), document_of)
        handed_on.append(metrics.recall(given, labelled.gains[question], len(given)))
    stages = {
        stage: {name: value for name, value in metrics.means(rows).items() if name in MEASURES}
        for stage, rows in figures.items()
    }
    return {
        "queries": len(labelled.questions),
        "documents": len(labelled.documents),
        "chunks": len(document_of),
        "embedder": retriever.embedder.name,
        "reranker": retriever.reranker.name,
        "metrics": stages["reranked"],
        "stages": stages,
        "handed_on": metrics.mean(handed_on),
        "ms_per_query": {"p50": metrics.percentile(ms, 0.5), "p95": metrics.percentile(ms, 0.95)},
    }


def _index(database: Database, embedder: Embedder, chunking: Chunking, labelled: Labelled, headings: bool) -> None:
    with database.writing() as connection:
        generation = generations.active(connection, embedder)
        connection.execute(sa.insert(sources).values(name=SOURCE, kind="folder", location="", scopes=[WORKSPACE]))
    drafts: dict[str, list[Draft]] = {}
    for document, title, text in labelled.documents:
        cut = chunk(text, embedder.count_tokens, chunking, title=title)
        drafts[document] = [draft(title, c) if headings else draft("", dc_replace(c, heading_path=())) for c in cut]
    vectors = _encoded(embedder, {item.hash: item.embedded for items in drafts.values() for item in items})
    for start in range(0, len(labelled.documents), STORED_AT_ONCE):
        with database.writing() as connection:
            part = labelled.documents[start : start + STORED_AT_ONCE]
            ids = documents.save(connection, [_record(document, title) for document, title, _ in part])
            chunks_of = {i: drafts[document] for i, (document, _, _) in zip(ids, part, strict=True)}
            replace(connection, generation, chunks_of, encoded=vectors, reusable={})
    with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(sa.text("analyze"))


def _encoded(embedder: Embedder, texts: Mapping[str, str]) -> dict[str, tuple[Floats, bytes]]:
    encoded = embedder.encode_passages(list(texts.values()))
    tokens = encoded.tokens or (b"",) * len(texts)
    return dict(zip(texts, zip(encoded.vectors, tokens, strict=True), strict=True))


def _record(document: str, title: str) -> documents.Record:
    return documents.Record(
        source=SOURCE,
        external_id=document,
        scopes=frozenset({WORKSPACE}),
        own_scopes=None,
        title=title,
        url="",
        revision="",
        content_hash="",
        settings_hash="",
        state="ok",
        reason="",
        updated_at=None,
    )


def _documents(chunk_ids: Iterable[int], document_of: Mapping[int, str]) -> Sequence[str]:
    return list(dict.fromkeys(document_of[chunk] for chunk in chunk_ids))


def _judgements(directory: Path) -> Iterator[tuple[str, str, float]]:
    file = next((f for f in (directory / "qrels.tsv", directory / "qrels" / "test.tsv") if f.is_file()), None)
    if file is None:
        raise SettingsInvalid(f"{directory} has neither qrels.tsv nor qrels/test.tsv")
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        cells = line.split("\t")
        try:
            yield cells[0], cells[1], float(cells[2])
        except (IndexError, ValueError) as error:
            if number > 1:  # the first line may name the columns
                raise SettingsInvalid(f"{file}, line {number}: expected query, document, relevance") from error


def _lines(file: Path) -> Iterator[Mapping[str, Any]]:
    if not file.is_file():
        raise SettingsInvalid(f"{file} does not exist; a labelled set has corpus.jsonl, queries.jsonl and qrels.tsv")
    for number, line in enumerate(file.read_text(encoding="utf-8").split("\n"), 1):
        if line.strip():
            try:
                row = json.loads(line)
                _id(row)
            except (json.JSONDecodeError, KeyError, TypeError) as error:
                raise SettingsInvalid(f"{file}, line {number}: expected a JSON object with an id") from error
            yield row


def _id(row: Mapping[str, Any]) -> str:
    return str(row["_id"] if "_id" in row else row["id"])
