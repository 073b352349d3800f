"""From ranked passages to the few that are handed on. Pure.

1. Near-duplicates (the same text in two sources, versions of a page) collapse to the newest of them, at the best rank.
2. Maximal marginal relevance (Carbonell and Goldstein, SIGIR 1998), when asked for: relevance against likeness to what
   was taken already.
3. At most `per_document` passages of one document, unless the ranking is about one document anyway.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache

from knowledge.passages import Passage

NEAR_DUPLICATE = 0.8
"""Jaccard similarity of word triples; one changed figure in a paragraph of forty words leaves 0.85."""

_WORD = re.compile(r"\w+")

_OLDEST = datetime.min.replace(tzinfo=UTC)


def select(ranked: Sequence[Passage], limit: int, per_document: int, diversity: float = 1.0) -> tuple[Passage, ...]:
    """The passages to hand on, best first. `diversity`: MMR's lambda, 1 ranks by relevance alone."""
    distinct = collapse(ranked)
    if diversity < 1:
        distinct = marginal(distinct, diversity)
    return capped(distinct, limit, per_document)


def collapse(ranked: Sequence[Passage]) -> list[Passage]:
    """One passage for each group of near-duplicates: the newest of them, with the rank and score of the best."""
    kept: list[Passage] = []
    having: dict[int, list[int]] = {}  # word triple -> places in `kept` of passages that have or had it
    for passage in ranked:
        triples = _triples(passage.body)
        shared = Counter(i for triple in triples for i in having.get(triple, ()))
        close = sorted(i for i, count in shared.items() if count >= NEAR_DUPLICATE * len(triples))
        twin = next((i for i in close if likeness(passage, kept[i]) >= NEAR_DUPLICATE), None)
        if twin is None:
            kept.append(passage)
        elif (passage.updated_at or _OLDEST) > (kept[twin].updated_at or _OLDEST):
            kept[twin] = replace(passage, score=kept[twin].score, ranks=kept[twin].ranks)
        else:
            continue
        for triple in triples:
            having.setdefault(triple, []).append(len(kept) - 1 if twin is None else twin)
    return kept


def marginal(ranked: Sequence[Passage], diversity: float) -> list[Passage]:
    """The passages in MMR order: each next one has the highest `diversity` x score - the rest x likeness."""
    left, taken = list(ranked), list[Passage]()
    while left:

        def gain(passage: Passage) -> float:
            return diversity * passage.score - (1 - diversity) * max((likeness(passage, t) for t in taken), default=0.0)

        best = max(left, key=gain)
        left.remove(best)
        taken.append(best)
    return taken


def capped(ranked: Sequence[Passage], limit: int, per_document: int) -> tuple[Passage, ...]:
    """The first `limit` with at most `per_document` of each document; what is left over fills free places, in order."""
    counts: dict[int, int] = {}
    first, over = list[Passage](), list[Passage]()
    for passage in ranked:
        counts[passage.document_id] = counts.get(passage.document_id, 0) + 1
        (first if counts[passage.document_id] <= per_document else over).append(passage)
    return tuple((first + over)[:limit])


def likeness(one: Passage, other: Passage) -> float:
    """Jaccard similarity of the passages' word triples, in [0, 1]."""
    a, b = _triples(one.body), _triples(other.body)
    return len(a & b) / len(a | b) if a or b else 1.0


@lru_cache(maxsize=2_000)
def _triples(text: str) -> frozenset[int]:
    """Hashes of three words in a row; a tuple would be hashed anew at every look."""
    words = _WORD.findall(text.casefold())
    return frozenset(map(hash, zip(words, words[1:], words[2:], strict=False))) or frozenset([hash(tuple(words))])
