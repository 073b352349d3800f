"""Questions that mean the same, by the vectors of their texts."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
"""(n, d), unit length."""
Encode = Callable[[Sequence[str]], Vectors]

ALIKE = 0.7
"""Cosine from which two questions count as one; all-MiniLM gives paraphrases about that and more."""


def clusters(vectors: Vectors, alike: float = ALIKE) -> dict[int, int]:
    """The number of the first question of each kind, in order, and how many are of its kind.

    Each question joins the first earlier one that it is like, or stands for itself.
    """
    sizes: dict[int, int] = {}
    for n, vector in enumerate(vectors):
        first = next((leader for leader in sizes if float(vectors[leader] @ vector) >= alike), n)
        sizes[first] = sizes.get(first, 0) + 1
    return sizes
