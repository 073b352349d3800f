"""Clicks, edits, deletions and changes at the worst moment: each ends once, and leaves nothing behind that should go."""

import pytest
import sqlalchemy as sa

from bot import wording
from bot.blocks import notice
from bot.client import identify, web_client
from bot.errors import SlackUnavailable
from bot.local_slack import Message
from bot.replies import Replies
from knowledge import receipts
from knowledge.tables import answers, inbox
from tests.company import Company, until

LEAVE = "how many days of annual leave do full-time staff get?"
INVOICES = "when do customer invoices go out?"
LEASE = "how much does the landlord of the Harbour Street office demand for the roof repair?"
AMOUNT = "48,000"


def direct(company: Company, user: str) -> list[Message]:
    """What the bot said to this person in a direct conversation, newest first."""
    return [m for m in company.slack.state.history(company.slack.dm(user).id) if m.from_bot]


def everything_said(company: Company) -> str:
    state = company.slack.state
    return str([(m.text, m.blocks) for m in (*state.everything(), *state.ephemerals)])


def offered(company: Company, place: str = "general") -> tuple[Message, Message]:
    """Ana's question in a place whose readers may not know, and the note that she alone got."""
    question = company.ask("ana", place, LEASE)
    company.reply(question)
    return question, company.slack.wait_for(lambda slack: slack.ephemerals("ana"))[-1]


def kept(company: Company, *tables: sa.Table) -> str:
    """Everything that is kept of questions and answers."""
    with company.database.writing() as connection:
        rows = [connection.execute(sa.select(table)).all() for table in tables or (inbox, answers)]
    return str(rows)


def test_a_button_pressed_twice_makes_one_private_answer(own_company: Company) -> None:
    _, note = offered(own_company)
    for _ in range(2):
        own_company.slack.click("ana", "general", note.ts, "show_privately")
    own_company.settled()
    assert sum(AMOUNT in m.text for m in direct(own_company, "ana")) == 1


def test_a_deleted_question_takes_along_what_was_shown_privately_and_shared(own_company: Company) -> None:
    slack = own_company.slack
    question, note = offered(own_company)
    slack.convert("legal", "public")
    slack.wait_until_idle()
    slack.click("ana", "general", note.ts, "show_privately")
    own_company.settled()
    private = next(m for m in direct(own_company, "ana") if AMOUNT in m.text)
    slack.click("ana", slack.dm("ana").id, private.ts, "share")
    own_company.settled()
    slack.delete("ana", "general", question.ts)
    own_company.settled()
    assert AMOUNT not in everything_said(own_company)
    assert "landlord" not in kept(own_company)


def test_a_deleted_question_takes_its_edited_text_along(own_company: Company) -> None:
    question = own_company.ask("ben", "general", LEAVE)
    own_company.reply(question)
    own_company.slack.edit("ben", "general", question.ts, f"<@UFOOTNOTE> {INVOICES}")
    own_company.settled()
    own_company.slack.delete("ben", "general", question.ts)
    own_company.settled()
    assert "customer invoices go out?" not in kept(own_company)
    assert LEAVE not in kept(own_company)


def test_one_message_that_slack_keeps_from_changing_holds_up_no_other(own_company: Company) -> None:
    asked = [own_company.ask("ben", "general", LEAVE) for _ in range(3)]
    for question in asked:
        own_company.reply(question)
    for method in ("chat.update", "chat.delete"):
        own_company.slack.fault("api_error", method, error="edit_window_closed")
    (own_company.documents / "everyone" / "leave.md").unlink()
    with pytest.raises(SlackUnavailable):
        own_company.sync()
    left = [q for q in asked if "25 days" in own_company.slack.replies(q)[0].text]
    assert len(left) == 1
    own_company.sync()
    assert "25 days" not in everything_said(own_company)


