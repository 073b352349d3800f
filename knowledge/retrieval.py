"""A question and what its reader may see -> passages, with the rank and score of every stage.

1. The question is encoded once, for the vector list and for the reranker.
2. One statement gives the candidates of both lists under the reader's scopes (`candidates.py`).
3. Fusion of the two lists; then meaning, words and the reranker's score in equal thirds, and a share from what is alike.
4. The best are read under the same scopes, near-duplicates collapse, a document gets a few places at most.
"""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime

import sqlalchemy as sa

from knowledge import (
    analysis,
    candidates,
    diversity,
    fusion,
    generations,
    keywords,
    late_interaction,
    misspelling,
    neighbours,
)
from knowledge.acls import visible
from knowledge.candidates import Candidate, Query
from knowledge.db import Database
from knowledge.encoders import Embedder, EncodedQuestion
from knowledge.keywords import Weighted
from knowledge.passages import Found, Hit, Passage, Ranks
from knowledge.permissions import Scopes
from knowledge.reranking import Reranker
from knowledge.settings import Retrieval, Source
from knowledge.staleness import limits, stale_days
from knowledge.tables import acls, chunks, documents


class Retriever:
    """Search over one database. Threads may share it."""

    def __init__(
        self,
        database: Database,
        embedder: Embedder,
        reranker: Reranker,
        settings: Retrieval,
        sources: Iterable[Source] = (),
    ) -> None:
        """`sources`: for their staleness limits."""
        self.database = database
        self.embedder = embedder
        self.reranker = reranker
        self.settings = settings
        self._limits = limits(sources)

    def warm(self) -> None:
        """Loads the models now, so that the first question does not wait. Raises `ModelUnavailable`."""
        self.embedder.encode_question("warm")
        self.reranker.warm()

    def spelled(self, question: str) -> str:
        """The question with the words that are misspelt in it as the documents write them (`misspelling.py`).

        The words are looked up in the counts of the whole index: which one is put in shows in no result but those of it.
        """
        words = misspelling.doubtful(question, self.embedder.count_tokens)
        if not words:
            return question
        with self.database.plain() as connection:
            stems = {stem for word in words for stem in analysis.stems(word)}
            words = misspelling.unknown(words, keywords.counts(connection, stems))
            near = {word: misspelling.edits(word) for word in words}
            written = {misspelling.written(other) for others in near.values() for other in others}
            meant = misspelling.meant(near, keywords.counts(connection, written))
        return misspelling.corrected(question, meant)

    def search(self, question: str, scopes: Scopes, limit: int | None = None) -> Found:
        """The best passages for `question` that a holder of `scopes` may read; `limit` None = the settings' number.

        Any text is a question; one without letters and digits, or an empty index, finds nothing. Raises
        `ModelUnavailable` when the index was built with another embedding model.
        """
        question = analysis.clean(question).strip()
        ms: dict[str, float] = {}
        if not any(c.isalnum() for c in question):
            return Found((), {}, self.reranker.name, 0, ms)
        with _timed(ms, "spell"):
            question = self.spelled(question)
        with _timed(ms, "encode"):
            encoded = self.embedder.encode_question(question)
        with self.database.reading(scopes) as connection:
            generation = generations.serving(connection)
            if generation is None:
                return Found((), {}, self.reranker.name, 0, ms)
            generations.check(generation, self.embedder)
            with _timed(ms, "candidates"):
                terms = keywords.weigh(connection, analysis.terms(question))
                query = Query(generation, encoded.vector, terms, scopes, self.settings.candidates)
                found = candidates.find(connection, query, self.settings.exact_below)
            with _timed(ms, "read"):
                passages = read(connection, [c.chunk_id for c in found], scopes)
        with _timed(ms, "rank"):
            stages, scores = self._rank(encoded, terms, found, passages)
            strengths = {chunk: self.reranker.strength(score) for chunk, score in scores.items()}
            strengths = strengths or {c.chunk_id: max(0.0, c.cosine) for c in found}
            ranks = {name: {hit.chunk_id: hit.rank for hit in hits} for name, hits in stages.items()}
            ranked = [
                placed(passages[h.chunk_id], ranks, strengths) for h in stages["reranked"] if h.chunk_id in passages
            ]
            chosen = diversity.select(
                ranked, limit or self.settings.passages, self.settings.per_document, self.settings.diversity
            )
        return Found(self._marked(chosen), stages, self.reranker.name, generation.id, ms)

    def _marked(self, passages: Iterable[Passage]) -> tuple[Passage, ...]:
        now = datetime.now(UTC)
        return tuple(replace(p, stale_days=stale_days(p.source, p.updated_at, self._limits, now)) for p in passages)

    def _rank(
        self,
        question: EncodedQuestion,
        terms: Weighted,
        found: Sequence[Candidate],
        passages: Mapping[int, Passage],
    ) -> tuple[dict[str, tuple[Hit, ...]], dict[int, float]]:
        vector = _list({c.chunk_id: (c.vector_rank, c.cosine) for c in found})
        keyword = _list({c.chunk_id: (c.keyword_rank, c.bm25) for c in found})
        cosines, bm25 = {c.chunk_id: c.cosine for c in found}, {c.chunk_id: c.bm25 for c in found}
        if self.settings.fusion == "rrf":
            fused = fusion.reciprocal_rank(vector, keyword)
        else:
            fused = fusion.convex(cosines, bm25, self.settings.fusion_weight)
        texts = {chunk: p.body for chunk, p in passages.items()} if self.reranker.reads_text else {}
        scores = self.reranker.scores(question, late_interaction.token_weights(question, terms), found, texts)
        reranked = fused
        if scores:
            blended = fusion.blend(*map(fusion.standing, (cosines, bm25, scores)))
            vectors = {c.chunk_id: c.vector for c in found if c.vector is not None}
            reranked = neighbours.settled(blended, vectors, self.settings.neighbours)
        return {"vector": vector, "keyword": keyword, "fused": fused, "reranked": reranked}, scores


