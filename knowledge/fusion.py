"""Two ranked lists become one. Pure: scores by chunk in, `Hit`s out, best first.

Ties go to the smaller chunk id, so that equal input gives equal output on every machine.
"""

from collections.abc import Mapping, Sequence

from knowledge.passages import Hit

RRF_K = 60
"""Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms Condorcet…", SIGIR 2009."""


def ranked(scores: Mapping[int, float], limit: int | None = None) -> tuple[Hit, ...]:
    """Hits in descending order of score."""
    order = sorted(scores, key=lambda chunk: (-scores[chunk], chunk))[:limit]
    return tuple(Hit(chunk, rank, float(scores[chunk])) for rank, chunk in enumerate(order, 1))


def reciprocal_rank(*lists: Sequence[Hit], k: int = RRF_K) -> tuple[Hit, ...]:
    """The sum of 1 / (k + rank) over the lists a chunk is in."""
    scores: dict[int, float] = {}
    for hits in lists:
        for hit in hits:
            scores[hit.chunk_id] = scores.get(hit.chunk_id, 0.0) + 1.0 / (k + hit.rank)
    return ranked(scores)


def convex(cosines: Mapping[int, float], keywords: Mapping[int, float], weight: float = 0.5) -> tuple[Hit, ...]:
    """`weight` x cosine (min-max over the candidates) + the rest x BM25 (over its maximum); Bruch et al., TOIS 2023.

    Every candidate needs a cosine; one without a BM25 score has none of the question's terms. BM25 is 0 where nothing
    matches, so it is divided by its maximum and keeps its zero; cosines have no such zero.
    """
    low, high = min(cosines.values(), default=0.0), max(cosines.values(), default=0.0)
    top = max(keywords.values(), default=0.0)
    return ranked(
        {
            chunk: weight * _share(cosine - low, high - low) + (1 - weight) * _share(keywords.get(chunk, 0.0), top)
            for chunk, cosine in cosines.items()
        }
    )


def _share(part: float, whole: float) -> float:
    return part / whole if whole > 0 else 0.0


def blend(fused: Sequence[Hit], reranked: Mapping[int, float]) -> tuple[Hit, ...]:
    """The fused scores (a share of two thirds) with the reranker's (one third), each by min-max over the candidates.

    After the convex fusion that makes equal thirds of meaning, words and reranker. An empty `reranked` keeps the order.
    """
    if not reranked:
        return tuple(fused)
    before = _min_max({hit.chunk_id: hit.score for hit in fused})
    after = _min_max(reranked)
    return ranked({chunk: (2 * score + after.get(chunk, 0.0)) / 3 for chunk, score in before.items()})


def _min_max(scores: Mapping[int, float]) -> dict[int, float]:
    low, high = min(scores.values(), default=0.0), max(scores.values(), default=0.0)
    return {chunk: _share(score - low, high - low) for chunk, score in scores.items()}
