"""Files of every format become Markdown that says the same; what cannot be read says why."""

import io
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from knowledge.errors import DocumentUnreadable
from knowledge.loaders import load
from knowledge.loaders.decoding import clean, decode
from knowledge.loaders.formats import Shown, shown
from knowledge.loaders.headings import with_true_headings
from knowledge.loaders.paragraphs import with_whole_paragraphs
from knowledge.loaders.pdf import headline
from knowledge.loaders.printed import Line, Page
from knowledge.loaders.running import without_running_lines
from knowledge.loaders.tables import table
from knowledge.outline import outline
from tests.office_files import Print, Rows, docx, epub, ods, pdf, pptx, rtf, workbook, xlsx


def refusal(name: str, content: bytes) -> tuple[str, str]:
    with pytest.raises(DocumentUnreadable) as raised:
        load(name, content)
    return raised.value.state, str(raised.value)


# Text


@pytest.mark.parametrize(
    "content",
    ["Crème brûlée – 4 €".encode(e) for e in ("utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252")],
    ids=["utf-8", "utf-8 with mark", "utf-16", "utf-32", "windows-1252"],
)
def test_text_is_decoded_without_losing_a_character(content: bytes) -> None:
    assert decode(content).text == "Crème brûlée – 4 €"


def test_characters_that_cannot_be_decoded_are_replaced_and_counted() -> None:
    decoded = decode(b"caf\xe9 \x81 x " * 5)
    assert decoded.text.count("\ufffd") == decoded.replaced == 5
    assert "5 characters" in decoded.remarks[0]


def test_a_text_with_a_damaged_spot_keeps_its_other_letters() -> None:
    decoded = decode("Crème brûlée – 4 €".encode() + b"\xe2\x82 end")
    assert decoded.text == "Crème brûlée – 4 €\ufffd end"
    assert decoded.replaced == 1


@pytest.mark.parametrize(
    ("dirty", "expected"),
    [
        ("a\r\nb\rc\u2028d", "a\nb\nc\nd"),
        ("pre\x00ssure \ud800low\x07", "pressure low"),
        ("\ufeffA\u00adB", "AB"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("e\u0301", "é"),
        ("oﬃce ﻼ", "office لا"),
        ("4\u00a0200\tx", "4\u00a0200\tx"),
        ("pass\u200bword \u2060mouse", "password mouse"),
        ("สวัสดี\u200bครับ", "สวัสดี\u200bครับ"),
    ],
)
def test_text_is_cleaned_of_what_nobody_types(dirty: str, expected: str) -> None:
    assert clean(dirty) == expected


@pytest.mark.parametrize("name", ["a.md", "a.txt", "a.csv", "a", "a.py"])
def test_binary_content_is_no_text_whatever_its_name(name: str) -> None:
    assert refusal(name, bytes(range(256)) * 50) == ("unsupported", "not text: it looks like a binary file")


@pytest.mark.parametrize("name", ["a.md", "a.pdf", "a.docx", "a.xlsx"])
@pytest.mark.parametrize("content", [b"", b" \r\n\t", b"\xef\xbb\xbf"])
def test_an_empty_file_is_empty(name: str, content: bytes) -> None:
    assert refusal(name, content)[0] == "empty"


def test_plain_text_is_marked_as_such() -> None:
    loaded = load("server-notes.txt", b"# not a heading\n\nRun it.")
    assert (loaded.title, loaded.plain) == ("Server notes", True)


def test_code_is_a_fence_under_its_path() -> None:
    loaded = load("src/tide.py", b'"""Doc with ``` in it.\n```\n"""\nx = 1\n')
    assert loaded.path == ("src/tide.py",)
    assert loaded.markdown.startswith('````python\n"""Doc')
    assert loaded.markdown.endswith("x = 1\n````\n")


@pytest.mark.parametrize("text", ["a,b\n1,2\n", "a;b\n1;2\n", "a\tb\n1\t2\n", '"a"|"b"\n1|2\n'])
def test_separated_values_become_a_table(text: str) -> None:
    assert load("x.csv", text.encode()).markdown == "| a | b |\n| --- | --- |\n| 1 | 2 |"


def test_a_decimal_comma_does_not_part_cells() -> None:
    assert load("x.csv", b"item;price\npen;1,20\nink;3,50\n").markdown.endswith("| pen | 1,20 |\n| ink | 3,50 |")


def test_lines_above_separated_values_are_no_header() -> None:
    text = "Stock of shed 4\nJanuary, 2031\n\nPart,Count,Bay\nK9,12,B\n"
    assert load("x.csv", text.encode()).markdown.split("\n\n") == [
        "Stock of shed 4",
        "| January | 2031 |  |\n| --- | --- | --- |\n| Part | Count | Bay |\n| K9 | 12 | B |",
    ]
    assert load("x.csv", b"sep=;\nPart;Count\nK9;1,5\n").markdown.startswith("| Part | Count |")
    assert load("x.csv", b"Part\nK9\n").markdown == "| Part |\n| --- |\n| K9 |"


def test_tables_drop_what_is_blank_and_escape_pipes() -> None:
    assert table([["", ""], ["a|b", "", "c"], ["1"]]) == "| a\\|b | c |\n| --- | --- |\n| 1 |  |"


def test_rows_below_a_long_header_name_their_values() -> None:
    names = [f"Depth of quay number {i}" for i in range(20)]
    lines = table([names, ["7 m", "", "8|9 m"], ["6 m"]]).split("\n")
    assert lines == ["- Depth of quay number 0: 7 m; Depth of quay number 2: 8|9 m", "- Depth of quay number 0: 6 m"]


def test_restructured_text_has_its_headings() -> None:
    text = (
        ".. _tides:\n\n=====\nTides\n=====\n\nHigh and low.\n\nSpring tides\n------------\n\nStrong.\n\nAt night\n~~~~~~~~\n\n"
        "Dark::\n\n    # not a heading\n    -----\n\nNeap tides\n----------\n\nWeak.\n\n==== ====\nA    B\n==== ====\n1    2\n==== ====\n"
    )
    loaded = load("tides.rst", text.encode())
    assert loaded.title == "Tides"
    assert [(s.level, s.path[-1]) for s in outline(loaded.markdown) if s.level] == [
        (1, "Tides"),
        (2, "Spring tides"),
        (3, "At night"),
        (2, "Neap tides"),
    ]
    assert "\n| A | B |\n| --- | --- |\n| 1 | 2 |\n" in loaded.markdown
    assert "_tides" not in loaded.markdown


def test_code_of_restructured_text_is_fenced_and_its_comments_go() -> None:
    text = (
        "Ebb\n===\n\n.. Ask Tove before this\n   is shown.\n\n..\n   Tove wrote it.\n\n..\n\n   Quoted.\n\nStart it:\n\n.. code-block:: sh\n   :linenos:\n\n   # lift the gate\n"
        "   gate lift\n\n- By hand::\n\n      # four turns\n      turn 4\n\n  Then wait.\n\n.. note::\n\n   # 4 is stiff\n\n"
        "Flow\n----\n\n::\n\n  ```\n\n.. [1] Strong.\n"
    )
    markdown = load("ebb.rst", text.encode()).markdown
    assert [s.path[-1] for s in outline(markdown) if s.level] == ["Ebb", "Flow"]
    assert (
        "Start it:\n\n```sh\n# lift the gate\ngate lift\n```\n\n- By hand:\n\n  ```\n  # four turns\n  turn 4\n  ```\n\n  Then"
        in markdown
    )
    assert markdown.endswith("\n````\n```\n````\n\n.. [1] Strong.\n\n")
    assert [part.strip() for part in markdown.split("\n\n") if part.strip()][1:3] == ["Quoted.", "Start it:"]


# Markdown


def test_markdown_has_its_front_matter_apart() -> None:
    loaded = load(
        "x.md", b"---\ntitle: Tides\nupdated: 2026-01-02\nscopes: [channel:CSEA]\n---\n\n# Tide tables\n\nHigh.\n"
    )
    assert (loaded.title, loaded.path) == ("Tides", ("Tides",))
    assert loaded.updated_at == datetime(2026, 1, 2, tzinfo=UTC)
    assert loaded.scopes == frozenset({"channel:CSEA"})
    assert "title:" not in loaded.markdown


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# One\n\nx\n", "One"),
        ("## Two\n\nx\n\n# One\n\ny\n", "One"),
        ("x\n", "Sea charts"),
        ("Setext\n===\nx", "Setext"),
    ],
)
def test_the_title_is_the_first_heading_else_the_name(text: str, title: str) -> None:
    assert load("maps/sea-charts.md", text.encode()).title == title


