"""Votes by button and reaction, and the question which source was right."""

import pytest

from bot import wording
from bot.local_slack import Message
from bot.local_slack.delivery import Envelope
from bot.local_slack.event import Event, event_callback
from knowledge import gold, votes
from knowledge.gold import GoldCase
from knowledge.votes import Tally
from tests.company import Company

LEAVE = "how many days of annual leave do full-time staff get?"
EVERYTHING = frozenset(
    {"workspace", *(f"channel:{c}" for c in ("CGENERAL", "CRANDOM", "CLEGAL", "CGUESTS", "CPARTNER"))}
)


def tally(company: Company, question: Message) -> Tally:
    company.settled()
    answer = company.answer(question)
    with company.database.plain() as connection:
        return votes.tally(connection, answer.id)


def proposed(company: Company, question: Message) -> list[GoldCase]:
    company.settled()
    answer = company.answer(question)
    with company.database.writing() as connection:
        return [case for case in gold.cases(connection, answer.scopes) if case.answer_id == answer.id]


def prompt(company: Company, user: str, question: Message) -> Message:
    """What the voter alone is asked."""

    def asked(_: object) -> Message | None:
        notes = [m for m in company.slack.ephemerals(user) if m.thread_ts == question.root]
        return notes[-1] if notes else None

    note = company.slack.wait_for(asked)
    assert note is not None
    return note


def refused(company: Company, user: str, named: str) -> str:
    """What the form says, still open, after this was sent with it."""
    company.slack.submit(user, {"document": named})
    view = company.slack.wait_for(lambda slack: (open := slack.modal(user)) and open.get("errors") and open)
    assert view is not None
    return str(view["errors"]["document"])


@pytest.mark.parametrize(
    ("reaction", "counted"),
    [
        ("-1", Tally(0, 1)),
        ("-1::skin-tone-3", Tally(0, 1)),
        ("thumbsdown::skin-tone-4", Tally(0, 1)),
        ("+1::skin-tone-6", Tally(1, 0)),
        ("x-1", Tally(0, 0)),
        ("thumbsdown_custom", Tally(0, 0)),
        ("no_entry", Tally(0, 0)),
    ],
)
def test_a_thumb_of_any_skin_tone_counts_by_its_exact_name(company: Company, reaction: str, counted: Tally) -> None:
    question = company.ask("ben", "general", LEAVE)
    company.slack.react("ben", "general", company.reply(question).ts, reaction)
    assert tally(company, question) == counted


def test_a_vote_goes_when_the_reaction_does_and_nobody_votes_twice(company: Company) -> None:
    question = company.ask("ben", "general", LEAVE)
    reply = company.reply(question)
    company.slack.react("ben", "general", reply.ts, "-1")
    company.slack.react("ben", "general", reply.ts, "thumbsdown")
    company.slack.click("ben", "general", reply.ts, "feedback", "negative")
    company.slack.react("ana", "general", reply.ts, "-1")
    assert tally(company, question) == Tally(0, 2)
    company.slack.unreact("ana", "general", reply.ts, "-1")
    assert tally(company, question) == Tally(0, 1)
    company.slack.click("ben", "general", reply.ts, "feedback", "positive")
    assert tally(company, question) == Tally(1, 0)


def test_votes_follow_the_time_of_the_events_and_not_of_their_arrival(own_company: Company) -> None:
    question = own_company.ask("ben", "general", LEAVE)
    reply = own_company.reply(question)
    own_company.settled()
    own_company.slack.fault("reordered")
    own_company.slack.react("ben", "general", reply.ts, "-1")
    own_company.slack.unreact("ben", "general", reply.ts, "-1")
    assert tally(own_company, question) == Tally(0, 0)
    assert proposed(own_company, question) == []


def test_reactions_on_what_is_not_an_answer_are_nothing(company: Company) -> None:
    message = company.slack.say("ana", "general", "I like tea")
    before = len(company.slack.calls)
    company.slack.react("ben", "general", message.ts, "-1")
    company.settled()
    assert len(company.slack.calls) == before


def test_after_a_thumbs_down_the_voter_alone_is_asked_and_one_tap_proposes(company: Company) -> None:
    question = company.ask("ben", "general", "when do invoices go out to customers?")
    company.slack.click("ben", "general", company.reply(question).ts, "feedback", "negative")
    note = prompt(company, "ben", question)
    button = next(b["accessory"] for b in note.blocks if b["type"] == "section" and "Annual leave" in b["text"]["text"])
    company.slack.click("ben", "general", note.ts, button["action_id"])
    (case,) = proposed(company, question)
    assert [label.external_id for label in case.expected or ()] == ["leave.md"]
    assert (case.state, case.proposed_by) == ("proposed", ("UBEN",))
    company.slack.wait_for(lambda slack: wording.LABEL_THANKS in [m.text for m in slack.ephemerals("ben")])


