"""What a person is offered to ask."""

import pytest

from bot.conversation import is_help
from bot.prompts import TITLE_CHARS, suggested
from bot.wording import ASK_HELP as HELP
from bot.wording import ask_about as about
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
    assert titles(asked, *newest_first) == ["how much leave?", about("Leave"), about("Runbook"), HELP]
    assert titles((), *newest_first) == [about("Leave"), about("Runbook"), about("Prices"), HELP]


def test_one_source_offers_several_documents_each_of_them_once() -> None:
    newest_first = (entry("Leave"), entry("Leave"), entry("Older leave"), entry("Bonus"), entry("Parking"))
    assert titles((), *newest_first) == [about("Leave"), about("Older leave"), about("Bonus"), HELP]
    assert titles((about("Bonus"),), *newest_first) == [about("Bonus"), about("Leave"), about("Older leave"), HELP]


def test_a_document_is_offered_as_a_question_about_it_and_a_question_as_itself() -> None:
    assert titles((), entry("Visitors at Harbour House"))[0] == "What is “Visitors at Harbour House” about?"
    assert titles((), entry("How do I book a room?"))[0] == "How do I book a room?"
    assert titles((), entry("What about it?"))[0] == about("What about it?")


@pytest.mark.parametrize("said", ["", "help", "thanks!", ":wave:", "w" * 301 + "?"])
def test_what_nobody_asks_twice_is_not_offered(said: str) -> None:
    assert titles((said, "who pays?"), entry("Leave"))[0] == "who pays?"


NO_QUESTIONS = "and who do I ask for it?|or by train?|but why?|it expires when?|who approves them?|no, I meant Oslo|What about Oslo?|why?"


@pytest.mark.parametrize("said", [*NO_QUESTIONS.split("|"), "Bonus", "Visitors at Harbour House"])
def test_what_is_no_question_by_itself_is_not_offered(said: str) -> None:
    assert titles((said, "when is payday?"), entry("Leave"))[0] == "when is payday?"
    assert titles((said,), entry("Leave"))[0] == about("Leave")


@pytest.mark.parametrize("said", ["how many days of leave do I get", "Tell me who fixes the lift", "Urlaub in Oslo?"])
def test_a_question_needs_no_mark_and_may_be_a_request(said: str) -> None:
    assert titles((said,), entry("Leave"))[0] == said


def test_a_document_without_a_title_gives_way_to_the_next_of_its_source() -> None:
    assert titles((), entry(" "), entry("Leave")) == [about("Leave"), HELP]


def test_a_long_title_is_shortened_where_it_is_shown_and_whole_in_what_is_asked() -> None:
    prompt = suggested((), (entry("Leave\nand " * 30),))[0]
    assert len(prompt.title) == TITLE_CHARS
    assert prompt.title.startswith("What is “Leave and Leave")
    assert prompt.title.endswith("…” about?")
    assert prompt.message == about(("Leave and " * 30).strip())
    question = f"how {'much' * 20}?"
    prompt = suggested((question,), ())[0]
    assert (len(prompt.title), prompt.message) == (TITLE_CHARS, question)
