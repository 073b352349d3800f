"""What one person's votes on an answer come to."""

from itertools import permutations

import pytest

from knowledge.votes import Change, standing

UP, DOWN = 1, -1


@pytest.mark.parametrize(
    ("changes", "counts"),
    [
        ((), None),
        ((Change(1, DOWN, True), Change(2, DOWN, False)), None),
        ((Change(1, DOWN, True), Change(2, DOWN, False), Change(3, DOWN, True)), DOWN),
        ((Change(1, UP, True), Change(2, DOWN, True), Change(3, UP, False)), DOWN),
        ((Change(1, UP, True), Change(3, DOWN, True), Change(4, DOWN, False)), None),
    ],
)
def test_the_latest_counts_unless_it_was_taken_back_in_whatever_order_it_is_heard_of(
    changes: tuple[Change, ...], counts: int | None
) -> None:
    assert {standing(heard) for heard in permutations(changes)} == {counts}
