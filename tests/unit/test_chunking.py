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
    assert {(c.prefix, c.page) for c in chunks} == {("", None)}
    assert [c.tokens for c in chunks] == [5, 6, 5]


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
    assert paths(cut("# Windows\n\n# Others\n\n## Solaris\n\nNot yet.\n")) == [("Windows",), ("Others", "Solaris")]
    [underlined] = cut("Plan 9\n------\n")
    assert embedded_text("", underlined.heading_path, "", underlined.text) == "Plan 9"


def test_a_rule_that_parts_sections_is_in_none_of_them() -> None:
    chunks = cut("# Tides\n\n-----\n\nHigh.\n\n***\n\nLow.\n\n---\n\n# Winds\n\n---\n")
    assert [(c.heading_path, c.text) for c in chunks] == [
        (("Tides",), "High.\n\n***\n\nLow."),
        (("Winds",), "# Winds"),
    ]


def test_the_name_above_the_whole_text_comes_first_unless_the_text_begins_with_it() -> None:
    markdown = "# Guide\n\nA.\n\n# Appendix\n\nB.\n"
    assert paths(cut(markdown, path=("Guide",))) == [("Guide",), ("Guide", "Appendix")]
    assert paths(cut("# Guide\n\nA.\n\n## Fees\n\nB.\n", path=("Guide",))) == [("Guide",), ("Guide", "Fees")]


def test_nothing_is_embedded_twice() -> None:
    assert embedded_text("Holidays", ("Holidays", "May"), "", "Closed.") == "Holidays › May\nClosed."
    assert embedded_text("Calendar", ("May",), "| a |\n", "| 1 |") == "Calendar › May\n| a |\n| 1 |"
    assert embedded_text("", (), "", "Closed.") == "Closed."


FREE = 2
"""Tokens of a chunk that are left free, in case its parts count for more together."""


@pytest.mark.parametrize("max_tokens", range(40, 50))
@pytest.mark.parametrize("gap", ["\n\n", " "], ids=["paragraphs", "sentences"])
def test_a_chunk_takes_as_many_paragraphs_or_sentences_as_fit(gap: str, max_tokens: int) -> None:
    parts = [f"Valve {i}{' turns' * (i % 5)}." for i in range(60)]
    chunks = cut(f"# Old valves\n\n{gap.join(parts)}\n", max_tokens)
    taken = [re.split(r"(?<=\.)\s+", c.text) for c in chunks]
    assert [part for group in taken for part in group] == parts
    for one, following in pairwise(range(len(chunks) - 1)):
        assert max_tokens - FREE - count_words(taken[following][0]) < chunks[one].tokens <= max_tokens


def test_a_cut_table_repeats_its_header_and_keeps_its_rows_whole() -> None:
    rows = [f"| Z-{i} | {i} days |" for i in range(40)]
    chunks = cut("# Zones\n\nBy zone:\n\n" + "\n".join(["| Zone | Delay |", "|---|---|", *rows]))
    assert len(chunks) > 3
    assert all((c.prefix + c.text).count("| Zone | Delay |\n|---|---|\n") == 1 for c in chunks)
    assert [row for c in chunks for row in c.text.splitlines() if row.startswith("| Z-")] == rows
    assert "By zone:" in chunks[0].text


@pytest.mark.parametrize(("columns", "repeated"), [(4, True), (5, False)])
@pytest.mark.parametrize("lead_in", ["", "The depths are:\n\n"])
@pytest.mark.parametrize("cell", ["1", "1 m"])
def test_a_header_is_repeated_unless_it_takes_more_than_half_of_a_chunk(
    columns: int, repeated: bool, lead_in: str, cell: str
) -> None:
    head = f"|{' quay |' * columns}\n|{'---|' * columns}\n"
    rows = [f"| Q{i} |{f' {cell} |' * (columns - 1)}" for i in range(20)]
    chunks = cut(f"# A\n\n{lead_in}{head}" + "\n".join(rows))
    with_rows = [c for c in chunks if "| Q" in c.text]
    assert [row for c in with_rows for row in c.text.splitlines() if row.startswith("| Q")] == rows
    assert {c.prefix for c in with_rows[1:]} == {head if repeated else ""}
    assert not repeated or head in with_rows[0].text
    assert chunks[0].text.startswith(lead_in.strip())


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


@pytest.mark.parametrize("indent", ["", "    "], ids=["fence", "indented"])
def test_code_is_cut_between_lines_and_not_at_what_looks_like_a_sentence(indent: str) -> None:
    lines = [f'{indent}say("Stop {i}. Go.")' for i in range(40)]
    code = "\n".join(lines)
    chunks = cut(f"# A\n\n{code}\n" if indent else f"# A\n\n```\n{code}\n```\n")
    assert len(chunks) > 3
    assert [line for c in chunks for line in c.text.splitlines() if "`" not in line] == lines