def test_comments_are_taken_out_except_in_code() -> None:
    text = "A <!-- secret --> b.\n\n<!--\n# No heading\n\nsecret\n-->\n\n`<!-- shown -->`\n\n```\n<!-- shown too -->\n```\n"
    markdown = load("x.md", text.encode()).markdown
    assert "secret" not in markdown
    assert "No heading" not in markdown
    assert "`<!-- shown -->`" in markdown
    assert "<!-- shown too -->" in markdown


def test_a_comment_never_closed_hides_the_rest_as_on_the_page() -> None:
    assert load("x.md", b"Seen.\n\n<!-- hidden\n\nstill hidden\n").markdown.strip() == "Seen."


@pytest.mark.parametrize(
    "text",
    [
        "One.\n\n  <!-- secret -->\n\nTwo.",
        "One.\n\n   <!--\nsecret\n-->\n\nTwo.",
        "- One.\n  <!-- secret -->\n- Two.",
        "One.\n\n <!-- secret --> <!-- secret -->\nTwo.",
        "<article>\n  <!-- secret -->\n  <p>One.</p>\n  <p>Two.</p>\n</article>",
    ],
)
def test_a_comment_that_is_closed_hides_nothing_below_it_however_it_is_indented(text: str) -> None:
    markdown = load("x.md", text.encode()).markdown
    assert "secret" not in markdown
    assert [word for word in ("One", "Two") if word in markdown] == ["One", "Two"]


@pytest.mark.parametrize(
    "comment",
    ["[//]: # (secret)", '[comment]: # "secret"', "[//]: <> (secret)", "{/* secret */}", "{\n  /* secret */\n}"],
)
def test_other_ways_to_hide_words_hide_them(comment: str) -> None:
    markdown = load("x.md", f"Seen.\n\n{comment}\n\n```\n{comment}\n```\n\n[a]: # no title\n".encode()).markdown
    assert markdown.split("```")[0].strip() == "Seen."
    assert f"```\n{comment}\n```" in markdown
    assert "[a]: # no title" in markdown


