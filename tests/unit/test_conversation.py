"""Which messages are questions, and what was said before them."""

from typing import Any

import pytest

from bot.client import Identity
from bot.conversation import (
    Asked,
    Deleted,
    Edited,
    Ignored,
    MaybeAsked,
    is_addressed,
    is_courtesy,
    is_help,
    question_text,
    turns,
    understand,
)
from knowledge.answers import Turn

ME = Identity(team="T0TEAM0001", user="U0BOT00001", bot="B0SELF0001", app="A0SELF0001")


def event(**changes: Any) -> dict[str, Any]:
    base = {
        "type": "message",
        "channel": "C0FIN00001",
        "channel_type": "channel",
        "user": "U0ASK00001",
        "text": "<@U0BOT00001> when do invoices go out?",
        "ts": "1893456000.000100",
    }
    return base | changes


def reply(text: str, **changes: Any) -> dict[str, Any]:
    return event(text=text, ts="1893456020.000100", thread_ts="1893456000.000100", **changes)


def test_a_mention_is_a_question_in_a_thread_of_its_own() -> None:
    assert understand(event(), ME) == Asked(
        "C0FIN00001",
        "1893456000.000100",
        "1893456000.000100",
        "U0ASK00001",
        "<@U0BOT00001> when do invoices go out?",
        direct=False,
    )


def test_both_events_of_one_mention_mean_the_same() -> None:
    assert understand(event(), ME) == understand(event(type="app_mention"), ME)


def test_a_mention_in_a_thread_stays_in_that_thread() -> None:
    heard = understand(reply("and <@U0BOT00001>?"), ME)
    assert isinstance(heard, Asked)
    assert heard.thread == "1893456000.000100"


def test_every_direct_message_is_a_question() -> None:
    heard = understand(event(channel="D1", channel_type="im", text="how much leave?"), ME)
    assert isinstance(heard, Asked)
    assert heard.direct


def test_a_reply_without_a_mention_may_be_one() -> None:
    assert isinstance(understand(reply("and for contractors?"), ME), MaybeAsked)


@pytest.mark.parametrize(
    "changes",
    [
        {"text": "lunch anyone?"},
        {"user": "U0BOT00001"},
        {"bot_id": "B0SELF0001", "subtype": "bot_message", "user": None},
        {"bot_id": "B0SELF0001", "subtype": "bot_message"},
        {"bot_id": "B0OTHER001"},
        {"app_id": "A0SELF0001"},
        {"subtype": "channel_join"},
        {"subtype": "bot_message", "user": None},
        {"user": "USLACKBOT"},
        {"user": None},
    ],
)
def test_what_is_not_a_persons_question_is_left_alone(changes: dict[str, Any]) -> None:
    assert isinstance(understand(event(**changes), ME), Ignored)


def test_a_bot_that_an_administrator_trusts_may_ask() -> None:
    asked = event(user="U0ROBOT001", bot_id="B0ROBOT001")
    assert isinstance(understand(asked, ME), Ignored)
    assert isinstance(understand(asked, ME, frozenset({"U0ROBOT001"})), Asked)


def test_a_reply_that_is_also_sent_to_the_channel_is_the_same_question() -> None:
    assert understand(reply("<@U0BOT00001> x?", subtype="thread_broadcast"), ME) == understand(
        reply("<@U0BOT00001> x?", type="app_mention"), ME
    )


@pytest.mark.parametrize("text", ["thanks", "Thank you!", "thx :pray:", ":+1:", "👍", "<@U0BOT00001> perfect, thanks"])
def test_thanks_want_no_answer(text: str) -> None:
    assert isinstance(understand(event(channel="D1", channel_type="im", text=text), ME), Ignored)


@pytest.mark.parametrize("text", ["thanks to whom do we owe the discount?", "ok, but who signs?", "<@U0BOT00001>"])
def test_a_question_that_begins_politely_is_still_a_question(text: str) -> None:
    assert isinstance(understand(event(channel="D1", channel_type="im", text=text), ME), Asked)


def test_an_edit_of_the_text_is_heard_with_its_delay() -> None:
    edit = {
        "type": "message",
        "subtype": "message_changed",
        "hidden": True,
        "channel": "C0FIN00001",
        "message": event(text="<@U0BOT00001> new?", edited={"user": "U0ASK00001", "ts": "1893456010.000100"}),
        "previous_message": event(),
    }
    assert understand(edit, ME) == Edited("C0FIN00001", "1893456000.000100", "<@U0BOT00001> new?", 10.0)


