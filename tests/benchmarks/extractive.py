"""How well answers without a model do: `python -m tests.benchmarks.extractive (--beir DIR | --samples)`.

Each question is asked twice of the real index: as it is, and with every passage of its relevant documents withheld, as
if they were not there. `answered_at_10pct_false` is the share answered at the threshold at which one in ten of the
second kind would be answered too; `threshold` is that threshold, `shipped` what the packaged one gives. `kept` is the
highest threshold, in hundredths, at which nineteen of twenty answerable questions are still answered: with `--samples`,
the questions of the sample company, which have the words of their askers and not of the documents, this chooses the
packaged one. `sure`: what is told without doubt, because nothing that the question names is missing either.

`first` and `first3`: the share of answerable questions with the answer in the first quote, in the first three, quoted
from a relevant document. The answer is `metadata.answers` (or `answers`) of a query, `quote` of the samples; a set
without answers is judged by the document quoted from alone, and `judged_by` says so.
"""

import argparse
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import floor
from pathlib import Path
from typing import Any

import numpy as np

from bot.settings import load
from knowledge import analysis, extractive, keywords, names, samples, scores, steps
from knowledge.db import open_database
from knowledge.encoders import Embedder, Encoded, EncodedQuestion, Floats, load_embedder
from knowledge.evidence import Evidence
from knowledge.index import Indexer
from knowledge.passages import Passage
from knowledge.reranking import load_reranker
from knowledge.retrieval import Retriever
from knowledge.settings import Chunking, KnowledgeSettings, Models, Retrieval, Source
from tests.benchmarks.machine import machine

WORKSPACE = frozenset({"workspace"})
FALSE_SHARE = 0.10
KEPT_SHARE = 0.95


@dataclass(frozen=True)
class Query:
    """`relevant`: `source/external id` of documents, empty for a question without an answer."""

    text: str
    relevant: frozenset[str]
    answers: tuple[str, ...]
    scopes: frozenset[str] = WORKSPACE


@dataclass(frozen=True)
class Outcome:
    """One question: the strength of the evidence with and without its documents, and whether quotes 1..n hold the answer.

    `score`: None for a question without an answer. `named`, `named_without`: whether all that it names was found.
    """

    score: float | None
    score_without: float
    holds: tuple[bool, ...]
    named: bool = True
    named_without: bool = True


class Remembering:
    """The same sentences come back in many questions; each is encoded once."""

    def __init__(self, inner: Embedder) -> None:
        self.inner = inner
        self.known: dict[str, tuple[Floats, bytes]] = {}

    def encode_question(self, text: str) -> EncodedQuestion:
        return self.inner.encode_question(text)

    def encode_passages(self, texts: Sequence[str]) -> Encoded:
        new = [text for text in dict.fromkeys(texts) if text not in self.known]
        if new:
            encoded = self.inner.encode_passages(new)
            self.known |= dict(zip(new, zip(encoded.vectors, encoded.tokens, strict=True), strict=True))
        vectors, tokens = zip(*(self.known[text] for text in texts), strict=True)
        return Encoded(np.stack(vectors), tokens)


def run(directory: Path | None, most: int | None, words_only: bool) -> dict[str, Any]:
    """`directory` None: the sample company."""
    models = Models()
    queries = list(read_queries(directory) if directory else sample_queries())[:most]
    with tempfile.TemporaryDirectory() as home:
        Path(home).chmod(0o711)
        settings = KnowledgeSettings(home=Path(home), models=models)
        embedder = Remembering(load_embedder(models))
        with open_database(settings) as database:
            indexer = Indexer(database, embedder.inner, Chunking())
            if directory:
                index(indexer, directory)
            else:
                for source in load(samples.CONFIG, {}).sources:
                    indexer.sync(source)
            # Twice the passages, so that there are enough left when the relevant ones are withheld.
            retrieval = Retrieval(passages=16)
            retriever = Retriever(database, embedder.inner, load_reranker(models), retrieval)
            outcomes = [ask(query, retriever, embedder, words_only) for query in queries]
    shipped = scores.threshold("" if words_only else models.embedder)
    return {
        "dataset": directory.name if directory else "sample company",
        "queries": len(queries),
        **summary(outcomes, shipped.quote, shipped.sure),
        "judged_by": "answers" if any(q.answers for q in queries) else "document",
        "scores": "words" if words_only else models.embedder,
        "machine": machine(),
    }


def index(indexer: Indexer, directory: Path) -> None:
    """Each document of the set as a Markdown file, synced like any other folder."""
    with tempfile.TemporaryDirectory() as folder:
        for line in (directory / "corpus.jsonl").read_text(encoding="utf-8").splitlines():
            document = json.loads(line)
            file = Path(folder) / f"{document['_id'] if '_id' in document else document['id']}.md"
            file.write_text(f"# {document['title'] or 'Untitled'}\n\n{document['text']}\n", encoding="utf-8")
        indexer.sync(Source(name="corpus", location=folder, scopes=("workspace",)))