def test_characters_written_as_entities_are_characters_unless_they_would_be_markup() -> None:
    text = "Caf&eacute; &amp; bar, 4&#160;&euro;, &lt;b&gt; 2 &#42; 3, &amp;copy; `&amp;` AT&T; &nosuch;"
    assert (
        load("x.md", text.encode()).markdown
        == "Café & bar, 4\u00a0€, &lt;b&gt; 2 &#42; 3, &amp;copy; `&amp;` AT&T; &nosuch;"
    )


def test_a_footnote_keeps_all_of_its_paragraphs() -> None:
    text = "Fee.[^f]\n\n# Next\n\nx\n\n[^f]: Only in\nOslo.\n\n    From May.\n\n    - by night\n\nAfter.\n\n```\n[^f]: code\n```\n"
    first, rest = load("x.md", text.encode()).markdown.split("# Next")
    assert first.split() == ["Fee.[^f]", "[^f]:", "Only", "in", "Oslo.", "From", "May.", "-", "by", "night"]
    assert rest.split() == ["x", "After.", "```", "[^f]:", "code", "```"]


MDX = """import Tabs from '@theme/Tabs';
export const limits = {
  crates: 4,
};

# Loading

{/* secret */}Seen.

<Tabs groupId="os" values={[{label: 'A > B', value: 'a'}]}>
  <TabItem value="north" label="North quay">

    Call **4471** first.

    ```python
    import crane
    ```

  </TabItem>
</Tabs>

<Card title="Night shift" href="/night" />
"""


def test_mdx_loses_its_modules_comments_and_components_and_keeps_what_they_say() -> None:
    assert load("x.mdx", MDX.encode()).markdown.strip().split("\n\n") == [
        "# Loading",
        "Seen.",
        "**North quay**",
        "Call **4471** first.",
        "```python\nimport crane\n```",
        "**Night shift**",
    ]
    assert "**North quay**" in load("x.md", MDX.encode()).markdown


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<Tide>\n\nHigh.\n\n</Tide>\n", "High."),
        ('<Map\n  alt="The harbour"\n  src="m.png"\n/>\n\nHigh.\n', "**The harbour**\n\nHigh."),
        (
            "| Gate | Open |\n| --- | --- |\n| 4 | <Check size={18} /> |\n",
            "| Gate | Open |\n| --- | --- |\n| 4 | Check |",
        ),
    ],
)
def test_components_go_from_markdown_of_any_name(text: str, expected: str) -> None:
    assert load("x.md", text.encode()).markdown.strip() == expected


def test_words_in_angle_brackets_stay_in_markdown_that_only_shows_components() -> None:
    text = "A List<Tide> is sorted.\n\n```jsx\n<Tide>\n</Tide>\n```\n"
    assert load("x.md", text.encode()).markdown == text


def test_boxes_and_tabs_of_documentation_tools_are_paragraphs_under_their_names() -> None:
    text = """!!! warning "Wet *deck*"

    See [the rules][r].

    ??? tip
        Wear boots.

=== "North"
    - Quay 1

:::note[Tides]{.wide}
Twice a day.
:::

```{important} Keep
:class: wide

Close the **gate**.
```

> [!CAUTION]
> Slippery.

```md
!!! note "shown"
    as it is
```

[r]: https://rules.example
"""
    markdown = load("x.md", text.encode()).markdown
    paragraphs = [" ".join(part.split()) for part in markdown.strip().split("\n\n")]
    assert paragraphs == [
        "**Wet *deck***",
        "See [the rules](https://rules.example).",
        "**Tip**",
        "Wear boots.",
        "**North**",
        "- Quay 1",
        "**Tides**",
        "Twice a day.",
        "**Keep**",
        "Close the **gate**.",
        "> **Caution** > > Slippery.",
        '```md !!! note "shown" as it is ```',
    ]


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ('Old words.\n\n<a id="NEXT"></a>\n## Next\n', "Old words.\n\n## Next"),
        ('See <a href="https://a.example/f" class=x>the <b>form</b></a>.', "See [the form](https://a.example/f)."),
        ('<p align="center"><img width=9 alt="The pump" src="p.png"></p>', "![The pump](p.png)"),
        ("<img src=spacer.gif>Words.", "Words."),
        ("10<sup>6</sup> m<sup>2</sup>, H<sub>2</sub>O, 1<sup>st</sup>", "10^6 m^2, H2O, 1st"),
        ("<kbd>Ctrl</kbd>+<kbd>C</kbd> runs <code>x|y</code>", "Ctrl+C runs `x|y`"),
        ("| a | b |\n|---|---|\n| x<br>y | <ul><li>C</li><li>J</li></ul> |", "| a | b |\n|---|---|\n| x y | C, J |"),
        ("<ul>\n<li>One<ul><li>inner</li></ul></li>\n<li>Two</li>\n</ul>", "- One\n  - inner\n- Two"),
        ("<details><summary>Why <i>so</i>?</summary>\n\nBecause.\n\n</details>", "**Why so?**\n\nBecause."),
        ("<h2 align=left>Tides</h2>\n\nx", "## Tides\n\nx"),
        ("<table>\n<tr><td>\n\n```\nrun\n```\n\n</td></tr>\n</table>", "```\nrun\n```"),
        ("`<b>` is bold, vector<int> and <file> are words", "`<b>` is bold, vector<int> and <file> are words"),
        ("    <b>code</b>", "    <b>code</b>"),
        ("<https://a.example> <me@b.example> a < b > c", "<https://a.example> <me@b.example> a < b > c"),
    ],
)
def test_html_in_markdown_says_the_same_without_tags(html: str, markdown: str) -> None:
    assert load("x.md", html.encode()).markdown.strip("\n") == markdown


