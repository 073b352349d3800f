"""An answer shown while it is written: a local Claude writes, the local Slack streams."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bot.local_slack import Message
from bot.streaming import whole_paragraphs
from knowledge import rates, receipts
from knowledge.db import Database
from knowledge.encoders import Embedder
from knowledge.local_claude import LocalClaude, Step, serve
from knowledge.reranking import Reranker
from knowledge.settings import Answers
from tests.company import Company, running, until

RULES = "\n\n".join(
    f"Rule {n} of the travel policy says that travellers book their train number {n} two weeks ahead of the journey, "
    "and that they say at the desk which seat they want, how long they stay, and who looks after their desk meanwhile."
    for n in range(1, 9)
)
QUESTION = "what does the travel policy say that travellers book ahead of the journey?"

Models = tuple[Embedder, Reranker]


@contextmanager
def writing(tmp_path: Path, url: str, models: Models, claude: LocalClaude) -> Iterator[Company]:
    documents = {"everyone/travel.md": f"# Travel policy\n\n{RULES}\n"}
    with serve(claude) as address:
        answers = Answers.model_validate({"api_key": "sk-local", "base_url": address})
        with running(tmp_path, url, models, documents=documents, answers=answers) as company:
            yield company


def methods(company: Company) -> list[str]:
    return [call.method for call in company.slack.calls if call.ok]


def shown(message: Message) -> str:
    return str((message.text, message.blocks))


def test_the_answer_appears_while_it_is_written_and_ends_as_one_message(
    tmp_path: Path, postgres_url: str, models: Models
) -> None:
    with writing(tmp_path, postgres_url, models, LocalClaude()) as company:
        question = company.ask("ben", "general", QUESTION)
        reply = company.reply(question)
        assert "chat.startStream" in methods(company)
        assert "chat.stopStream" in methods(company)
        assert len(company.slack.replies(question)) == 1
        assert "two weeks ahead" in shown(reply)
        assert "https://docs.example.test/everyone/travel.md" in shown(reply)
        assert "feedback" in shown(reply)


@pytest.mark.parametrize("method", ["chat.startStream", "chat.appendStream", "chat.stopStream"])
def test_whatever_happens_to_the_stream_the_reply_is_whole(
    tmp_path: Path, postgres_url: str, models: Models, method: str
) -> None:
    with writing(tmp_path, postgres_url, models, LocalClaude()) as company:
        company.slack.fault("api_error", method, error="message_not_in_streaming_state")
        question = company.ask("ben", "general", QUESTION)
        company.receipt(question)
        replies = until(lambda: company.slack.replies(question))
        assert len(replies) == 1
        assert "two weeks ahead" in shown(replies[0])


def test_a_preview_that_somebody_deletes_keeps_no_answer_back(
    tmp_path: Path, postgres_url: str, models: Models
) -> None:
    with writing(tmp_path, postgres_url, models, LocalClaude()) as company:
        company.slack.fault("slow", "chat.stopStream", seconds=2)
        question = company.ask("ben", "general", QUESTION)
        state = company.slack.state
        preview = company.slack.wait_for(lambda _: next((m for m in state.everything() if m.stream), None))
        state.delete(preview)
        company.receipt(question)
        assert ["two weeks ahead" in shown(reply) for reply in company.slack.replies(question)] == [True]


def test_rights_that_change_before_anything_is_shown_keep_it_hidden(
    tmp_path: Path, postgres_url: str, models: Models
) -> None:
    claude = LocalClaude(Step(delay_s=1.5))
    with writing(tmp_path, postgres_url, models, claude) as company:
        question = company.ask("ben", "general", QUESTION)
        until(lambda: claude.requests)
        company.slack.share_channel("general")
        company.receipt(question)
        assert "two weeks ahead" not in str([call.arguments for call in company.slack.calls])


def test_a_stream_that_a_dead_worker_left_behind_is_finished_by_the_next(
    tmp_path: Path, postgres_url: str, models: Models
) -> None:
    with writing(tmp_path, postgres_url, models, LocalClaude()) as company:
        question = company.ask("ben", "general", QUESTION)
        company.receipt(question)
        receipt = company.receipt(question)
        (reply,) = company.slack.replies(question)
        reply.text, reply.metadata = "half of the ans", None
        with company.database.plain() as connection:
            for noted in receipts.replies_to(connection, receipt.id):
                receipts.drop_reply(connection, noted)
            connection.exec_driver_sql("update inbox set state = 'working', finished_at = null")
        company.answer_again(receipt.id)
        assert [each.ts for each in company.slack.replies(question)] == [reply.ts]
        assert "two weeks ahead" in shown(company.slack.replies(question)[0])


def test_the_streams_of_a_workspace_are_rationed_among_all_processes(database: Database) -> None:
    taken = []
    for _ in range(12):
        with database.plain() as connection:
            taken.append(rates.take(connection, "starts", per_minute=0.001, burst=10))
    assert taken == [True] * 10 + [False] * 2


def test_only_whole_paragraphs_are_shown() -> None:
    assert whole_paragraphs("one\n\ntwo") == ("one", "two")
    assert whole_paragraphs("one\n\n```\na\n\nb\n") == ("one", "```\na\n\nb\n")
    assert whole_paragraphs("one") == ("", "one")
