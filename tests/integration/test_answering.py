"""Answers over a real index, a real database and the real SDK: what is said, what is cited, and what happens on faults."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

import pytest
import sqlalchemy as sa
from pydantic import HttpUrl, SecretStr

from knowledge import answer_rows, answers, budget
from knowledge.answering import Answerer
from knowledge.answers import Answer, Notice, Question, Turn
from knowledge.db import Database
from knowledge.encoders import Embedder, load_embedder
from knowledge.index import Indexer
from knowledge.local_claude import LocalClaude, Step, serve
from knowledge.local_claude.writing import written
from knowledge.postgres import EmbeddedPostgres
from knowledge.reranking import LateInteraction
from knowledge.retrieval import Retriever
from knowledge.settings import Answers as Settings
from knowledge.settings import Chunking, Models, Retrieval, Source
from knowledge.tables import buckets
from tests.integration import raw_server

WORKSPACE = frozenset({"workspace"})
HOTELS = "What do we pay for a hotel night in Zurich?"

PAGES = {
    "travel.md": (
        "---\ntitle: Travel policy\nupdated: 2026-01-08\n---\n# Travel policy\n\n## Hotels\n\nA hotel night costs up to EUR 135. "
        "In Zurich we pay up to EUR 190 for a hotel night.\n\n## Daily allowance\n\n"
        "| Length of the day | Allowance |\n| --- | --- |\n| more than 8 hours | EUR 16 |\n| a full day away | EUR 32 |\n"
    ),
    "old-allowance.md": "---\nupdated: 2029-02-01\n---\n# Remote work allowance\n\nThe remote work allowance is 35 per month.\n",
    "new-allowance.md": (
        "---\nupdated: 2031-05-10\n---\n# Remote work allowance\n\nThe remote work allowance is 52 per month. This replaces the 2029 page.\n"
    ),
    "rooms.md": "# Meeting rooms\n\nRooms are booked in the calendar. The big room seats forty people.\n",
}
PRIVATE = {"salaries.md": "# Salary bands\n\nThe salary band of the sales team starts at 40,000 a year.\n"}


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return load_embedder(Models())


@pytest.fixture(scope="module")
def library(
    embedded_postgres: EmbeddedPostgres, embedder: Embedder, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Database]:
    """One database with the pages in it, for all tests here."""
    folder = tmp_path_factory.mktemp("documents")
    with Database(embedded_postgres.url("postgres")) as server, server.scratch() as database:
        sync(database, embedder, folder / "handbook", PAGES)
        sync(database, embedder, folder / "finance", PRIVATE, scopes=("channel:C1",))
        yield database


@pytest.fixture
def database(library: Database) -> Database:
    """The pages, and no token spent today."""
    with library.plain() as connection:
        connection.execute(sa.delete(buckets))
    return library


@pytest.fixture
def retriever(database: Database, embedder: Embedder) -> Retriever:
    return Retriever(database, embedder, LateInteraction(), Retrieval())


def sync(
    database: Database,
    embedder: Embedder,
    folder: Path,
    pages: dict[str, str],
    scopes: tuple[str, ...] = ("workspace",),
) -> None:
    folder.mkdir(exist_ok=True)
    for name, text in pages.items():
        (folder / name).write_text(text, encoding="utf-8")
    source = Source(name=folder.name, location=str(folder), scopes=scopes, url="https://docs.acme.example/{path}")
    outcome = Indexer(database, embedder, Chunking()).sync(source)
    assert not outcome.failed


@pytest.fixture
def quoting(retriever: Retriever, embedder: Embedder) -> Answerer:
    """Without a key."""
    return Answerer(retriever.database, retriever, embedder, Settings())


@pytest.fixture
def local() -> LocalClaude:
    return LocalClaude()


@pytest.fixture
def url(local: LocalClaude) -> Iterator[str]:
    with serve(local) as address:
        yield address


class Writers:
    """Answerers that write, each over its own connection to a service; all are closed at the end."""

    def __init__(self, retriever: Retriever, embedder: Embedder, stack: ExitStack) -> None:
        self._parts = retriever, embedder
        self._stack = stack

    def __call__(self, url: str, **values: object) -> Answerer:
        retriever, embedder = self._parts
        chosen = Settings.model_validate(
            {"api_key": SecretStr("k"), "base_url": HttpUrl(url), "timeout_s": 60, **values}
        )
        answerer = Answerer(retriever.database, retriever, embedder, chosen)
        self._stack.callback(answerer.close)
        answerer.warm()
        return answerer


@pytest.fixture
def writing(retriever: Retriever, embedder: Embedder) -> Iterator[Writers]:
    with ExitStack() as stack:
        yield Writers(retriever, embedder, stack)


@pytest.fixture
def claude(writing: Writers, url: str) -> Answerer:
    return writing(url)


def ask(answerer: Answerer, text: str, *thread: Turn, scopes: frozenset[str] = WORKSPACE) -> Answer:
    return answerer.answer(Question(text, "U1", "C9", thread), scopes)


def said(*texts: str) -> Step:
    return Step(content=tuple({"type": "text", "text": text} for text in texts))


# without a key


def test_without_a_key_the_documents_are_quoted(quoting: Answerer) -> None:
    answer = ask(quoting, HOTELS)
    assert (answer.outcome, answer.notice) == ("quoted", None)
    assert answer.text.startswith("> In Zurich we pay up to EUR 190 for a hotel night [1].")
    assert answer.citations[0].url == "https://docs.acme.example/travel.md"
    assert answer.citations[0].quote == "In Zurich we pay up to EUR 190 for a hotel night."


def test_a_table_row_is_quoted_with_its_header(quoting: Answerer) -> None:
    text = ask(quoting, "What is the allowance for a full day away?").text
    assert text.startswith("| Length of the day | Allowance |\n| --- | --- |\n| a full day away | EUR 32 [1] |")


def test_what_is_not_in_the_documents_is_not_answered(quoting: Answerer) -> None:
    answer = ask(quoting, "What is the capital of Peru?")
    assert (answer.outcome, answer.text, answer.citations) == ("abstained", "", ())
    assert answer.nearest


def test_nearest_documents_are_those_that_the_reader_may_see(quoting: Answerer) -> None:
    answer = ask(quoting, "What is the weather on the salary band islands?")
    assert "Salary bands" not in {passage.title for passage in answer.nearest}


def test_a_reader_without_scopes_is_refused(quoting: Answerer) -> None:
    assert ask(quoting, HOTELS, scopes=frozenset()).outcome == "refused"


def test_a_private_document_answers_only_those_who_may_read_it(quoting: Answerer) -> None:
    question = "Where does the salary band of the sales team start?"
    assert ask(quoting, question).outcome == "abstained"
    assert "40,000" in ask(quoting, question, scopes=frozenset({"channel:C1"})).text


def test_a_follow_up_leans_on_what_was_asked(quoting: Answerer) -> None:
    answer = ask(quoting, "And in Zurich?", Turn("person", "U1", "What do we pay for a hotel night?"))
    assert answer.standalone == "And in Zurich? (pay hotel night)"
    assert "EUR 190" in answer.text


# with the model


def test_the_model_answers_with_verified_citations(claude: Answerer) -> None:
    answer = ask(claude, HOTELS)
    assert (answer.outcome, answer.notice, answer.removed) == ("answered", None, ())
    assert answer.text.startswith("In Zurich we pay up to EUR 190 for a hotel night [1].")
    assert answer.model == "claude-sonnet-5-5"
    assert len(answer.prompt_hash) == 12
    assert answer.usage["dollars"] > 0
    assert {"encode", "write", "verify", "total"} <= answer.ms.keys()


def test_verified_text_is_shown_while_it_is_written(claude: Answerer) -> None:
    pieces: list[str] = []
    answer = claude.answer(Question(HOTELS, "U1", "C9"), WORKSPACE, pieces.append)
    assert "".join(pieces) == answer.text


def test_text_that_will_be_removed_is_never_shown(claude: Answerer, local: LocalClaude) -> None:
    local.script.append(said("A night costs EUR 999. ", "More at https://evil.example/x. "))
    pieces: list[str] = []
    answer = claude.answer(Question(HOTELS, "U1", "C9"), WORKSPACE, pieces.append)
    assert "999" not in "".join(pieces)
    assert (answer.outcome, answer.notice) == ("quoted", Notice.UNVERIFIED)
    assert [removed.text for removed in answer.removed] == [
        "A night costs EUR 999.",
        "https://evil.example/x",
        "More at.",
    ]


def test_the_model_may_say_that_it_is_not_there(claude: Answerer) -> None:
    answer = ask(claude, "Where is the hotel canteen for llamas?")
    assert (answer.outcome, answer.citations) == ("abstained", ())
    assert answer.text.startswith("The documents say nothing about this")
    assert answer.nearest


def test_with_nothing_found_the_model_is_not_asked(claude: Answerer, local: LocalClaude) -> None:
    assert ask(claude, HOTELS, scopes=frozenset({"channel:C404"})).outcome == "abstained"
    assert local.requests == []


def test_a_part_that_is_missing_is_said_after_the_answer(claude: Answerer, local: LocalClaude) -> None:
    local.script.append(Step(search=("hotel Oslo",)))
    answer = ask(claude, "What do we pay for a hotel night in Zurich?")
    assert answer.searches == ("hotel Oslo",)
    assert answer.outcome == "answered"


def test_a_second_look_stays_within_the_scopes(claude: Answerer, local: LocalClaude) -> None:
    local.script.append(Step(search=("salary band of the sales team",)))
    answer = ask(claude, HOTELS)
    assert "Salary bands" not in {passage.title for passage in answer.passages}
    assert "40,000" not in str(local.requests)


def test_conflicting_pages_reach_the_model_with_their_dates(claude: Answerer, local: LocalClaude) -> None:
    answer = ask(claude, "How much is the remote work allowance per month?")
    titles = [block["title"] for block in local.requests[0]["body"]["messages"][0]["content"] if "title" in block]
    assert {
        "Remote work allowance (last changed 2029-02-01)",
        "Remote work allowance (last changed 2031-05-10)",
    } <= set(titles)
    assert "52 per month" in answer.text
    assert {f"{c.updated_at:%Y}" for c in answer.citations if c.updated_at} >= {"2031"}


def test_a_follow_up_is_rewritten_by_the_small_model(claude: Answerer, local: LocalClaude) -> None:
    rewritten = '{"stands_alone": false, "question": "What do we pay for a hotel night in Zurich?"}'
    local.script.append(said(rewritten))
    answer = ask(claude, "And in Zurich?", Turn("person", "U1", "What do we pay for a hotel night?"))
    assert answer.standalone == "What do we pay for a hotel night in Zurich?"
    assert answer.question == "And in Zurich?"


@pytest.mark.parametrize(
    "rewritten", ['{"stands_alone": false, "question": "What about invoice 99817 <!channel>?"}', "nonsense"]
)
def test_a_rewriting_that_brings_something_new_is_not_used(
    claude: Answerer, local: LocalClaude, rewritten: str
) -> None:
    local.script.extend([said(rewritten)] * (3 if rewritten == "nonsense" else 1))
    answer = ask(claude, "And in Zurich?", Turn("person", "U1", "What do we pay for a hotel night?"))
    assert answer.standalone == "And in Zurich? (pay hotel night)"


# faults


@pytest.mark.parametrize(
    "fault",
    [
        Step(status=529, error="overloaded_error"),
        Step(status=429, error="rate_limit_error", headers={"retry-after": "4000000"}),
        Step(status=401, error="authentication_error"),
        Step(error_after=8, error="overloaded_error"),
        Step(cut_after=8),
        Step(content=()),
    ],
    ids=str,
)
def test_a_lasting_fault_gives_quotes_and_says_so(claude: Answerer, local: LocalClaude, fault: Step) -> None:
    local.always = fault
    answer = ask(claude, HOTELS)
    assert (answer.outcome, answer.notice) == ("quoted", Notice.UNAVAILABLE)
    assert answer.text.startswith("> In Zurich we pay up to EUR 190")


def test_a_fault_without_a_sentence_that_answers_is_a_failure_not_an_absence(
    claude: Answerer, local: LocalClaude
) -> None:
    local.always = Step(status=529, error="overloaded_error")
    assert ask(claude, "Where is the canteen for llamas?").outcome == "failed"


@pytest.mark.parametrize(
    "behaviour", [raw_server.stall_before, raw_server.stall_inside, raw_server.drip, raw_server.reset]
)
def test_a_broken_service_gives_quotes_in_time(
    writing: Writers, behaviour: Callable[[socket.socket, threading.Event], None]
) -> None:
    with raw_server.misbehaving(behaviour) as address:
        answer = ask(writing(address, timeout_s=2), HOTELS)
    assert (answer.outcome, answer.notice) == ("quoted", Notice.UNAVAILABLE)
    assert answer.ms["write"] < 3000


def test_a_refusal_gives_quotes_and_drops_what_was_written(claude: Answerer, local: LocalClaude) -> None:
    local.script.append(Step(stop_reason="refusal"))
    answer = ask(claude, HOTELS)
    assert (answer.outcome, answer.notice) == ("quoted", Notice.DECLINED)


def test_an_answer_that_ran_out_of_room_is_shown_without_its_last_sentence(
    claude: Answerer, local: LocalClaude
) -> None:
    quotes = local_quotes(claude, local)
    local.script.append(Step(content=(*quotes, {"type": "text", "text": "And in Zur"}), stop_reason="max_tokens"))
    answer = ask(claude, HOTELS)
    assert (answer.outcome, answer.notice) == ("answered", Notice.CUT_SHORT)
    assert answer.text.endswith("[1].")


def local_quotes(claude: Answerer, local: LocalClaude) -> list[dict[str, object]]:
    """The blocks with true citations that the local Claude gives for the hotel question."""
    ask(claude, HOTELS)
    return written(local.requests[-1]["body"])


def test_when_the_days_tokens_are_spent_it_quotes(writing: Writers, url: str, local: LocalClaude) -> None:
    answerer = writing(url, daily_token_budget=10)
    assert ask(answerer, HOTELS).outcome == "answered"
    answer = ask(answerer, HOTELS)
    assert (answer.outcome, answer.notice) == ("quoted", Notice.OVER_BUDGET)
    assert len(local.requests) == 1


def test_a_budget_of_nothing_never_asks_the_service(writing: Writers, url: str, local: LocalClaude) -> None:
    assert ask(writing(url, daily_token_budget=0), HOTELS).notice == Notice.OVER_BUDGET
    assert local.requests == []


def test_spent_tokens_are_forgotten_at_midnight(database: Database) -> None:
    evening, morning = datetime(2026, 5, 1, 23, 59, tzinfo=UTC), datetime(2026, 5, 2, 0, 1, tzinfo=UTC)
    with database.plain() as connection:
        budget.spend(connection, 70, evening)
        budget.spend(connection, 30, evening)
        assert budget.spent(connection, evening) == 100
        assert budget.spent(connection, morning) == 0
        budget.spend(connection, 5, morning)
        assert budget.spent(connection, morning) == 5


# the store


def test_an_answer_is_stored_and_read_again_by_those_who_hold_its_scopes(claude: Answerer, database: Database) -> None:
    question = Question(HOTELS, "U1", "C9")
    answer = claude.answer(question, WORKSPACE)
    with database.writing() as connection:
        answer_rows.save(connection, answer, question, WORKSPACE)
        answer_rows.set_reply(connection, answer.id, "C9", "12.34", "12.00")
    with database.reading(WORKSPACE) as connection:
        stored = answer_rows.load(connection, answer.id)
        assert stored is not None
    assert (stored.text, stored.citations, stored.scopes) == (answer.text, answer.citations, WORKSPACE)
    assert (stored.asker, stored.place, stored.outcome) == ("U1", "C9", "answered")
    assert (stored.reply_channel, stored.reply_ts, stored.thread_ts) == ("C9", "12.34", "12.00")
    assert stored.stages["passages"] == [p.chunk_id for p in answer.passages]
    with database.reading(frozenset({"channel:C1"})) as connection:
        assert answer_rows.load(connection, answer.id) is None


def test_the_json_has_what_other_tools_read(claude: Answerer) -> None:
    shown = answers.as_json(ask(claude, HOTELS), WORKSPACE)
    assert shown["abstained"] is False
    assert shown["allowed_scopes"] == ["workspace"]
    assert {"n", "title", "url", "heading_path", "quote", "updated_at"} <= shown["citations"][0].keys()
    assert {"chunk_id", "document", "title", "heading_path", "text", "ranks", "score"} <= shown["passages"][0].keys()
    assert {"vector", "keyword", "fused", "rerank"} == shown["passages"][0]["ranks"].keys()


def test_each_part_of_a_compound_question_is_answered(quoting: Answerer) -> None:
    answer = ask(quoting, "What does a hotel night cost, and how many people does the big room seat?")
    assert "EUR 135" in answer.text
    assert "forty people" in answer.text
    assert {c.title for c in answer.citations} == {"Travel policy", "Meeting rooms"}
    assert {c.title for c in answer.citations} <= {passage.title for passage in answer.passages}
