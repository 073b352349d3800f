"""Whether a suggested gold case names what its answer cited."""

import pytest

from knowledge.answers import Outcome
from knowledge.suggestions import is_to_be_believed
from knowledge.votes import Tally


@pytest.mark.parametrize(
    ("outcome", "is_doubtful", "tally", "believed"),
    [
        ("answered", False, Tally(0, 0), True),
        ("quoted", False, Tally(0, 0), True),
        ("quoted", False, Tally(1, 1), True),
        ("quoted", False, Tally(1, 2), False),
        ("answered", False, Tally(0, 1), False),
        ("quoted", True, Tally(0, 0), False),
        ("quoted", True, Tally(1, 0), False),
        ("abstained", False, Tally(0, 0), False),
        ("abstained", False, Tally(1, 0), False),
    ],
)
def test_an_answer_is_not_always_to_be_believed_and_that_there_was_none_says_nothing_of_the_documents(
    outcome: Outcome, is_doubtful: bool, tally: Tally, believed: bool
) -> None:
    assert is_to_be_believed(outcome, is_doubtful, tally) == believed
