"""How alike a question and a text are, token by token."""

import numpy as np
import pytest

from knowledge.encoders import BITS, Floats
from knowledge.late_interaction import max_similarities


def bits_of(vectors: Floats) -> bytes:
    return np.packbits(vectors > 0, axis=1).tobytes()


def unit(vectors: Floats) -> Floats:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


RANDOM = np.random.default_rng(5).standard_normal((6, BITS)).astype(np.float32)


def test_each_question_token_takes_its_most_similar_token_of_the_chunk() -> None:
    best = max_similarities(unit(RANDOM[:2]), [bits_of(RANDOM[:3]), bits_of(RANDOM[4:6])])
    # The expected cosine of a Gaussian vector to its own signs is sqrt(2 / pi), 0.798.
    assert best[0] == pytest.approx([0.8, 0.8], abs=0.06)
    assert best[1].max() < 0.4
    signs = np.sign(RANDOM) / np.sqrt(BITS)
    assert best[1] == pytest.approx((unit(RANDOM[:2]) @ signs[4:6].T).max(axis=1), abs=1e-5)


def test_a_chunk_without_tokens_scores_nothing_and_shifts_no_other() -> None:
    best = max_similarities(unit(RANDOM[:1]), [b"", bits_of(RANDOM[:1]), b"", bits_of(RANDOM[1:2])])
    assert best[0] == best[2] == 0
    assert best[1] > 0.7 > best[3]
    assert max_similarities(np.empty((0, BITS), np.float32), [b""]).shape == (1, 0)
