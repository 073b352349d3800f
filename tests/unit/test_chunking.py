"""Markdown is cut along its structure, and every cut is exact."""

import re
from itertools import pairwise

import pytest

from knowledge.chunking import Chunk, chunk, embedded_text
from knowledge.settings import Chunking


def count_words(text: str) -> int:
    """A tokenizer that people can check by eye: words and marks."""
    return len(re.findall(r"\w+|[^\w\s]", text))


def cut(
    markdown: str, max_tokens: int = 60, min_tokens: int = 10, overlap: float = 0.0, **named: object
) -> tuple[Chunk, ...]:
    settings = Chunking(max_tokens=max_tokens, min_tokens=min_tokens, overlap=overlap)
    return chunk(markdown, count_words, settings, **named)  # type: ignore[arg-type]  # passed through as it comes


def paths(chunks: tuple[Chunk, ...]) -> list[tuple[str, ...]]:
    return [c.heading_path for c in chunks]


def sentences(count: int) -> str:
    return " ".join(f"Valve {i} is opened by hand." for i in range(count))


def test_each_section_is_a_chunk_under_its_headings() -> None:
    chunks = cut("# Boiler\n\nLit in autumn.\n\n## Fuel\n\nPellets only.\n\n## Ash\n\nWeekly.\n")
    assert [(c.heading_path, c.text) for c in chunks] == [
        (("Boiler",), "Lit in autumn."),
        (("Boiler", "Fuel"), "Pellets only."),
        (("Boiler", "Ash"), "Weekly."),
    ]


@pytest.mark.parametrize(
    "block",
    [
        "```sh\n# not a heading\n```",
        "~~~\n# not a heading\n~~~",
        "````\n```\n# not a heading\n```\n````",
        "    # not a heading",
        "- item\n\n  ```\n  # not a heading\n  ```",
        "> # not a heading",
        "#tag is not a heading",
        "\\# not a heading",
        "####### not a heading",
    ],
)
def test_what_only_looks_like_a_heading_opens_no_section(block: str) -> None:
    assert paths(cut(f"# Real\n\nText.\n\n{block}\n\nMore.\n")) == [("Real",)]


def test_setext_closing_marks_attributes_and_markup_leave_a_readable_name() -> None:
    markdown = (
        "Tides\n=====\n\nA.\n\n## Low *water* ##\n\nB.\n\n## `kite` [guide](https://kite.example) {#kite}\n\nC.\n\n"
        '<h2 align="center">From <b>HTML</b></h2>\n\nD.\n\n## 2.1 – spring ## {: #v2.1 }\n\nE.\n'
    )
    assert paths(cut(markdown)) == [
        ("Tides",),
        ("Tides", "Low water"),
        ("Tides", "kite guide"),
        ("Tides", "From HTML"),
        ("Tides", "2.1 – spring"),
    ]


def test_a_name_in_angle_brackets_is_a_word_of_its_heading() -> None:
    assert paths(cut("# Using <file> and <b>List<T></b>\n\nA.\n")) == [("Using <file> and List<T>",)]


def test_a_shallower_heading_ends_the_deeper_ones() -> None:
    assert paths(cut("# A\n\n#### Deep\n\n1\n\n## Less\n\n2\n\n# B\n\n3\n")) == [("A", "Deep"), ("A", "Less"), ("B",)]


def test_a_heading_without_words_gives_its_text_to_the_section_above() -> None:
    assert paths(cut("# Locks\n\nA.\n\n## \n\nB.\n")) == [("Locks",), ("Locks",)]


def test_a_heading_with_nothing_below_it_is_kept_and_embedded_once() -> None:
    [only, last] = cut("# Platforms\n\n## Not on Windows\n\n## Not on Solaris\n")
    assert (only.heading_path, only.text) == (("Platforms", "Not on Windows"), "## Not on Windows")
    assert embedded_text("Platforms", only.heading_path, only.prefix, only.text) == "Platforms › Not on Windows"
    assert last.text == "## Not on Solaris"


