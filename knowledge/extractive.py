"""Answers without a language model: the documents' own sentences, quoted and cited.

1. The best passages are cut into pieces (`citable.cut`); headings and table headers are not quoted by themselves,
   nor what speaks to a machine (`orders.py`).
2. A piece scores half for words, half for meaning: the share of the question's term weights (IDF) that the piece has,
   terms of its headings counting for a part, and the likeness of its vector and of its tokens to the question's. Only the
   pieces with most of the words are compared by meaning. For a part it scores as its passage does, which was read whole.
3. The best piece and up to two more that score nearly as well are quoted, at most two of one passage, best first.
   What they need beside them is quoted too (`companions.py`).
4. The evidence is as strong as the mean of the best piece's words and cosine and its passage's score. Below the threshold of the embedding
   model nothing is quoted. Thresholds are measured (`data/thresholds.json`).

Quotes go through the same verification as a model's words.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from knowledge import analysis, late_interaction
from knowledge.claims import Segment
from knowledge.encoders import Encoded, EncodedQuestion, Floats
from knowledge.evidence import Cited, Evidence
from knowledge.grounding import Grounded, verify
from knowledge.keywords import Weighted

PASSAGES = 5
"""Passages that are read for sentences; further ones add more noise than answers."""

COMPARED = 8
"""Pieces that are compared by meaning. Encoding them is most of the time that quoting takes; all of them (15 to 22 on
average) found no more answers, in the first quote or in three, on the sample company or on XQuAD. 6 found fewer."""

MOST_QUOTES = 3
MOST_OF_ONE_PASSAGE = 2
NEARLY = 0.1
"""A further quote may score this much less than the best. With 0.15 there were more of them, and no more answers."""

HEADING_SHARE = 0.5
"""What a term counts that is only in the title or the headings above the piece."""

PASSAGE_SHARE = 0.3
"""What a piece has of its passage's score. With the tokens' likeness it took the answers in the first quote from .821 to
.857 on the sample company, from .962 to .971 on XQuAD; .2 to .4 are alike. The strength of the evidence gained nothing."""

_STEP = re.compile(r"^\s*\d+[.)]\s+")  # its number says nothing about a step that is quoted without the others

THRESHOLDS = Path(__file__).with_name("data") / "thresholds.json"


class Encoder(Protocol):
    """What scoring needs of an embedding model."""

    def encode_question(self, text: str, /) -> EncodedQuestion: ...

    def encode_passages(self, texts: Sequence[str], /) -> Encoded: ...


@dataclass(frozen=True)
class Unit:
    """Something that can be quoted: piece `piece` of passage `index`. `context`: its title and headings."""

    index: int
    piece: int
    kind: str
    text: str
    header: str
    context: str

    @property
    def readable(self) -> str:
        """The text with its table header, as it is compared with the question."""
        return self.header + self.text


@dataclass(frozen=True)
class Scored:
    """`score` ranks; `plain` is words and cosine alone, which thresholds are measured for. Both in [0, 1]."""

    unit: Unit
    score: float
    plain: float


@dataclass(frozen=True)
class Threshold:
    """`quote`: the least strength of the evidence for an answer; `sure`: from where it seldom misleads; `words_only` says
    that scores are without cosines."""

    quote: float
    sure: float
    words_only: bool


def units(evidence: Sequence[Evidence]) -> tuple[Unit, ...]:
    """Everything quotable in the first passages, in their order."""
    return tuple(
        Unit(index, number, piece.kind, piece.text, piece.header, given.passage.label)
        for index, given in enumerate(evidence[:PASSAGES])
        for number, piece in enumerate(given.pieces)
        if piece.kind not in ("heading", "header") and number not in given.orders and len(piece.text.split()) > 1
    )


def score(
    question: str, evidence: Sequence[Evidence], weights: Weighted, embedder: Encoder | None
) -> tuple[Scored, ...]:
    """Everything quotable, best first; ties in the order of the passages. `embedder=None`: by words alone."""
    found = units(evidence)
    if not found:
        return ()
    plain = _overlaps(question, found, weights)
    alike = plain.copy()
    if embedder is not None:
        compared = np.sort(np.argsort(-plain, kind="stable")[:COMPARED])
        cosines, tokens = _meanings(question, [found[i].readable for i in compared], weights, embedder)
        plain *= 0.5
        alike *= 0.5
        plain[compared] += 0.5 * cosines
        alike[compared] += 0.25 * cosines + 0.25 * tokens
    passages = np.array([evidence[unit.index].passage.score for unit in found], dtype=np.float32)
    scores = (1 - PASSAGE_SHARE) * alike + PASSAGE_SHARE * passages
    order = np.argsort(-scores, kind="stable")
    return tuple(Scored(found[i], float(scores[i]), float(plain[i])) for i in order)


def strength(scored: Sequence[Scored], evidence: Sequence[Evidence]) -> float:
    """How well the best piece answers, in [0, 1]: its own words and meaning and its passage's score in equal parts."""
    if not scored:
        return 0.0
    best = max(scored, key=lambda each: each.plain)
    return 0.5 * best.plain + 0.5 * evidence[best.unit.index].passage.score


