"""Steps that are quoted to a question for a person."""

import pytest

from knowledge.persons import is_missing
from knowledge.quotable import units
from tests.unit.test_extractive import given


@pytest.mark.parametrize(
    ("question", "text", "missing"),
    [
        ("Who signs the sheet?", "1. Sign the hygiene sheet.\n", True),
        ("Who is a first aider?", "- Call a first aider.\n", True),
        ("who calls Ana?", "- Call Ana at once.\n", True),
        ("Who signs the sheet?", "1. Have your team lead sign the sheet.\n", False),
        ("Who decides?", "1. Up to 150 Imogen decides.\n", False),
        ("Who do I write to?", "- Write to office@acme.example\n", False),
        ("Who signs the sheet?", "The sheet is signed in the evening.", False),
        ("When is the sheet signed?", "1. Sign the hygiene sheet.\n", False),
        ("Wer unterschreibt das Blatt?", "1. Unterschreibe das Blatt.\n", False),
    ],
)
def test_a_step_without_anybody_in_it_does_not_say_who(question: str, text: str, missing: bool) -> None:
    assert is_missing(question, units(given(text))) == missing


def test_one_of_the_steps_may_say_it() -> None:
    assert not is_missing("Who signs?", units(given("1. Sign.\n2. Show it to the manager.\n")))


def test_without_quotes_nothing_is_missing() -> None:
    assert not is_missing("Who signs?", ())
