"""Which step of a numbered list a question asks for."""

from dataclasses import replace

import pytest

from knowledge.evidence import Evidence
from knowledge.extractive import quote
from knowledge.quotable import units
from knowledge.steps import LAST, asked, pick, procedure, subject
from tests.unit.test_extractive import given
from tests.unit.test_grounding import passage

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
        ("and the fifth? (step complaint customer)", 5),
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


def test_a_step_is_looked_for_in_the_nearest_list_alone() -> None:
    near, far = given("1. Near.\n2. Nearer.\n"), given("1. Far.\n2. Farther.\n3. Farthest.\n")
    assert pick(3, [*units(near), *(replace(unit, index=1) for unit in units(far))]) == ()


@pytest.mark.parametrize(
    ("question", "left"),
    [
        ("What is the third step of a recall?", "What is the of a recall?"),
        ("How many steps does a recall have?", "does a recall have?"),
        ("What comes after closing the valve?", "What comes after closing the valve?"),
        ("What is the third step?", "What is the third step?"),
    ],
)
def test_no_step_has_to_say_that_it_is_one(question: str, left: str) -> None:
    assert " ".join(subject(question).split()) == left


def test_without_a_numbered_list_there_is_no_last_step() -> None:
    assert pick(LAST, units(given("- One.\n- Two.\n"))) == ()


LAPTOP = (
    "Ask your lead.\n\n1. Choose a model. It is in the shop.\n2. Open a ticket.\n3. Pick it up.\n\n- A bag is extra.\n"
)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (
            "How do I get a new laptop?",
            ["1. Choose a model.", "It is in the shop.", "2. Open a ticket.", "3. Pick it up."],
        ),
        (
            "What comes after opening a ticket?",
            ["1. Choose a model.", "It is in the shop.", "2. Open a ticket.", "3. Pick it up."],
        ),
        ("Where do I pick up a laptop?", ["3. Pick it up.", "2. Open a ticket."]),
    ],
)
def test_how_something_is_done_is_all_its_steps_in_their_order(question: str, said: list[str]) -> None:
    every = units(given(LAPTOP))
    chosen = [unit for number in (3, 2) for unit in pick(number, every)]
    found = procedure(question, chosen, every)
    assert [unit.text.strip() for unit in found] == said


def test_a_sentence_that_only_leads_to_a_list_is_quoted_with_it() -> None:
    every = units(given("Bring these:\n\n- A bag.\n- A badge.\n\nThe rest is there."))
    assert [unit.text.strip() for unit in procedure("What is needed?", every[:1], every)] == [
        "Bring these:",
        "- A bag.",
        "- A badge.",
    ]


def test_a_better_sentence_comes_before_the_whole_list() -> None:
    every = units(given(LAPTOP))
    found = [unit.text.strip() for unit in procedure("How do I get a laptop?", every[:2], every)]
    assert found == [
        "Ask your lead.",
        "1. Choose a model.",
        "It is in the shop.",
        "2. Open a ticket.",
        "3. Pick it up.",
    ]


DELIVERY = "Check the note first. Then:\n\n- Count the parcels.\n- Sign.\n- Call us.\n\nThe van comes at nine.\n"


def test_items_without_numbers_are_told_whole_with_the_paragraph_that_leads_to_them() -> None:
    every = units(given(DELIVERY))
    chosen = [unit for unit in every if unit.text.startswith(("- Sign.", "- Call", "The van"))]
    found = [unit.text.strip() for unit in procedure("How do I receive a delivery?", chosen, every)]
    assert found == ["Check the note first.", "Then:", "- Count the parcels.", "- Sign.", "- Call us."]
    assert procedure("Who counts the parcels?", chosen, every) == tuple(chosen)


def test_steps_that_do_not_follow_each_other_keep_their_numbers() -> None:
    evidence = given(LAPTOP)
    first, third = (pick(number, units(evidence))[0] for number in (1, 3))
    second = pick(2, units(evidence))[0]
    assert quote([third, first], evidence, "laptop").text == "- (1) Choose a model [1].\n\n- (3) Pick it up [1]."
    assert quote([third, second], evidence, "laptop").text == "2. Open a ticket [1].\n\n3. Pick it up [1]."


@pytest.mark.parametrize(
    ("question", "steps"),
    [
        ("How do I restring a grand piano?", 2),
        ("How do I tune a grand piano?", 0),
        ("Who restrings a grand piano?", 0),
    ],
)
def test_a_section_that_is_named_as_what_is_asked_for_is_told_by_its_steps(question: str, steps: int) -> None:
    text = "Allow four days.\n\n1. Photograph the pins.\n2. Let the tension down.\n"
    every = units([Evidence.of(passage(text, 1, ("Page", "Restringing a grand")))])
    found = procedure(question, every[:1], every)
    assert [unit.kind for unit in found].count("item") == steps