def test_pictures_written_as_text_are_taken_out_and_their_words_kept() -> None:
    text = f"![the harbour](data:image/png;base64,{'iVBORw0KGgo' * 30})"
    assert load("x.md", text.encode()).markdown == "![the harbour](data:)"


def test_links_and_footnotes_are_put_where_they_are_used() -> None:
    text = (
        "See [the form][f] and [Kite].[^1]\n\n`[f]` is code.\n\n## Next\n\nx\n\n"
        "[f]: https://forms.example/7\n[kite]: https://kite.example\n\n[^1]: Only in Oslo.\n"
    )
    markdown = load("x.md", text.encode()).markdown
    first, _ = markdown.split("## Next")
    assert "[the form](https://forms.example/7) and [Kite](https://kite.example)" in first
    assert "[^1]: Only in Oslo." in first
    assert "`[f]` is code." in first
    assert markdown.count("Oslo") == markdown.count("forms.example") == 1


def test_tables_lose_the_padding_of_their_columns_and_code_keeps_it() -> None:
    padded = "| a        | b     |\n| -------- | :---- |\n| `x  y`   | z     |"
    markdown = load("x.md", f"{padded}\n\n```\n{padded}\n```\n".encode()).markdown
    assert markdown.startswith("| a | b |\n| --- | :--- |\n| `x  y` | z |\n")
    assert padded in markdown


def test_tables_written_as_html_become_tables() -> None:
    text = "# A\n\n<table>\n<tr><th>Dock</th><th>Depth</th></tr>\n\n<tr><td>4</td><td>7 m</td></tr>\n</table>\n\nB\n"
    markdown = load("x.md", text.encode()).markdown
    assert "| Dock | Depth |\n| --- | --- |\n| 4 | 7 m |" in markdown
    assert "<t" not in markdown


# Web pages

PAGE = """<!doctype html><html><head><title>Dock rules | Intranet</title><style>.x{}</style>
<script>let t = "scripted";</script></head><body><nav><a href="/a">Menu entry</a></nav>
<div class="cookie-banner">Accept biscuits</div><main><h1>Dock rules</h1><p>Wear a <b>vest</b>.</p>
<pre><code># kept   as   is</code></pre><table><tr><th>Dock</th><th>Depth</th></tr><tr><td>4</td><td>7 m</td></tr></table>
<p hidden>hidden words</p><p>10<sup>6</sup> m</p></main><footer>Footer words</footer></body></html>"""


def test_a_page_is_its_article() -> None:
    loaded = load("dock.html", PAGE.encode())
    assert loaded.title == "Dock rules"
    for kept in ("# Dock rules", "Wear a **vest**.", "# kept   as   is", "| 4 | 7 m |", "10^6 m"):
        assert kept in loaded.markdown
    for gone in ("Menu entry", "biscuits", "scripted", "hidden words", "Footer words"):
        assert gone not in loaded.markdown


def test_a_page_says_its_encoding() -> None:
    page = '<html><head><meta charset="windows-1251"></head><body><p>Ключ у охраны.</p></body></html>'
    assert "Ключ у охраны." in load("x.html", page.encode("cp1251")).markdown


def test_a_page_is_known_by_its_content() -> None:
    assert "# Dock rules" in load("no-suffix", PAGE.encode()).markdown
    assert "# Dock rules" in load("export.doc", PAGE.encode() + b"<p>" + b"Long text. " * 40).markdown


def test_a_sign_in_page_saved_as_a_document_is_refused() -> None:
    page = b"<html><body><form>Sign in <input type='text'></form></body></html>"
    state, reason = refusal("report.pdf", page)
    assert state == "unsupported"
    assert "sign-in page" in reason


# Office files and PDF


def test_word_documents_keep_headings_lists_and_tables() -> None:
    markdown = load("x.docx", docx()).markdown
    assert markdown.index("# Lift checks") < markdown.index("| Lift | Limit |") < markdown.index("After the table.")
    assert "| A\\|1 | 900 kg |" in markdown
    assert "- Look\n- Listen" in markdown


def test_presentations_are_sections_by_slide_with_page_numbers() -> None:
    loaded = load("x.pptx", pptx())
    assert [loaded.markdown[p:].split("\n")[0] for p in loaded.pages] == ["# Harbour", "# Slide 2"]
    for kept in ("Grouped words", "| Berth | Depth |", "Notes: Say hello.", "Words without a title", "| June | 30.5 |"):
        assert kept in loaded.markdown


def test_a_word_document_has_its_footnotes_below_their_words() -> None:
    markdown = load("x.docx", docx("Only with a permit.")).markdown
    assert markdown.index("Look[^1]") < markdown.index("[^1]: Only with a permit.") < markdown.index("| Lift | Limit |")


def test_cells_over_rows_and_links_of_slides_are_said() -> None:
    markdown = load("x.pptx", pptx()).markdown
    assert "| Quay | Berth | Depth |\n| --- | --- | --- |\n| East | Nine | 7.4 |\n| East | Ten | 8.1 |" in markdown
    assert "[Tide table](https://tides.example/7)" in markdown
    assert "\\# of cranes" in markdown


