"""The hybrid statement: one query that ranks chunks by meaning and by words, each list cut to the reader's rights
before its limit, and returns every chunk of either list with both scores.

1. `nearest`: by inner product with the question's vector, exactly (`+ 0` keeps the planner from an approximate index)
   or through the HNSW index, see `route`.
2. `matching`: by BM25. A reader of few chunks has all of them scored. For others only chunks are that have one of the
   question's rarer terms (`rare`); leaving out the common ones bounds the cost, and what they could add at most is
   known, so the database sees whether the list is proven to be right. If not, it tries with more terms, and then
   scores all chunks (`everything`).
3. The union of the lists, with the exact cosine and the exact BM25 of every chunk in it, its token bits and its vector.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import sqlalchemy as sa
from pgvector import HalfVector
from pgvector.sqlalchemy import HALFVEC

from knowledge import vector_index
from knowledge.acls import among, lists, visible
from knowledge.encoders import Floats
from knowledge.generations import Generation
from knowledge.keywords import Weighted
from knowledge.permissions import Scopes
from knowledge.tables import acls, chunk_terms, chunk_tokens, chunk_vectors

EF_SEARCH = 400
MAX_SCAN_TUPLES = 100_000
"""With fewer, 1-2 % of the questions over 300,000 chunks met an unreachable cluster and found nothing."""


SURE = 10
"""Places of the vector list that are checked against what the words found."""


@dataclass(frozen=True)
class Query:
    """What is asked, and of what: the question's vector and terms, the reader's scopes, the length of each list."""

    generation: Generation
    vector: Floats
    terms: Weighted
    scopes: Scopes
    limit: int


@dataclass(frozen=True)
class Candidate:
    """One chunk of either list. Ranks from 1, None where the list does not have it; `bits`: see `encoders.BITS`.

    `vector`: the chunk's own, None where the generation has none of it.
    """

    chunk_id: int
    vector_rank: int | None
    keyword_rank: int | None
    cosine: float
    bm25: float
    bits: bytes
    vector: Floats | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Route:
    """How to search, by the number of readable chunks. `exact`: scan their vectors. `score_all`: score the words of all.

    The planner cannot decide this: it does not know how many chunks the reader's access lists have.
    """

    exact: bool
    score_all: bool


def find(connection: sa.Connection, query: Query, exact_below: int) -> tuple[Candidate, ...]:
    """The best chunks by meaning and the best by words that a holder of the scopes may read, in no order.

    Each list is as long as the limit and the reader's chunks allow. Run it inside `database.reading(scopes)`.
    """
    chosen = route(connection, query, exact_below)
    if not chosen.exact:
        connection.execute(_SCAN_SETTINGS)
    found = _run(connection, statement(query, chosen))
    if not chosen.exact and lacks(found, query.limit):
        found = _run(connection, statement(query, replace(chosen, exact=True)))
    return found


def lacks(found: Sequence[Candidate], limit: int) -> bool:
    """Whether the index left out chunks: the vector list is short, or the words led to one that belongs to its first ten.

    A cluster of texts that are nearly the same can be out of the index's reach altogether.
    """
    listed = sorted((c.cosine for c in found if c.vector_rank is not None), reverse=True)
    if len(listed) < limit:
        return True
    return any(c.cosine > listed[min(SURE, limit) - 1] for c in found if c.vector_rank is None)


def route(connection: sa.Connection, query: Query, exact_below: int) -> Route:
    """Vectors are scanned where there is no index or they are few enough to be faster so."""
    of_reader = sa.select(sa.func.sum(acls.c.chunk_count)).where(visible(acls.c.id, query.scopes))
    readable = int(connection.scalar(of_reader) or 0)
    exact = readable <= exact_below or not vector_index.is_ready(connection, query.generation)
    return Route(exact, score_all=readable <= query.terms.budgets[0])


Row = tuple[int, int | None, int | None, float | None, float | None, bytes | None, bytes | None]
"""As `Candidate`; the vector as pgvector sends it."""


def statement(query: Query, chosen: Route) -> sa.Select[*Row]:
    """The whole hybrid query as one select."""
    vector = sa.bindparam("vector", query.vector, HALFVEC(query.generation.dimension))
    weights = sa.bindparam("weights", query.terms.vector(), chunk_terms.c.weights.type)
    readable = lists(query.scopes)
    nearest = _nearest(query, vector, readable, chosen.exact)
    matching = (_scored if chosen.score_all else _matching)(query, weights, readable)
    union = sa.union(sa.select(nearest.c.chunk_id), sa.select(matching.c.chunk_id)).cte("candidates")
    v, t, b = chunk_vectors, chunk_terms, chunk_tokens
    rows = (
        union.outerjoin(nearest, nearest.c.chunk_id == union.c.chunk_id)
        .outerjoin(matching, matching.c.chunk_id == union.c.chunk_id)
        .outerjoin(v, (v.c.chunk_id == union.c.chunk_id) & (v.c.generation_id == query.generation.id))
        .outerjoin(t, t.c.chunk_id == union.c.chunk_id)
        .outerjoin(b, (b.c.chunk_id == union.c.chunk_id) & (b.c.generation_id == query.generation.id))
    )
    cosine, bm25 = -v.c.embedding.max_inner_product(vector), -t.c.weights.max_inner_product(weights)
    sent = sa.func.halfvec_send(v.c.embedding, type_=sa.LargeBinary)  # as text a vector takes ten times as long to read
    return sa.select(union.c.chunk_id, nearest.c.rank, matching.c.rank, cosine, bm25, b.c.bits, sent).select_from(rows)


def _nearest(query: Query, vector: sa.BindParameter[Floats], readable: sa.CTE, exact: bool) -> sa.CTE:
    v = chunk_vectors.c
    if exact:
        distance, seen = v.embedding.max_inner_product(vector) + 0, among(v.acl_id, readable)
    else:
        distance = sa.cast(v.embedding, HALFVEC(query.generation.dimension)).op("<#>", return_type=sa.Float)(vector)
        seen = among(v.acl_id + 0, readable)  # else the planner, who thinks they are few, scans them after all
    rows = sa.select(v.chunk_id, distance.label("distance")).where(v.generation_id == query.generation.id, seen)
    return _numbered(rows.order_by(distance).limit(query.limit).cte("nearest_rows"), "nearest")


def _scored(query: Query, weights: sa.BindParameter[object], readable: sa.CTE) -> sa.CTE:
    """By BM25 among all readable chunks; what has no term of the question scores 0 and is left out."""
    rows = _best(query, weights).where(among(chunk_terms.c.acl_id, readable)).cte("scored")
    return _numbered(sa.select(rows).where(rows.c.distance < 0).cte("matching_rows"), "matching")


def _matching(query: Query, weights: sa.BindParameter[object], readable: sa.CTE) -> sa.CTE:
    """By BM25 among the chunks with the rarest terms: the first try that is proven to be right, or all chunks."""
    t = chunk_terms.c
    parts = list[sa.Select[int, float]]()
    unproven: sa.ColumnElement[bool] = sa.true()
    for number, (rare_terms, bound) in enumerate(query.terms.tries()):
        has_one = t.terms.overlap(sa.cast(rare_terms, t.terms.type))
        # `+ 0` keeps the planner from reading every chunk of the reader's lists to look for the terms in it.
        seen = among(t.acl_id + 0, readable)
        rare = _best(query, weights).where(has_one, seen, unproven).cte(f"rare_{number}")
        full_and_above = (sa.func.count() >= query.limit) & (sa.func.max(rare.c.distance) <= -bound)
        proven = sa.select(full_and_above).select_from(rare).scalar_subquery() if bound else sa.true()
        parts.append(sa.select(rare).where(proven))
        unproven = unproven & ~proven
    # To score a chunk takes less time than to look whether it has one of many terms.
    everything = _best(query, weights).where(among(t.acl_id, readable), unproven).cte("everything")
    parts.append(sa.select(everything).where(everything.c.distance < 0))
    return _numbered(sa.union_all(*parts).cte("matching_rows"), "matching")


def _best(query: Query, weights: sa.BindParameter[object]) -> sa.Select[int, float]:
    distance = chunk_terms.c.weights.max_inner_product(weights).label("distance")
    return sa.select(chunk_terms.c.chunk_id, distance).order_by(distance).limit(query.limit)


def _numbered(rows: sa.CTE, name: str) -> sa.CTE:
    """The rows with their rank; ties go to the smaller id."""
    rank = sa.func.row_number().over(order_by=(rows.c.distance, rows.c.chunk_id)).label("rank")
    return sa.select(rows.c.chunk_id, rank).cte(name)


def _run(connection: sa.Connection, select: sa.Select[*Row]) -> tuple[Candidate, ...]:
    return tuple(
        Candidate(chunk, nearest, matching, min(1.0, max(-1.0, cosine or 0.0)), bm25 or 0.0, bits or b"", _read(sent))
        for chunk, nearest, matching, cosine, bm25, bits, sent in connection.execute(select)
    )


def _read(sent: bytes | None) -> Floats | None:
    return None if sent is None else HalfVector.from_binary(sent).to_numpy().astype(np.float32)


_SCAN_SETTINGS = sa.select(
    sa.func.set_config("hnsw.iterative_scan", "relaxed_order", True),
    sa.func.set_config("hnsw.ef_search", str(EF_SEARCH), True),
    sa.func.set_config("hnsw.max_scan_tuples", str(MAX_SCAN_TUPLES), True),
)
