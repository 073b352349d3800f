"""A first index by one worker and by two: `python -m tests.benchmarks.spreading [--documents N] [--json]`.

Each worker is a process of its own with one thread for the model, as if on a machine of one core; the second is invited
by the first. `ratio`: seconds with two over seconds with one, in the same run; 0.5 is all that can be had.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from knowledge.db import Database
from knowledge.encoders import load_embedder
from knowledge.index import Indexer
from knowledge.postgres import EmbeddedPostgres
from knowledge.settings import Chunking, Models, Source
from knowledge.tables import chunks
from tests.benchmarks.indexing import write_documents
from tests.benchmarks.machine import machine

WORKER = "from tests.benchmarks.spreading import work; work()"
MODELS = Models(threads=1)


def work() -> None:
    """A worker's life: `lead` or `help`, the database, the folder; begins when it is told to, on its standard input."""
    part, url, folder = sys.argv[1:]
    source = Source(name="pages", location=folder, scopes=("workspace",))
    embedder = load_embedder(MODELS)
    embedder.encode_passages(["warm up"] * 32)
    print("ready", flush=True)
    with Database(url) as database:
        if part == "lead":
            sys.stdin.readline()
            invite = lambda _, count: print(count, flush=True)  # noqa: E731
            Indexer(database, embedder, Chunking(), invite=invite).sync(source)
        else:
            Indexer(database, embedder, Chunking()).help(source, int(sys.stdin.readline()))


def start(part: str, url: str, folder: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WORKER, part, url, str(folder)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert said(process) == "ready"
    return process


def said(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def tell(process: subprocess.Popen[str], words: str) -> None:
    assert process.stdin is not None
    process.stdin.write(f"{words}\n")
    process.stdin.flush()


def seconds(administration: Database, folder: Path, workers: int) -> tuple[float, int]:
    """How long a first index takes, and how many chunks it made."""
    with administration.scratch() as database:
        leader = start("lead", database.url, folder)
        helpers = [start("help", database.url, folder) for _ in range(workers - 1)]
        started = time.monotonic()
        tell(leader, "go")
        count = said(leader)
        for helper in helpers:
            tell(helper, count)
        assert [process.wait() for process in (leader, *helpers)] == [0] * workers
        took = time.monotonic() - started
        with database.writing() as connection:
            return took, connection.scalar(sa.select(sa.func.count()).select_from(chunks)) or 0


def measure(documents: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="footnote-spreading-") as temporary:
        home = Path(temporary)
        home.chmod(0o711)
        folder = home / "pages"
        folder.mkdir()
        write_documents(folder, documents)
        server = EmbeddedPostgres(home / "postgres").start()
        try:
            with Database(server.url("postgres")) as administration:
                (one, chunks_one), (two, chunks_two) = (seconds(administration, folder, n) for n in (1, 2))
        finally:
            server.release()
    assert chunks_one == chunks_two
    times = {"one_s": round(one, 1), "two_s": round(two, 1), "ratio": round(two / one, 3)}
    return {"documents": documents, "chunks": chunks_one, **times}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=2000)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    figures = measure(arguments.documents)
    if arguments.json:
        print(json.dumps({**figures, "machine": machine()}))
        return
    print("\n".join(f"{name:12} {value}" for name, value in figures.items()))


if __name__ == "__main__":
    main()