@pytest.mark.parametrize("content", [xlsx(), ods()], ids=["xlsx", "ods"])
def test_spreadsheets_are_tables_by_sheet(content: bytes) -> None:
    markdown = load("stock.xlsx", content).markdown
    assert "# Stock\n\n" in markdown
    assert "| Part | Count | Since |\n| --- | --- | --- |\n| K9 | 12 | 2026-03-04 |" in markdown


def test_a_line_alone_in_a_sheet_is_a_paragraph() -> None:
    assert load("x.xlsx", xlsx()).markdown.startswith("# Stock\n\nParts in shed 4\n\n| Part |")


def test_a_cell_over_rows_of_a_sheet_is_said_in_each() -> None:
    sheet = workbook([["Coast", "Port"], ["North", "Vik"], ["", "Nes"], ["", ""], ["South", "Sund"]], merged="B2:B5")
    assert load("x.xlsx", sheet).markdown.split("\n\n")[1].split("\n")[2:] == ["| North | Vik |", "| North | Nes |"]


def test_figures_in_a_sheet_are_as_people_read_them() -> None:
    rows: Rows = [
        ["What", "Value"],
        ["share", (0.25, 9)],
        ["fine share", (0.125, 170)],
        ["time", (1.5, 46)],
        ["plain", (0.25, 0)],
    ]
    markdown = load("x.xlsx", workbook(rows)).markdown
    for line in ("| share | 25% |", "| fine share | 12.5% |", "| time | 36:00 |", "| plain | 0.25 |"):
        assert line in markdown


def test_amounts_in_a_sheet_have_their_currency() -> None:
    rows: Rows = [
        ["What", "Value"],
        ["rope", (12.5, 171)],
        ["debt", (-1234, 172)],
        ["plant", (2_500_000, 173)],
    ]
    markdown = load("x.xlsx", workbook(rows)).markdown
    for line in ("| rope | 12.5 EUR |", "| debt | -$1234 |", "| plant | 2500000 |"):
        assert line in markdown


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("[$€-407] #,##0.00", Shown(sign="€")),
        ("#,##0 [$€-407];[Red]-#,##0 [$€-407]", Shown(unit="€")),
        ('_("$"* #,##0.00_);_("$"* \\(#,##0.00\\);_("$"* "-"??_);_(@_)', Shown(sign="$")),
        ("[$USD] 0.00", Shown(unit="USD")),
        ('"No. "0', Shown(sign="No. ")),
        ('General "kg"', Shown(unit="kg")),
        ('0.0%" of all"', Shown(is_share=True, unit="of all")),
        ('0.0,"K"', Shown()),
        ('[>999]0.0,"K";0', Shown()),
        ('0 "credit";0 "debit"', Shown()),
        ('d"."m', Shown()),
        ("[h]:mm", Shown()),
        ("#,##0.00_);(#,##0.00)", Shown()),
    ],
)
def test_a_number_format_adds_what_is_true_of_every_figure(code: str, expected: Shown) -> None:
    assert shown(code) == expected


def test_tables_side_by_side_in_a_sheet_are_two() -> None:
    rows: Rows = [
        ["Item", "Price", "", "Contact", "Phone"],
        ["Rope", (12, 0), "", "Ann", (4471, 0)],
        ["", "", "", "Bob", (4472, 0)],
    ]
    assert load("x.xlsx", workbook(rows)).markdown.strip().split("\n\n")[1:] == [
        "| Item | Price |\n| --- | --- |\n| Rope | 12 |",
        "| Contact | Phone |\n| --- | --- |\n| Ann | 4471 |\n| Bob | 4472 |",
    ]


@pytest.mark.parametrize(
    "rows",
    [
        [["Item", "Price", "", "Maker", "Phone"], ["Rope", "12", "", "Vik", "1"], ["Lamp", "9", "", "Nes", "2"]],
        [["Item", "Bay", "", "Spring", "Autumn"], ["Rope", "B", "", (1, 0), (2, 0)], ["Lamp", "C"]],
        [["Item", "", "Price", ""], ["Rope", "", "12"], ["Lamp"]],
    ],
    ids=["same length", "no names on the right", "one column each"],
)
def test_a_table_with_an_empty_column_stays_whole(rows: Rows) -> None:
    assert load("x.xlsx", workbook(rows)).markdown.count("| ---") == len(
        {i for r in rows for i, c in enumerate(r) if c}
    )
    assert load("x.xlsx", workbook(rows)).markdown.count("\n\n") == 1


def test_a_table_of_a_sheet_goes_on_below_a_blank_row() -> None:
    rows: Rows = [["Part", "Count"], ["K9", (1, 0)], [], ["K8", (2, 0)], [], ["Tool", "Bay"], ["Saw", "B"]]
    assert load("x.xlsx", workbook(rows)).markdown.strip().split("\n\n")[1:] == [
        "| Part | Count |\n| --- | --- |\n| K9 | 1 |\n| K8 | 2 |",
        "| Tool | Bay |\n| --- | --- |\n| Saw | B |",
    ]


def test_a_stray_cell_far_out_does_not_take_all_memory() -> None:
    state, reason = refusal("x.xlsx", xlsx(last_cell="CV1048576"))
    assert state == "too_big"
    assert "row 1,048,576, column 100" in reason