def test_it_may_be_in_no_document(company: Company) -> None:
    question = company.ask("ben", "general", "how many days of leave do astronauts get?")
    company.slack.click("ben", "general", company.reply(question).ts, "feedback", "negative")
    company.slack.click("ben", "general", prompt(company, "ben", question).ts, "not_in_documents")
    (case,) = proposed(company, question)
    assert case.expected == ()


@pytest.mark.parametrize("named", ["Invoices", "https://docs.example.test/everyone/invoices.md", "invoices.md"])
def test_another_document_is_named_by_title_link_or_path(company: Company, named: str) -> None:
    question = company.ask("ben", "general", f"how many days of annual leave do staff get, {named.swapcase()}?")
    company.slack.click("ben", "general", company.reply(question).ts, "feedback", "negative")
    company.slack.click("ben", "general", prompt(company, "ben", question).ts, "name_source")
    company.slack.wait_for(lambda slack: slack.modal("ben"))
    company.slack.submit("ben", {"document": named})
    (case,) = proposed(company, question)
    assert [label.external_id for label in case.expected or ()] == ["invoices.md"]


def test_the_question_which_source_was_right_gives_way_to_thanks_after_the_form_too(own_company: Company) -> None:
    question = own_company.ask("ben", "general", "how many days of leave are carried over?")
    own_company.slack.click("ben", "general", own_company.reply(question).ts, "feedback", "negative")
    own_company.slack.click("ben", "general", prompt(own_company, "ben", question).ts, "name_source")
    own_company.slack.wait_for(lambda slack: slack.modal("ben"))
    own_company.slack.submit("ben", {"document": "Annual leave"})
    own_company.settled()
    assert [m.text for m in own_company.slack.ephemerals("ben")] == [wording.LABEL_THANKS]


def test_a_document_the_voter_may_not_open_does_not_exist(own_company: Company) -> None:
    question = own_company.ask("ben", "general", "how many days of leave does the landlord demand?")
    own_company.slack.click("ben", "general", own_company.reply(question).ts, "feedback", "negative")
    note = prompt(own_company, "ben", question)
    assert "lease" not in str(note.blocks).lower()
    own_company.slack.click("ben", "general", note.ts, "name_source")
    own_company.slack.wait_for(lambda slack: slack.modal("ben"))
    for named, near in (("Lease dispute", []), ("Lease disputes", []), ("lease.md", ["Annual leave"])):
        assert refused(own_company, "ben", named) == wording.unknown_document(named, near)
    assert [case.expected for case in proposed(own_company, question)] == [None]


@pytest.mark.parametrize("named", ["Anual leave", "Anual\x00 leave", "https://docs.example.test/everyone/leaves.md"])
def test_a_misspelt_document_leaves_the_form_open_with_the_nearest_titles(own_company: Company, named: str) -> None:
    question = own_company.ask("ben", "general", "up to how many days of leave can be carried over?")
    own_company.slack.click("ben", "general", own_company.reply(question).ts, "feedback", "negative")
    note = prompt(own_company, "ben", question)
    own_company.slack.click("ben", "general", note.ts, "name_source")
    own_company.slack.wait_for(lambda slack: slack.modal("ben"))
    said = refused(own_company, "ben", named)
    assert said == wording.unknown_document(named.replace("\x00", ""), ["Annual leave"])
    assert "“Annual leave”" in said
    assert [m.text for m in own_company.slack.ephemerals("ben")] == [note.text]
    own_company.slack.submit("ben", {"document": "Annual leave"})
    own_company.slack.wait_for(lambda slack: slack.modal("ben") is None)
    (case,) = proposed(own_company, question)
    assert [label.external_id for label in case.expected or ()] == ["leave.md"]


def test_a_form_is_taken_while_slack_does_not_say_what_a_person_may_open(own_company: Company) -> None:
    question = own_company.ask("ben", "general", "up to how many days of leave can be carried over?")
    own_company.slack.click("ben", "general", own_company.reply(question).ts, "feedback", "negative")
    own_company.slack.click("ben", "general", prompt(own_company, "ben", question).ts, "name_source")
    own_company.slack.wait_for(lambda slack: slack.modal("ben"))
    own_company.settled()
    with own_company.database.plain() as connection:
        connection.exec_driver_sql("delete from facts")
    own_company.slack.fault("api_error", "users.info", error="internal_error")
    own_company.slack.submit("ben", {"document": "Anual leave"})
    own_company.slack.wait_for(lambda slack: slack.modal("ben") is None)
    own_company.settled()
    assert own_company.slack.ephemerals("ben")[-1].text == wording.unknown_document("Anual leave")
    assert [case.expected for case in proposed(own_company, question)] == [None]