def test_a_long_list_is_cut_between_items() -> None:
    items = [f"- item {i} has several words in it" for i in range(20)]
    chunks = cut("# L\n\n" + "\n".join(items))
    assert len(chunks) > 1
    assert [line for c in chunks for line in c.text.splitlines()] == items


def test_long_prose_is_cut_at_sentences() -> None:
    chunks = cut(sentences(40))
    assert len(chunks) > 3
    assert all(c.text.startswith("Valve") and c.text.endswith(".") for c in chunks)


@pytest.mark.parametrize(("words", "alone"), [(9, False), (10, True)])
def test_a_paragraph_below_the_minimum_goes_with_the_beginning_of_what_is_cut(words: int, alone: bool) -> None:
    short = f"{' '.join(['tide'] * words)}."
    first, *_ = cut(f"{short}\n\n{sentences(40)}\n", min_tokens=10)
    assert first.text.startswith(short)
    assert (first.text == short) is alone


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


@pytest.mark.parametrize("lead_in", ["By hand:", "These are opened by hand in the morning and in the evening:"])
@pytest.mark.parametrize("size", [20, 43, 44, 45, 53, 54, 55, 56, 57])
def test_a_lead_in_stays_only_where_it_fits_with_the_whole_of_what_it_introduces(size: int, lead_in: str) -> None:
    block = " ".join(["valve"] * size)
    chunks = cut(f"# A\n\n{sentences(5)}\n\n{lead_in}\n\n{block}\n\n{sentences(8)}\n")
    fits = count_words(f"A {lead_in} {block}") <= 60 - FREE
    assert [c.text for c in chunks[1:]] == [f"{lead_in}\n\n{block}" if fits else block, sentences(8)]


def test_nothing_but_a_lead_in_is_kept_back() -> None:
    short = ["Valves are old.", "Locks are new.", "Read on."]
    text = "\n\n".join(short)
    assert [c.text for c in cut(f"# A\n\n{text}\n\n{sentences(7)}\n")] == [text, sentences(7)]
    chunks = cut(f"# A\n\n{text}\n\nBy hand:\n\n{sentences(7)}\n")
    assert [c.text for c in chunks] == [text, f"By hand:\n\n{sentences(7)}"]


def test_a_lead_in_stays_with_the_beginning_of_what_is_cut() -> None:
    rows = "".join(f"| quay {i} | {i} m |\n" for i in range(30))
    chunks = cut(f"# A\n\n{sentences(4)}\n\nThe depths are:\n\n| Quay | Depth |\n|---|---|\n{rows}")
    assert chunks[0].text == sentences(4)
    assert chunks[1].text.startswith("The depths are:\n\n| Quay | Depth |")


@pytest.mark.parametrize("count", [6, 9])
def test_a_lead_in_within_a_list_stays_with_what_it_introduces(count: int) -> None:
    first, second, *_ = cut(f"# A\n\n- Gates\n\n  {sentences(7)}\n\n  By hand:\n\n  {sentences(count)}\n")
    assert first.text == f"- Gates\n\n  {sentences(7)}"
    assert second.text.startswith(f"  By hand:\n\n  {sentences(6)}")


def test_each_question_of_a_list_of_questions_starts_a_chunk() -> None:
    chunks = cut("# FAQ\n\n**May I park?**\n\nYes.\n\n**Where?**\n\nIn the yard.\n\n**Q: For long?**\nNo.\n")
    assert [c.text.split("\n")[0] for c in chunks] == ["**May I park?**", "**Where?**", "**Q: For long?**"]


@pytest.mark.parametrize(
    ("question", "chunks"),
    [
        *(
            (start + "May I park?", 2)
            for start in ("Q: ", "q. ", "Q1) ", "Q 12: ", "Question: ", "Question 7. ", "**Q:** ")
        ),
        ("**May I park?**", 2),
        ("__May I park? __", 2),
        ("Quay: may I park?", 1),
        ("May I park?", 1),
        ("**Park here.**", 1),
    ],
)
def test_a_question_is_bold_or_named_as_one(question: str, chunks: int) -> None:
    assert len(cut(f"# FAQ\n\n{question}\n\nYes.\n\n{question}\n\nNo.\n")) == chunks


def test_one_question_does_not_cut_a_section() -> None:
    assert len(cut("# A\n\nText.\n\n**Why?**\n\nBecause.\n")) == 1


