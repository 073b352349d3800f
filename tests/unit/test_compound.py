"""What counts as two questions."""

import pytest

from knowledge.compound import parts


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What can the move cost, and when do we move?", ("What can the move cost", "when do we move?")),
        ("What is E4012? Who is on call?", ("What is E4012", "Who is on call?")),
    ],
)
def test_every_question_with_its_own_question_word_is_a_part(question: str, expected: tuple[str, ...]) -> None:
    assert parts(question) == expected


@pytest.mark.parametrize(
    "question",
    [
        "What do trains and hotels cost?",
        "What is E4012 and how do I get rid of it?",
        "My laptop is gone, and who do I call?",
        "What happens when the tour is locked or when the token expires?",
        "What is the limit and how to book trains?",
    ],
)
def test_a_question_whose_parts_do_not_stand_alone_stays_whole(question: str) -> None:
    assert parts(question) == (question,)
