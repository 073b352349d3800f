"""How the bot behaves where other bots were seen to go wrong: through the websocket, against one company."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from slack_sdk import WebClient

from bot import blocks, wording
from bot.client import identify, web_client
from bot.local_slack.delivery import Envelope
from bot.local_slack.event import Event, event_callback
from bot.replies import Replies
from bot.service import Part
from knowledge import receipts, votes
from knowledge.db import Database
from knowledge.encoders import Embedder
from knowledge.postgres import EmbeddedPostgres
from knowledge.receipts import Receipt
from knowledge.reranking import Reranker
from knowledge.votes import Tally
from tests.company import DOCUMENTS, Company, running

LEAVE = "how many days of annual leave do full-time staff get?"
OUTAGES = '---\ntitle: "A <b> & C | D > E]"\n---\n\nFor outages of the warehouse post <!channel> and call <@UANA>.\n'
Models = tuple[Embedder, Reranker]


@pytest.fixture(scope="module")
def company(
    tmp_path_factory: pytest.TempPathFactory, embedded_postgres: EmbeddedPostgres, models: Models
) -> Iterator[Company]:
    documents = {**DOCUMENTS, "everyone/outages.md": OUTAGES}
    with (
        Database(embedded_postgres.url("postgres")) as administration,
        administration.scratch() as database,
        running(tmp_path_factory.mktemp("conduct"), database.url, models, documents=documents) as made,
    ):
        yield made


@pytest.fixture
def bot(company: Company) -> WebClient:
    return web_client(company.settings.slack)


def received(company: Company, channel: str, ts: str) -> Receipt | None:
    company.settled()
    with company.database.plain() as connection:
        return receipts.by_message(connection, f"{company.slack.state.team.id}:{channel}:{ts}")


def things_sent(company: Company, person: str) -> dict[str, int]:
    with company.database.plain() as connection:
        kinds = ("answer", "revise", "withdraw", "vote")
        return {kind: receipts.count_today(connection, person, kind) for kind in kinds}


def test_its_own_words_wake_nobody_also_when_they_name_it(company: Company, bot: WebClient) -> None:
    said = bot.chat_postMessage(channel="CGENERAL", text="As <@UFOOTNOTE> said, invoices go out on Monday")
    assert received(company, "CGENERAL", str(said["ts"])) is None


def test_markup_is_asked_as_people_read_it(company: Company) -> None:
    text = (
        "does <@UANA> know if R&amp;D &lt; 5 items in <#CGENERAL|general> follow "
        "<https://docs.example.test/a?x=1&amp;y=2|the guide>? <!here> <!date^1893456000^{date}|1 Jan 2030> :wave:"
    )
    assert company.answer(company.ask("ben", "general", text)).question == (
        "does @ana know if R&D < 5 items in #general follow the guide https://docs.example.test/a?x=1&y=2 ? "
        "@here 1 Jan 2030 :wave:"
    )


def test_help_is_understood_however_it_is_typed(company: Company) -> None:
    asked = [company.ask("ben", "general", text) for text in ("“help”", "help\u200b", "  ＨＥＬＰ", "Help!")]
    assert {company.reply(question).text for question in asked} == {wording.HELP}


@pytest.mark.parametrize("odd", ["\x00", "\ud83d"])
def test_characters_that_no_database_takes_lose_no_question(company: Company, odd: str) -> None:
    question = company.ask("ben", "general", f"{LEAVE}{odd}")
    assert "25 days" in company.reply(question).text


def test_a_reply_that_was_also_sent_to_the_channel_is_answered_in_its_thread_alone(company: Company) -> None:
    root = company.slack.say("ana", "general", "Does anybody know about leave?")
    text = f"<@UFOOTNOTE> {LEAVE}"
    copy = company.slack.state.say("CGENERAL", "UBEN", text, thread_ts=root.ts, subtype="thread_broadcast")
    company.reply(copy)
    assert [(m.thread_ts, "25 days" in m.text) for m in company.slack.replies(root)] == [(root.ts, True)]


def test_nothing_in_a_document_or_its_title_notifies_anybody_or_breaks_its_link(company: Company) -> None:
    reply = company.reply(company.ask("ben", "general", "what to post and whom to call for outages of the warehouse?"))
    shown = json.dumps([reply.text, reply.blocks], ensure_ascii=False)
    assert "For outages of the warehouse post" in shown
    assert "<!channel>" not in shown
    assert "<@UANA>" not in shown
    assert "<https://docs.example.test/everyone/outages.md|A &lt;b&gt; &amp; C ¦ D &gt; E]>" in shown


def test_a_very_long_answer_arrives_in_parts_and_a_vote_on_any_of_them_counts(company: Company, bot: WebClient) -> None:
    question = company.ask("ben", "general", LEAVE)
    company.reply(question)
    answer, receipt = company.answer(question), company.receipt(question)
    code = "\n".join(f"line {number} of the program" for number in range(260))
    prose = " ".join(f"Sentence {number} says something [1]." for number in range(150))
    posts = blocks.answer(answer.id, f"{prose}\n\n```text\n{code}\n```\n\n{prose}", ())
    replies = Replies(bot, company.database, identify(bot))
    replies.send(receipt, question.channel, question.ts, posts, answer.id, anew=True)
    first, *more = company.slack.replies(question)
    assert more
    assert "line 259 of the program" in str([first.blocks, *(m.blocks for m in more)])
    assert [any(b["type"] == "context_actions" for b in m.blocks) for m in (first, *more)] == [
        *[False] * len(more),
        True,
    ]
    company.slack.react("ana", "general", more[-1].ts, "thumbsdown::skin-tone-4")
    company.slack.react("footnote", "general", first.ts, "-1")
    company.settled()
    with company.database.plain() as connection:
        assert votes.tally(connection, answer.id) == Tally(0, 1)


def test_a_reaction_to_a_file_and_a_link_that_slack_unfolds_are_nothing_to_it(company: Company) -> None:
    question = company.ask("ben", "general", f"{LEAVE} See https://wiki.example.com/leave")
    shown = company.reply(question).text
    file = {"type": "reaction_added", "user": "UBEN", "reaction": "-1", "item": {"type": "file", "file": "F0A"}}
    message = {"type": "message", "user": "UBEN", "ts": question.ts, "text": question.text}
    unfolded = {
        "type": "message",
        "subtype": "message_changed",
        "channel": question.channel,
        "ts": f"{float(question.ts) + 1:.6f}",
        "message": {**message, "attachments": [{"from_url": "https://wiki.example.com/leave", "id": 1}]},
        "previous_message": message,
    }
    sent = things_sent(company, "UBEN")
    for body in (file, unfolded):
        event = event_callback(Event("message", body), company.slack.state)
        company.slack.delivery.push(Envelope("events_api", event))
    company.settled()
    assert things_sent(company, "UBEN") == sent
    assert [m.text for m in company.slack.replies(question)] == [shown]


def test_the_status_goes_with_the_reply_also_when_something_failed(company: Company) -> None:
    company.slack.fault("api_error", "users.info", times=50)
    company.slack.fault("server_error", "chat.postMessage")
    question = company.ask("ben", "general", LEAVE)
    company.reply(question)
    company.settled()
    company.slack.faults.clear()
    assert company.slack.status("general", question.ts) == ""
    assert len(company.slack.replies(question)) == 1


def test_where_follow_ups_are_switched_off_a_thread_needs_mentions(
    tmp_path: Path, postgres_url: str, models: Models
) -> None:
    parts = (Part.RECEIVER,)
    with running(tmp_path, postgres_url, models, parts=parts, slack={"follow_ups": False}) as quiet:
        root = quiet.ask("ben", "general", LEAVE)
        more = quiet.slack.say("ben", "general", "and for contractors?", root.ts)
        named = quiet.ask("ben", "general", "and for contractors?", root.ts)
        quiet.slack.wait_until_idle()
        with quiet.database.plain() as connection:
            team = quiet.slack.state.team.id
            found = [receipts.by_message(connection, f"{team}:CGENERAL:{m.ts}") for m in (root, more, named)]
        assert [receipt is not None for receipt in found] == [True, False, True]
