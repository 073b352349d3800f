"""Two ranked lists become one."""

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.fusion import blend, convex, ranked, reciprocal_rank, standing
from knowledge.passages import Hit

SCORES = st.dictionaries(st.integers(1, 50), st.floats(-10, 10), max_size=20)


def order(hits: tuple[Hit, ...]) -> list[int]:
    return [hit.chunk_id for hit in hits]


def test_reciprocal_ranks_add_up() -> None:
    fused = reciprocal_rank(ranked({1: 9.0, 2: 8.0}), ranked({2: 0.3, 3: 0.1}))
    assert order(fused) == [2, 1, 3]
    assert fused[0].score == pytest.approx(1 / 62 + 1 / 61)
    assert fused[2].score == pytest.approx(1 / 62)


def test_a_smaller_k_gives_the_first_places_more_weight() -> None:
    assert reciprocal_rank(ranked({1: 1.0}), k=1)[0].score == pytest.approx(1 / 2)


def test_equal_scores_are_ranked_by_chunk_id() -> None:
    assert order(ranked({7: 1.0, 3: 1.0, 5: 1.0})) == [3, 5, 7]


def test_standing_is_exp_of_half_the_standard_score() -> None:
    # mean 2, standard deviation sqrt(2/3): z of 3 is 1.2247
    assert standing({1: 1.0, 2: 2.0, 3: 3.0})[3] == pytest.approx(math.exp(1.2247449 / 2))


def test_scores_that_are_all_the_same_stand_nowhere() -> None:
    assert standing({1: 0.4, 2: 0.4}) == {1: 1.0, 2: 1.0}
    assert standing({}) == {}


def test_the_weight_decides_between_meaning_and_words() -> None:
    meaning, words = {1: 0.9, 2: 0.1, 3: 0.1}, {2: 12.0}
    assert order(convex(meaning, words, weight=1.0))[0] == 1
    assert order(convex(meaning, words, weight=0.0))[0] == 2


def test_a_list_that_is_sure_outvotes_one_that_is_not() -> None:
    meaning = {1: 0.50, 2: 0.49, 3: 0.48, 4: 0.47, 5: 0.46}
    words = {1: 1.0, 2: 1.1, 3: 20.0, 4: 1.0, 5: 0.9}
    assert order(convex(meaning, words))[0] == 3


def test_each_standing_has_the_same_say() -> None:
    assert order(blend({1: 1.0, 2: 1.0}, {1: 1.0, 2: 1.5})) == [2, 1]
    assert blend({1: 1.0}, {1: 2.0}, {1: 6.0})[0].score == pytest.approx(3.0)
    assert order(blend({1: 1.0, 2: 1.0}, {2: 0.5})) == [2, 1]


@given(SCORES, SCORES)
def test_fusion_ranks_every_candidate_once_from_one(cosines: dict[int, float], words: dict[int, float]) -> None:
    for fused in (convex(cosines, words), reciprocal_rank(ranked(cosines)), blend(standing(cosines))):
        assert sorted(order(fused)) == sorted(cosines)
        assert [hit.rank for hit in fused] == list(range(1, len(cosines) + 1))
        assert all(a.score >= b.score for a, b in pairwise(fused))


@given(SCORES, st.floats(0.1, 10), st.floats(-5, 5))
def test_the_unit_of_a_score_does_not_matter(cosines: dict[int, float], factor: float, offset: float) -> None:
    moved = {chunk: score * factor + offset for chunk, score in cosines.items()}
    if cosines and max(cosines.values()) - min(cosines.values()) > 1e-3:
        assert standing(moved) == pytest.approx(standing(cosines), rel=1e-6)
