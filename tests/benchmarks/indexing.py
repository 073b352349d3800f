"""What indexing costs beside the model: `python -m tests.benchmarks.indexing [--documents N | --folder DIR] [--json]`.

- `ratio`: chunks a second of a first sync (read, load, chunk, encode, write) over those of the bare model on the same
  chunks, which runs before and after it: a machine that others share is seldom as fast for two minutes on end.
- `rss_mb`: the most memory of this process, the model included.
- `unchanged_ms_per_10000`: a sync of 10,000 documents none of which changed, by a sync of as many as there are.
"""

import argparse
import json
import random
import resource
import tempfile
import time
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from knowledge.chunk_rows import draft
from knowledge.chunking import chunk_document
from knowledge.db import Database
from knowledge.encoders import Embedder, load_embedder
from knowledge.index import Indexer
from knowledge.loaders import load
from knowledge.postgres import EmbeddedPostgres
from knowledge.settings import Chunking, Models, Source
from knowledge.tables import chunks
from tests.benchmarks.machine import machine
from tests.word_embedder import WordEmbedder

VOCABULARY = """valve tide harbour crane ledger permit invoice badge rota depot pallet winch anchor beacon cargo dredge
engine ferry gantry hatch inspection jetty keel lighthouse mooring notice outfall pilot quay rudder signal tug"""


def write_documents(folder: Path, count: int) -> None:
    """Pages of three sections of a few sentences, all different."""
    dice = random.Random(7)

    def sentence() -> str:
        return (
            " ".join(dice.choices(VOCABULARY.split(), k=dice.randrange(6, 18))).capitalize()
            + f" {dice.randrange(10_000)}."
        )

    for i in range(count):
        sections = (
            f"## {sentence()}\n\n" + " ".join(sentence() for _ in range(dice.randrange(2, 9))) for _ in range(3)
        )
        (folder / f"{i:05}.md").write_text(f"# Page {i}\n\n" + "\n\n".join(sections) + "\n")


def passages(folder: Path, embedder: Embedder) -> list[str]:
    """The texts that a sync of the folder gives the model."""
    texts = []
    for file in sorted(folder.rglob("*.md")):
        loaded = load(file.name, file.read_bytes())
        chunked = chunk_document(loaded, embedder.count_tokens, Chunking())
        texts += [draft(loaded.title, c).embedded for c in chunked]
    return texts


def bare_seconds(texts: list[str], embedder: Embedder) -> float:
    started = time.perf_counter()
    embedder.encode_passages(texts)
    return time.perf_counter() - started


def run(documents: int, unchanged: int, folder: Path | None) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as temporary:
        Path(temporary).chmod(0o711)
        server = EmbeddedPostgres(Path(temporary) / "postgres").start()
        try:
            with Database(server.url()) as database:
                database.migrate()
                embedder = load_embedder(Models())
                embedder.encode_passages(["warm up"] * 32)
                if folder is None:
                    folder = Path(temporary) / "pages"
                    folder.mkdir()
                    write_documents(folder, documents)
                result = measure(database, folder, embedder)
                result["unchanged_ms_per_10000"] = measure_unchanged(database, Path(temporary), unchanged)
        finally:
            server.release()
    result["rss_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return {"machine": machine()} | result


def measure(database: Database, folder: Path, embedder: Embedder) -> dict[str, Any]:
    texts = passages(folder, embedder)
    before = bare_seconds(texts, embedder)
    source = Source(name="pages", location=str(folder), scopes=("workspace",))
    outcome = Indexer(database, embedder, Chunking()).sync(source)
    with database.writing() as connection:
        stored = connection.scalar(sa.select(sa.func.count()).select_from(chunks)) or 0
    rate = stored / (outcome.ms / 1000)
    bare = 2 * stored / (before + bare_seconds(texts, embedder))
    return {
        "documents": outcome.added,
        "chunks": stored,
        "bare_chunks_per_s": round(bare, 1),
        "sync_chunks_per_s": round(rate, 1),
        "ratio": round(rate / bare, 3),
    }


def measure_unchanged(database: Database, home: Path, documents: int) -> int:
    """Milliseconds; the first sync uses a tiny model, for the model plays no part in the second."""
    folder = home / "many"
    folder.mkdir()
    for i in range(documents):
        (folder / f"{i}.md").write_text(f"# Page {i}\n\nText {i}.\n")
    with database.scratch() as scratch:
        indexer = Indexer(scratch, WordEmbedder(), Chunking())
        source = Source(name="many", location=str(folder), scopes=("workspace",))
        indexer.sync(source)
        outcome = indexer.sync(source)
        assert (outcome.same, outcome.chunks_embedded) == (documents, 0)
        return round(outcome.ms * 10_000 / documents)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=300, help="pages of the first sync")
    parser.add_argument("--folder", type=Path, help="Markdown files of your own in place of made-up pages")
    parser.add_argument("--unchanged", type=int, default=2000, help="pages of the sync without changes")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    result = run(arguments.documents, arguments.unchanged, arguments.folder)
    if arguments.json:
        print(json.dumps(result))
        return
    for name, value in result.items():
        print(f"{name:24} {value}")


if __name__ == "__main__":
    main()
