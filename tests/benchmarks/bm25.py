"""The keyword list beside bm25s, an independent BM25, on 10,000 chunks of real text.

    pip install bm25s
    python -m tests.benchmarks.bm25 [--chunks N] [--questions N] [--json]

Both get the same terms (`analysis`, without the words as written beside their stems, which count half), k1 = 1.2,
b = 0.75, and IDF as in Lucene. bm25s takes the mean length of its corpus, so the index's constant is set to it here.
Chunks with one score may stand in any order: a place is right when bm25s gives its chunk the score of that place.
"""

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any
from unittest.mock import patch

import bm25s
import numpy as np
import sqlalchemy as sa

from knowledge import acls, analysis, candidates, generations, keywords
from knowledge.candidates import Query
from knowledge.db import Database
from knowledge.embeddings import ChunkKey
from knowledge.permissions import WORKSPACE
from knowledge.postgres import EmbeddedPostgres
from tests.benchmarks import library
from tests.benchmarks.machine import machine
from tests.word_embedder import WordEmbedder

DEPTHS = (10, 30)
STORED_AT_ONCE = 2_000
TOLERANCE = 1e-4
"""Relative: both sides keep single precision."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="footnote-bm25-") as home:
        Path(home).chmod(0o711)
        server = EmbeddedPostgres(Path(home) / "postgres", {"fsync": "off"}).start()
        try:
            with Database(server.url()) as database:
                database.migrate()
                result = {"machine": machine()} | compare(database, arguments.chunks, arguments.questions)
        finally:
            server.release()
    print(json.dumps(result) if arguments.json else "\n".join(f"{name:20} {value}" for name, value in result.items()))


def compare(database: Database, count: int, questions: int) -> dict[str, Any]:
    texts = [text for _, text in library.texts(count)]
    tokens = [plain(text) for text in texts]
    reference = bm25s.BM25(method="lucene", k1=keywords.K1, b=keywords.B)
    reference.index(tokens, show_progress=False)
    mean_length = sum(map(len, tokens)) / count
    with patch.object(keywords, "AVERAGE_LENGTH", mean_length), patch.object(analysis, "terms", plain):
        index(database, texts)
    random = np.random.default_rng(5)
    right: dict[int, list[float]] = {depth: [] for depth in DEPTHS}
    error = 0.0
    for number in random.choice(count, questions, replace=False).tolist():
        asked = sorted(set(random.choice(tokens[number], min(8, len(tokens[number])), replace=False).tolist()))
        expected = reference.get_scores(asked) * (keywords.K1 + 1)
        found = search(database, asked, max(DEPTHS))
        best = np.sort(expected)[::-1]
        for depth in DEPTHS:
            positive = int(min(depth, (expected > 0).sum()))
            places = zip(found[:positive], best[:positive], strict=True)
            right[depth] += [abs(expected[chunk - 1] - score) <= TOLERANCE * score for (chunk, _), score in places]
        error = max([error, *(abs(score / expected[chunk - 1] - 1) for chunk, score in found)])
    shares = {f"places_right@{depth}": round(float(np.mean(values)), 6) for depth, values in right.items()}
    return {"chunks": count, "questions": questions, "largest_relative_error": float(error)} | shares


def plain(text: str) -> list[str]:
    return [t.term for t in analysis.spans(text) if not t.term.startswith(analysis.EXACT)]


def index(database: Database, texts: list[str]) -> None:
    """Chunks 1, 2, … of these texts, in the keyword index alone."""
    with database.writing() as connection:
        connection.execute(sa.text("alter table chunk_terms drop constraint fk_chunk_terms_chunk_id"))
        generations.active(connection, WordEmbedder())
        acl_id = acls.intern(connection, [WORKSPACE])
        for start in range(0, len(texts), STORED_AT_ONCE):
            part = texts[start : start + STORED_AT_ONCE]
            keywords.write(connection, [ChunkKey(start + i, 0, acl_id) for i in range(1, len(part) + 1)], part)


def search(database: Database, terms: list[str], limit: int) -> list[tuple[int, float]]:
    """(chunk, score), best first."""
    scopes = frozenset({WORKSPACE})
    with database.reading(scopes) as connection:
        generation = generations.serving(connection)
        assert generation is not None
        vector = np.zeros(generation.dimension, dtype=np.float32)
        weighted = keywords.weigh(connection, terms)
        found = candidates.find(connection, Query(generation, vector, weighted, scopes, limit), exact_below=0)
    listed = sorted((c for c in found if c.keyword_rank), key=lambda c: c.keyword_rank or 0)
    return [(c.chunk_id, c.bm25) for c in listed]


if __name__ == "__main__":
    main()
