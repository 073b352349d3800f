"""Cutting Markdown into quotable pieces."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.citable import cut

MARKDOWN = st.lists(
    st.sampled_from(
        [
            "# H\n",
            "- item one. Two!\n",
            "| a | b |\n",
            "| --- | --- |\n",
            "```\n",
            "code [1]\n",
            "\n",
            "  ",
            "Text. More\n",
            "1. x\n",
        ]
    )
    | st.text(max_size=20),
    max_size=12,
).map("".join)


def kinds(text: str) -> list[tuple[str, str]]:
    return [(p.kind, p.text.strip()) for p in cut(text)]


@given(MARKDOWN)
def test_pieces_joined_give_the_text_back_and_none_is_blank(text: str) -> None:
    pieces = cut(text)
    assert "".join(p.text for p in pieces) == (text if text.strip() else "")
    assert all(p.text.strip() for p in pieces)


def test_prose_is_cut_into_sentences_and_abbreviations_are_not_ends() -> None:
    assert kinds("Dr. Smith pays e.g. 5 euro. In London we pay 190.\n") == [
        ("sentence", "Dr. Smith pays e.g. 5 euro."),
        ("sentence", "In London we pay 190."),
    ]


@pytest.mark.parametrize("date", ["am 30. April", "zum 1. Mai", "der 31. Januar", "im 2. Stock"])
def test_a_german_ordinal_ends_no_sentence(date: str) -> None:
    text = f"Die Frist dafür ist {date} erreicht. Danach gilt nichts."
    assert [piece.text for piece in cut(text)] == [f"Die Frist dafür ist {date} erreicht. ", "Danach gilt nichts."]


def test_a_figure_ends_an_english_sentence() -> None:
    assert [piece.text for piece in cut("We have 12. The rest went.")] == ["We have 12. ", "The rest went."]


def test_a_wrapped_sentence_stays_whole() -> None:
    assert kinds("Trips of less than\nseven hours go by train.\n") == [
        ("sentence", "Trips of less than\nseven hours go by train.")
    ]


def test_list_items_are_pieces_even_without_a_full_stop() -> None:
    assert kinds("- bring a badge\n- sign the book\n  at the desk\n1. wait\n") == [
        ("item", "- bring a badge"),
        ("item", "- sign the book\n  at the desk"),
        ("item", "1. wait"),
    ]


def test_table_rows_are_pieces_that_know_their_header() -> None:
    header, first, second = cut("| Day | Pay |\n| --- | --- |\n| half | EUR 16 |\n| full | EUR 32 |\n")
    assert (header.kind, first.kind, second.kind) == ("header", "row", "row")
    assert header.text == "| Day | Pay |\n| --- | --- |\n"
    assert first.header == second.header == header.text


def test_a_header_does_not_reach_past_its_table() -> None:
    pieces = cut("| Day | Pay |\n| --- | --- |\n| half | 16 |\n\nText between.\n\n| lone | row |\n")
    assert pieces[-1].kind == "row"
    assert pieces[-1].header == ""


@pytest.mark.parametrize("mark", ["```", "~~~~"])
def test_a_fence_is_one_piece_with_everything_in_it(mark: str) -> None:
    code = f"{mark}sh\n# not a heading\n| not | a row |\n\n- not an item. Two.\n{mark}\n"
    assert kinds(f"Run this:\n{code}Done.") == [
        ("sentence", "Run this:"),
        ("code", code.strip()),
        ("sentence", "Done."),
    ]


def test_an_open_fence_runs_to_the_end() -> None:
    assert [kind for kind, _ in kinds("```\na. b. c.\n\nd")] == ["code"]


def test_a_heading_is_a_piece() -> None:
    assert kinds("## Hotels\nWe pay 135.") == [("heading", "## Hotels"), ("sentence", "We pay 135.")]


def test_nothing_but_white_space_has_no_pieces() -> None:
    assert cut(" \n\t\n") == cut("") == ()


def test_sentences_without_spaces_between_them_are_pieces_of_their_own() -> None:
    text = "上限は135ユーロです。「本当ですか。」と聞く。はい！次へ。\n"
    assert [piece.text for piece in cut(text)] == [
        "上限は135ユーロです。",
        "「本当ですか。」と聞く。",
        "はい！",
        "次へ。\n",
    ]


def test_lines_that_each_begin_with_a_name_are_pieces_of_their_own() -> None:
    text = "Contacts\nOffice: Ana, extension 210\nPayroll: Ben, extension 214,\nmornings only\nFirst aid: Cy. Ring first.\n"
    assert [piece.text for piece in cut(text)] == [
        "Contacts\n",
        "Office: Ana, extension 210\n",
        "Payroll: Ben, extension 214,\nmornings only\n",
        "First aid: Cy. ",
        "Ring first.\n",
    ]
    assert len(cut("We say it\nas it is: simply.\nThen we go.\n")) == 2
