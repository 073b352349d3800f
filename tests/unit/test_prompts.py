"""What a person is offered to ask."""

import pytest

from bot.conversation import is_help
from bot.prompts import TITLE_CHARS, suggested
from knowledge.catalog import Entry


def entry(title: str, source: str = "handbook") -> Entry:
    return Entry(1, source, f"{title}.md", title, "")


def titles(questions: tuple[str, ...], *documents: Entry) -> list[str]:
    return [prompt.title for prompt in suggested(questions, documents)]


def test_whoever_may_read_nothing_is_offered_help_alone() -> None:
    (prompt,) = suggested((), ())
    assert is_help(prompt.message)


def test_the_latest_question_comes_first_and_then_a_document_of_each_source() -> None:
    newest_first = (entry("Leave"), entry("Older leave"), entry("Runbook", "operations"), entry("Prices", "sales"))
    asked = ("how much leave?", "who pays?")
    assert titles(asked, *newest_first) == ["how much leave?", "Leave", "Runbook", "What can you do?"]
    assert titles((), *newest_first) == ["Leave", "Runbook", "Prices", "What can you do?"]


@pytest.mark.parametrize("said", ["", "help", "thanks!", ":wave:", "w" * 301])
def test_what_nobody_asks_twice_is_not_offered(said: str) -> None:
    assert titles((said, "who pays?"), entry("Leave"))[0] == "who pays?"


def test_a_document_without_a_title_gives_way_to_the_next_of_its_source() -> None:
    assert titles((), entry(" "), entry("Leave")) == ["Leave", "What can you do?"]


def test_a_long_title_is_shortened_where_it_is_shown_and_whole_in_what_is_asked() -> None:
    prompt = suggested((), (entry("Leave\nand " * 30),))[0]
    assert len(prompt.title) == TITLE_CHARS
    assert prompt.title.startswith("Leave and Leave")
    assert "Leave\nand " * 30 in prompt.message