def test_an_answer_in_an_archived_channel_is_taken_back_when_it_is_opened_again(own_company: Company) -> None:
    question = own_company.ask("ben", "general", LEAVE)
    own_company.reply(question)
    own_company.slack.archive("general")
    (own_company.documents / "everyone" / "leave.md").unlink()
    own_company.sync()
    own_company.slack.archive("general", archived=False)
    own_company.sync()
    assert "25 days" not in everything_said(own_company)


def test_an_answer_that_waits_to_be_posted_is_taken_back_with_its_document(own_company: Company) -> None:
    own_company.slack.fault("rate_limited", "chat.postMessage", seconds=4)
    question = own_company.ask("ben", "general", LEAVE)
    own_company.slack.wait_for(lambda slack: any(c.method == "chat.postMessage" for c in slack.calls))
    (own_company.documents / "everyone" / "leave.md").unlink()
    own_company.sync()
    own_company.receipt(question)
    own_company.settled()
    assert "25 days" not in everything_said(own_company)


def test_who_asked_in_a_channel_that_was_archived_meanwhile_is_told(own_company: Company) -> None:
    own_company.slack.fault("slow", "users.info", seconds=2)
    question = own_company.ask("ben", "general", LEAVE)
    own_company.slack.wait_for(lambda slack: any(c.method.startswith("assistant") for c in slack.calls))
    own_company.slack.archive("general")
    own_company.settled()
    assert own_company.receipt(question).state == "failed"
    assert [m.text for m in direct(own_company, "ben")] == [wording.CANNOT_REPLY]


def test_the_asker_may_add_something_before_the_answer_is_there(own_company: Company) -> None:
    own_company.slack.fault("slow", "users.info", seconds=2)
    question = own_company.ask("ben", "general", LEAVE)
    own_company.slack.wait_until_idle()  # written down, as it is before a person can add anything
    more = own_company.slack.say("ben", "general", "and when do customer invoices go out?", question.ts)
    own_company.settled()
    assert own_company.receipt(more).state == "answered"


@pytest.mark.parametrize("error", ["invalid_blocks", "msg_too_long"])
def test_an_edited_answer_whose_form_slack_refuses_is_changed_plainly(company: Company, error: str) -> None:
    question = company.ask("ben", "general", LEAVE)
    company.reply(question)
    company.slack.fault("api_error", "chat.update", error=error)
    company.slack.edit("ben", "general", question.ts, f"<@UFOOTNOTE> {INVOICES}")
    company.settled()
    assert "first Monday" in company.slack.replies(question)[0].text
    with company.database.plain() as connection:
        receipt = company.receipt(question)
        [edit] = [r for r in receipts.in_thread(connection, str(receipt.thread_key), "UBEN") if r.kind == "revise"]
    assert edit.attempt == 1


def form_opened(company: Company) -> Message:
    """Ben asks, marks the answer as wrong, and has the form for the right source open; his question."""
    slack = company.slack
    question = company.ask("ben", "general", LEAVE)
    slack.click("ben", "general", company.reply(question).ts, "feedback", "negative")
    note = slack.wait_for(lambda s: s.ephemerals("ben"))[-1]
    slack.click("ben", "general", note.ts, "name_source")
    slack.wait_for(lambda s: s.modal("ben"))
    return question


def test_a_form_sent_after_the_answer_is_gone_is_answered(own_company: Company) -> None:
    slack = own_company.slack
    question = form_opened(own_company)
    slack.delete("ben", "general", question.ts)
    own_company.settled()
    slack.submit("ben", {"document": "Annual leave"})
    own_company.settled()
    assert [m.text for m in slack.ephemerals("ben")] == [wording.ANSWER_GONE]
    assert direct(own_company, "ben") == []