def test_link_definitions_and_footnotes_are_in_a_chunk() -> None:
    [only] = cut("# A\n\nSee [the form][f] and this[^1].\n\n[f]: https://forms.example/7\n[^1]: Only in Oslo.\n")
    assert "https://forms.example/7" in only.text
    assert "Only in Oslo." in only.text


@pytest.mark.parametrize("behind", [1, 2])
def test_pages_are_not_mixed(behind: int) -> None:
    first, second = "Page one text.", "Page two text."
    chunks = cut(f"{first}\n\n{second}", pages=(0, len(first) + behind))
    assert [(c.page, c.text) for c in chunks] == [(1, first), (2, second)]


def test_plain_text_has_no_headings() -> None:
    [only] = cut("# comment\nkey = 1\n\n~~~\nrest", plain=True)
    assert (only.heading_path, only.text) == ((), "# comment\nkey = 1\n\n~~~\nrest")


def test_a_chunk_has_no_blank_lines_at_its_ends_and_its_first_line_stays_indented() -> None:
    assert [c.text for c in cut("\n  valve = 1\n\n", plain=True)] == ["  valve = 1"]
    chunks = cut(f"# A\n\n{sentences(8)}\n\n\n  [f]: https://forms.example/7\n\n")
    assert [c.text for c in chunks] == [sentences(8), "  [f]: https://forms.example/7"]


@pytest.mark.parametrize(("before", "behind"), [("", ""), ("<div>\n", "\n</div>")], ids=["paragraph", "HTML"])
def test_overlap_repeats_whole_sentences_of_the_piece_before(before: str, behind: str) -> None:
    chunks = cut(f"{before}{sentences(40)}{behind}", overlap=0.2)
    assert len(chunks) > 3
    for one, following in pairwise(chunks):
        assert one.start < following.start < one.end
        assert following.text.startswith("Valve")
        assert count_words(following.text) <= 60


def test_names_too_long_for_a_chunk_are_cut() -> None:
    [only] = cut(f"# {'endless ' * 80}\n\nText.\n")
    assert only.heading_path[0].endswith("…")
    assert only.tokens <= 60


@pytest.mark.parametrize("place", [0, 1])
def test_the_longest_name_of_a_path_is_cut_and_the_other_stays(place: int) -> None:
    names = ["Valves", "Locks"]
    names[place] = "endless " * 80
    [only] = cut(f"# {names[0]}\n\n## {names[1]}\n\nText.\n")
    assert only.heading_path[place].endswith("…")
    assert (len(only.heading_path), only.heading_path[1 - place]) == (2, names[1 - place])


@pytest.mark.parametrize(("words", "whole"), [(30, True), (31, False)])
def test_a_name_may_take_half_of_a_chunk(words: int, whole: bool) -> None:
    name = " ".join(["tide"] * words)
    [only] = cut(f"# {name}\n\nText.\n")
    assert (only.heading_path == (name,)) is whole


def test_a_tokenizer_that_counts_the_whole_as_more_than_its_parts_is_obeyed() -> None:
    def grows(text: str) -> int:
        words = len(text.split())
        return words + words * words // 40

    chunks = chunk(sentences(80), grows, Chunking(max_tokens=64))
    assert all(c.tokens <= 64 for c in chunks)
    assert all(c.text.startswith("Valve") and c.text.endswith("hand.") for c in chunks)


def test_a_single_character_over_the_limit_is_a_chunk_with_its_marks() -> None:
    dear = chunk("ab\nc", lambda text: 40 * len(text), Chunking(max_tokens=32))
    assert [c.text for c in dear] == ["a", "b", "c"]
    letter = "e" + "\u0301" * 200
    assert [c.text.strip() for c in chunk(f"{letter} a", len, Chunking(max_tokens=32))] == [letter, "a"]


def test_a_long_row_of_labels_and_values_is_cut_between_two_of_them() -> None:
    pieces = cut("- " + "; ".join(f"berth {n}: free for {n} ships today" for n in range(30)))
    assert len(pieces) > 1
    assert {piece.text.rstrip()[-1] for piece in pieces[:-1]} == {";"}


@pytest.mark.parametrize("lead", ["**Night shift**", "__Night shift__", "**Night** (since May)", "At night:", "夜間："])
def test_what_stands_for_a_heading_stays_with_the_block_below_it(lead: str) -> None:
    first, second = cut(f"# Rules\n\n{sentences(6)}\n\n{lead}\n\n{sentences(6)}")
    assert (first.text, second.text) == (sentences(6), f"{lead}\n\n{sentences(6)}")