def test_books_are_read_in_the_order_of_their_spine() -> None:
    loaded = load("x.epub", epub())
    assert loaded.title == "Sea tales"
    assert loaded.markdown.index("# First") < loaded.markdown.index("# Second") < loaded.markdown.index("A note.")


def test_a_book_with_a_chapter_missing_is_read_and_says_so() -> None:
    with zipfile.ZipFile(io.BytesIO(epub())) as book:
        torn = archive({name: book.read(name) for name in book.namelist() if not name.endswith("z.xhtml")})
    loaded = load("x.epub", torn)
    assert "# Second" in loaded.markdown
    assert loaded.remarks == ("1 of 2 chapters are missing in the file",)


def test_rich_text_is_its_paragraphs() -> None:
    assert load("x.rtf", rtf()).markdown.split("\n\n") == [
        "Keys hang in bay 4.",
        "Ask (https://keys.example/4) Zoë first.",
        "Bay|Key|\n4|red|",
    ]


def test_a_pdf_has_pages() -> None:
    loaded = load("x.pdf", pdf("Valve four is red.", "Valve five is blue."))
    assert len(loaded.pages) == 2
    assert loaded.markdown[loaded.pages[1] :].startswith("Valve five")


def test_the_dots_of_a_table_of_contents_are_one_sign() -> None:
    loaded = load("x.pdf", pdf("Valve four . . . . . . . . . . . . 12", "Valve four is red, see 1.2.3."))
    assert "Valve four … 12" in loaded.markdown
    assert "see 1.2.3." in loaded.markdown


@pytest.mark.parametrize(
    ("pages", "title"),
    [
        (["# Valve manual\n\nRed.", "# Contents"], "Valve manual"),
        (["", "## Valve manual"], "Valve manual"),
        (["Valves Ltd.", "# Table of Contents"], ""),
        (["# Table of contents\n\n1 Valves … 2"], ""),
        (["# 1. Introduction\n\n## 1.1 Valves"], ""),
    ],
)
def test_a_pdf_is_named_by_a_heading_of_its_first_page_that_is_not_of_a_part(pages: list[str], title: str) -> None:
    assert headline(pages) == title


def test_a_pdf_without_words_is_empty() -> None:
    assert refusal("x.pdf", pdf(""))[0] in {"empty", "scanned"}


def body(*lines: str) -> list[Print]:
    """Lines below one another from the upper third of a page, in the distance of a paragraph."""
    return [Print(line, 600 - 14 * i) for i, line in enumerate(lines)]


def pages_of(content: bytes) -> list[str]:
    """The text of each page of a PDF."""
    loaded = load("x.pdf", content)
    ends = [*loaded.pages[1:], len(loaded.markdown)]
    return [loaded.markdown[start:end].strip() for start, end in zip(loaded.pages, ends, strict=True)]


def test_lines_equal_on_most_pages_stay_once_and_page_numbers_go() -> None:
    texts = [f"Shed {i} opens at {i}." for i in range(1, 5)]
    foot = [Print("Draft", 52, size=9), Print("Internal", 40, size=9)]
    content = pdf(
        *(
            [Print("Quay works", 760), *body(text), Print(f"Page {i} of 4", 64, size=9), *foot]
            for i, text in enumerate(texts, 1)
        )
    )
    assert pages_of(content) == [f"Quay works\n\n{texts[0]}\n\nDraft Internal", *texts[1:]]


def test_lines_equal_on_all_left_or_all_right_pages_stay_once() -> None:
    texts = [f"Shed {i} opens at {i}." for i in range(8)]
    heads = ("Quay works", "Night watch")
    content = pdf(*([Print(heads[i % 2], 760), *body(text)] for i, text in enumerate(texts)))
    assert pages_of(content) == [f"{heads[0]}\n\n{texts[0]}", f"{heads[1]}\n\n{texts[1]}", *texts[2:]]


def test_a_small_line_equal_on_both_of_two_pages_stays_once() -> None:
    content = pdf(*([Print("Quay works", 760, size=8), *body(f"Shed {i} is red.")] for i in (1, 2)))
    assert pages_of(content) == ["Quay works\n\nShed 1 is red.", "Shed 2 is red."]


def test_lines_that_differ_in_their_figures_are_text() -> None:
    """Below a head that differs in its figure alone as well: there it counts with the pages."""
    deposits = [f"The deposit for permit class {i} is {i * 37 + 11} crowns." for i in range(1, 9)]
    content = pdf(
        *(
            [Print(f"Harbour manual - page {i}", 760, size=9), Print(deposit, 720), *body(f"Rope {i} is extra.")]
            for i, deposit in enumerate(deposits, 1)
        )
    )
    assert pages_of(content) == [f"{deposit}\n\nRope {i} is extra." for i, deposit in enumerate(deposits, 1)]


@pytest.mark.parametrize(
    "line",
    [
        "Article {i}: price {price}",
        "Invoice {invoice}",
        "{i} lamps hang in this shed, and the shed is red.",
    ],
)
def test_a_line_whose_figure_is_not_the_page_number_or_that_begins_a_paragraph_is_text(line: str) -> None:
    texts = [line.format(i=i, price=i * 7, invoice=1000 + i) for i in range(1, 9)]
    assert all(text in page for text, page in zip(texts, pages_of(pdf(*(body(t, "Ask.") for t in texts))), strict=True))


