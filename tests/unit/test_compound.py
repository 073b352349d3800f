"""What counts as two questions."""

import pytest

from knowledge.compound import parts


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What can the move cost, and when do we move?", ("What can the move cost", "when do we move?")),
        ("What is E4012? Who is on call?", ("What is E4012", "Who is on call?")),
        (
            "I am ill. Who do I tell, and when do I need a note?",
            ("I am ill. Who do I tell", "I am ill. when do I need a note?"),
        ),
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
        "I am ill. Who do I tell, and when do they need it?",
        "Tell me what it costs. And when do we move?",
        "What causes orange peel and what do I do?",
    ],
)
def test_a_question_whose_parts_do_not_stand_alone_stays_whole(question: str) -> None:
    assert parts(question) == (question,)
