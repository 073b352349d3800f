"""The keyword index: BM25 as an inner product of sparse vectors, in plain Postgres.

A chunk's row holds, per term, tf (k1 + 1) / (tf + k1 (1 - b + b length / average)); the question's vector holds the
IDFs, so a changed corpus changes no row. The average length is a constant, because chunks are bounded in size: a value
off by a factor of 1.25 changes fewer than one of ten results in ten.
Formula: Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009; IDF as in Lucene (never negative).
"""

import hashlib
import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import sqlalchemy as sa
from pgvector import SparseVector
from sqlalchemy.dialects.postgresql import insert

from knowledge import analysis
from knowledge.embeddings import ChunkKey
from knowledge.tables import TERM_SPACE, chunk_terms, term_counts

K1 = 1.2
B = 0.75
K3 = 8
"""A term said n times in the question counts (k3 + 1) n / (k3 + n) times: twice is nearly two, a log's 1,200 lines 9."""

AVERAGE_LENGTH = 150
"""Terms in a chunk, the mean over handbooks, product documentation and abstracts at 240 word pieces."""

EXACT_WEIGHT = 0.5
"""Of a word as written beside its stem: +0.008 nDCG@10 over seven labelled sets, flat between 0.3 and 0.7."""

ALL_CHUNKS = 0
"""The row of `term_counts` that counts chunks; no term has this id."""

CHUNK_BUDGETS = (16_000, 32_000)
"""Chunks that the keyword list scores in its first and in its second try, before it scores all: of questions made of a
document's words over 100,000 chunks 75 % need the first, 96 % the second.

A reader of no more than the first has all scored at once."""

MAX_QUESTION_TERMS = 128
"""Of a pasted log, only the rarest terms are looked up."""


@dataclass(frozen=True)
class Weighted:
    """A question's terms for the index: id -> IDF by occurrences, and id -> number of chunks that have it, rarest first.

    `total`: chunks in the index. `budgets`: chunks to score before all are scored (`CHUNK_BUDGETS`).
    """

    weights: Mapping[int, float]
    counts: Mapping[int, int]
    total: int
    budgets: Sequence[int] = CHUNK_BUDGETS

    def idf(self, term: str) -> float:
        """Rarity of a term of the question; highest for one that no chunk has."""
        return idf(self.counts.get(term_id(term), 0), self.total)

    def vector(self) -> SparseVector:
        return _sparse(self.weights)

    def tries(self) -> Iterator[tuple[list[int], float]]:
        """`rarest` for each budget; a budget that adds no term is left out, and none follows all terms."""
        before: list[int] | None = None
        for budget in self.budgets:
            taken, bound = self.rarest(budget)
            if taken != before:
                yield taken, bound
            if not bound:
                break
            before = taken

    def rarest(self, budget: int) -> tuple[list[int], float]:
        """The rarest terms whose chunks number at most `budget` together, and the most BM25 the others can add.

        A list ranked among chunks with those terms is right when its last score reaches that bound (Turtle and
        Flood's MaxScore, 1995). At least one term is taken; 0 means that none is left out.
        """
        taken: list[int] = []
        seen = 0
        for term, count in self.counts.items():
            seen += count
            if taken and seen > budget:
                break
            taken.append(term)
        return taken, sum(w * (K1 + 1) for term, w in self.weights.items() if term not in set(taken))


@lru_cache(maxsize=200_000)
def term_id(term: str) -> int:
    """A stable id in 1…TERM_SPACE - 1. Hashing instead of a dictionary: 69 of 364,000 terms of real text collided."""
    digest = hashlib.blake2b(term.encode(), digest_size=5).digest()
    return int.from_bytes(digest, "little") % (TERM_SPACE - 1) + 1


def write(
    connection: sa.Connection, chunks: Sequence[ChunkKey], texts: Sequence[str], gone: Collection[int] = ()
) -> None:
    """Indexes one text per chunk, in place of the chunks `gone`, and counts terms.

    Chunks are taken out of the index before their own rows go. The counts come last and in one order, so that two
    writers wait for each other only shortly and never in a circle.
    """
    counts = _taken_out(connection, gone) if gone else Counter[int]()
    rows = []
    for chunk, text in zip(chunks, texts, strict=True):
        frequencies = Counter(term_id(term) for term in analysis.terms(text))
        length = frequencies.total()
        rows.append(
            {
                "chunk_id": chunk.chunk_id,
                "acl_id": chunk.acl_id,
                "length": length,
                "terms": sorted(frequencies),
                "weights": _sparse({term: saturation(tf, length) for term, tf in frequencies.items()}),
            }
        )
        counts.update(frequencies.keys())
        counts[ALL_CHUNKS] += 1
    if rows:
        connection.execute(sa.insert(chunk_terms), rows)
    _count(connection, {term: n for term, n in counts.items() if n})