def test_a_rule_that_parts_sections_is_in_none_of_them() -> None:
    chunks = cut("# Tides\n\n-----\n\nHigh.\n\n***\n\nLow.\n\n---\n\n# Winds\n\n---\n")
    assert [(c.heading_path, c.text) for c in chunks] == [
        (("Tides",), "High.\n\n***\n\nLow."),
        (("Winds",), "# Winds"),
    ]


def test_the_name_above_the_whole_text_comes_first_unless_the_text_begins_with_it() -> None:
    markdown = "# Guide\n\nA.\n\n# Appendix\n\nB.\n"
    assert paths(cut(markdown, path=("Guide",))) == [("Guide",), ("Guide", "Appendix")]


def test_nothing_is_embedded_twice() -> None:
    assert embedded_text("Holidays", ("Holidays", "May"), "", "Closed.") == "Holidays › May\nClosed."
    assert embedded_text("Calendar", ("May",), "| a |\n", "| 1 |") == "Calendar › May\n| a |\n| 1 |"
    assert embedded_text("", (), "", "Closed.") == "Closed."


def test_a_cut_table_repeats_its_header_and_keeps_its_rows_whole() -> None:
    rows = [f"| Z-{i} | {i} days |" for i in range(40)]
    chunks = cut("# Zones\n\nBy zone:\n\n" + "\n".join(["| Zone | Delay |", "|---|---|", *rows]))
    assert len(chunks) > 3
    assert all((c.prefix + c.text).count("| Zone | Delay |\n|---|---|\n") == 1 for c in chunks)
    assert [row for c in chunks for row in c.text.splitlines() if row.startswith("| Z-")] == rows
    assert "By zone:" in chunks[0].text


@pytest.mark.parametrize("indent", ["  ", "> "])
def test_a_cut_table_or_fence_within_a_list_or_quote_repeats_its_head(indent: str) -> None:
    rows = "".join(f"{indent}| quay {i} | {i} m |\n" for i in range(30))
    start = "- Depths:\n\n" if indent == "  " else "> Depths:\n>\n"
    head = f"{indent}| Quay | Depth |\n{indent}|---|---|\n"
    chunks = cut(f"# A\n\n{start}{head}{rows}")
    assert len(chunks) > 2
    assert "| quay 0 |" in chunks[0].text
    assert {c.prefix for c in chunks[1:]} == {head}
    code = "".join(f"{indent}lift({i})\n" for i in range(30))
    chunks = cut(f"# A\n\n{start}{indent}```py\n{code}{indent}```\n\nMore.\n")
    assert {c.prefix for c in chunks[1:-1]} == {f"{indent}```py\n"}
    assert chunks[-1].text == "More."
    assert "lift(0)" in chunks[0].text


def test_a_cut_fence_repeats_its_first_line_only() -> None:
    code = "\n\n".join(f"def step_{i}():\n    return {i}" for i in range(20))
    chunks = cut(f"# Steps\n\n```python\n{code}\n```\n")
    assert len(chunks) > 2
    assert [c.prefix for c in chunks] == ["", *["```python\n"] * (len(chunks) - 1)]
    assert all(c.text.startswith("def step_") for c in chunks[1:])


def test_a_long_list_is_cut_between_items() -> None:
    items = [f"- item {i} has several words in it" for i in range(20)]
    chunks = cut("# L\n\n" + "\n".join(items))
    assert len(chunks) > 1
    assert [line for c in chunks for line in c.text.splitlines()] == items


def test_long_prose_is_cut_at_sentences() -> None:
    chunks = cut(sentences(40))
    assert len(chunks) > 3
    assert all(c.text.startswith("Valve") and c.text.endswith(".") for c in chunks)


def test_text_without_spaces_is_cut_at_its_full_stops() -> None:
    chunks = chunk("弁は毎週確認します。" * 60, len, Chunking(max_tokens=64))
    assert len(chunks) > 5
    assert all(c.text.endswith("。") for c in chunks)