def choose(scored: Sequence[Scored], question: str) -> tuple[Unit, ...]:
    """The pieces to quote, best first. Where one has a code or figure of the question, no row, item or code without any."""
    named = {term for term in analysis.terms(question) if any(sign.isdigit() for sign in term)}
    chosen: list[Unit] = []
    has_named = False
    for one in scored:
        if one.score < scored[0].score - NEARLY or len(chosen) == MOST_QUOTES:
            break
        unit, same = one.unit, [other for other in chosen if other.index == one.unit.index]
        has = not named.isdisjoint(analysis.terms(unit.readable))
        if (
            len(same) < MOST_OF_ONE_PASSAGE
            and unit.text.strip() not in {other.text.strip() for other in chosen}
            and (has or not has_named or unit.kind == "sentence")
        ):
            chosen.append(unit)
            has_named |= has
    return tuple(chosen)


def quote(chosen: Sequence[Unit], evidence: Sequence[Evidence], question: str) -> Grounded:
    """The quotes as verified Markdown with marks: prose as block quotes, rows below their header, code as it is."""
    segments: list[Segment] = []
    for before, unit in pairwise((None, *_in_tables(chosen))):
        assert unit is not None
        cited = (Cited(unit.index, unit.piece, unit.piece + 1, unit.text),)
        goes_on = before is not None and _of_one_table(before, unit)
        header = unit.header.rstrip() + "\n" if unit.header and not goes_on else ""
        lead = {"row": header, "code": "", "item": ""}.get(unit.kind, "> ")
        steps = sum(other.kind == "item" and other.index == unit.index for other in chosen)
        text = _STEP.sub("- ", unit.text.strip("\n")) if steps == 1 else unit.text.strip("\n")
        body = " ".join(text.split()) if unit.kind == "sentence" else text.strip()
        segments += [
            Segment("" if before is None else "\n" if goes_on else "\n\n"),
            Segment(lead),
            Segment(body, cited),
        ]
    return verify(segments, evidence, question)


def _in_tables(chosen: Sequence[Unit]) -> list[Unit]:
    """Rows of one table together and in its order, where the best of them stood."""
    placed: list[Unit] = []
    for unit in chosen:
        rows = sorted((other for other in chosen if _of_one_table(unit, other)), key=lambda row: row.piece)
        placed += [each for each in rows or [unit] if each not in placed]
    return placed


def _of_one_table(one: Unit, other: Unit) -> bool:
    return one.kind == other.kind == "row" and (one.index, one.header) == (other.index, other.header)


def threshold(embedder_name: str) -> Threshold:
    """The measured threshold of this embedding model, else the one for words alone."""
    table = _thresholds()
    return Threshold(**table.get(embedder_name, table["words"]), words_only=embedder_name not in table)


@cache
def _thresholds() -> Mapping[str, Any]:
    return dict(json.loads(THRESHOLDS.read_text(encoding="utf-8"))["by_embedder"])


def _overlaps(question: str, found: Sequence[Unit], weights: Weighted) -> Floats:
    """(n,) in [0, 1]: for each unit the share of the question's term weights that it has."""
    counted = shares(question, weights)
    overlaps = []
    for unit in found:
        own, above = set(analysis.terms(unit.readable)), set(analysis.terms(unit.context))
        overlaps.append(sum(counted[t] * (1.0 if t in own else HEADING_SHARE if t in above else 0.0) for t in counted))
    return np.array(overlaps, dtype=np.float32)


def _meanings(question: str, texts: Sequence[str], weights: Weighted, embedder: Encoder) -> tuple[Floats, Floats]:
    """(n,) cosines with the question and (n,) likenesses of its tokens (`late_interaction.py`), in [0, 1]."""
    asked, encoded = embedder.encode_question(question), embedder.encode_passages(texts)
    cosines = np.clip(encoded.vectors @ asked.vector, 0, 1)
    importance = late_interaction.token_weights(asked, weights)
    if not encoded.tokens or not importance.sum() > 0:
        return cosines, cosines
    return cosines, late_interaction.likeness(asked, importance, encoded.tokens)


def shares(question: str, weights: Weighted) -> dict[str, float]:
    """What each of the question's terms counts; 1 together. Empty when no term has any weight."""
    stems = (term for term in analysis.terms(question) if not term.startswith(analysis.EXACT))
    idf = {term: weights.idf(term) for term in dict.fromkeys(stems)}
    total = sum(idf.values())
    return {term: value / total for term, value in idf.items()} if total else {}
