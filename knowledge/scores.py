"""How well each piece that can be quoted answers a question, and how strong the evidence is altogether.

1. A piece scores half for words, half for meaning: the share of the question's term weights (IDF) that the piece has,
   terms of its headings and other words of the same meaning (`synonyms.py`) counting for a part, and the likeness of its
   vector and of its tokens to the question's. Only the pieces with most of the words are compared by meaning.
2. For a part it scores as its passage does, which was read whole. A row that the question names has a bonus.
3. The evidence is as strong as the mean of the best piece's words and cosine and its passage's score. Thresholds of that
   are measured for each embedding model (`data/thresholds.json`).
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from knowledge import analysis, late_interaction, synonyms
from knowledge.encoders import Encoded, EncodedQuestion, Floats
from knowledge.evidence import Evidence
from knowledge.keywords import Weighted
from knowledge.quotable import Unit, units

COMPARED = 8
"""Pieces that are compared by meaning. Encoding them is most of the time that quoting takes; all of them (15 to 22 on
average) found no more answers, in the first quote or in three, on the sample company or on XQuAD. 6 found fewer."""

HEADING_SHARE = 0.5
"""What a term counts that is only in the title or the headings above the piece. All of it for a step, or below
a caption, when the question is how something is done: what is done stands above, and they are quoted together. All of it
too in a question that is the heading right above: an answer in an FAQ seldom says again what was asked."""

CELL_BONUS = 0.15
"""Of a row with a cell that the question says whole; more than `NEARLY`, so that its neighbours are not quoted beside it."""

CELL_REACH = 0.2
"""So far below the best a row may be and have it: "Monday" is in many a table."""

SYNONYM_SHARE = 0.8
"""What a term counts for which another word of the same meaning stands. The sample company's answers in the first quote went
from .857 to .869, in three from .929 to .940; XQuAD's are the same. 0.6 found fewer."""

THREAD_SHARE = 0.5
"""What a term counts that a follow-up only has from its thread."""

PASSAGE_SHARE = 0.3
"""What a piece has of its passage's score. With the tokens' likeness it took the answers in the first quote from .821 to
.857 on the sample company, from .962 to .971 on XQuAD; .2 to .4 are alike. The strength of the evidence gained nothing."""

THRESHOLDS = Path(__file__).with_name("data") / "thresholds.json"


class Encoder(Protocol):
    """What scoring needs of an embedding model."""

    def encode_question(self, text: str, /) -> EncodedQuestion: ...

    def encode_passages(self, texts: Sequence[str], /) -> Encoded: ...


@dataclass(frozen=True)
class Scored:
    """`score` ranks; `plain` is words and cosine alone, in [0, 1], which thresholds are measured for."""

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


def score(
    question: str,
    evidence: Sequence[Evidence],
    weights: Weighted,
    embedder: Encoder | None,
    asked: str = "",
    how: bool = False,
) -> tuple[Scored, ...]:
    """Everything quotable, best first; ties in the order of the passages.

    `embedder=None`: by words alone. `asked`: the question as it was asked, when `question` has words of its thread too;
    those rank for a part. `how`: it asks how something is done (`steps.asks_how`).
    """
    found = units(evidence)
    if not found:
        return ()
    counted = shares(question, weights)
    said = [
        _Said.of(unit, 1.0 if how and (unit.kind == "item" or unit.is_captioned) else HEADING_SHARE) for unit in found
    ]
    plain, alike = _overlaps(counted, said), _overlaps(_leaning(counted, asked), said)
    if embedder is not None:
        compared = np.sort(np.argsort(-plain, kind="stable")[:COMPARED])
        cosines, tokens = _meanings(question, [found[i].compared for i in compared], weights, embedder)
        plain *= 0.5
        alike *= 0.5
        plain[compared] += 0.5 * cosines
        alike[compared] += 0.25 * cosines + 0.25 * tokens
    passages = np.array([evidence[unit.index].passage.score for unit in found], dtype=np.float32)
    scores = (1 - PASSAGE_SHARE) * alike + PASSAGE_SHARE * passages
    scores += CELL_BONUS * _named(found, asked or question) * (scores >= scores.max() - CELL_REACH)
    order = np.argsort(-scores, kind="stable")
    return tuple(Scored(found[i], float(scores[i]), float(plain[i])) for i in order)


def strength(scored: Sequence[Scored], evidence: Sequence[Evidence]) -> float:
    """How well the best piece answers, in [0, 1]: its own words and meaning and its passage's score in equal parts."""
    if not scored:
        return 0.0
    best = max(scored, key=lambda each: each.plain)
    return 0.5 * best.plain + 0.5 * evidence[best.unit.index].passage.score


def threshold(embedder_name: str) -> Threshold:
    """The measured threshold of this embedding model, else the one for words alone."""
    table = _thresholds()
    return Threshold(**table.get(embedder_name, table["words"]), words_only=embedder_name not in table)


@cache
def _thresholds() -> Mapping[str, Any]:
    return dict(json.loads(THRESHOLDS.read_text(encoding="utf-8"))["by_embedder"])


@dataclass(frozen=True)
class _Said:
    """A unit's own terms, those of its headings, and what these count."""

    own: frozenset[str]
    above: frozenset[str]
    share: float

    @classmethod
    def of(cls, unit: Unit, share: float) -> "_Said":
        return cls(frozenset(analysis.terms(unit.compared)), frozenset(analysis.terms(unit.context)), share)

    def has(self, term: str) -> float:
        """What the term counts here, in [0, 1]."""
        if term in self.own:
            return 1.0
        alike = synonyms.others(term)
        whole = SYNONYM_SHARE if alike & self.own else 0.0
        return max(whole, self.share * (1.0 if term in self.above else SYNONYM_SHARE if alike & self.above else 0.0))


def _overlaps(counted: Mapping[str, float], said: Sequence[_Said]) -> Floats:
    """(n,) in [0, 1]: for each unit the share of the question's term weights that it has."""
    overlaps = [sum(counted[t] * each.has(t) for t in counted) for each in said]
    return np.array(overlaps, dtype=np.float32)


def _leaning(counted: Mapping[str, float], asked: str) -> Mapping[str, float]:
    """The weights with less for the terms that were not asked now; as they are when none of them was."""
    own = set(analysis.terms(asked))
    leaning = {term: share * (1.0 if term in own else THREAD_SHARE) for term, share in counted.items()}
    return {t: share / sum(leaning.values()) for t, share in leaning.items()} if own & counted.keys() else counted


def _named(found: Sequence[Unit], question: str) -> Floats:
    """(n,) 1 for each row with a cell that the question says whole, else 0. A word of the question is said once: "Thin" and
    not "Extra thin" for a thin lens, the other one alone for an extra thin lens, both for what is between them.
    """
    said = Counter(analysis.terms(question))
    whole = [
        {
            cell
            for text in unit.text.strip("| \n").split("|")
            if (cell := frozenset(analysis.terms(text))) and cell <= said.keys()
        }
        if unit.kind == "row"
        else set()
        for unit in found
    ]
    every = set().union(*whole)
    alone = {cell for cell in every if min(said[term] for term in cell) > sum(cell < other for other in every)}
    return np.array([bool(cells & alone) for cells in whole], dtype=np.float32)


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
    idf = {term: weights.idf(term) for term in dict.fromkeys(analysis.stems(question))}
    total = sum(idf.values())
    return {term: value / total for term, value in idf.items()} if total else {}
