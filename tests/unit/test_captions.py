"""Headings that no markup says are any: they are quoted with what they name, and never alone."""

import pytest

from knowledge.captions import bare, places
from knowledge.citable import cut
from knowledge.companions import complete
from knowledge.extractive import choose, quote
from knowledge.quotable import units
from knowledge.scores import score
from knowledge.steps import procedure
from tests.unit.test_extractive import ALL_RARE, given

TILL = (
    "Opening and closing the till\n\nTwo people count it.\n\nIn the evening\n1. Print the report.\n"
    "2. Count the cash.\n\nLost connection\n\nRing the hotline.\n"
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (TILL, ["Opening and closing the till", "In the evening", "Lost connection"]),
        ("Packing a wheel\n---------------\n1) Let the air out.\n", ["Packing a wheel"]),
        ("**Receiving a delivery**\n\nCheck the note first.\n", ["Receiving a delivery"]),
        ("CLOSING\n\nEvery evening:\n\n- Lock the door.\n", ["CLOSING"]),
        ("Reception opens at eight\n\nBring your badge\n", []),
        ("Hotline 0800 555 0177\n\nIt is free.\n", []),
        ("It is free.\n\nBring your badge.\n", []),
        ("Report a lost laptop to the\nhotline at any hour.\n\nIt is free.\n", []),
        ("It is free\n", []),
        ("One two three four five six seven eight nine ten eleven\n\nIt is free.\n", []),
        ("and so on\n\nIt is free.\n", []),
    ],
)
def test_a_caption_is_a_short_line_before_a_list_or_a_sentence(text: str, found: list[str]) -> None:
    pieces = cut(text)
    assert [bare(p.text) for p, place in zip(pieces, places(pieces), strict=True) if place.is_caption] == found


def test_the_first_caption_stands_above_all_and_any_other_above_what_follows_it() -> None:
    pieces = cut(TILL)
    under = {piece.text.strip(): place.above for piece, place in zip(pieces, places(pieces), strict=True)}
    first = "Opening and closing the till"
    assert under["Two people count it."] == first
    assert under["2. Count the cash."] == f"{first} In the evening"
    assert under["Ring the hotline."] == f"{first} Lost connection"


def test_a_line_with_a_colon_stands_above_its_list_together_with_its_caption() -> None:
    pieces = cut(
        "The shop is old.\n\nCLOSING\n\nEvery evening:\n\n- Lock the door.\n\nOPENING\n\nEvery morning:\n\n- Open it.\n"
    )
    assert [places(pieces)[n].above for n in (3, 6)] == ["CLOSING Every evening:", "OPENING Every morning:"]


def told(question: str, text: str) -> str:
    evidence = given(text)
    scored = score(question, evidence, ALL_RARE, None, how=True)
    chosen = complete(choose(scored, question), scored, evidence, question)
    return quote(procedure(question, chosen, [each.unit for each in scored]), evidence, question).text


def test_steps_are_found_by_the_caption_above_them_and_told_below_it() -> None:
    assert told("How do I close the till in the evening?", TILL) == (
        "> In the evening [1]\n\n1. Print the report [1].\n\n2. Count the cash [1]."
    )


def test_a_sentence_is_told_below_its_caption() -> None:
    text = "The door is red.\n\n**Sending a bike to a branch**\n\nRing Jule first.\n"
    assert (
        told("How do I send a bike to a branch?", text) == "> Sending a bike to a branch [1]\n\n> Ring Jule first [1]."
    )


def test_a_caption_is_not_quoted_alone() -> None:
    assert not any(
        unit.is_caption for unit in choose(score("closing till", given(TILL), ALL_RARE, None), "closing till")
    )
    assert [unit.is_caption for unit in units(given(TILL))].count(True) == 3