def test_a_head_with_the_number_of_its_page_goes_whatever_the_chapter() -> None:
    """It counts from the second page on; on the first of a chapter it is the number alone."""
    heads = ["", *(str(i) if i % 4 == 1 else f"Chapter {1 + i // 4}: {'CBT'[i // 4]} {i}" for i in range(1, 9))]
    texts = [f"Rope {i} is red." for i in range(9)]
    assert pages_of(pdf(*([Print(h, 760, size=10), *body(t)] for h, t in zip(heads, texts, strict=True)))) == texts


def test_a_number_that_counts_with_the_pages_and_is_no_page_number_is_text() -> None:
    for name in ("{}", "Report of {}"):
        years = [name.format(2000 + i) for i in range(1, 9)]
        pages = pages_of(pdf(*([Print(year, 628), *body(f"Rope {year} is red.")] for year in years)))
        assert [page.split()[0] for page in pages] == [year.split()[0] for year in years]


def paragraph(page: int) -> tuple[Line, ...]:
    """Of three printed lines, other ones on each page."""
    words = ("your option and", f"rope {page} is", f"red {page} times")
    return tuple(Line(text, 72, 300, 90 + 13 * i, 10) for i, text in enumerate(words))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Berths {} your *option* and so on", "your *option* and so on"),
        ("*Berths {} your option*", "*your option*"),
        ("*Berths {}* your option", "your option"),
        (
            "- the left column\n- *ends* Berths {} and the right begins",
            "- the left column\n- *ends* and the right begins",
        ),
        ("as Berths {0} says, see berths {0} and Berths {0}", "as Berths {0} says, see berths {0} and Berths {0}"),
    ],
)
def test_a_foot_is_taken_out_of_the_paragraph_it_was_read_into(text: str, expected: str) -> None:
    pages = [Page(792, "", (*paragraph(i), Line(f"Berths {i}", 72, 99, 760, 10))) for i in range(1, 5)]
    taken = without_running_lines([text.format(i) for i in range(1, 5)], pages)
    assert taken == [expected.format(i) for i in range(1, 5)]


def test_words_equal_to_a_foot_in_another_place_stay() -> None:
    pages = [Page(792, "", (*paragraph(i), Line(str(i), 300, 310, 760, 10))) for i in range(1, 5)]
    for text in ("rope {0} is, see berth {0}", "see berth {0} of ropes"):
        texts = [text.format(i) for i in range(1, 5)]
        assert without_running_lines(texts, pages) == texts


def test_a_table_that_goes_on_keeps_its_header_and_a_single_number_is_text() -> None:
    pages = [Page(792, "", (Line("Berth Depth", 72, 200, 40, 10), Line(f"{i} 7", 72, 200, 54, 10))) for i in range(4)]
    texts = [f"| Berth | Depth |\n|---|---|\n| {i} | 7 |" for i in range(4)]
    assert without_running_lines(texts, pages) == texts
    assert pages_of(pdf(body("2031", "A good year."), "Words.", "More."))[0].startswith("2031")


def test_a_hyphen_that_belongs_to_a_word_stays_at_the_end_of_a_line() -> None:
    content = pdf(
        body("Use a state-of-the-", "art lock on the cab-", "inet. Harbour-", "wide rules:", "see harbour-wide.")
    )
    assert pages_of(content) == [
        "Use a state-of-the-art lock on the cabinet. Harbour-wide rules: see harbour-wide.",
    ]


@pytest.mark.parametrize(
    ("first", "second", "joined"),
    [("self-govern-", "ment. A government", "self-government"), ("co-", "operate. They cooperate", "cooperate")],
)
def test_a_word_the_document_writes_in_one_is_not_parted(first: str, second: str, joined: str) -> None:
    assert f"about {joined}." in load("x.pdf", pdf(body(f"A page about {first}", f"{second}."))).markdown


PROSE = [
    Print("Lines are doubled in wind over twenty-eight knots at any berth.", 600 - 12 * i, size=10) for i in range(4)
]


def test_headings_of_a_pdf_that_are_set_differently_are_several() -> None:
    page = [Print("Quay handbook", 700, size=18, x=230), Print("Mooring", 672, size=18), *PROSE]
    loaded = load("x.pdf", pdf(page))
    assert loaded.title == "Quay handbook"
    assert loaded.markdown.startswith("# Quay handbook\n\n# Mooring\n\n")


def test_a_heading_over_two_lines_is_one() -> None:
    page = [Print("Quay handbook of the", 700, size=18), Print("northern harbours", 678, size=18), *PROSE]
    assert load("x.pdf", pdf(page)).markdown.startswith("# Quay handbook of the northern harbours\n\n")


def test_a_list_in_larger_letters_is_no_heading() -> None:
    steps = ("1 unlock the boom", "2 sound the horn", "3 check the wind")
    page = [
        Print("Do this before lifting the load from the quay side:", 600, size=10),
        *(Print(step, 580 - 18 * i) for i, step in enumerate(steps)),
        *(line._replace(y=line.y - 80) for line in PROSE),
    ]
    assert pages_of(pdf(page))[0].split("\n\n")[1] == "1. unlock the boom\n2. sound the horn\n3. check the wind"


