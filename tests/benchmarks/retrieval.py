"""Every stage of retrieval on labelled sets, what each part adds, and what a question costs.

    python -m tests.benchmarks.retrieval --beir DIR [--beir DIR…] [--no-headings] [--json]

One index of each set, asked as shipped and with one part after the other changed or taken out. `--no-headings` also
builds the index without titles and heading paths. `through HNSW` is the search over an approximate index, `HNSW
recall@10` what that finds of the ten nearest chunks by meaning. `handed on` is the share of the relevant documents among the passages
for an answer; diversity changes nothing else. Costs are wall time by stage and CPU time of this process, in
milliseconds a question.
"""

import argparse
import json
import os
import platform
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from statistics import fmean
from typing import Any, Literal, cast

from knowledge import beir, generations, vector_index
from knowledge.beir import Labelled
from knowledge.candidates import Candidate
from knowledge.db import Database
from knowledge.encoders import EncodedQuestion, load_embedder
from knowledge.engine import Engine
from knowledge.keywords import Weighted
from knowledge.metrics import percentile
from knowledge.passages import Hit, Passage
from knowledge.permissions import WORKSPACE
from knowledge.postgres import EmbeddedPostgres
from knowledge.reranking import NoReranker, Reranker, load_reranker
from knowledge.retrieval import Retriever
from knowledge.settings import KnowledgeSettings, Models, Retrieval

VARIANTS: Mapping[str, Mapping[str, Any]] = {
    "as shipped": {},
    "no neighbours": {"neighbours": 0.0},
    "lists of 15": {"candidates": 15},
    "lists of 60": {"candidates": 60},
    "one a document": {"per_document": 1},
    "any number a document": {"per_document": 30},
    "MMR at 0.7": {"diversity": 0.7},
}
"""Settings that differ from those shipped."""

