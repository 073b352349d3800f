"""A candidate's score takes a share from those most like it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.fusion import ranked
from knowledge.neighbours import NEAREST, settled

SCORES = st.dictionaries(st.integers(1, 40), st.floats(0, 10), max_size=20)


def around(*angles: float) -> dict[int, np.ndarray]:
    """Vectors in a plane, by chunk from 1."""
    return {n: np.array([np.cos(a), np.sin(a)], dtype=np.float32) for n, a in enumerate(angles, 1)}


def test_one_among_good_ones_passes_one_among_bad_ones() -> None:
    near, far = [0.0] * (NEAREST + 1), [1.5] * (NEAREST + 1)
    scores = {n: 2.0 for n in range(1, 7)} | {n: 0.1 for n in range(7, 13)} | {6: 1.0, 12: 1.01}
    before = ranked(scores)
    after = settled(before, around(*near, *far), 0.3)
    assert [hit.chunk_id for hit in before].index(12) < [hit.chunk_id for hit in before].index(6)
    assert [hit.chunk_id for hit in after].index(12) > [hit.chunk_id for hit in after].index(6)


def test_two_candidates_settle_where_each_has_given_the_other_a_share() -> None:
    # f1 = 0.7 * 1 + 0.3 f2 and f2 = 0.3 f1, whatever their likeness: each is the other's only neighbour
    after = {hit.chunk_id: hit.score for hit in settled(ranked({1: 1.0, 2: 0.0}), around(0.0, 1.0), 0.3)}
    assert after == pytest.approx({1: 0.7 / 0.91, 2: 0.21 / 0.91})


def test_nobody_takes_a_share_from_beyond_the_nearest() -> None:
    vectors = around(0.0, *(0.1 * n for n in range(1, NEAREST + 1)), 3.0)
    last = NEAREST + 2
    without, having = (
        {hit.chunk_id: hit.score for hit in settled(ranked({n: 1.0 for n in vectors} | {last: s}), vectors, 0.3)}
        for s in (0.0, 5.0)
    )
    assert having[1] == pytest.approx(without[1])
    assert having[last] > without[last]


def test_one_without_a_vector_keeps_its_score_and_a_share_of_nothing_changes_nothing() -> None:
    hits = ranked({1: 1.0, 2: 0.5, 3: 0.75})
    kept = {hit.chunk_id: hit.score for hit in settled(hits, around(0.0, 0.1), 0.5)}
    assert kept[3] == 0.75
    assert settled(hits, around(0.0, 0.1, 0.2), 0) == hits
    assert settled(hits, {}, 0.5) == hits
    assert settled((), {}, 0.5) == ()


@given(SCORES, st.floats(0, 0.9), st.integers(0, 10**6))
def test_scores_stay_between_the_least_and_the_most_and_equal_ones_stay_equal(
    scores: dict[int, float], share: float, seed: int
) -> None:
    dice = np.random.default_rng(seed)
    vectors = {chunk: dice.standard_normal(8).astype(np.float32) for chunk in scores}
    after = settled(ranked(scores), vectors, share)
    assert {hit.chunk_id for hit in after} == set(scores)
    assert [hit.rank for hit in after] == list(range(1, len(scores) + 1))
    for hit in after:
        assert min(scores.values()) - 1e-9 <= hit.score <= max(scores.values()) + 1e-9
    same = settled(ranked(dict.fromkeys(scores, 2.0)), vectors, share)
    assert [hit.score for hit in same] == pytest.approx([2.0] * len(scores))
