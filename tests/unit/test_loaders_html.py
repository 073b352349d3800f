"""What a reader of a web page sees becomes Markdown, however the page is built."""

import pytest

from knowledge.loaders import load
from knowledge.outline import outline


def page(body: str, head: str = "") -> bytes:
    return f"<!doctype html><html><head>{head}</head><body>{body}</body></html>".encode()


def markdown(body: str) -> str:
    return load("x.html", page(body)).markdown.strip()


# Banners


@pytest.mark.parametrize(
    "frame",
    [
        '<body class="page cookies-not-set has-breadcrumbs">{}</body>',
        '<body><form id="aspnetForm">{}</form></body>',
        '<body><div class="cookie-recipes">{}</div></body>',
        '<body><div class="sidebar"><p>Follow us.</p></div><div id="consent-forms">{}</div></body>',
    ],
    ids=["classes of the whole site", "a page in one form", "a page about cookies", "a page about consent"],
)
def test_what_holds_most_of_a_page_is_no_banner(frame: str) -> None:
    text = "<h1>Oat biscuits</h1><p>Stir the oats into the butter and bake them for twenty minutes.</p>"
    assert "Stir the oats" in load("x.html", f"<html>{frame.format(text)}</html>".encode()).markdown


def test_a_banner_beside_the_text_goes_whatever_the_classes_of_the_page() -> None:
    html = b'<html class="consent"><body class="cookie-on"><p>The ferry leaves at nine.</p><div class="cookie-bar">Accept.</div></body></html>'
    assert load("x.html", html).markdown.strip() == "The ferry leaves at nine."


def test_a_page_that_asks_for_a_password_keeps_its_form_out() -> None:
    form = '<form><p>Sign in with the name and the password of your office.</p><input type="password"></form>'
    assert markdown(f"<h1>Portal</h1>{form}") == "# Portal"


def test_tabs_that_are_not_shown_first_are_kept() -> None:
    tabs = '<div role="tabpanel"><p>Ask at quay 1.</p></div><div role="tabpanel" class="t" hidden=""><p>Ask at quay 2.</p></div>'
    assert markdown(tabs) == "Ask at quay 1.\n\nAsk at quay 2."


# Headings and titles


@pytest.mark.parametrize(
    "mark",
    [
        '<a class="headerlink" href="#tides" title="Link to this heading">¶</a>',
        '<a href="#tides">#</a>',
        '<a class="anchor" aria-hidden="true" href="#tides"><svg><path d="M1 1"/></svg></a>',
        '<a href="#tides" class="hash-link">\u200b</a>',
        "<a href='#tides'> &para;</a>",
    ],
)
def test_the_mark_of_a_place_is_no_part_of_its_heading(mark: str) -> None:
    loaded = load("x.html", page(f"<h1 id=tides>Tides {mark}</h1><p>High.</p>"))
    assert loaded.title == "Tides"
    assert [section.path for section in outline(loaded.markdown)] == [("Tides",)]


def test_links_with_words_to_a_place_on_the_page_stay() -> None:
    assert (
        markdown('<a href="#m">Skip to main content</a><p>See <a href="#b">chapter 2</a>.</p>')
        == "See [chapter 2](#b)."
    )


def test_a_tag_spelled_out_in_a_heading_is_a_word() -> None:
    loaded = load("x.html", page("<h1>&lt;lock&gt;: the <code>&lt;lock&gt;</code> tag</h1><p>Closes a gate.</p>"))
    assert loaded.title == "<lock>: the <lock> tag"


def test_without_a_first_heading_the_page_is_called_as_its_window() -> None:
    text = f"<header><h1>Intranet</h1></header><main><p>{'Boats are painted in May. ' * 12}</p><h2>Colours</h2><p>Red.</p></main>"
    assert load("x.html", page(text, "<title>Painting boats</title>")).title == "Painting boats"


def test_a_folded_part_is_named_by_the_words_of_its_summary() -> None:
    folded = "<details><summary><h3>Why so late?</h3></summary><p>Fog.</p></details>"
    assert markdown(folded) == "**Why so late?**\n\nFog."
    assert load("x.md", folded.encode()).markdown.strip() == "**Why so late?**\n\nFog."


# Tables


def test_a_cell_over_rows_is_said_in_each() -> None:
    table = (
        "<table><tr><th>Coast</th><th>Port</th><th>Fee</th></tr><tr><td rowspan=2>North</td><td>Vik</td><td>5</td></tr>"
        '<tr><td>Nes</td><td rowspan="2">6</td></tr><tr><td>South</td><td>Sund</td></tr></table>'
    )
    rows = [
        "| Coast | Port | Fee |",
        "| --- | --- | --- |",
        "| North | Vik | 5 |",
        "| North | Nes | 6 |",
        "| South | Sund | 6 |",
    ]
    assert markdown(table).split("\n") == rows
    assert load("x.md", table.encode()).markdown.strip().split("\n") == rows


