"""Recall and cost of permission-filtered vector search over 100,000 chunks.

    python -m tests.benchmarks.filtered [--chunks N] [--questions N] [--json]

Vectors are synthetic: topics within topics, so that neighbours are as close as those of real text; documents of five
chunks; six of ten readable by everyone, the rest by one of many channels of very different sizes that keep to a few
topics. Each cell asks under rights that cover a share of the chunks, with questions near something readable, near
anything, and about a topic of which the reader sees nothing. The truth is a scan in numpy under the same rights.
`none` goes through the same index without a filter: what the ratio compares with. The index is HNSW as `vector_index`
makes it.
"""

import argparse
import json
import platform
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import sqlalchemy as sa

from knowledge import acls, candidates, generations, vector_index
from knowledge.candidates import Query
from knowledge.db import Database
from knowledge.encoders import Floats
from knowledge.generations import Generation
from knowledge.keywords import Weighted
from knowledge.metrics import percentile
from knowledge.postgres import EmbeddedPostgres
from knowledge.settings import Retrieval

DIMENSION = 384
SHARES = {"0.05%": 0.0005, "0.5%": 0.005, "5%": 0.05, "60%": 0.6, "100%": 1.0}
LIMIT = 30
DEPTH = 10
STORED_AT_ONCE = 2_000
NO_TERMS = Weighted({}, {}, 0)


@dataclass(frozen=True)
class Corpus:
    """`vectors` (n, d); `channel` (n,): 0 = everyone, else a channel; `topic` (n,)."""

    vectors: Floats
    channel: np.ndarray[Any, np.dtype[np.int64]]
    topic: np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True)
class FakeModel:
    name: str = "synthetic"
    revision: str = "1"
    dimension: int = DIMENSION


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--questions", type=int, default=60)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    result = run(arguments.chunks, arguments.questions)
    print(json.dumps(result) if arguments.json else table(result))


def run(chunks: int, questions: int) -> dict[str, Any]:
    random = np.random.default_rng(11)
    corpus = synthetic(chunks, random)
    with served() as database:
        started = time.perf_counter()
        generation = load(database, corpus)
        loaded = time.perf_counter()
        vector_index.tend(database, generation, above=0)
        with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(sa.text("vacuum analyze"))
        built = time.perf_counter()
        cells = [
            cell
            for share in (*SHARES, "none")
            for kind in ("near", "any", "far")
            if (cell := measure(database, generation, corpus, share, kind, questions, random))
        ]
    base = {cell["query"]: cell["ms_p95"] for cell in cells if cell["visibility"] == "none"}
    for cell in cells:
        cell["p95_ratio"] = round(cell["ms_p95"] / base.get(cell["query"], base["any"]), 2)
    return {
        "chunks": chunks,
        "questions_per_cell": questions,
        "machine": f"{platform.machine()}, {platform.python_version()}",
        "load_s": round(loaded - started, 1),
        "index_s": round(built - loaded, 1),
        "cells": cells,
    }


def synthetic(n: int, random: np.random.Generator) -> Corpus:
    """Unit vectors around 800 topics within 40 fields, energy falling off over the dimensions as in real embeddings."""
    spectrum = (np.arange(1, DIMENSION + 1) ** -0.4).astype(np.float32)
    fields = random.standard_normal((40, DIMENSION))
    topics = fields[random.integers(0, 40, 800)] + 0.9 * random.standard_normal((800, DIMENSION))
    documents = n // 5 + 1
    topic = random.integers(0, 800, documents)
    own = topics[topic] + 0.8 * random.standard_normal((documents, DIMENSION))
    of_chunk = np.arange(n) // 5
    vectors = ((own[of_chunk] + 0.6 * random.standard_normal((n, DIMENSION))) * spectrum).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    sizes = 1 / np.arange(1, 2001)
    private = random.choice(np.arange(1, 2001), documents, p=sizes / sizes.sum())
    moved = random.random(documents) < 0.7
    private[moved] = 1 + (topic[moved] * 7919) % 2000  # a channel keeps to its topics
    channel = np.where(random.random(documents) < 0.6, 0, private)
    return Corpus(vectors, channel[of_chunk], topic[of_chunk])


@contextmanager
def served() -> Iterator[Database]:
    """A migrated database on an embedded server of its own."""
    with tempfile.TemporaryDirectory(prefix="footnote-filtered-") as home:
        Path(home).chmod(0o711)
        settings = {"fsync": "off", "shared_buffers": "512MB", "maintenance_work_mem": "1GB", "max_wal_size": "4GB"}
        server = EmbeddedPostgres(Path(home) / "postgres", settings | {"jit": "off"}).start()
        try:
            with Database(server.url()) as database:
                database.migrate()
                yield database
        finally:
            server.release()


