"""From a question to its passages over 100,000 chunks, reranking included, beside the plain hybrid search of tutorials.

    python -m tests.benchmarks.speed [--chunks N] [--questions N] [--home DIR] [--json]

The texts are real (`library`); every question is new. Milliseconds of wall time and of CPU: of this process and of the
database's together, stage by stage for one asker, in all for 4 and 16 at once. Each system runs in a process of its
own. `ready_s`: from the start of that process to its models being loaded; `rss_mb`: the most memory it had, without
the database. The tutorial's is one table with an HNSW index, `websearch_to_tsquery`, reciprocal rank fusion and a
cross-encoder of the size of MiniLM-L6 over thirty pairs; its weights are random, which costs the same time.
`--home` keeps the filled database for the next run.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from itertools import islice
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import sqlalchemy as sa
from pydantic import SecretStr

from knowledge.db import Database
from knowledge.encoders import load_embedder
from knowledge.metrics import percentile
from knowledge.postgres import EmbeddedPostgres
from knowledge.settings import Models
from tests.benchmarks import library
from tests.benchmarks.machine import machine

ASKERS = (1, 4, 16)
CROSS_ENCODED = 20
"""Questions at most, for each number of askers, to the one that takes a second for each."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--questions", type=int, default=200, help="for each number of askers")
    parser.add_argument("--home", type=Path)
    parser.add_argument("--system", choices=SYSTEMS, action="append")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    systems = arguments.system or list(SYSTEMS)
    if arguments.alone:  # the address comes on standard input: it holds a password
        given = json.loads(sys.stdin.read())
        print(json.dumps(measure(systems[0], given["url"], given["started"], arguments.questions)))
        return
    with ExitStack() as stack:
        home = arguments.home or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="footnote-speed-")))
        home.mkdir(exist_ok=True)
        home.chmod(0o711)
        server = EmbeddedPostgres(home / "postgres").start()
        stack.callback(server.release)
        database = stack.enter_context(Database(server.url()))
        database.migrate()
        library.fill(database, load_embedder(Models()), arguments.chunks)
        if "tutorial" in systems:
            tutorial_table(database)
        rows = {name: alone(name, database.url, arguments.questions) for name in systems}
    result = {"machine": machine(), "chunks": arguments.chunks, "systems": rows}
    print(json.dumps(result) if arguments.json else table(result))


def alone(system: str, url: str, questions: int) -> dict[str, Any]:
    """The figures of a system that runs in another process."""
    command = [
        sys.executable,
        "-m",
        "tests.benchmarks.speed",
        "--alone",
        "--system",
        system,
        "--questions",
        f"{questions}",
    ]
    given = json.dumps({"url": url, "started": time.time()})
    done = subprocess.run(command, input=given, stdout=subprocess.PIPE, text=True, check=True)
    row: dict[str, Any] = json.loads(done.stdout.strip().rsplit("\n", 1)[-1])
    return row


Search = Callable[[str], object]


def measure(system: str, url: str, started: float, count: int) -> dict[str, Any]:
    random = np.random.default_rng(5)
    count = min(count, CROSS_ENCODED) if system == "tutorial" else count
    with Database(url) as database:
        search = SYSTEMS[system](database)
        ready_s = time.time() - started
        asked = iter(library.questions(database, sum(number + count for number in ASKERS), random))
        askers = {}
        for number in ASKERS:
            run(search, list(islice(asked, number)), number)  # every connection has its caches filled
            mine = list(islice(asked, count))
            askers[str(number)] = (one_by_one if number == 1 else at_once)(search, mine, number, database)
    rss_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return {"ready_s": round(ready_s, 1), "rss_mb": rss_mb, "askers": askers}


def run(search: Search, questions: Sequence[str], askers: int) -> list[float]:
    """Milliseconds of wall time of each question, asked by so many at once without a pause."""

    def one(question: str) -> float:
        started = time.perf_counter()
        search(question)
        return (time.perf_counter() - started) * 1000

    with ThreadPoolExecutor(askers) as pool:
        return list(pool.map(one, questions))


class Cpu:
    """CPU time so far of this process and of the database's processes for it."""

    def __init__(self, database: Database) -> None:
        with database.plain() as connection:
            self._files = [
                Path(f"/proc/{pid}/schedstat")
                for pid in connection.scalars(
                    sa.text("select pid from pg_stat_activity where backend_type = 'client backend'")
                )
            ]

    def ms(self) -> tuple[float, float]:
        """Of this process, of the database."""
        served = sum(int(file.read_text().split()[0]) for file in self._files if file.exists())
        return time.process_time() * 1000, served / 1e6


def at_once(search: Search, questions: Sequence[str], askers: int, database: Database) -> dict[str, Any]:
    cpu = Cpu(database)
    before = sum(cpu.ms())
    wall = run(search, questions, askers)
    return {"wall": spread(wall), "cpu_mean": round((sum(cpu.ms()) - before) / len(questions), 1)}