def test_a_word_that_counts_as_one_token_is_not_one_chunk() -> None:
    chunks = chunk("x" * 3000, lambda text: len(text.split()), Chunking(max_tokens=64))
    assert max(len(c.text) for c in chunks) <= 64 * 8
    assert "".join(c.text for c in chunks) == "x" * 3000


def test_padding_and_blank_space_cost_no_more_than_other_text() -> None:
    rows = "\n".join(f"| {i} |{' ' * 3000}|" for i in range(100))
    assert len(cut(f"# A\n\n| n | note |\n|---|---|\n{rows}\n\n{' ' * 100_000}x\n")) > 10


def test_an_emoji_is_not_cut_in_two() -> None:
    family = "👩‍👩‍👧"
    chunks = chunk(family * 100, len, Chunking(max_tokens=32))
    assert all(c.text.startswith("👩") for c in chunks)
    assert "".join(c.text for c in chunks) == family * 100


def test_a_lead_in_stays_with_what_it_introduces() -> None:
    chunks = cut(f"# A\n\n{sentences(7)}\n\nThe limits are:\n\n- one limit of four\n- another limit of five\n")
    assert chunks[-1].text.startswith("The limits are:\n\n- one")


def test_a_lead_in_stays_with_the_beginning_of_what_is_cut() -> None:
    rows = "".join(f"| quay {i} | {i} m |\n" for i in range(30))
    chunks = cut(f"# A\n\n{sentences(4)}\n\nThe depths are:\n\n| Quay | Depth |\n|---|---|\n{rows}")
    assert chunks[0].text == sentences(4)
    assert chunks[1].text.startswith("The depths are:\n\n| Quay | Depth |")


def test_each_question_of_a_list_of_questions_starts_a_chunk() -> None:
    chunks = cut("# FAQ\n\n**May I park?**\n\nYes.\n\n**Where?**\n\nIn the yard.\n\n**Q: For long?**\nNo.\n")
    assert [c.text.split("\n")[0] for c in chunks] == ["**May I park?**", "**Where?**", "**Q: For long?**"]


def test_one_question_does_not_cut_a_section() -> None:
    assert len(cut("# A\n\nText.\n\n**Why?**\n\nBecause.\n")) == 1


def test_link_definitions_and_footnotes_are_in_a_chunk() -> None:
    [only] = cut("# A\n\nSee [the form][f] and this[^1].\n\n[f]: https://forms.example/7\n[^1]: Only in Oslo.\n")
    assert "https://forms.example/7" in only.text
    assert "Only in Oslo." in only.text


def test_pages_are_not_mixed() -> None:
    first, second = "Page one text.", "Page two text."
    chunks = cut(f"{first}\n\n{second}", pages=(0, len(first) + 2))
    assert [(c.page, c.text) for c in chunks] == [(1, first), (2, second)]


def test_plain_text_has_no_headings() -> None:
    [only] = cut("# comment\nkey = 1\n\n~~~\nrest", plain=True)
    assert (only.heading_path, only.text) == ((), "# comment\nkey = 1\n\n~~~\nrest")


def test_overlap_repeats_whole_sentences_of_the_piece_before() -> None:
    chunks = cut(sentences(40), overlap=0.2)
    for before, after in pairwise(chunks):
        assert before.start < after.start < before.end
        assert after.text.startswith("Valve")
        assert count_words(after.text) <= 60


def test_names_too_long_for_a_chunk_are_cut() -> None:
    [only] = cut(f"# {'endless ' * 80}\n\nText.\n")
    assert only.heading_path[0].endswith("…")
    assert only.tokens <= 60


def test_a_tokenizer_that_counts_the_whole_as_more_than_its_parts_is_obeyed() -> None:
    def grows(text: str) -> int:
        words = len(text.split())
        return words + words * words // 40

    assert all(c.tokens <= 64 for c in chunk(sentences(80), grows, Chunking(max_tokens=64)))