def test_a_wide_cell_over_rows_keeps_the_columns_behind_it() -> None:
    table = "<table><tr><th>A<th>B<th>C<tr><td rowspan=2 colspan=2>wide<td>1<tr><td>2</table>"
    assert markdown(table).split("\n")[2:] == ["| wide | | 1 |", "| wide | | 2 |"]


def test_a_table_that_only_places_things_is_opened() -> None:
    layout = (
        "<table><tr><td><ul><li>Home</li></ul></td><td><h2>Nets</h2><p>Dry them.</p>"
        "<table><tr><th>Net</th><th>Mesh</th></tr><tr><td>Cod</td><td>12</td></tr></table></td></tr></table>"
    )
    assert markdown(layout).split("\n\n") == [
        "- Home",
        "## Nets",
        "Dry them.",
        "| Net | Mesh |\n| --- | --- |\n| Cod | 12 |",
    ]


def test_code_beside_its_line_numbers_is_code() -> None:
    code = '<table><tr><td class="linenos"><pre>1\n2</pre></td><td class="code"><pre>raise net\nhaul net</pre></td></tr></table>'
    assert markdown(code) == "```\nraise net\nhaul net\n```"


def test_a_table_of_figures_stays_one_without_a_header_and_end_tags() -> None:
    assert markdown("<table><tr><td>Rope<td>12<tr><td>Buoy<td>7</table>").startswith("| Rope | 12 |")


def test_a_declaration_nobody_knows_does_not_hide_the_page() -> None:
    assert "12 buoys" in markdown("<![if x]><![odd[ ]]><table><tr><th>A</th></tr><tr><td>12 buoys</td></tr></table>")


def test_tables_nested_without_end_do_not_hide_the_page() -> None:
    assert "12 buoys" in markdown("<p>12 buoys</p>" + "<table><tr><td>" * 500)


# Notes, links and pictures


@pytest.mark.parametrize(
    ("mention", "back"),
    [
        ('<sup><a href="#n1" id="r1">[1]</a></sup>', '<a href="#r1">↑</a>'),
        ('<a href="#n1" id="r1" role="doc-noteref"><sup>1</sup></a>', '<a href="#r1">&#8617;</a>'),
    ],
)
def test_a_footnote_stands_below_its_words(mention: str, back: str) -> None:
    text = (
        f'<p>The fee is 5{mention}.</p><h2>Next</h2><p>More.</p><ol><li id="n1"><p>In <b>May</b>. {back}</p></li></ol>'
    )
    lines = [line for line in markdown(text).split("\n") if line]
    assert lines == ["The fee is 5[^1].", "[^1]: In **May**.", "## Next", "More."]


def test_links_of_a_site_are_whole_and_those_of_a_file_as_they_are() -> None:
    body = '<p>See <a href="../forms/7">the form</a>.</p>'
    assert "(https://sea.example/forms/7)" in load("https://sea.example/docs/tides", page(body)).markdown
    moved = page(body, '<base href="https://old.example/a/b/">')
    assert "(https://old.example/a/forms/7)" in load("https://sea.example/docs/tides", moved).markdown
    assert "(../forms/7)" in load("docs/tides.html", page(body)).markdown


def test_code_has_the_words_of_its_links() -> None:
    code = '<pre>raise(<a href="#net">Net</a> <b>net</b>,\n      <a href="depth.html">Depth</a> depth)</pre>'
    assert markdown(code) == "```\nraise(Net net,\n      Depth depth)\n```"


def test_pictures_without_words_say_nothing() -> None:
    assert (
        markdown('<p>Wear <img src="a.png"> boots. <img src="b.png" alt="Yellow boots"></p>')
        == "Wear boots. ![Yellow boots](b.png)"
    )
    assert load("x.md", b"![](a.png) Wear boots. `![](b.png)`").markdown == "Wear boots. `![](b.png)`"


# Encodings


@pytest.mark.parametrize(
    ("encoding", "declared", "words"),
    [
        ("cp1252", '<meta charset="iso-8859-1">', "“Zoë” – 4 €"),
        ("cp1252", '<meta charset="utf-8">', "Café Zoë"),
        ("gb18030", "<meta charset=gb2312>", "码头 €"),
        ("cp932", '<meta charset="shift_jis">', "①埠頭"),
        ("iso8859-2", '<?xml version="1.0" encoding="iso-8859-2"?>', "Žlutý člun"),
    ],
)
def test_a_page_is_read_as_browsers_read_it(encoding: str, declared: str, words: str) -> None:
    assert (
        load("x.html", f"{declared}<html><body><p>{words}</p></body></html>".encode(encoding)).markdown.strip() == words
    )
