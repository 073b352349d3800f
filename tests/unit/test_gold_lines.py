"""Gold cases in lines of a terminal."""

import pytest

from bot.gold_lines import one_line, place
from knowledge.labels import Label


@pytest.mark.parametrize(
    ("label", "says"),
    [
        (Label("handbook", "leave.md"), "handbook/leave.md"),
        (Label("handbook", "leave.md", (), "25 days"), "handbook/leave.md  25 days"),
        (Label("handbook", "leave.md", ("Leave", "Days")), "handbook/leave.md  Leave › Days"),
        (Label("handbook", "leave.md", ("Leave",), "25\ndays"), "handbook/leave.md  Leave  25 days"),
    ],
)
def test_a_place_has_no_gap_where_it_names_no_heading(label: Label, says: str) -> None:
    assert place(label) == says


@pytest.mark.parametrize(
    ("markdown", "line"),
    [
        ("Staff get **25 days**. [1]\n\n> More - or less. [2]\n", "Staff get **25 days**. [1] More - or less. [2]"),
        (
            "By city:\n\n| City | Night |\n| --- | ---: |\n| Oslo | 150 |\n| Rome |  |\n\nOf 2026.",
            "By city: City | Night; Oslo | 150; Rome Of 2026.",
        ),
        ("> | City | Night |\n> |:--|--|\n> | Oslo | 150 |", "City | Night; Oslo | 150"),
        ("| City | Night | | --- | --- | | Oslo | 150 |", "City | Night | Oslo | 150"),
        ("One.\n\n---\n\nTwo.", "One. Two."),
        ("", ""),
    ],
)
def test_a_reply_is_one_line_without_the_rules_of_its_tables(markdown: str, line: str) -> None:
    assert one_line(markdown) == line
