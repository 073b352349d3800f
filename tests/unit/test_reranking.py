"""Late interaction on sign bits."""

import numpy as np

from knowledge.candidates import Candidate
from knowledge.encoders import EncodedQuestion, Floats
from knowledge.reranking import LateInteraction, NoReranker
from tests.unit.test_late_interaction import RANDOM, bits_of, unit


def candidate(chunk_id: int, bits: bytes) -> Candidate:
    return Candidate(chunk_id, 1, None, 0.5, 0.0, bits)


def question(vectors: Floats) -> EncodedQuestion:
    return EncodedQuestion("a b", np.zeros(3, np.float32), unit(vectors), ((0, 1),) * len(vectors))


def test_a_rarer_word_decides() -> None:
    candidates = [candidate(1, bits_of(RANDOM[:1])), candidate(2, bits_of(RANDOM[1:2]))]
    scores = LateInteraction().scores(question(RANDOM[:2]), np.array([0.5, 4.0], np.float32), candidates, {})
    assert scores[2] > scores[1]
    assert all(0 <= score <= 1 for score in scores.values())


def test_a_question_without_tokens_leaves_the_order_alone() -> None:
    assert LateInteraction().scores(question(RANDOM[:0]), np.empty(0, np.float32), [candidate(1, b"")], {}) == {}
    assert NoReranker().scores(question(RANDOM[:1]), np.ones(1, np.float32), [candidate(1, b"")], {}) == {}