def one_by_one(search: Search, questions: Sequence[str], _: int, database: Database) -> dict[str, Any]:
    """Wall and CPU time of every stage, of one question after the other."""
    cpu = Cpu(database)
    stages: dict[str, list[tuple[float, float, float]]] = {}

    @contextmanager
    def measured(_: dict[str, float], stage: str) -> Iterator[None]:
        before = (time.perf_counter() * 1000, *cpu.ms())
        yield
        after = (time.perf_counter() * 1000, *cpu.ms())
        stages.setdefault(stage, []).append((after[0] - before[0], after[1] - before[1], after[2] - before[2]))

    with patch("knowledge.retrieval._timed", measured), patch(f"{__name__}.timed", measured):
        for question in questions:
            with measured({}, "total"):
                search(question)
    return {
        stage: {
            "wall": spread([wall for wall, _, _ in spent]),
            "cpu": spread([mine + served for _, mine, served in spent]),
            "database": spread([served for _, _, served in spent]),
        }
        for stage, spent in stages.items()
    }


@contextmanager
def timed(ms: dict[str, float], stage: str) -> Iterator[None]:
    """Replaced while stages are measured."""
    yield


def spread(values: Sequence[float]) -> dict[str, float]:
    return {name: round(percentile(list(values), share) or 0.0, 1) for name, share in (("p50", 0.5), ("p95", 0.95))}


def footnote(database: Database) -> Search:
    """The shipped settings, as a member who may read six tenths of the chunks."""
    from knowledge.engine import open_engine
    from knowledge.settings import KnowledgeSettings

    with tempfile.TemporaryDirectory() as home:
        retriever = open_engine(KnowledgeSettings(home=Path(home), database_url=SecretStr(database.url))).retriever
    retriever.warm()
    scopes = library.member(np.random.default_rng(3))
    return lambda question: retriever.search(question, scopes)


def tutorial(database: Database) -> Search:
    """Nobody's rights are looked at."""
    from sentence_transformers import CrossEncoder
    from transformers import BertConfig, BertForSequenceClassification

    from tests.benchmarks.assemblies.system import DEPTH, RRF_K, Model
    from tests.benchmarks.assemblies.tutorial import Tutorial

    embedder = load_embedder(Models())
    model = Model(embedder)
    with tempfile.TemporaryDirectory() as folder:
        layers = BertConfig(hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536)
        layers.num_labels = 1
        BertForSequenceClassification(layers).save_pretrained(folder)
        embedder._model.tokenizer.save_pretrained(folder)
        scorer = CrossEncoder(folder, device="cpu", max_length=512)
    statement = sa.text(Tutorial.SEARCH.replace("select page from", "select content from"))

    def search(question: str) -> object:
        with timed({}, "encode"):
            vector = str(model.question(question).tolist())
        with timed({}, "candidates"), database.plain() as connection:
            values = {"vector": vector, "question": question, "depth": DEPTH, "k": RRF_K}
            found = list(connection.execute(statement, values).scalars())
        with timed({}, "rank"):
            import torch

            torch.set_num_threads(2)
            return scorer.predict([(question, text) for text in found], show_progress_bar=False) if found else []

    search("warm")
    return search


def tutorial_table(database: Database) -> None:
    """Its one table, with the same texts and vectors."""
    from tests.benchmarks.assemblies.tutorial import Tutorial

    with database.writing() as connection:
        if connection.scalar(sa.text("select to_regclass('passage')")) is not None:
            return
        connection.exec_driver_sql(Tutorial.SCHEMA.format(dimension=384))
        connection.execute(
            sa.text(
                "insert into passage (page, content, embedding) select title, title || E'\\n' || text, embedding::vector "
                "from chunks join documents on documents.id = document_id join chunk_vectors on chunk_id = chunks.id"
            )
        )
        connection.execute(sa.text("set local maintenance_work_mem = '1GB'"))
        connection.execute(sa.text("create index on passage using hnsw (embedding vector_cosine_ops)"))
    with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(sa.text("vacuum analyze passage"))


SYSTEMS: dict[str, Callable[[Database], Search]] = {"footnote": footnote, "tutorial": tutorial}


def table(result: dict[str, Any]) -> str:
    lines = [", ".join(f"{key} {value}" for key, value in result["machine"].items()), f"{result['chunks']} chunks"]
    for name, row in result["systems"].items():
        lines += ["", f"{name}: ready in {row['ready_s']} s, {row['rss_mb']} MB"]
        for stage, spent in row["askers"]["1"].items():
            figures = "".join(f"{kind:>12} {spent[kind]['p50']:7.1f} {spent[kind]['p95']:7.1f}" for kind in spent)
            lines.append(f"  {stage:12}{figures}   (p50, p95 ms)")
        for askers in ASKERS[1:]:
            cost = row["askers"][str(askers)]
            wall = cost["wall"]
            lines.append(f"  {askers} at once: wall {wall['p50']} {wall['p95']}, CPU {cost['cpu_mean']} ms a question")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
