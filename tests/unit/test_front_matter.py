"""The metadata at the start of a Markdown file; whatever is wrong with its scopes lets nobody read it."""

from datetime import UTC, datetime

import pytest

from knowledge.front_matter import FrontMatter, read
from knowledge.permissions import NOTHING


def test_title_date_and_scopes_are_read() -> None:
    text = '---\ntitle: "Tea: green"\nupdated: 2026-02-03\nscopes: [channel:CTEA, user:U1]\n---\n# Tea\n'
    assert read(text) == FrontMatter(
        end=text.index("# Tea"),
        title="Tea: green",
        updated_at=datetime(2026, 2, 3, tzinfo=UTC),
        scopes=frozenset({"channel:CTEA", "user:U1"}),
    )


def test_toml_is_read_too() -> None:
    head = read('+++\ntitle = "Tea"\nlastmod = 2026-02-03T04:05:06Z\n+++\nText')
    assert (head.title, head.updated_at) == ("Tea", datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC))


def test_json_is_read_too() -> None:
    head = read('{\n  "title": "Tea",\n  "scopes": ["channel:CTEA"]\n}\n\nText')
    assert (head.title, head.scopes) == ("Tea", frozenset({"channel:CTEA"}))
    assert read('{\n  "title": "Tea"\n  and more\n}\n') == FrontMatter()


@pytest.mark.parametrize("title", ["1.10", "No", "2026-02-03", "007"])
def test_a_title_is_what_is_written(title: str) -> None:
    assert read(f"---\ntitle: {title}\n---\nText").title == title


@pytest.mark.parametrize(
    "text",
    [
        "\n---\nscopes: [channel:CTEA]\n---\n",
        "<!-- ours -->\n---\ntitle: Tea\nscopes: workspace\n---\n",
        "---\ntitle: open\nscopes: [user:U1]\n\n# Tea\n",
        '+++\nscopes = ["user:U1"]\n',
        '{\n  "scopes": ["user:U1"],\n}\n',
    ],
    ids=["below a blank line", "below a comment", "without an end", "TOML without an end", "broken JSON"],
)
def test_scopes_in_what_is_no_front_matter_let_nobody_in(text: str) -> None:
    head = read(text)
    assert (head.scopes, head.end) == (NOTHING, 0)
    assert "nobody may read it" in head.problem


@pytest.mark.parametrize(
    "text", ["# Tea\n", "---\n\nBetween rules.\n\n---\n\nMore\n", "\n---\ntitle: no\n---\n", "---\ntitle: open\n"]
)
def test_other_beginnings_are_text(text: str) -> None:
    assert read(text) == FrontMatter()


def test_a_broken_block_is_read_line_by_line() -> None:
    head = read("---\ntitle: Tea: green\ntags: [a\n---\nText")
    assert (head.title, head.scopes) == ("Tea: green", None)


@pytest.mark.parametrize(
    "scopes",
    [
        "",
        "[]",
        "everyone",
        "[channel:CTEA, public]",
        "[7]",
        "{a: b}",
        "[channel:ctea]",
        "[workspace",
        "channel:CTEA workspace",
    ],
)
def test_scopes_that_cannot_be_read_let_nobody_in(scopes: str) -> None:
    head = read(f"---\ntitle: Tea\nscopes: {scopes}\n---\nText")
    assert head.scopes == NOTHING
    assert "nobody may read it" in head.problem


def test_one_scope_needs_no_list_and_the_key_no_case() -> None:
    assert read("---\nScopes: channel:CTEA\n---\n").scopes == frozenset({"channel:CTEA"})


def test_no_scopes_narrow_nothing() -> None:
    assert read("---\ntitle: Tea\n---\n").scopes is None


@pytest.mark.parametrize(
    ("date", "named"),
    [
        ("updated: soon", "'soon'"),
        ("updated: '2026-13-40'", "'2026-13-40'"),
        ("lastmod: 7", "7"),
        ("updated: [1, 2]", "[1, 2]"),
    ],
)
def test_a_date_that_is_none_is_named_and_nothing_else_is_lost(date: str, named: str) -> None:
    head = read(f"---\ntitle: Tea\n{date}\nscopes: [user:U1]\n---\nText")
    assert (head.title, head.updated_at, head.scopes) == ("Tea", None, frozenset({"user:U1"}))
    field = date.partition(":")[0]
    assert head.problem == (
        f"its front matter says {field}: {named}, which is no date, so it is left out; write one such as 2026-01-31"
    )


def test_a_date_of_another_field_is_taken_and_the_fault_told_all_the_same() -> None:
    head = read("---\nupdated: soon\ndate: 2026-02-03\n---\nText")
    assert head.updated_at == datetime(2026, 2, 3, tzinfo=UTC)
    assert "says updated: 'soon'" in head.problem


def test_an_empty_date_and_a_date_of_something_else_are_no_fault() -> None:
    assert read("---\nupdated:\nlastmod: ''\ndate: every Tuesday\n---\nText").problem == ""


def test_both_faults_of_a_front_matter_are_told() -> None:
    problem = read("---\nupdated: soon\nscopes: everyone\n---\nText").problem
    assert "'everyone' in its front matter is not a scope" in problem
    assert "says updated: 'soon', which is no date" in problem
