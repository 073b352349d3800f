"""Answers in the documents' own words, on a real index with the packaged model."""

from collections.abc import Callable, Iterator

import pytest

from knowledge.answering import Answerer
from knowledge.answers import Answer, Question, Turn
from knowledge.db import Database
from knowledge.encoders import load_embedder
from knowledge.index import Indexer
from knowledge.postgres import EmbeddedPostgres
from knowledge.reranking import LateInteraction
from knowledge.retrieval import Retriever
from knowledge.settings import Answers, Chunking, Models, Retrieval, Source

WORKSPACE = frozenset({"workspace"})

PAGES = {
    "pager.md": (
        "# On call\n\nWhen the pager rings:\n\n1. Acknowledge the page within 5 minutes.\n2. Look at the dashboard of the "
        "service.\n3. Post a first status on the status page. Say when the next one comes.\n4. Page the secondary when it takes long.\n"
    ),
    "prices.md": (
        "# Price list\n\n| Code | Lens | Price (EUR) |\n| --- | --- | --- |\n| LN-15 | Extra thin | 149 |\n| LN-16 | Thin | 79 |\n"
        "| LN-17 | Ultra thin | 219 |\n| LN-18 | Photochromic | 99 |\n"
    ),
    "backups.md": (
        "# Backups\n\n| Data | How often | Kept for |\n| --- | --- | --- |\n| orders database | every 6 hours | 35 days |\n"
        "| delivery photos | nightly | 180 days |\n| configuration | at every change | for ever |\n"
    ),
    "expenses.md": (
        "# Expenses\n\nExpenses are paid back with the salary of the next month. Hand in your receipts by the 20th.\n\n"
        "A bicycle can be kept in the cellar of the office.\n"
    ),
}

Ask = Callable[..., Answer]


@pytest.fixture(scope="module")
def ask(embedded_postgres: EmbeddedPostgres, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    """Asks without a key; further texts are what the same person asked before in the thread."""
    folder = tmp_path_factory.mktemp("documents")
    for name, text in PAGES.items():
        (folder / name).write_text(text, encoding="utf-8")
    embedder = load_embedder(Models())
    with Database(embedded_postgres.url("postgres")) as server, server.scratch() as database:
        source = Source(name="handbook", location=str(folder), scopes=("workspace",))
        assert not Indexer(database, embedder, Chunking()).sync(source).failed
        retriever = Retriever(database, embedder, LateInteraction(), Retrieval())
        answerer = Answerer(database, retriever, embedder, Answers())

        def answer(text: str, *before: str) -> Answer:
            thread = tuple(Turn("person", "U1", asked) for asked in before)
            return answerer.answer(Question(text, "U1", "C9", thread), WORKSPACE)

        yield answer


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (
            "What is the third step when the pager rings?",
            "3. Post a first status on the status page [1]. Say when the next one comes [1].",
        ),
        ("What do I do in step 2 when the pager rings?", "2. Look at the dashboard of the service [1]."),
        ("What is the last step when the pager rings?", "4. Page the secondary when it takes long [1]."),
    ],
)
def test_a_step_that_is_asked_for_by_its_number_is_that_step(ask: Ask, question: str, said: str) -> None:
    assert ask(question).text == said


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("What is the ninth step when the pager rings?", ("step 9",)),
        ("How much does the thin lens by Feldberg cost?", ("Feldberg",)),
        ("How much does the thin lens LN-99 cost?", ("LN-99",)),
        ("How much does the thin lens LN-16 cost?", ()),
        ("What is the third step when the pager rings?", ()),
    ],
)
def test_what_the_question_names_and_nothing_has_makes_quotes_doubtful(
    ask: Ask, question: str, missing: tuple[str, ...]
) -> None:
    found = ask(question)
    assert found.outcome == "quoted"
    assert found.strength
    assert found.strength.missing == missing
    assert found.is_doubtful == bool(missing)


def test_of_several_questions_those_without_an_answer_are_named(ask: Ask) -> None:
    both = ask("How long are backups of the orders database kept, and what is the third step when the pager rings?")
    assert "35 days" in both.text
    assert "Post a first status" in both.text
    assert not both.is_doubtful
    half = ask("How long are backups of the orders database kept, and which composer wrote the anthem?")
    assert rows(half) == ["orders database | every 6 hours | 35 days"]
    assert half.is_doubtful
    assert half.strength
    assert half.strength.unanswered == ("which composer wrote the anthem?",)


def test_several_questions_without_any_answer_are_answered_as_one(ask: Ask) -> None:
    assert ask("Which composer wrote the anthem, and who painted the ceiling?").outcome == "abstained"


def test_a_step_does_not_say_who(ask: Ask) -> None:
    found = ask("Who looks at the dashboard of the service?")
    assert found.outcome == "quoted"
    assert found.strength
    assert found.strength.unanswered == ("who it is",)


def test_a_procedure_that_is_a_part_of_what_is_asked_is_told_whole(ask: Ask) -> None:
    text = ask("How long are backups of the orders database kept, and what do I do when the pager rings?").text
    assert "35 days" in text
    assert "4. Page the secondary when it takes long [" in text


def test_how_something_is_done_is_told_in_all_its_steps(ask: Ask) -> None:
    text = ask("What do I have to do when the pager rings?").text
    places = [text.find(f"{number}. ") for number in range(1, 5)]
    assert -1 not in places
    assert places == sorted(places)


def test_a_step_of_what_was_asked_before_is_found(ask: Ask) -> None:
    first = "What do I have to do when the pager rings?"
    assert ask("what is the third step?", first).text.startswith("3. Post a first status")
    assert ask("and the fourth?", first, "what is the third step?").text.startswith("4. Page the secondary")


def test_a_row_whose_cell_the_question_says_whole_is_quoted_and_not_those_that_say_more(ask: Ask) -> None:
    assert rows(ask("How much does a thin lens cost?")) == ["LN-16 | Thin | 79"]
    assert rows(ask("How much does an ultra thin lens cost?")) == ["LN-17 | Ultra thin | 219"]


def test_a_follow_up_is_answered_from_what_it_asks_itself(ask: Ask) -> None:
    first = "How long are backups of the orders database kept?"
    assert rows(ask(first)) == ["orders database | every 6 hours | 35 days"]
    assert rows(ask("what about configuration?", first))[0] == "configuration | at every change | for ever"


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("how do i get my expences paid back", "Expenses are paid back with the salary of the next month"),
        ("can a bicylce be kept in the celler", "A bicycle can be kept in the cellar of the office"),
    ],
)
def test_a_misspelt_word_is_read_as_the_documents_write_it(ask: Ask, question: str, said: str) -> None:
    answer = ask(question)
    assert said in answer.text
    assert answer.standalone == question


def rows(answer: Answer) -> list[str]:
    """The rows of the tables in it, without marks."""
    lines = [line.replace(" [1]", "").strip("| ") for line in answer.text.splitlines() if line.startswith("|")]
    return lines[2:]
