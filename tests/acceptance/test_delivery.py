"""One reply to each question, also when processes die at the worst moment."""

import pytest

from bot.service import Part
from knowledge import receipts
from tests.benchmarks.delivery import measure
from tests.company import Company

LEAVE = "how many days of annual leave do full-time staff get?"


def test_two_receivers_and_two_workers_make_one_reply(own_company: Company) -> None:
    own_company.start(Part.RECEIVER, Part.WORKER)
    for kind in ("duplicate", "reordered", "late"):
        own_company.slack.fault(kind, times=4, seconds=0.5)
    asked = [own_company.ask("ben", "general", f"{LEAVE} ({n})") for n in range(12)]
    own_company.settled()
    assert [len(own_company.slack.replies(message)) for message in asked] == [1] * 12


def test_a_reply_that_was_sent_but_not_noted_is_found_and_not_repeated(own_company: Company) -> None:
    """What is left behind by a worker killed between Slack's answer and its own note of it."""
    question = own_company.ask("ben", "general", LEAVE)
    own_company.reply(question)
    own_company.finished()
    receipt = own_company.receipt(question)
    with own_company.database.plain() as connection:
        for reply in receipts.replies_to(connection, receipt.id):
            receipts.drop_reply(connection, reply)
        connection.exec_driver_sql("update inbox set state = 'working', finished_at = null")
    own_company.answer_again(receipt.id)
    assert own_company.receipt(question).attempt == 2
    assert len(own_company.slack.replies(question)) == 1
    with own_company.database.plain() as connection:
        assert len(receipts.replies_to(connection, receipt.id)) == 1


@pytest.mark.parametrize("fault", ["server_error", "rate_limited"])
def test_a_post_that_fails_at_first_arrives_once(own_company: Company, fault: str) -> None:
    own_company.slack.fault(fault, "chat.postMessage", times=2, seconds=1)
    question = own_company.ask("ben", "general", LEAVE)
    assert "25 days" in own_company.reply(question).text
    assert len(own_company.slack.replies(question)) == 1


def test_a_question_waits_for_its_turn_when_slack_has_had_enough_calls(own_company: Company) -> None:
    """For longer than a call waits by itself."""
    own_company.slack.fault("rate_limited", "users.conversations", seconds=60)
    question = own_company.ask("ben", "general", LEAVE)
    assert "25 days" in own_company.reply(question).text
    assert own_company.receipt(question).attempt == 2


def test_a_form_that_slack_refuses_is_sent_plainly(own_company: Company) -> None:
    own_company.slack.fault("api_error", "chat.postMessage", error="invalid_blocks")
    assert "25 days" in own_company.reply(own_company.ask("ben", "general", LEAVE)).text


def test_nothing_is_acknowledged_that_could_not_be_written_down(own_company: Company) -> None:
    """The event comes again, and is answered when the database takes it."""
    with own_company.database.writing() as connection:
        connection.exec_driver_sql("alter table inbox rename to hidden")
    question = own_company.ask("ben", "general", LEAVE)
    own_company.slack.wait_for(lambda slack: any(e.attempt > 0 for e in slack.delivery.sent))
    with own_company.database.writing() as connection:
        connection.exec_driver_sql("alter table hidden rename to inbox")
    assert "25 days" in own_company.reply(question).text
    own_company.settled()
    assert len(own_company.slack.replies(question)) == 1


def test_the_socket_is_repaired_after_it_broke(own_company: Company) -> None:
    own_company.server.break_connections()
    question = own_company.ask("ben", "general", LEAVE)
    assert "25 days" in own_company.reply(question).text


def test_killed_receivers_and_workers_lose_and_repeat_nothing(postgres_url: str) -> None:
    figures = measure(questions=16, kills=3, seed=3, url=postgres_url)
    assert figures == {"questions": 16, "answered_once": 16, "twice": 0, "never": 0, "kills": 3}
