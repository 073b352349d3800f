"""Which step of a numbered list a question asks for."""

import pytest

from knowledge.quotable import units
from knowledge.steps import LAST, asked, pick
from tests.unit.test_extractive import given

LIST = "1. Close the valve.\n2. Ring the bell. Wait for two minutes.\n   - Or shout.\n3. Call the tug.\n"


@pytest.mark.parametrize(
    ("question", "number"),
    [
        ("What is the third step when the pager rings?", 3),
        ("What happens in step 4 of a release?", 4),
        ("what's the 2nd thing to do?", 2),
        ("Which is the last step?", LAST),
        ("Was ist der zweite Schritt?", 2),
        ("Was kommt in Schritt 5?", 5),
        ("Who sits on the third floor?", None),
        ("Which steps are there?", None),
        ("What was the first release?", None),
    ],
)
def test_a_step_is_asked_for_by_its_number(question: str, number: int | None) -> None:
    assert asked(question) == number


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (1, ["1. Close the valve."]),
        (2, ["2. Ring the bell.", "Wait for two minutes."]),
        (LAST, ["3. Call the tug."]),
        (4, []),
    ],
)
def test_a_step_is_all_its_sentences(number: int, said: list[str]) -> None:
    found = pick(number, units(given("Nothing is numbered here.", LIST, "1. Other list.\n2. Its end.\n")))
    assert [unit.text.strip() for unit in found] == said


def test_without_a_numbered_list_there_is_no_last_step() -> None:
    assert pick(LAST, units(given("- One.\n- Two.\n"))) == ()
