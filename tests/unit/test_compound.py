"""What counts as two questions."""

import pytest

from knowledge.compound import Part, parts


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What can the move cost, and when do we move?", ("What can the move cost", "when do we move?")),
        ("What is E4012? Who is on call?", ("What is E4012", "Who is on call?")),
        ("When are wages paid and may I bring my dog?", ("When are wages paid", "may I bring my dog?")),
        ("Is there a canteen, and do you sell any cider?", ("Is there a canteen", "do you sell any cider?")),
        ("Do new people get a key and who signs?", ("Do new people get a key", "who signs?")),
        ("I like it. When is the bell tested? Who is on call?", ("When is the bell tested", "Who is on call?")),
    ],
)
def test_every_question_of_its_own_is_a_part(question: str, expected: tuple[str, ...]) -> None:
    assert tuple(part.asked for part in parts(question)) == expected


def test_a_part_that_leans_on_what_was_said_before_is_searched_with_it() -> None:
    question = "I am ill. Who do I tell, and when do I need a doctor's note?"
    assert parts(question) == (
        Part("Who do I tell", "I am ill. Who do I tell"),
        Part("when do I need a doctor's note?", "when do I need a doctor's note?"),
    )


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
        "Who may approve and can sign a contract?",
    ],
)
def test_a_question_whose_parts_do_not_stand_alone_stays_whole(question: str) -> None:
    assert parts(question) == (Part(question, question),)