def ask(query: Query, retriever: Retriever, embedder: scores.Encoder, words_only: bool) -> Outcome:
    passages = retriever.search(query.text, query.scopes).passages
    subject, how = steps.subject(query.text), steps.asks_how(query.text)
    with retriever.database.plain() as connection:
        weights = keywords.weigh(connection, analysis.terms(subject))

    def scored(given: Sequence[Passage]) -> tuple[list[Evidence], tuple[scores.Scored, ...]]:
        evidence = [Evidence.of(p) for p in given]
        return evidence, scores.score(subject, evidence, weights, None if words_only else embedder, how=how)

    evidence_without, without = scored([p for p in passages if _document(p) not in query.relevant])
    strength_without = scores.strength(without, evidence_without)
    named_without = not names.missing(query.text, evidence_without)
    if not query.relevant:
        return Outcome(None, strength_without, (), named_without=named_without)
    evidence, best = scored(passages)
    holds = [_holds(query, evidence[unit.index].passage, unit.text) for unit in extractive.choose(best, query.text)]
    named = not names.missing(query.text, evidence)
    return Outcome(scores.strength(best, evidence), strength_without, tuple(holds), named, named_without)


def summary(outcomes: Sequence[Outcome], shipped: float, sure: float) -> dict[str, Any]:
    false = np.array([o.score_without for o in outcomes])
    scores = np.array([o.score for o in outcomes if o.score is not None])
    answerable = [o for o in outcomes if o.score is not None]
    threshold = float(np.quantile(false, 1 - FALSE_SHARE, method="higher"))
    kept = floor(float(np.quantile(scores, 1 - KEPT_SHARE, method="lower")) * 100) / 100
    return {
        "first": round(float(np.mean([any(o.holds[:1]) for o in answerable])), 4),
        "first3": round(float(np.mean([any(o.holds[:3]) for o in answerable])), 4),
        "answered_at_10pct_false": round(float(np.mean(scores > threshold)), 4),
        "threshold": round(threshold, 4),
        "auc": round(float(np.mean((scores[:, None] > false[None, :]) + 0.5 * (scores[:, None] == false[None, :]))), 4),
        "kept": at(scores, false, kept),
        "shipped": at(scores, false, shipped),
        "sure": at(
            np.array([(o.score or 0) * o.named for o in answerable]),
            np.array([o.score_without * o.named_without for o in outcomes]),
            sure,
        ),
    }


def at(scores: Floats, false: Floats, threshold: float) -> dict[str, float]:
    """What a threshold answers of the answerable questions and of the others."""
    return {
        "threshold": threshold,
        "answered": round(float(np.mean(scores >= threshold)), 4),
        "false": round(float(np.mean(false >= threshold)), 4),
    }


def read_queries(directory: Path) -> Iterator[Query]:
    relevant: dict[str, set[str]] = {}
    for line in (directory / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        query, document, grade = line.split("\t")
        if float(grade) > 0:
            relevant.setdefault(query, set()).add(document)
    for line in (directory / "queries.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        name = str(row.get("_id", row.get("id")))
        answers = row.get("answers") or (row.get("metadata") or {}).get("answers") or ()
        if name in relevant:
            yield Query(row["text"], frozenset(f"corpus/{document}.md" for document in relevant[name]), tuple(answers))


def sample_queries() -> Iterator[Query]:
    for file in (samples.GOLD, samples.IDENTIFIERS):
        for row in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
            relevant = frozenset(f"{each['source']}/{each['external_id']}" for each in row["expected"])
            answers = tuple(each.get("quote") or row["identifier"] for each in row["expected"])
            yield Query(row["question"], relevant, answers, frozenset(row["scopes"]))


def _document(passage: Passage) -> str:
    return f"{passage.source}/{passage.external_id}"


def _holds(query: Query, passage: Passage, text: str) -> bool:
    plain = " ".join(text.casefold().split())
    answered = any(" ".join(answer.casefold().split()) in plain for answer in query.answers)
    return _document(passage) in query.relevant and (answered or not query.answers)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    asked = parser.add_mutually_exclusive_group(required=True)
    asked.add_argument("--beir", type=Path, help="a folder with corpus.jsonl, queries.jsonl, qrels.tsv")
    asked.add_argument(
        "--samples", action="store_true", help="the sample company's questions, those without an answer too"
    )
    parser.add_argument("--queries", type=int, help="only the first so many")
    parser.add_argument("--words-only", action="store_true", help="score as for an embedding model without a threshold")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args(arguments)
    result = run(chosen.beir, chosen.queries, chosen.words_only)
    print(json.dumps(result) if chosen.json else table(result))


def table(result: Mapping[str, Any]) -> str:
    return "\n".join(f"{name:>26}  {value}" for name, value in result.items())


if __name__ == "__main__":
    main()