def test_a_question_without_any_answer_waits_unlabelled_until_somebody_says_where_it_is(own_company: Company) -> None:
    question = own_company.ask("ben", "general", "who repairs the coffee machine?")
    reply = own_company.reply(question)
    assert own_company.answer(question).citations == ()
    own_company.slack.react("ben", "general", reply.ts, "-1")
    (case,) = proposed(own_company, question)
    assert (case.expected, case.state, case.proposed_by) == (None, "proposed", ("UBEN",))
    own_company.slack.click("ben", "general", prompt(own_company, "ben", question).ts, "name_source")
    own_company.slack.wait_for(lambda slack: slack.modal("ben"))
    own_company.slack.submit("ben", {"document": "invoices.md"})
    (labelled,) = proposed(own_company, question)
    assert (labelled.id, [label.external_id for label in labelled.expected or ()]) == (case.id, ["invoices.md"])


def test_a_thumb_that_is_taken_back_or_turned_leaves_no_proposal_of_before(own_company: Company) -> None:
    question = own_company.ask("ben", "general", "up to how many days of leave can be carried over?")
    reply = own_company.reply(question)
    for _ in range(2):
        own_company.slack.react("ben", "general", reply.ts, "-1")
        assert [case.expected for case in proposed(own_company, question)] == [None]
        own_company.slack.unreact("ben", "general", reply.ts, "-1")
        assert proposed(own_company, question) == []
    own_company.slack.click("ben", "general", reply.ts, "feedback", "positive")
    (liked,) = proposed(own_company, question)
    assert liked.expected
    own_company.slack.click("ben", "general", reply.ts, "feedback", "negative")
    assert [case.expected for case in proposed(own_company, question)] == [None]


def test_who_cannot_read_an_answer_changes_nothing_about_it(own_company: Company) -> None:
    slack = own_company.slack
    question = own_company.ask("ana", "legal", "how much does the landlord demand for the roof?")
    reply = own_company.reply(question)
    item = {"type": "message", "channel": "CLEGAL", "ts": reply.ts}
    for person, reaction in (("UBEN", "-1"), ("UOLD", "+1"), ("UBOT2", "-1"), ("UEVE", "-1")):
        forged = {"type": "reaction_added", "user": person, "reaction": reaction, "item": item}
        slack.delivery.push(Envelope("events_api", event_callback(Event("reaction_added", forged), slack.state)))
    assert tally(own_company, question) == Tally(0, 0)
    assert proposed(own_company, question) == []
    assert slack.ephemerals("ben") == []


def test_a_thumbs_up_proposes_what_was_cited(own_company: Company) -> None:
    question = own_company.ask("ben", "general", "up to how many days of leave can be carried over?")
    own_company.slack.click("ben", "general", own_company.reply(question).ts, "feedback", "positive")
    (case,) = proposed(own_company, question)
    assert {label.external_id for label in case.expected or ()} == {"leave.md"}


def test_a_guest_may_vote_but_proposes_nothing(company: Company) -> None:
    question = company.ask("gus", "guests", "where do contractors get their badge?")
    company.slack.click("gus", "guests", company.reply(question).ts, "feedback", "negative")
    assert tally(company, question) == Tally(0, 1)
    assert proposed(company, question) == []


def test_the_shortcut_asks_the_same_about_any_answer_and_nothing_elsewhere(company: Company) -> None:
    question = company.ask("ben", "general", "when do customer invoices go out each month?")
    reply = company.reply(question)
    company.slack.shortcut("ana", "mark_answer_wrong", "general", reply.ts)
    assert prompt(company, "ana", question).text == wording.ASK_SOURCE
    company.slack.shortcut("ana", "mark_answer_wrong", "general", question.ts)
    company.slack.wait_for(lambda slack: wording.NOT_AN_ANSWER in [m.text for m in slack.ephemerals("ana")])


def test_whoever_votes_all_day_is_asked_a_few_times_only(own_company: Company) -> None:
    asked = [own_company.ask("ben", "general", f"how many days of leave, question {n}?") for n in range(12)]
    for question in asked:
        own_company.slack.react("ben", "general", own_company.reply(question).ts, "-1")
    own_company.settled()
    assert len([m for m in own_company.slack.ephemerals("ben") if m.text == wording.ASK_SOURCE]) == 10
    assert sum(len(proposed(own_company, question)) for question in asked) == 10
