"""Answers judged by a model over HTTP: what is sent, what is kept, and where it ends."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from pydantic import SecretStr

from knowledge import budget, prompting, retrieval
from knowledge.answer_rows import save
from knowledge.answers import Answer, Outcome, Question
from knowledge.db import Database
from knowledge.judge import Verdict, judge
from knowledge.local_claude import LocalClaude, Step, serve
from knowledge.passages import Found
from knowledge.permissions import Scopes
from knowledge.settings import Answers
from tests.rows import add_chunk

ALL = frozenset({"workspace"})
YESTERDAY = datetime.now(UTC) - timedelta(days=1)


def verdict(claims: int, supported: int, relevance: int) -> Step:
    said = {"claims": claims, "supported": supported, "relevance": relevance}
    return Step(content=({"type": "text", "text": json.dumps(said)},))


@pytest.fixture
def claude() -> LocalClaude:
    return LocalClaude(verdict(4, 3, 2), verdict(1, 1, 1))


@pytest.fixture
def settings(claude: LocalClaude) -> Iterator[Answers]:
    with serve(claude) as url:
        yield Answers.model_validate({"api_key": SecretStr("k"), "base_url": url, "daily_token_budget": 1_000_000})


@pytest.fixture
def asked(database: Database) -> Database:
    for number, scopes in ((1, ALL), (2, frozenset({"channel:C7"}))):
        with database.writing() as connection:
            add_chunk(connection, number, scopes)
        answer(database, f"a{number}", number, scopes)
    return database


def answer(database: Database, name: str, chunk: int, scopes: Scopes, outcome: Outcome = "answered") -> None:
    with database.reading(scopes) as connection:
        passages = tuple(retrieval.read(connection, [chunk], scopes).values())
    made = Answer(name, "q?", f"question {name}?", f"said {name}", outcome, (), passages, Found((), {}, "none", 1, {}))
    with database.writing() as connection:
        save(connection, made, Question("q?", "U1", "C1"), scopes)


def sent(claude: LocalClaude) -> list[dict[str, Any]]:
    return [request["body"] for request in claude.requests]


def test_each_answer_is_judged_with_its_own_passages_and_only_numbers_are_kept(
    asked: Database, settings: Answers, claude: LocalClaude
) -> None:
    judged = judge(asked, settings, YESTERDAY)
    assert judged is not None
    kept = judged.to_json()
    newest, oldest = sent(claude)
    assert (newest["system"], newest["model"]) == (prompting.rubric(), settings.model)
    for body, number in ((newest, 2), (oldest, 1)):
        content = str(body["messages"])
        assert all(said in content for said in (f"text {number}", f"question a{number}?", f"said a{number}"))
        assert f"text {3 - number}" not in content
    assert (kept["answers"], kept["of"], kept["faithfulness"], kept["relevance"]) == (2, 2, 4 / 5, 3 / 4)
    assert kept["verdicts"] == {
        "a2": {"claims": 4, "supported": 3, "relevance": 2},
        "a1": {"claims": 1, "supported": 1, "relevance": 1},
    }
    assert "said" not in json.dumps(kept)
    assert kept["usage"]["dollars"] > 0
    with asked.plain() as connection:
        assert budget.spent(connection, datetime.now(UTC)) == budget.tokens(kept["usage"]) > 0


@pytest.mark.parametrize("lacking", [{"api_key": None}, {"daily_token_budget": None}, {"judged_a_night": 0}])
def test_without_a_key_or_a_budget_nothing_is_asked(
    asked: Database, settings: Answers, claude: LocalClaude, lacking: dict[str, object]
) -> None:
    assert judge(asked, settings.model_copy(update=lacking), YESTERDAY) is None
    assert sent(claude) == []


def test_it_ends_when_the_days_tokens_are_spent(asked: Database, settings: Answers, claude: LocalClaude) -> None:
    judged = judge(asked, settings.model_copy(update={"daily_token_budget": 1}), YESTERDAY)
    assert judged is not None
    assert (len(judged.verdicts), judged.of, len(sent(claude))) == (1, 2, 1)


@pytest.mark.parametrize(
    "fault", [Step(status=400, error="invalid_request_error"), Step(stop_reason="refusal", content=())]
)
def test_a_service_that_fails_ends_it_and_what_was_judged_stays(
    asked: Database, settings: Answers, claude: LocalClaude, fault: Step
) -> None:
    claude.script.insert(1, fault)
    judged = judge(asked, settings, YESTERDAY)
    assert judged is not None
    assert judged.verdicts == {"a2": Verdict(claims=4, supported=3, relevance=2)}


def test_quotes_old_answers_and_those_whose_passages_are_gone_are_left_out(
    asked: Database, settings: Answers, claude: LocalClaude
) -> None:
    answer(asked, "quoted", 1, ALL, "quoted")
    with asked.writing() as connection:
        connection.execute(sa.text("delete from documents where external_id = 'document-2'"))
        connection.execute(sa.text("update answers set created_at = now() - interval '2 days' where id = 'a1'"))
    judged = judge(asked, settings, YESTERDAY)
    assert judged is not None
    assert (judged.of, sent(claude)) == (0, [])
    assert (judged.to_json()["faithfulness"], judged.to_json()["relevance"]) == (None, None)