def forget(connection: sa.Connection, chunk_ids: Collection[int]) -> None:
    """Takes chunks out of the index and out of the counts. Call it before the chunks' own rows go."""
    write(connection, (), (), gone=chunk_ids)


def weigh(connection: sa.Connection, terms: Sequence[str]) -> Weighted:
    """The IDF of each term that some chunk has, by its occurrences in the question; the rarest terms first."""
    occurrences: dict[int, float] = {}
    for term in terms:
        weight = EXACT_WEIGHT if term.startswith(analysis.EXACT) else 1.0
        occurrences[term_id(term)] = occurrences.get(term_id(term), 0.0) + weight
    known = {int(term): int(n) for term, n in connection.execute(_counts_of([ALL_CHUNKS, *occurrences]))}
    total = known.pop(ALL_CHUNKS, 0)
    rarest = sorted((term for term, n in known.items() if n > 0), key=lambda term: (known[term], term))
    rarest = rarest[:MAX_QUESTION_TERMS]
    asked = {term: occurrences[term] for term in rarest}
    return Weighted(
        weights={term: idf(known[term], total) * (K3 + 1) * n / (K3 + n) for term, n in asked.items()},
        counts={term: known[term] for term in rarest},
        total=total,
    )


def counts(connection: sa.Connection, terms: Collection[str]) -> dict[str, int]:
    """How many chunks have each of these terms, whoever may read them; without those that none has."""
    if not terms:
        return {}
    known = {int(term): int(n) for term, n in connection.execute(_counts_of([term_id(term) for term in terms]))}
    return {term: n for term in terms if (n := known.get(term_id(term), 0)) > 0}


def idf(count: int, total: int) -> float:
    """Rarity of a term that `count` of `total` chunks have."""
    return math.log1p((total - count + 0.5) / (count + 0.5)) if total > count else math.log1p(0.5 / (count + 0.5))


def saturation(frequency: int, length: int) -> float:
    """A term's share of BM25 in a chunk of `length` terms, before the IDF; below k1 + 1."""
    return frequency * (K1 + 1) / (frequency + K1 * (1 - B + B * length / AVERAGE_LENGTH))


_BIGINTS = sa.ARRAY(sa.BigInteger)
_INTS = sa.ARRAY(sa.Integer)


def _counts_of(ids: list[int]) -> sa.Select[int, int]:
    return sa.select(term_counts.c.term, term_counts.c.count).where(term_counts.c.term == sa.any_(sa.cast(ids, _INTS)))


def _taken_out(connection: sa.Connection, chunk_ids: Collection[int]) -> Counter[int]:
    """What the counts lose with these chunks, which are deleted from the index: numbers below 0."""
    removed = connection.scalars(
        sa.delete(chunk_terms)
        .where(chunk_terms.c.chunk_id == sa.any_(sa.cast(list(chunk_ids), _BIGINTS)))
        .returning(chunk_terms.c.terms)
    ).all()
    counts = Counter[int]()
    for terms in removed:
        counts.subtract(terms)
        counts[ALL_CHUNKS] -= 1
    return counts


def _count(connection: sa.Connection, changes: Mapping[int, int]) -> None:
    """Adds to the counts in the order of the terms."""
    if not changes:
        return
    ordered = sorted(changes)
    rows = sa.select(
        sa.func.unnest(sa.cast(ordered, _INTS)), sa.func.unnest(sa.cast([changes[term] for term in ordered], _INTS))
    )
    statement = insert(term_counts).from_select(["term", "count"], rows)
    connection.execute(
        statement.on_conflict_do_update(
            index_elements=["term"], set_={"count": term_counts.c.count + statement.excluded.count}
        )
    )


def _sparse(weights: Mapping[int, float]) -> SparseVector:
    return SparseVector(dict(sorted(weights.items())), TERM_SPACE)
