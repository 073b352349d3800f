"""What a suggested gold case says of where its question is answered."""

import pytest

from knowledge.answers import Outcome
from knowledge.suggestions import Where, where
from knowledge.votes import Tally


@pytest.mark.parametrize(
    ("outcome", "is_doubtful", "tally", "said"),
    [
        ("answered", False, Tally(0, 0), "cited"),
        ("quoted", False, Tally(0, 0), "cited"),
        ("quoted", False, Tally(1, 1), "cited"),
        ("quoted", False, Tally(1, 2), "unsaid"),
        ("answered", False, Tally(0, 1), "unsaid"),
        ("quoted", True, Tally(0, 0), "unsaid"),
        ("quoted", True, Tally(1, 0), "unsaid"),
        ("abstained", False, Tally(0, 0), "nowhere"),
        ("abstained", False, Tally(0, 1), "unsaid"),
    ],
)
def test_nothing_is_said_after_an_answer_that_is_not_to_be_believed(
    outcome: Outcome, is_doubtful: bool, tally: Tally, said: Where
) -> None:
    assert where(outcome, is_doubtful, tally) == said
