"""A private answer is shared by answering again for everyone in the channel, and by nothing else."""

import pytest

from bot import wording
from bot.errors import SlackUnavailable
from bot.local_slack import Message
from knowledge import receipts
from knowledge.receipts import Receipt
from tests.company import Company

LEASE = "how much does the landlord of the Harbour Street office demand for the roof repair?"
AMOUNT = "48,000"


def shown_privately(company: Company, place: str) -> tuple[Message, Message]:
    """Ana's question in a place whose readers may not know, and the answer that she alone got."""
    question = company.ask("ana", place, LEASE)
    company.reply(question)
    note = company.slack.wait_for(lambda slack: slack.ephemerals("ana"))[-1]
    company.slack.click("ana", place, note.ts, "show_privately")
    company.settled()
    messages = company.slack.state.history(company.slack.dm("ana").id)
    return question, next(message for message in messages if AMOUNT in message.text)


def share(company: Company, private: Message) -> str:
    """Press the button; what Ana alone is told."""
    before = len(company.slack.ephemerals("ana"))
    company.slack.click("ana", company.slack.dm("ana").id, private.ts, "share")
    company.slack.wait_for(lambda slack: len(slack.ephemerals("ana")) > before)
    company.settled()
    return company.slack.ephemerals("ana")[-1].text


def test_what_the_channel_may_not_read_is_not_shared_and_only_the_asker_hears_so(own_company: Company) -> None:
    question, private = shown_privately(own_company, "general")
    before = own_company.slack.replies(question)
    assert share(own_company, private) == wording.NOTHING_TO_SHARE
    assert own_company.slack.replies(question) == before
    assert AMOUNT not in str([m.text for m in own_company.slack.state.history("CGENERAL")])


def test_what_the_channel_may_read_by_now_is_shared_once_as_an_answer_of_its_own(own_company: Company) -> None:
    question, private = shown_privately(own_company, "general")
    own_company.slack.convert("legal", "public")
    own_company.slack.wait_until_idle()
    assert clicked(own_company, "share", question, "UBEN").state == "refused"
    assert len(own_company.slack.replies(question)) == 1
    assert share(own_company, private) == wording.SHARED
    assert share(own_company, private) == wording.NOTHING_TO_SHARE
    _, shared = own_company.slack.replies(question)
    assert AMOUNT in shared.text
    own_company.slack.click("ben", "general", shared.ts, "feedback", "positive")
    own_company.settled()


def test_whoever_left_the_channel_shares_nothing_there(own_company: Company) -> None:
    question, private = shown_privately(own_company, "lunch")
    before = own_company.slack.replies(question)
    own_company.slack.convert("legal", "public")
    own_company.slack.leave("ana", "lunch")
    assert share(own_company, private) == wording.CANNOT_SHARE
    assert own_company.slack.replies(question) == before


def clicked(company: Company, task: str, question: Message, person: str) -> Receipt:
    """What becomes of a click that Slack would not show this person a button for, or not at this moment."""
    with company.database.plain() as connection:
        made = receipts.record(
            connection, f"made up {task}", task, {"value": company.answer(question).id}, person=person
        )
    assert made is not None
    company.service.private.tasks[task](made)
    with company.database.plain() as connection:
        receipt = receipts.load(connection, made)
    assert receipt is not None
    return receipt


def test_when_slack_does_not_say_who_reads_the_channel_nothing_is_shared(own_company: Company) -> None:
    question, _ = shown_privately(own_company, "general")
    own_company.slack.convert("legal", "public")
    own_company.slack.fault("api_error", "conversations.members", times=100)
    with pytest.raises(SlackUnavailable):
        clicked(own_company, "share", question, "UANA")
    assert len(own_company.slack.replies(question)) == 1


@pytest.mark.parametrize("task", ["show_privately", "share"])
def test_the_buttons_work_for_the_asker_alone(company: Company, task: str) -> None:
    question = company.ask("ana", "general", LEASE)
    company.settled()
    before = list(company.slack.state.everything())
    assert clicked(company, task, question, "UBEN").state == "refused"
    said = [message for message in company.slack.state.everything() if message not in before]
    assert [(message.channel, message.text) for message in said] == [(company.slack.dm("ben").id, wording.NOT_YOURS)]
