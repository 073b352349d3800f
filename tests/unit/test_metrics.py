"""Figures of a ranking: by hand, at the edges, and against ir-measures on a labelled set."""

import math
import random
from typing import Any

import ir_measures
import pytest
from ir_measures import RR, P, R, nDCG

from knowledge import metrics
from knowledge.metrics import (
    figures,
    mean,
    means,
    ndcg,
    percentile,
    precision,
    recall,
    reciprocal_rank,
    share,
    sign_test,
)

RANKED = ["d3", "d1", "d9", "d2", "d7", "d8"]
GAINS = {"d1": 1.0, "d2": 1.0, "d4": 1.0}


def test_by_hand() -> None:
    """d1 at rank 2 and d2 at rank 4 of three relevant ones."""
    assert recall(RANKED, GAINS, 1) == 0
    assert recall(RANKED, GAINS, 2) == pytest.approx(1 / 3)
    assert recall(RANKED, GAINS, 5) == pytest.approx(2 / 3)
    assert precision(RANKED, GAINS, 5) == pytest.approx(2 / 5)
    assert reciprocal_rank(RANKED, GAINS, 10) == pytest.approx(1 / 2)
    dcg = 1 / math.log2(3) + 1 / math.log2(5)
    best = 1 / math.log2(2) + 1 / math.log2(3) + 1 / math.log2(4)
    assert ndcg(RANKED, GAINS, 10) == pytest.approx(dcg / best)
    assert ndcg(RANKED, GAINS, 10) == pytest.approx(0.4982, abs=5e-5)


def test_grades_count_in_ndcg() -> None:
    dcg = 1 / math.log2(2) + 2 / math.log2(3)
    best = 2 / math.log2(2) + 1 / math.log2(3)
    assert ndcg(["a", "b"], {"a": 1, "b": 2}, 10) == pytest.approx(dcg / best)


@pytest.mark.parametrize("name", figures([], {}))
def test_a_figure_looks_at_as_many_places_as_its_name_says(name: str) -> None:
    places = int(name.partition("@")[2])
    for ahead, found in ((places - 1, True), (places, False)):
        ranking = [f"x{i}" for i in range(ahead)] + ["a"]
        assert bool(figures(ranking, {"a": 1.0})[name]) is found


def test_nothing_retrieved_scores_nothing() -> None:
    assert set(figures([], {"a": 1.0}).values()) == {0.0}


def test_a_question_with_nothing_relevant_has_no_figures() -> None:
    assert set(figures(["a"], {}).values()) == {None}
    assert set(figures(["a"], {"a": 0.0}).values()) == {None}


def test_a_figure_that_does_not_exist_is_left_out_of_the_mean() -> None:
    assert mean([1.0, None, 0.5]) == 0.75
    assert mean([None]) is None
    assert mean([]) is None
    assert means([{"recall@5": 1.0}, {"recall@5": None}]) == {"recall@5": 1.0}
    assert means([]) == {}


def test_a_share_of_nothing_is_none() -> None:
    assert share(1, 4) == 0.25
    assert share(0, 0) is None


@pytest.mark.parametrize(("p", "value"), [(0.5, 2), (0.95, 4), (0.25, 1), (1.0, 4)])
def test_percentiles_are_values_that_occurred(p: float, value: float) -> None:
    assert percentile([4, 1, 3, 2], p) == value


def test_no_values_have_no_percentile() -> None:
    assert percentile([], 0.5) is None


@pytest.mark.parametrize(
    ("better", "worse", "p"),
    [(0, 0, 1.0), (1, 0, 1.0), (5, 0, 2 / 32), (0, 6, 2 / 64), (3, 3, 1.0), (1, 7, 2 * (1 + 8) / 256)],
)
def test_the_sign_test_by_hand(better: int, worse: int, p: float) -> None:
    assert sign_test(better, worse) == pytest.approx(p)


def labelled_set(seed: int) -> tuple[dict[str, dict[str, int]], dict[str, list[str]]]:
    """Forty questions over sixty documents: grades 0 to 2, rankings of 0 to 60, some with nothing relevant in them."""
    dice = random.Random(seed)
    documents = [f"d{n}" for n in range(60)]
    grades = {
        f"q{n}": {d: dice.choice((0, 1, 1, 2)) for d in dice.sample(documents, dice.randint(1, 6))} for n in range(40)
    }
    rankings = {question: dice.sample(documents, dice.choice((0, 3, 10, 60))) for question in grades}
    return grades, rankings


MEASURES: dict[str, Any] = {
    "recall@5": R @ 5,
    "recall@10": R @ 10,
    "recall@50": R @ 50,
    "mrr@10": RR @ 10,
    "ndcg@10": nDCG @ 10,
    "precision@5": P @ 5,
}


@pytest.mark.parametrize("seed", range(5))
def test_every_figure_equals_that_of_ir_measures(seed: int) -> None:
    grades, rankings = labelled_set(seed)
    scored = {q: {d: float(-rank) for rank, d in enumerate(ranked)} for q, ranked in rankings.items()}
    theirs = {(m.query_id, m.measure): m.value for m in ir_measures.iter_calc(MEASURES.values(), grades, scored)}
    compared = 0
    for question, ranked in rankings.items():
        for name, ours in metrics.figures(ranked, grades[question]).items():
            if ours is not None:
                assert ours == pytest.approx(theirs.get((question, MEASURES[name]), 0.0), abs=1e-9), (question, name)
                compared += 1
    assert compared > 200