def read(connection: sa.Connection, chunk_ids: Iterable[int], scopes: Scopes) -> dict[int, Passage]:
    """The passages with these ids that a holder of `scopes` may read, without ranks."""
    statement = (
        sa.select(
            chunks.c.id,
            chunks.c.document_id,
            documents.c.source,
            documents.c.external_id,
            documents.c.title,
            documents.c.url,
            chunks.c.heading_path,
            chunks.c.text,
            chunks.c.prefix,
            chunks.c.page,
            documents.c.updated_at,
            acls.c.scopes,
        )
        .join(documents, documents.c.id == chunks.c.document_id)
        .join(acls, acls.c.id == chunks.c.acl_id)
        .where(
            chunks.c.id == sa.any_(sa.cast(list(chunk_ids), sa.ARRAY(sa.BigInteger))), visible(chunks.c.acl_id, scopes)
        )
    )
    return {
        row.id: Passage(
            chunk_id=row.id,
            document_id=row.document_id,
            source=row.source,
            external_id=row.external_id,
            title=row.title,
            url=row.url,
            heading_path=tuple(row.heading_path),
            text=row.text,
            prefix=row.prefix,
            page=row.page,
            updated_at=row.updated_at,
            scopes=frozenset(row.scopes),
            ranks=Ranks(),
            score=0.0,
        )
        for row in connection.execute(statement)
    }


def _list(entries: Mapping[int, tuple[int | None, float]]) -> tuple[Hit, ...]:
    """One list of the statement, in its own order; chunks that only the other list had are left out."""
    hits = [Hit(chunk, rank, score) for chunk, (rank, score) in entries.items() if rank is not None]
    return tuple(sorted(hits, key=lambda hit: hit.rank))


def placed(passage: Passage, ranks: Mapping[str, Mapping[int, int]], scores: Mapping[int, float]) -> Passage:
    """The passage with its rank at every stage, by stage name and chunk."""
    rank = {name: of_chunk.get(passage.chunk_id) for name, of_chunk in ranks.items()}
    its = Ranks(rank["vector"], rank["keyword"], rank["fused"], rank["reranked"])
    return replace(passage, ranks=its, score=scores.get(passage.chunk_id, 0.0))


@contextmanager
def _timed(ms: dict[str, float], stage: str) -> Iterator[None]:
    started = time.perf_counter()
    yield
    ms[stage] = round((time.perf_counter() - started) * 1000, 2)