TIMED = 100
"""Questions that are timed."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--beir", type=Path, action="append", required=True)
    parser.add_argument("--no-headings", action="store_true")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    result: dict[str, Any] = {
        "machine": f"{platform.machine()}, {os.cpu_count()} CPUs, Python {platform.python_version()}",
        "versions": {name: version(name) for name in ("torch", "sentence-transformers", "pgvector", "sqlalchemy")},
        "sets": {},
    }
    with engine() as opened:
        for directory in arguments.beir:
            result["sets"][directory.name] = run(beir.read(directory), opened, arguments.no_headings)
    print(json.dumps(result) if arguments.json else table(result))


@contextmanager
def engine() -> Iterator[Engine]:
    """The shipped settings on an embedded server of its own."""
    with tempfile.TemporaryDirectory(prefix="footnote-retrieval-") as home:
        Path(home).chmod(0o711)
        server = EmbeddedPostgres(Path(home) / "postgres", {"fsync": "off", "jit": "off"}).start()
        try:
            with Database(server.url()) as database:
                database.migrate()
                embedder, reranker = load_embedder(Models()), load_reranker(Models())
                retriever = Retriever(database, embedder, reranker, Retrieval())
                settings = KnowledgeSettings(home=Path(home))
                nothing = cast(Any, None)
                yield Engine(settings, database, embedder, retriever, answerer=nothing, indexer=nothing)
        finally:
            server.release()


class OneSided(Retriever):
    """As if one of the two lists did not exist: nothing that only it found, and nothing of its scores."""

    def __init__(self, whole: Retriever, without: Literal["vector", "keyword"]) -> None:
        super().__init__(whole.database, whole.embedder, whole.reranker, whole.settings)
        gone: dict[str, Any] = {"vector_rank": None, "cosine": 0.0}
        self.gone = gone if without == "vector" else {"keyword_rank": None, "bm25": 0.0}

    def _rank(
        self,
        question: EncodedQuestion,
        terms: Weighted,
        found: Sequence[Candidate],
        passages: Mapping[int, Passage],
    ) -> tuple[dict[str, tuple[Hit, ...]], dict[int, float]]:
        left = [replace(candidate, **self.gone) for candidate in found]
        left = [c for c in left if c.vector_rank is not None or c.keyword_rank is not None]
        return super()._rank(question, terms, left, passages)


def run(labelled: Labelled, opened: Engine, no_headings: bool) -> dict[str, Any]:
    rows: dict[str, Any] = {}
    reranker = opened.retriever.reranker
    with beir.indexed(labelled, opened) as (retriever, document_of):
        retriever.warm()
        others: dict[str, Retriever] = {name: _with(retriever, reranker, v) for name, v in VARIANTS.items()}
        others |= {
            "no keyword side": OneSided(retriever, "keyword"),
            "no vector side": OneSided(retriever, "vector"),
            "no reranker": _with(retriever, NoReranker(), {}),
            "no reranker, rrf": _with(retriever, NoReranker(), {"fusion": "rrf"}),
        }
        for name, one in others.items():
            rows[name] = beir.measure(labelled, one, document_of)
        cost = costs(labelled, retriever)
        hnsw = through_index(retriever)
        rows["through HNSW"] = beir.measure(labelled, hnsw, document_of)
        agreement = agreeing(labelled, retriever, hnsw)
    if no_headings:
        with beir.indexed(labelled, opened, headings=False) as (retriever, document_of):
            rows["no headings"] = beir.measure(labelled, retriever, document_of)
    return {
        "questions": len(labelled.questions),
        "documents": len(labelled.documents),
        "stages": rows["as shipped"]["stages"],
        "ablations": {name: row["metrics"] | {"handed on": row["handed_on"]} for name, row in rows.items()},
        "hnsw_recall@10": agreement,
        "ms": cost,
    }


def through_index(exact: Retriever) -> Retriever:
    """The same search over an HNSW index, whatever the number of chunks."""
    with exact.database.plain() as connection:
        generation = generations.active(connection, exact.embedder)
    vector_index.tend(exact.database, generation, 0)
    with exact.database.plain() as connection:
        assert vector_index.is_ready(connection, generation)
    return _with(exact, exact.reranker, {"exact_below": 0})


def agreeing(labelled: Labelled, exact: Retriever, approximate: Retriever) -> float:
    """The share of the ten nearest chunks by meaning that the approximate search lists as such, over all questions."""
    shares = []
    for question in labelled.questions.values():
        nearest, listed = (
            {hit.chunk_id for hit in one.search(question, frozenset({WORKSPACE})).stages["vector"][:10]}
            for one in (exact, approximate)
        )
        shares.append(len(nearest & listed) / len(nearest))
    return round(fmean(shares), 4)


def costs(labelled: Labelled, retriever: Retriever) -> dict[str, Any]:
    """p50 and p95 of each stage's wall time and of the CPU time that this process took for the whole search."""
    spent: dict[str, list[float]] = {}
    retriever.embedder.encode_question.cache_clear()  # type: ignore[attr-defined]  # a question is new to the bot
    for question in list(labelled.questions.values())[:TIMED]:
        started, cpu = time.perf_counter(), time.process_time()
        found = retriever.search(question, frozenset({WORKSPACE}))
        all_ms = {"total": (time.perf_counter() - started) * 1000, "cpu": (time.process_time() - cpu) * 1000}
        for stage, ms in (dict(found.ms) | all_ms).items():
            spent.setdefault(stage, []).append(ms)
    return {
        stage: {"p50": round(percentile(ms, 0.5) or 0, 1), "p95": round(percentile(ms, 0.95) or 0, 1)}
        for stage, ms in spent.items()
    }


def _with(retriever: Retriever, reranker: Reranker, changes: Mapping[str, Any]) -> Retriever:
    return Retriever(retriever.database, retriever.embedder, reranker, retriever.settings.model_copy(update=changes))


def table(result: dict[str, Any]) -> str:
    lines = [result["machine"]]
    for name, one in result["sets"].items():
        lines += ["", f"{name}: {one['questions']} questions, {one['documents']} documents"]
        lines.append(f"{'':24}" + "".join(f"{measure:>11}" for measure in (*beir.MEASURES, "handed on")))
        for row, values in (one["stages"] | one["ablations"]).items():
            lines.append(f"{row:24}" + "".join(f"{value:11.4f}" for value in values.values()))
        lines.append(f"{'HNSW recall@10':24}{one['hnsw_recall@10']:11.4f}")
        lines += [f"{stage:24}{ms['p50']:9.1f} ms p50{ms['p95']:9.1f} ms p95" for stage, ms in one["ms"].items()]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
