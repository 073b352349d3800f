"""What monitoring sees: numbers of the whole bot, no names, no texts; readiness that tells what is missing."""

from collections.abc import Iterator

import httpx2
import pytest

from bot.monitoring import Monitor
from bot.service import Service
from knowledge import receipts
from knowledge.db import Database
from tests.company import Company
from tests.rows import add_answer


@pytest.fixture
def lacking() -> list[str]:
    return []


@pytest.fixture
def client(database: Database, lacking: list[str]) -> Iterator[httpx2.Client]:
    monitor = Monitor(database, 0, lambda: tuple(lacking))
    monitor.start()
    with httpx2.Client(base_url=monitor.url) as opened:
        yield opened
    monitor.stop()


def test_questions_and_answers_are_counted_by_how_they_ended(client: httpx2.Client, database: Database) -> None:
    with database.writing() as connection:
        first = receipts.record(connection, "Ev1", "answer", {"text": "secret"}, person="UANA", message_key="T:C:1")
        receipts.record(connection, "Ev2", "answer", {"text": "secret"}, person="UANA", message_key="T:C:2")
        assert first is not None
        receipts.finish(connection, first, "answered")
        add_answer(connection, "one", ["workspace"])
    metrics = client.get("/metrics").text
    assert 'footnote_questions{state="answered"} 1.0' in metrics
    assert 'footnote_questions{state="received"} 1.0' in metrics
    assert 'footnote_answers{outcome="answered"} 1.0' in metrics
    assert "footnote_waiting 1.0" in metrics
    assert "UANA" not in metrics
    assert "secret" not in metrics


def test_an_empty_database_has_no_recall_and_no_failures(client: httpx2.Client) -> None:
    metrics = client.get("/metrics").text
    assert "footnote_recall_at_5" not in metrics
    assert "footnote_sources_failing 0.0" in metrics


def test_a_process_is_ready_when_nothing_is_lacking(client: httpx2.Client, lacking: list[str]) -> None:
    assert client.get("/healthz").status_code == 200
    assert client.get("/readyz").status_code == 200
    lacking.append("connection to Slack")
    answer = client.get("/readyz")
    assert (answer.status_code, answer.text) == (503, "connection to Slack\n")


def test_a_start_that_failed_before_it_leaves_its_port_free(database: Database) -> None:
    monitor = Monitor(database, 0, tuple)
    monitor.stop()
    with pytest.raises(httpx2.ConnectError):
        httpx2.get(f"{monitor.url}/healthz")


def test_a_bot_lacks_its_parts_until_they_run(own_company: Company) -> None:
    another = Service(own_company.settings, own_company.engine)
    assert another.lacking() == ("receiver", "worker", "connection to Slack")
    assert own_company.service.lacking() == ()
