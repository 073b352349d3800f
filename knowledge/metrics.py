"""Figures of a ranking against what should have been found, for one question; and their means and differences.

A ranking is a sequence of distinct ids, best first. `gains` says how relevant an id is; what it leaves out is 0.
A question with nothing relevant has no figure: None, which means leave out. An empty ranking scores 0.
The formulas are those of trec_eval, which ir-measures runs: linear gain, discount log2(rank + 1).
"""

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from math import ceil, comb, log2
from typing import TypeVar

Id = TypeVar("Id", bound=Hashable)


def recall(ranked: Sequence[Id], gains: Mapping[Id, float], k: int) -> float | None:
    """Share of the relevant ids among the first `k`."""
    relevant = _relevant(gains)
    return len(relevant & set(ranked[:k])) / len(relevant) if relevant else None


def precision(ranked: Sequence[Id], gains: Mapping[Id, float], k: int) -> float | None:
    """Share of relevant ids among the first `k` places; places that the ranking does not fill count as wrong."""
    relevant = _relevant(gains)
    return len(relevant & set(ranked[:k])) / k if relevant else None


def reciprocal_rank(ranked: Sequence[Id], gains: Mapping[Id, float], k: int) -> float | None:
    """1 / rank of the first relevant id; 0 when it is not among the first `k`."""
    relevant = _relevant(gains)
    first = next((rank for rank, id in enumerate(ranked[:k], start=1) if id in relevant), None)
    return None if not relevant else 1 / first if first else 0.0


def ndcg(ranked: Sequence[Id], gains: Mapping[Id, float], k: int) -> float | None:
    """Discounted gain of the first `k`, as a share of the best ranking's (Järvelin and Kekäläinen, 2002)."""
    best = _discounted(sorted(gains.values(), reverse=True)[:k])
    return _discounted([gains.get(id, 0.0) for id in ranked[:k]]) / best if best else None


def figures(ranked: Sequence[Id], gains: Mapping[Id, float]) -> dict[str, float | None]:
    """The figures that reports show, by their usual names."""
    return {
        "recall@5": recall(ranked, gains, 5),
        "recall@10": recall(ranked, gains, 10),
        "recall@50": recall(ranked, gains, 50),
        "mrr@10": reciprocal_rank(ranked, gains, 10),
        "ndcg@10": ndcg(ranked, gains, 10),
        "precision@5": precision(ranked, gains, 5),
    }


def mean(values: Iterable[float | None]) -> float | None:
    """Mean of those that are numbers; None when there are none."""
    numbers = [value for value in values if value is not None]
    return sum(numbers) / len(numbers) if numbers else None


def means(rows: Collection[Mapping[str, float | None]]) -> dict[str, float | None]:
    """The mean of each figure over the questions that have it; empty for no questions."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: mean(row.get(name) for row in rows) for name in names}


def share(part: int, whole: int) -> float | None:
    """`part / whole`; None when there is no whole."""
    return part / whole if whole else None


def percentile(values: Sequence[float], p: float) -> float | None:
    """The smallest value that at least the share `p` of the values does not exceed (nearest rank); None for none."""
    ordered = sorted(values)
    return ordered[ceil(p * len(ordered)) - 1] if ordered else None


def sign_test(better: int, worse: int) -> float:
    """Two-sided probability of a split at least this uneven if better and worse were equally likely; 1 for no change.

    The exact binomial test on the questions whose outcome changed (McNemar's, for small numbers).
    """
    changed = better + worse
    tail = sum(comb(changed, n) for n in range(min(better, worse) + 1)) / 2.0**changed
    return min(1.0, 2 * tail)


def _relevant(gains: Mapping[Id, float]) -> set[Id]:
    return {id for id, gain in gains.items() if gain > 0}


def _discounted(gains: Sequence[float]) -> float:
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, start=1))