def test_a_link_that_unfolds_is_not_an_edit() -> None:
    edit = event(subtype="message_changed", message=event(attachments=[{}]), previous_message=event())
    assert isinstance(understand(edit, ME), Ignored)


def test_the_bots_own_edits_are_not_heard() -> None:
    own = event(user="U0BOT00001", text="new", edited={"user": "U0BOT00001", "ts": "1893456010.0"})
    assert isinstance(understand(event(subtype="message_changed", message=own, previous_message=event()), ME), Ignored)


def test_a_deletion_is_heard_also_when_the_thread_keeps_a_stone() -> None:
    gone = event(subtype="message_deleted", deleted_ts="1893456000.000100")
    stone = event(subtype="message_changed", message=event(subtype="tombstone"), previous_message=event())
    assert understand(gone, ME) == understand(stone, ME) == Deleted("C0FIN00001", "1893456000.000100")


def maybe(text: str, user: str = "U0ASK00001") -> MaybeAsked:
    heard = understand(reply(text, user=user), ME)
    assert isinstance(heard, MaybeAsked)
    return heard


BOT_SAID = {"user": "U0BOT00001", "text": "25 [1]", "ts": "1893456010.000100", "bot_id": "B0SELF0001"}
ASKED = event(text="<@U0BOT00001> how many leave days?")


def test_the_asker_goes_on_talking_with_the_bot() -> None:
    assert is_addressed(maybe("and for contractors?"), [ASKED, BOT_SAID], ME, {"U0ASK00001"})


def test_the_asker_may_need_two_messages() -> None:
    more = event(text="hm", ts="1893456015.000100")
    assert is_addressed(maybe("and for contractors?"), [ASKED, BOT_SAID, more], ME, {"U0ASK00001"})


def test_the_asker_may_add_something_while_the_bot_is_still_at_work() -> None:
    assert is_addressed(maybe("and for contractors?"), [ASKED], ME, {"U0ASK00001"})
    assert not is_addressed(maybe("and for contractors?"), [], ME, {"U0ASK00001"})


def test_somebody_who_never_asked_is_left_alone() -> None:
    assert not is_addressed(maybe("lunch?", "U0ASK00002"), [ASKED, BOT_SAID], ME, {"U0ASK00001"})


def test_people_who_address_each_other_are_left_alone() -> None:
    assert not is_addressed(maybe("<@U0ASK00002> lunch?"), [ASKED, BOT_SAID], ME, {"U0ASK00001"})


def test_once_somebody_else_joins_in_the_bot_is_quiet() -> None:
    other = event(user="U0ASK00002", text="I think 30", ts="1893456015.000100")
    assert not is_addressed(maybe("really?"), [ASKED, BOT_SAID, other], ME, {"U0ASK00001"})


def test_the_thread_becomes_turns_with_names_and_without_what_came_later() -> None:
    asked = maybe("and for contractors?")
    later = event(text="later", ts="1893456030.000100")
    joined = event(subtype="channel_join", text="joined", ts="1893456001.000100")
    assert turns([ASKED, joined, BOT_SAID, later], asked, ME, {}) == (
        Turn("person", "U0ASK00001", "how many leave days?"),
        Turn("bot", "U0BOT00001", "25 [1]"),
    )


def test_the_question_is_readable() -> None:
    heard = understand(event(text="<@U0BOT00001>  what does <@U1> pay?"), ME)
    assert isinstance(heard, Asked)
    assert question_text(heard, ME, {"U1": "Ona"}) == "what does @Ona pay?"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "help",
        "Help?",
        "“HELP”",
        "?",
        "Hello!",
        "hi there!",
        "Guten Tag",
        "Hi, I have a question",
        "hello, can you help me?",
        "are you a human?",
        "Hey there, who are you?",
        "good morning, how are you?",
        "What can you do?",
    ],
)
def test_a_greeting_and_a_question_about_the_bot_itself_are_answered_by_what_it_can_do(text: str) -> None:
    assert is_help(text)


@pytest.mark.parametrize(
    "text",
    [
        "who can help with invoices?",
        "hi, who pays for lunch?",
        "who are you for HR?",
        "history",
        "what do you do with old keys?",
        "are you there on Sunday?",
        "hello world example",
    ],
)
def test_a_question_that_begins_like_one_is_a_question(text: str) -> None:
    assert not is_help(text)
    assert not is_courtesy("great, who approves it?")


@pytest.mark.parametrize(
    "text", ["thank you, that helped!", "great, it works", "very helpful, thanks a lot", "Solved, cheers"]
)
def test_that_it_helped_wants_no_answer(text: str) -> None:
    assert is_courtesy(text)