def test_a_line_of_code_that_begins_like_a_heading_is_text() -> None:
    lines = [
        Line(text, 72, 200, 90 + 13 * i, 10) for i, text in enumerate(("Keys", "# made by a tool", "# keep *.key"))
    ]
    text = "# Keys\n\n# made by a tool # keep \\*.key\n\n```\n# made by a tool\n```"
    assert with_true_headings(text, Page(792, "", tuple(lines))) == text.replace("\n\n# made", "\n\n\\# made")


FULL = "The crane stands at the north quay and may lift up to forty tonnes, as long as the"
BELOW = "wind is below ten knots. Above that its boom is lowered and the cab is left"


def test_a_line_of_a_pdf_that_had_no_room_for_the_next_word_goes_on_in_its_paragraph() -> None:
    """Its letters are smaller, for which the parser ends the paragraph."""
    page = [Print(FULL, 700, size=9.2), Print(BELOW, 687, size=10), Print("empty.", 674, size=10)]
    assert pages_of(pdf(page)) == [f"{FULL} {BELOW} empty."]


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        (f"- **{FULL}**\n\n{BELOW}.", f"- {FULL} {BELOW}."),
        (f"Cranes:\n- {FULL}\n\n**{BELOW}**\n\nNext.", f"Cranes:\n- {FULL} {BELOW}\n\nNext."),
        (f"# {FULL}\n\n{BELOW}", None),
        (f"{FULL}\n\n- {BELOW}", None),
        (f"{FULL}\n\n| {BELOW} |", None),
        (f"```\n{FULL}\n\n{BELOW}\n```", None),
    ],
)
def test_a_bold_first_word_breaks_no_sentence_and_makes_no_line_bold(text: str, whole: str | None) -> None:
    printed = Page(792, "", (Line(f"• {FULL}", 72, 420, 90, 9), Line(BELOW, 82, 400, 103, 10)))
    assert with_whole_paragraphs(text, printed) == (whole or text)


@pytest.mark.parametrize(
    "lines",
    [
        (Line(FULL, 72, 380, 90, 10), Line(BELOW, 72, 410, 103, 10)),
        (Line(FULL, 72, 400, 90, 10), Line(BELOW, 72, 400, 120, 10)),
        (Line(FULL, 72, 400, 90, 14), Line(BELOW, 72, 400, 107, 10)),
        (Line(FULL, 72, 400, 90, 10), Line("Aside.", 72, 400, 103, 10), Line(BELOW, 72, 400, 116, 10)),
    ],
    ids=["room for the next word", "far above", "larger letters", "something between"],
)
def test_a_line_that_ended_on_purpose_stays_a_paragraph(lines: tuple[Line, ...]) -> None:
    assert with_whole_paragraphs(f"{FULL}\n\n{BELOW}", Page(792, "", lines)) == f"{FULL}\n\n{BELOW}"


def test_a_sentence_that_ended_at_the_edge_stays_a_paragraph() -> None:
    lines = (Line(f"{FULL} cab.", 72, 400, 90, 10), Line(BELOW, 72, 400, 103, 10))
    assert with_whole_paragraphs(f"{FULL} cab.\n\n{BELOW}", Page(792, "", lines)) == f"{FULL} cab.\n\n{BELOW}"


# Damage


@pytest.mark.parametrize(
    ("name", "content"),
    [("x.docx", docx()), ("x.pptx", pptx()), ("x.xlsx", xlsx()), ("x.epub", epub()), ("x.pdf", pdf("Words."))],
    ids=["docx", "pptx", "xlsx", "epub", "pdf"],
)
def test_half_a_file_is_damaged(name: str, content: bytes) -> None:
    state, reason = refusal(name, content[: len(content) // 2])
    assert state == "failed"
    assert "amaged" in reason


def archive(members: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, content in members.items():
            opened.writestr(name, content)
    return file.getvalue()


@pytest.mark.parametrize(
    ("name", "content"),
    [("x.pdf", b"%PFD-1.4\n1 0 obj\n<< >>\nendobj\n"), ("x.rtf", b"{\\rft1\\ansi\\pard High.\\par}")],
)
def test_a_file_whose_first_bytes_are_damaged_is_not_read_as_text(name: str, content: bytes) -> None:
    assert refusal(name, content)[0] == "failed"
    assert load(name, b"Plain words.").plain


def test_a_zip_bomb_is_not_unpacked() -> None:
    assert refusal("x.docx", archive({"word/document.xml": bytes(150_000_000)}))[0] == "too_big"


def test_an_archive_of_something_else_is_not_supported() -> None:
    assert refusal("x.zip", archive({"a.txt": b"text"}))[0] == "unsupported"


def test_other_opendocument_files_are_told_what_to_do() -> None:
    text = archive({"mimetype": b"application/vnd.oasis.opendocument.text", "content.xml": b"<x/>"})
    assert "save it as .docx" in refusal("x.odt", text)[1]


def test_a_pointer_of_git_lfs_is_no_document() -> None:
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 12345\n"
    assert "Git LFS" in refusal("manual.pdf", pointer)[1]


def test_a_picture_is_not_supported() -> None:
    assert refusal("x.png", b"\x89PNG\r\n\x1a\n" + bytes(100)) == ("unsupported", "a picture: only text can be indexed")


def test_the_samples_of_the_project_load() -> None:
    folder = Path(__file__).parents[2] / "knowledge" / "samples" / "documents"
    files = [file for file in folder.rglob("*") if file.is_file()]
    assert len(files) > 20
    assert all(load(file.name, file.read_bytes()).markdown for file in files)
