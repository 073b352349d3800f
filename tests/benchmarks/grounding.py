"""How long checking an answer takes beside a rerank call: `python -m tests.benchmarks.grounding --beir DIR`.

Eight passages of the set, an answer of eight cited sentences with a figure each. `grounding_ms` is `evidence_ms`, which
cuts the passages as a request with native citations needs anyway, and `verify_ms`, the check. A rerank call is 30
candidates: `cross_encoder_ms` are forward passes of the embedding model over question and passage together, which is
what a cross-encoder of its size costs; `late_interaction_ms` is the default reranker, which only multiplies stored bits.
"""

import argparse
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from knowledge.claims import Segment
from knowledge.encoders import Embedder, EncodedQuestion, load_embedder
from knowledge.evidence import Cited, Evidence
from knowledge.figures import readings
from knowledge.grounding import verify
from knowledge.late_interaction import max_similarities
from knowledge.passages import Passage, Ranks
from knowledge.settings import Models
from tests.benchmarks.machine import machine

PASSAGES, CANDIDATES, ROUNDS = 8, 30, 5


def run(directory: Path) -> dict[str, Any]:
    lines = (directory / "corpus.jsonl").read_text(encoding="utf-8").splitlines()
    documents = [json.loads(line) for line in lines]
    passages = [_passage(n, d["title"], d["text"]) for n, d in enumerate(documents) if any(map(str.isdigit, d["text"]))]
    rounds = [passages[at : at + CANDIDATES] for at in range(0, ROUNDS * CANDIDATES, CANDIDATES)]
    rounds = [r for r in rounds if len(r) == CANDIDATES] or [passages[:CANDIDATES]]
    embedder = load_embedder(Models())
    question = embedder.encode_question("How many points did the defense surrender in the last season?")
    embedder.encode_texts(["warm"])
    measured = [_measure(candidates, embedder, question) for candidates in rounds]
    evidence_ms, verify_ms, cross_ms, late_ms = (median(column) for column in zip(*measured, strict=True))
    return {
        "rounds": len(rounds),
        "verify_ms": round(verify_ms, 3),
        "evidence_ms": round(evidence_ms, 3),
        "grounding_ms": round(evidence_ms + verify_ms, 3),
        "cross_encoder_ms": round(cross_ms, 1),
        "late_interaction_ms": round(late_ms, 3),
        "cross_encoder_over_verify": round(cross_ms / verify_ms, 1),
        "cross_encoder_over_grounding": round(cross_ms / (evidence_ms + verify_ms), 1),
        "machine": machine(),
    }


def _measure(candidates: Sequence[Passage], embedder: Embedder, question: EncodedQuestion) -> tuple[float, ...]:
    """Milliseconds of: the evidence, the check, a cross-encoder's passes, late interaction."""
    chosen = candidates[:PASSAGES]
    evidence_ms = _ms(lambda: [Evidence.of(p).orders for p in chosen])
    evidence = [Evidence.of(p) for p in chosen]
    draft = [
        Segment(*part)
        for index, given in enumerate(evidence)
        if given.orders is not None
        for part in _claim(index, given)
    ]
    readings.cache_clear()
    verify_ms = _ms(lambda: verify(draft, evidence, question.text))
    pairs = [f"{question.text} {p.body}" for p in candidates]
    cross_ms = _ms(lambda: embedder.encode_texts(pairs))
    bits = list(embedder.encode_passages([p.body for p in candidates]).tokens)
    return evidence_ms, verify_ms, cross_ms, _ms(lambda: max_similarities(question.token_vectors, bits))


def _claim(index: int, given: Evidence) -> Sequence[tuple[str, tuple[Cited, ...]]]:
    """A sentence of the passage with a figure, cited as the model would."""
    number = next(n for n, piece in enumerate(given.pieces) if any(map(str.isdigit, piece.text)))
    text = given.pieces[number].text
    return (text.strip(), (Cited(index, number, number + 1, text),)), (" ", ())


def _passage(number: int, title: str, text: str) -> Passage:
    url = f"https://docs.example/{number}"
    return Passage(
        number, number, "set", str(number), title, url, (title,), text, "", None, None, frozenset(), Ranks(), 0.5
    )


def _ms(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--beir", type=Path, required=True, help="a folder with corpus.jsonl")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args(arguments)
    result = run(chosen.beir)
    print(json.dumps(result) if chosen.json else "\n".join(f"{name:>26}  {value}" for name, value in result.items()))


if __name__ == "__main__":
    main()
