"""A private answer is shared by answering again for everyone in the channel, and by nothing else."""

from collections.abc import Callable

import pytest

from bot import wording
from bot.errors import SlackUnavailable
from bot.local_slack import LocalSlack, Message
from tests.company import Company, until

LEASE = "how much does the landlord of the Harbour Street office demand for the roof repair?"
AMOUNT = "48,000"


def open_legal(slack: LocalSlack) -> None:
    slack.convert("legal", "public")


def shown_privately(
    company: Company, place: str, meanwhile: Callable[[LocalSlack], object] = open_legal
) -> tuple[Message, Message]:
    """Ana's question in a place whose readers may not know, and the answer that she alone got after something changed."""
    question = company.ask("ana", place, LEASE)
    company.reply(question)
    note = company.slack.wait_for(lambda slack: slack.ephemerals("ana"))[-1]
    meanwhile(company.slack)
    company.slack.wait_until_idle()
    company.slack.click("ana", place, note.ts, "show_privately")
    company.settled()
    return question, next(message for message in direct(company) if AMOUNT in message.text)


def direct(company: Company) -> list[Message]:
    """What stands in Ana's conversation with the bot, newest first."""
    return company.slack.state.history(company.slack.dm("ana").id)


def is_offered(private: Message) -> bool:
    return wording.SHARE in str(private.blocks)


def share(company: Company, private: Message, *told: str) -> None:
    """Press the button: this is what Ana alone has read of it then, below the answer and where she clicked."""

    def heard() -> list[str]:
        below = [message.text for message in direct(company) if message.ts > private.ts]
        return [*below, *(note.text for note in company.slack.ephemerals("ana") if note.ts > private.ts)]

    company.slack.click("ana", company.slack.dm("ana").id, private.ts, "share")
    company.settled()
    until(lambda: heard() == [*told])  # what was shared is there before she is told so


@pytest.mark.parametrize("place", ["general", "lunch"])
def test_what_the_channel_may_not_read_is_not_offered_to_be_shared(own_company: Company, place: str) -> None:
    question, private = shown_privately(own_company, place, lambda slack: None)
    assert not is_offered(private)
    before = own_company.slack.replies(question)
    assert own_company.press("share", question, "ana").state == "done"
    assert own_company.slack.replies(question) == before


def test_what_was_said_in_the_channel_is_not_offered_to_be_shared(own_company: Company) -> None:
    first = own_company.ask("ana", "general", LEASE)
    own_company.reply(first)
    own_company.slack.wait_for(lambda slack: slack.ephemerals("ana"))
    again = own_company.ask("ana", "general", LEASE, first.ts)
    own_company.reply(again)
    own_company.slack.wait_for(lambda slack: len(slack.ephemerals("ana")) == 2)
    one, another = own_company.slack.ephemerals("ana")
    open_legal(own_company.slack)
    own_company.slack.wait_until_idle()
    own_company.slack.click("ana", "general", one.ts, "show_privately")
    own_company.settled()
    private = direct(own_company)[0]
    assert is_offered(private)
    share(own_company, private, wording.SHARED)
    own_company.slack.click("ana", "general", another.ts, "show_privately")
    own_company.settled()
    assert AMOUNT in direct(own_company)[0].text
    assert not is_offered(direct(own_company)[0])


def test_whoever_left_the_channel_is_not_offered_to_share_there(own_company: Company) -> None:
    question = own_company.ask("ana", "lunch", LEASE)
    own_company.reply(question)
    open_legal(own_company.slack)
    own_company.slack.leave("ana", "lunch")
    own_company.slack.wait_until_idle()
    own_company.press("show_privately", question, "ana")
    assert AMOUNT in direct(own_company)[0].text
    assert not is_offered(direct(own_company)[0])


def test_nothing_is_offered_to_be_shared_where_slack_does_not_say_who_reads_it(own_company: Company) -> None:
    def unknown(slack: LocalSlack) -> None:
        open_legal(slack)
        slack.fault("api_error", "conversations.members", times=100)
        slack.join("gus", "general")

    assert not is_offered(shown_privately(own_company, "general", unknown)[1])


def test_what_the_channel_may_not_read_is_not_shared_and_only_the_asker_hears_so(own_company: Company) -> None:
    question, private = shown_privately(own_company, "general")
    assert is_offered(private)
    own_company.slack.convert("legal", "private")
    own_company.slack.wait_until_idle()
    before = own_company.slack.replies(question)
    share(own_company, private, wording.NOTHING_TO_SHARE)
    assert own_company.slack.replies(question) == before
    assert AMOUNT not in str([m.text for m in own_company.slack.state.history("CGENERAL")])


def test_a_button_pressed_often_is_answered_by_one_line_that_says_what_came_of_it_last(own_company: Company) -> None:
    question, private = shown_privately(own_company, "general")
    own_company.slack.convert("legal", "private")
    own_company.slack.wait_until_idle()
    for _ in range(3):
        share(own_company, private, wording.NOTHING_TO_SHARE)
    open_legal(own_company.slack)
    own_company.slack.wait_until_idle()
    share(own_company, private, wording.SHARED)
    share(own_company, private, wording.NOTHING_TO_SHARE)
    own_company.slack.delete("ana", "general", question.ts)
    own_company.settled()
    assert wording.NOTHING_TO_SHARE not in str(direct(own_company)), "the line goes with the question"


def test_what_the_channel_may_read_by_now_is_shared_once_as_an_answer_of_its_own(own_company: Company) -> None:
    question, private = shown_privately(own_company, "general")
    assert own_company.press("share", question, "ben").state == "refused"
    assert len(own_company.slack.replies(question)) == 1
    share(own_company, private, wording.SHARED)
    for _ in range(2):
        share(own_company, private, wording.NOTHING_TO_SHARE, wording.SHARED)
    _, shared = own_company.slack.replies(question)
    assert AMOUNT in shared.text
    own_company.slack.click("ben", "general", shared.ts, "feedback", "positive")
    own_company.settled()


def test_whoever_left_the_channel_shares_nothing_there(own_company: Company) -> None:
    question, private = shown_privately(own_company, "lunch")
    before = own_company.slack.replies(question)
    own_company.slack.leave("ana", "lunch")
    share(own_company, private, wording.CANNOT_SHARE)
    assert own_company.slack.replies(question) == before


def test_when_slack_does_not_say_who_reads_the_channel_nothing_is_shared(own_company: Company) -> None:
    question, _ = shown_privately(own_company, "general")
    own_company.slack.fault("api_error", "conversations.members", times=100)
    with pytest.raises(SlackUnavailable):
        own_company.press("share", question, "ana")
    assert len(own_company.slack.replies(question)) == 1


@pytest.mark.parametrize("task", ["show_privately", "share"])
def test_the_buttons_work_for_the_asker_alone(company: Company, task: str) -> None:
    question = company.ask("ana", "general", LEASE)
    company.settled()
    before = list(company.slack.state.everything())
    assert company.press(task, question, "ben").state == "refused"
    said = [message for message in company.slack.state.everything() if message not in before]
    assert [(message.channel, message.text) for message in said] == [(company.slack.dm("ben").id, wording.NOT_YOURS)]
