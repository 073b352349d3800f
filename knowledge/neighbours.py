"""Candidates that are alike tend to answer together, so each takes a part of its score from those most like it. Pure.

A passage that stands high by a chance word among others that do not falls; one amid good ones rises. With W the likeness
of each candidate to its nearest others, its rows summing to 1, and s the scores: f = (1 - share)(I - share W)^-1 s, what
the scores settle at when each of them goes on doing so (Diaz, "Regularizing ad hoc retrieval scores", CIKM 2005).
"""

from collections.abc import Mapping, Sequence

import numpy as np

from knowledge import fusion
from knowledge.encoders import Floats
from knowledge.passages import Hit

NEAREST = 5
"""From 4 to 6 the labelled sets are flat, as are shares from 0.2 to 0.4; all gain 0.002 to 0.005 nDCG@10 in the mean."""


def settled(hits: Sequence[Hit], vectors: Mapping[int, Floats], share: float) -> tuple[Hit, ...]:
    """The hits with the scores they settle at, best first. `share` in [0, 1): what comes from the neighbours; 0 none.

    A hit without a vector in `vectors` keeps its score.
    """
    known = [hit for hit in hits if hit.chunk_id in vectors]
    if len(known) < 2 or share == 0:
        return tuple(hits)
    weights = _weights(np.stack([vectors[hit.chunk_id] for hit in known]).astype(np.float64))
    scores = np.array([hit.score for hit in known])
    found = (1 - share) * np.linalg.solve(np.eye(len(known)) - share * weights, scores)
    own = {hit.chunk_id: hit.score for hit in hits}
    return fusion.ranked(own | dict(zip((hit.chunk_id for hit in known), found.tolist(), strict=True)))


def _weights(vectors: Floats) -> Floats:
    """(n, n): the cosine of each row with its nearest others, 0 for the rest and for the row itself; rows sum to 1."""
    vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    cosines = np.clip(vectors @ vectors.T, 1e-6, None)  # what has no likeness to any other takes of all of them alike
    np.fill_diagonal(cosines, 0)
    places = min(NEAREST, len(vectors) - 1)
    least = np.partition(cosines, -places, axis=1)[:, -places, None]
    nearest = np.where(cosines >= least, cosines, 0)
    return np.asarray(nearest / nearest.sum(axis=1, keepdims=True))