def test_a_form_sent_when_the_click_that_opened_it_is_long_past_is_answered_directly(own_company: Company) -> None:
    slack = own_company.slack
    question = form_opened(own_company)
    slack.advance(31 * 60)  # a click may be answered for half an hour
    slack.delete("ben", "general", question.ts)
    own_company.settled()
    slack.submit("ben", {"document": "Annual leave"})
    own_company.settled()
    assert [m.text for m in direct(own_company, "ben")] == [wording.ANSWER_GONE]


def test_a_form_sent_after_its_channel_was_archived_is_answered(own_company: Company) -> None:
    slack = own_company.slack
    form_opened(own_company)
    slack.archive("general")
    slack.submit("ben", {"document": "Annual leave"})
    own_company.settled()
    assert [m.text for m in slack.ephemerals("ben")] == [wording.LABEL_THANKS]
    assert direct(own_company, "ben") == []


def test_an_edit_that_first_mentions_the_bot_is_one_question(company: Company) -> None:
    said = company.slack.say("ben", "general", LEAVE)
    company.slack.edit("ben", "general", said.ts, f"<@UFOOTNOTE> {LEAVE}")
    company.receipt(said)
    company.settled()
    assert len(company.slack.replies(said)) == 1


def test_after_an_edit_the_asker_is_told_of_what_is_withheld(own_company: Company) -> None:
    question = own_company.ask("ana", "general", INVOICES)
    own_company.reply(question)
    own_company.slack.edit("ana", "general", question.ts, f"<@UFOOTNOTE> {LEASE}")
    note = own_company.slack.wait_for(lambda slack: slack.ephemerals("ana"))[-1]
    assert note.text == wording.PRIVATE_REMAINDER


def test_an_offer_that_fails_leaves_the_answer_as_it_is(own_company: Company) -> None:
    slack = own_company.slack
    slack.fault("slow", "chat.postMessage", seconds=1.5)
    question = own_company.ask("ana", "general", LEASE)
    until(lambda: "Harbour" in kept(own_company, answers))
    with own_company.database.writing() as connection:
        connection.exec_driver_sql("alter table chunk_terms rename to gone")
    own_company.settled()
    assert own_company.receipt(question).state == "answered"


def test_an_answer_that_somebody_deleted_comes_again_with_an_edit(company: Company) -> None:
    question = company.ask("ben", "general", LEAVE)
    reply = company.reply(question)
    company.slack.state.delete(reply)
    company.slack.edit("ben", "general", question.ts, f"<@UFOOTNOTE> {INVOICES}")
    company.settled()
    assert ["first Monday" in each.text for each in company.slack.replies(question)] == [True]


def test_a_question_that_failed_is_answered_when_it_is_edited(own_company: Company) -> None:
    with own_company.database.writing() as connection:
        connection.exec_driver_sql("alter table chunk_terms rename to gone")
    question = own_company.ask("ben", "general", LEAVE)
    own_company.reply(question)
    with own_company.database.writing() as connection:
        connection.exec_driver_sql("alter table gone rename to chunk_terms")
    own_company.slack.edit("ben", "general", question.ts, f"<@UFOOTNOTE> {INVOICES}")
    own_company.settled()
    assert ["first Monday" in each.text for each in own_company.slack.replies(question)] == [True]


def test_a_reply_that_an_attempt_before_left_half_done_becomes_one_answer(company: Company) -> None:
    """A worker died after the first of two messages; another attempt may come to another answer, of one."""
    question = company.ask("ben", "general", LEAVE)
    company.reply(question)
    receipt = company.receipt(question)
    bot = web_client(company.settings.slack)
    replies = Replies(bot, company.database, identify(bot))
    replies.send(receipt, "CGENERAL", question.ts, (notice("half of"), notice("an old answer")), "old", anew=True)
    with company.database.plain() as connection:
        receipts.drop_reply(connection, receipts.replies_to(connection, receipt.id)[1])
        connection.exec_driver_sql(f"update inbox set state = 'working' where id = {receipt.id}")
    company.answer_again(receipt.id)
    assert ["25 days" in each.text for each in company.slack.replies(question)] == [True]