def load(database: Database, corpus: Corpus) -> Generation:
    """The vectors under their access lists; texts and terms are not needed, so their tables stay empty."""
    names = [scope_of(channel) for channel in range(int(corpus.channel.max()) + 1)]
    with database.writing() as connection:
        generation = generations.active(connection, FakeModel())
        ids = np.array([acls.intern(connection, [name]) for name in names])
        connection.execute(sa.text("alter table chunk_vectors drop constraint fk_chunk_vectors_chunk_id"))
        for start in range(0, len(corpus.vectors), STORED_AT_ONCE):
            part = slice(start, start + STORED_AT_ONCE)
            rows = {
                "number": list(range(start + 1, start + 1 + len(corpus.vectors[part]))),
                "acl": ids[corpus.channel[part]].tolist(),
                "vector": ["[" + ",".join(f"{x:.5f}" for x in vector) + "]" for vector in corpus.vectors[part]],
                "generation": generation.id,
            }
            connection.execute(_INSERT, rows)
        connection.execute(
            sa.text(
                "update acls set chunk_count = (select count(*) from chunk_vectors where chunk_vectors.acl_id = acls.id)"
            )
        )
    return generation


_INSERT = sa.text(
    "insert into chunk_vectors (chunk_id, generation_id, acl_id, embedding) select n, :generation, a, v::halfvec "
    "from unnest(cast(:number as bigint[]), cast(:acl as int[]), cast(:vector as text[])) as rows (n, a, v)"
)


def scope_of(channel: int) -> str:
    return "workspace" if channel == 0 else f"channel:C{channel:06}"


def rights(corpus: Corpus, share: str, random: np.random.Generator) -> list[int]:
    """Channels whose chunks make up about that share of all."""
    channels, counts = np.unique(corpus.channel, return_counts=True)
    if share == "60%":
        return [0]
    if share == "100%":
        return list(map(int, channels))
    wanted = SHARES[share] * len(corpus.channel)
    order = random.permutation(np.flatnonzero((channels > 0) & (counts <= wanted)))
    enough = int(np.searchsorted(np.cumsum(counts[order]), wanted)) + 1
    return list(map(int, channels[order[:enough]]))


def measure(
    database: Database,
    generation: Generation,
    corpus: Corpus,
    share: str,
    kind: str,
    questions: int,
    random: np.random.Generator,
) -> dict[str, Any] | None:
    """One cell; None where there is no such question (nothing is far for a reader of everything)."""
    recalls: list[float] = []
    ms: list[float] = []
    short = rows = 0
    for _ in range(questions):
        allowed = np.isin(corpus.channel, rights(corpus, "100%" if share == "none" else share, random))
        target = _target(corpus, allowed, kind, random)
        if target is None:
            return None
        vector = corpus.vectors[target] + 0.4 * random.standard_normal(DIMENSION) / np.sqrt(DIMENSION)
        vector = (vector / np.linalg.norm(vector)).astype(np.float32)
        scopes = frozenset(scope_of(int(c)) for c in np.unique(corpus.channel[allowed]))
        started = time.perf_counter()
        with database.writing() if share == "none" else database.reading(scopes) as connection:
            query = Query(generation, vector, NO_TERMS, scopes, LIMIT)
            got = unfiltered(connection, query) if share == "none" else filtered(connection, query)
        ms.append((time.perf_counter() - started) * 1000)
        readable = np.flatnonzero(allowed)
        true = readable[np.argsort(-(corpus.vectors[readable] @ vector))[:DEPTH]] + 1
        recalls.append(len(set(got[:DEPTH]) & set(true.tolist())) / len(true))
        short += len(got) < min(LIMIT, len(readable))
        rows += len(readable)
    return {
        "visibility": share,
        "query": kind,
        "readable": rows // questions,
        "recall@10": round(float(np.mean(recalls)), 4),
        "short": short,
        "ms_p50": round(percentile(ms, 0.5) or 0.0, 2),
        "ms_p95": round(percentile(ms, 0.95) or 0.0, 2),
    }


def filtered(connection: sa.Connection, query: Query) -> list[int]:
    found = candidates.find(connection, query, Retrieval().exact_below)
    return [c.chunk_id for c in sorted(found, key=lambda c: c.vector_rank or 0)]


def unfiltered(connection: sa.Connection, query: Query) -> list[int]:
    """Nobody's rights, the same depth of search in the same index."""
    connection.execute(sa.text(f"set local hnsw.ef_search = {candidates.EF_SEARCH}"))
    column = f"embedding::halfvec({DIMENSION})"
    statement = sa.text(
        f"select chunk_id from chunk_vectors where generation_id = {query.generation.id} "
        f"order by {column} <#> cast(:vector as {column.split('::')[1]}) limit {query.limit}"
    )
    vector = "[" + ",".join(f"{x:.6f}" for x in query.vector) + "]"
    return list(connection.scalars(statement, {"vector": vector}))


def _target(
    corpus: Corpus, allowed: np.ndarray[Any, np.dtype[np.bool]], kind: str, random: np.random.Generator
) -> int | None:
    if kind == "any":
        return int(random.integers(0, len(corpus.channel)))
    if kind == "near":
        return int(random.choice(np.flatnonzero(allowed)))
    hidden = ~np.isin(corpus.topic, np.unique(corpus.topic[allowed]))
    return int(random.choice(np.flatnonzero(hidden))) if hidden.any() else None


def table(result: dict[str, Any]) -> str:
    head = f"{result['chunks']} chunks, loaded in {result['load_s']} s, index in {result['index_s']} s"
    columns = ("visibility", "query", "readable", "recall@10", "short", "ms_p50", "ms_p95", "p95_ratio")
    lines = [head, "".join(f"{name:>12}" for name in columns)]
    lines += ["".join(f"{cell[name]!s:>12}" for name in columns) for cell in result["cells"]]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
