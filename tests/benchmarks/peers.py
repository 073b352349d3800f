"""Footnote beside what people would otherwise assemble: quality, speed and memory on labelled sets.

    pip install '.[peers]'
    pip install --no-deps langchain-postgres llama-index-vector-stores-postgres
    python -m tests.benchmarks.peers --beir DIR [--beir DIR…] [--system NAME…] [--questions N] [--json]

Each system runs in a process of its own, in a database of its own on one embedded Postgres, with the same embedding
model (`assemblies`). `index_chunks_per_s`: a first indexing, the model included. `resync_s`: the same pages once more;
where nothing keeps what did not change that is the first indexing over again, and its time is given. `ms_*`: a question,
the model included. `rss_mb`: the most memory of the process, without Postgres. The last two libraries pin older versions
of SQLAlchemy and pgvector than Footnote needs, and work with the newer ones. What is not installed is listed as such.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from knowledge import beir, metrics
from knowledge.beir import Labelled
from knowledge.db import Database
from knowledge.encoders import load_embedder
from knowledge.postgres import EmbeddedPostgres
from knowledge.settings import Models
from tests.benchmarks.assemblies.by_hand import ByHand
from tests.benchmarks.assemblies.footnote import Footnote
from tests.benchmarks.assemblies.haystack import Haystack
from tests.benchmarks.assemblies.langchain import LangChain
from tests.benchmarks.assemblies.llamaindex import LlamaIndex
from tests.benchmarks.assemblies.qdrant import Qdrant
from tests.benchmarks.assemblies.system import Model, Page, System
from tests.benchmarks.assemblies.tutorial import Tutorial
from tests.benchmarks.machine import machine

SYSTEMS: dict[str, type[System]] = {
    "footnote": Footnote,
    "langchain": LangChain,
    "llamaindex": LlamaIndex,
    "haystack": Haystack,
    "tutorial": Tutorial,
    "qdrant": Qdrant,
    "by-hand": ByHand,
}
QUALITY = ("recall@5", "mrr@10", "ndcg@10")
COST = ("ms_p50", "ms_p95", "index_chunks_per_s", "resync_s", "rss_mb")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--beir", type=Path, action="append", required=True)
    parser.add_argument("--system", choices=SYSTEMS, action="append")
    parser.add_argument("--questions", type=int, help="at most so many of each set, evenly spread over it")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    systems = arguments.system or list(SYSTEMS)
    if arguments.alone:  # the address comes on standard input: it holds a password
        labelled = spread(beir.read(arguments.beir[0]), arguments.questions)
        print(json.dumps(run(SYSTEMS[systems[0]], labelled, sys.stdin.read())))
        return
    result = {"machine": machine(), "systems": compare(arguments.beir, systems, arguments.questions)}
    print(json.dumps(result) if arguments.json else table(result))


def compare(directories: Sequence[Path], systems: Sequence[str], questions: int | None) -> list[dict[str, Any]]:
    """One row for each set and system, in a process of its own."""
    rows = []
    with tempfile.TemporaryDirectory(prefix="footnote-peers-") as home:
        Path(home).chmod(0o711)
        server = EmbeddedPostgres(Path(home) / "postgres").start()
        try:
            with Database(server.url()) as database:
                for directory in directories:
                    for system in systems:
                        with database.scratch() as scratch:
                            rows.append({"set": directory.name} | alone(system, directory, questions, scratch))
                        print(rows[-1], file=sys.stderr, flush=True)
        finally:
            server.release()
    return rows


def alone(system: str, directory: Path, questions: int | None, database: Database) -> dict[str, Any]:
    """The row of a system that runs in another process; `failed` with the last line of its error when it did not work."""
    command = [sys.executable, "-m", "tests.benchmarks.peers", "--alone", "--system", system, "--beir", str(directory)]
    command += ["--questions", str(questions)] if questions else []
    url = database.engine.url.render_as_string(hide_password=False)
    done = subprocess.run(command, input=url, capture_output=True, text=True, check=False)
    if done.returncode:
        return {"name": SYSTEMS[system].name, "failed": done.stderr.strip().rsplit("\n", 1)[-1]}
    row: dict[str, Any] = json.loads(done.stdout.strip().rsplit("\n", 1)[-1])
    return row


def spread(labelled: Labelled, questions: int | None) -> Labelled:
    """The set with at most so many questions, every n-th of them."""
    if questions is None:
        return labelled
    every = -(-len(labelled.questions) // questions)
    return replace(labelled, questions=dict(list(labelled.questions.items())[::every]))


def run(kind: type[System], labelled: Labelled, url: str) -> dict[str, Any]:
    model = Model(load_embedder(Models()))
    model.texts(["warm up"] * 32)
    try:
        system = kind(model, sa.make_url(url))
    except ImportError as missing:
        return {"name": kind.name, "failed": f"not installed ({missing.name})"}
    pages = [Page(*document) for document in labelled.documents]
    system.prepare(pages)
    started = time.perf_counter()
    chunks = system.index(pages)
    indexed = time.perf_counter()
    if kind.keeps_unchanged:
        assert system.index(pages) == chunks
    resynced = time.perf_counter()
    first_s = indexed - started
    costs = {
        "chunks": chunks,
        "index_chunks_per_s": round(chunks / first_s, 1),
        "resync_s": round(resynced - indexed if kind.keeps_unchanged else first_s, 3),
    }
    return {"name": kind.name} | asked(system, labelled) | costs | {"rss_mb": rss_mb()}


def asked(system: System, labelled: Labelled) -> dict[str, Any]:
    system.search("warm up")
    figures, ms = [], []
    for question, text in labelled.questions.items():
        started = time.perf_counter()
        ranking = system.search(text)
        ms.append((time.perf_counter() - started) * 1000)
        figures.append(metrics.figures(list(dict.fromkeys(ranking)), labelled.gains[question]))
    means = metrics.means(figures)
    quality = {name: round(means[name] or 0.0, 4) for name in QUALITY}
    return quality | {f"ms_p{p}": round(metrics.percentile(ms, p / 100) or 0.0, 1) for p in (50, 95)}


def rss_mb() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def table(result: dict[str, Any]) -> str:
    """Markdown: one table a set, the best figure of each column in bold."""
    lines = [", ".join(f"{key} {value}" for key, value in result["machine"].items())]
    for name in dict.fromkeys(row["set"] for row in result["systems"]):
        rows = [row for row in result["systems"] if row["set"] == name]
        lines += ["", f"| {name} | " + " | ".join(QUALITY + COST) + " |", "| --- |" + " ---: |" * len(QUALITY + COST)]
        lines += [f"| {row['name']} | " + " | ".join(cells(row, rows)) + " |" for row in rows]
    return "\n".join(lines)


def cells(row: dict[str, Any], rows: Sequence[dict[str, Any]]) -> list[str]:
    if "failed" in row:
        return [row["failed"], *[""] * (len(QUALITY + COST) - 1)]
    shown = []
    for column in QUALITY + COST:
        values = [other[column] for other in rows if column in other]
        best = max(values) if column in QUALITY or column == "index_chunks_per_s" else min(values)
        text = f"{row[column]:.3f}" if column in QUALITY else f"{row[column]:g}"
        shown.append(f"**{text}**" if row[column] == best else text)
    return shown


if __name__ == "__main__":
    main()
