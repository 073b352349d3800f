"""Markdown written again: read once more, it says the same, and nothing in it has become a link."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from bot.blocks import MESSAGE_CHARS
from bot.markdown import pieces

URL = "https://docs.example.test/x"


def written(text: str) -> list[str]:
    return [piece.markdown for piece in pieces(text, URL.__eq__, MESSAGE_CHARS) if not piece.table]


def links(text: str) -> set[str]:
    """Where the links of what is shown lead, each piece read for itself, but for the source's."""
    parser = MarkdownIt("commonmark")
    tokens = [child for piece in written(text) for token in parser.parse(piece) for child in token.children or ()]
    return {str(token.attrs["href"]) for token in tokens if token.type == "link_open"} - {URL}


@pytest.mark.parametrize(
    "text",
    [
        r"\[1](https://evil.example.test)",
        "<b>\n[1]: https://evil.example.test\n\nTwenty days [1].",
        rf"{URL}/\[the bank](https://evil.example.test)",
        rf"<!a {URL}\[the bank](https://evil.example.test)",
        "~~~~_```\n\n<[the bank](https://evil.example.test)\n~~~~",
        "- a\n  ```\n" + "  [the bank](https://evil.example.test)\n" * 400 + "  ```\n",
    ],
)
def test_what_is_text_or_code_becomes_no_link_when_it_is_read_again(text: str) -> None:
    assert not links(text)


@pytest.mark.parametrize(
    ("row", "shown"),
    [
        ("| Lisbon | 140 | [1] |", "- **Town and country**: Lisbon · **Most for a hotel night in euros**: 140 [1]"),
        ("| Lisbon | | [1] [2] |", "- **Town and country**: Lisbon [1] [2]"),
        ("| Lisbon | 140 | twice a year [1] |", "twice a year [1]"),
        ("| Lisbon | 140 | |", "140"),
        ("| | | [1] |", "- **Note**: [1]"),
    ],
)
def test_a_row_as_a_list_has_its_mark_behind_the_last_cell_that_says_something(row: str, shown: str) -> None:
    table = f"| Town and country | Most for a hotel night in euros | Note |\n|---|---|---|\n{row}"
    [piece] = pieces(table, URL.__eq__, MESSAGE_CHARS)
    assert piece.markdown.endswith(shown)
    assert piece.plain.endswith(shown.replace("**", "*").replace("- ", "• "))


MARKUP = [
    "a",
    " ",
    "1",
    "\n",
    "\n\n",
    "* ",
    "**",
    "_",
    "`",
    "```\n",
    "~~~\n",
    "- ",
    "1. ",
    "> ",
    "# ",
    "    ",
    "\\",
    "<b>",
]
LINKS = [
    "[1]",
    "[",
    "](",
    ")",
    "]: ",
    URL,
    "https://evil.example.test",
    "<https://evil.example.test|",
    ">",
    "!",
    "<!a ",
]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(MARKUP + LINKS), max_size=14))
def test_nothing_becomes_a_link_but_sources(parts: list[str]) -> None:
    assert not links("".join(parts))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<b>\n1. one\n- two\n===\n</b>", "&lt;b>\n1\\. one\n\\- two\n\\===\n&lt;/b>"),
        ("\\-\n\n\\#", "\\-\n\n\\#"),
        ("one\ntwo\n---", "## one two"),
        ("``` a``b ```", "``` a``b ```"),
    ],
)
def test_text_stays_text_and_a_heading_one_line(text: str, shown: str) -> None:
    assert "\n\n".join(written(text)) == shown
