"""Proposed gold cases, reviewed by administrators on the Home tab and in a direct message."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from bot import review_wording, wording
from bot.local_slack import Message
from knowledge import gold, suggestions
from knowledge.gold import Expected, GoldCase, Origin, Proposal
from knowledge.labels import Label
from knowledge.permissions import Scopes
from knowledge.slots import Slot
from knowledge.tables import gold_cases
from tests.company import Company

ALL = frozenset({"workspace"})
LEGAL = frozenset({"channel:CLEGAL"})
LEAVE = (Label("everyone", "leave.md"),)
QUESTION = "How many days of leave are there?"


def propose(
    company: Company,
    question: str = QUESTION,
    expected: Expected = LEAVE,
    scopes: Scopes = ALL,
    origin: Origin = "label",
) -> str:
    by = suggestions.BY if origin == "suggestion" else "UBEN"
    with company.database.writing() as connection:
        case_id = gold.propose(connection, Proposal(question, scopes, expected, origin, by))
        if origin == "import":
            connection.execute(sa.update(gold_cases).where(gold_cases.c.id == case_id).values(proposed_by=[]))
        return case_id


def case(company: Company, case_id: str, scopes: Scopes = ALL) -> GoldCase:
    company.settled()
    with company.database.reading(scopes) as connection:
        return gold.get(connection, case_id, scopes)


def home(company: Company, user: str = "ana") -> dict[str, Any]:
    """The tab as it is shown when it is opened now."""
    before = company.slack.home(user)
    company.slack.open_home(user)
    shown = company.slack.wait_for(lambda slack: None if slack.home(user) is before else slack.home(user))
    assert shown is not None
    return shown


def press(company: Company, action: str, case_id: str, user: str = "ana") -> None:
    company.slack.click_view(user, home(company, user)["id"], f"{action}:{case_id}")


def told(company: Company, user: str = "ana") -> list[Message]:
    company.settled()
    return company.slack.state.history(company.slack.dm(user).id)


@pytest.mark.parametrize(
    ("action", "state", "expected"),
    [("gold_accept", "accepted", LEAVE), ("gold_nowhere", "accepted", ()), ("gold_reject", "retired", LEAVE)],
)
def test_one_click_on_the_home_tab_decides_about_a_proposal(
    company: Company, action: str, state: str, expected: Expected
) -> None:
    case_id = propose(company, f"{QUESTION} ({action})")
    press(company, action, case_id)
    reviewed = case(company, case_id)
    assert (reviewed.state, reviewed.expected, reviewed.history[-1].by) == (state, expected, "UANA")
    assert QUESTION not in str(company.slack.home("ana"))
    said = review_wording.REJECTED if state == "retired" else review_wording.ACCEPTED
    assert said in str(company.slack.home("ana"))
    assert not told(company)


@pytest.mark.parametrize("named", ["invoices.md", "Invoices", "https://docs.example.test/everyone/invoices.md"])
def test_a_proposal_is_corrected_by_naming_the_document(company: Company, named: str) -> None:
    case_id = propose(company, f"Where is {named}?", None)
    assert f"gold_accept:{case_id}" not in str(home(company))
    press(company, "gold_correct", case_id)
    company.slack.wait_for(lambda slack: slack.modal("ana"))
    company.slack.submit("ana", {"document": named})
    reviewed = case(company, case_id)
    assert reviewed.state == "accepted"
    assert [label.external_id for label in reviewed.expected or ()] == ["invoices.md"]
    assert reviewed.history[-1].what == "corrected and accepted"


def test_the_form_of_a_correction_repeats_the_question_and_what_is_expected_now(own_company: Company) -> None:
    first, second = propose(own_company), propose(own_company, "When do invoices go out?", None)
    own_company.service.nightly.ask_for_review("UANA", Slot("nightly", datetime.now(UTC), attempt=1, worker="test"))
    [message] = told(own_company)
    press(own_company, "gold_correct", first)
    view = own_company.slack.wait_for(lambda slack: slack.modal("ana"))
    assert view is not None
    assert [block["type"] for block in view["blocks"]] == ["section", "context", "input"]
    assert QUESTION in str(view)
    assert review_wording.expected(["everyone/leave.md"], 0, "People name") in str(view)
    assert "invoices" not in str(view)
    own_company.slack.close_view("ana")
    own_company.slack.click("ana", own_company.slack.dm("ana").id, message.ts, f"gold_correct:{second}")
    view = own_company.slack.wait_for(lambda slack: slack.modal("ana"))
    assert "When do invoices go out?" in str(view)
    assert review_wording.UNSAID in str(view)
    assert QUESTION not in str(view)
    own_company.slack.close_view("ana")


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ("lease.md", review_wording.not_theirs("lease.md")),
        ("a", review_wording.ambiguous("a")),
    ],
)
def test_a_correction_that_cannot_be_is_told_and_changes_nothing(company: Company, named: str, said: str) -> None:
    case_id = propose(company, f"{QUESTION} Not {named}?")
    press(company, "gold_correct", case_id)
    company.slack.wait_for(lambda slack: slack.modal("ana"))
    company.slack.submit("ana", {"document": named})
    assert case(company, case_id).state == "proposed"
    assert told(company)[0].text == said
    press(company, "gold_reject", case_id)
    company.settled()


def test_a_case_without_a_place_is_not_accepted_and_the_buttons_that_name_one_are_told(company: Company) -> None:
    case_id = propose(company, f"{QUESTION} Where?")
    shown = home(company)
    with company.database.writing() as connection:
        connection.execute(sa.update(gold_cases).where(gold_cases.c.id == case_id).values(expected=None))
    company.slack.click_view("ana", shown["id"], f"gold_accept:{case_id}")
    assert case(company, case_id).state == "proposed"
    said = told(company)[0].text
    assert said == review_wording.UNLABELLED
    assert "--" not in said
    assert all(f"*{button}*" in said for button in (review_wording.NAME, wording.NOT_IN_DOCUMENTS))
    press(company, "gold_reject", case_id)
    company.settled()


def test_a_correction_to_a_document_that_is_not_there_leaves_the_form_open(company: Company) -> None:
    case_id = propose(company, f"{QUESTION} On the moon?")
    press(company, "gold_correct", case_id)
    company.slack.wait_for(lambda slack: slack.modal("ana"))
    company.slack.submit("ana", {"document": "Moon base"})
    view = company.slack.wait_for(lambda slack: (open := slack.modal("ana")) and open.get("errors") and open)
    assert view is not None
    assert view["errors"]["document"] == wording.unknown_document("Moon base")
    assert case(company, case_id).state == "proposed"
    company.slack.close_view("ana")
    press(company, "gold_reject", case_id)
    company.settled()


def test_a_case_is_shown_only_to_administrators_who_hold_its_rights(own_company: Company) -> None:
    secret = propose(own_company, "What does the landlord demand?", (Label("legal", "lease.md"),), LEGAL)
    assert "What does the landlord demand?" in str(home(own_company))
    assert wording.HOME_REVIEW not in str(home(own_company, "ben"))
    own_company.slack.leave("ana", "legal")
    own_company.settled()
    assert "landlord" not in str(home(own_company))
    assert case(own_company, secret, LEGAL).state == "proposed"


def test_an_administrator_is_told_how_many_proposals_wait_that_others_have_to_review(own_company: Company) -> None:
    for number, scopes in enumerate((ALL | {"user:UBEN"}, ALL | {"user:UBEN"}, ALL | {"user:UANA"})):
        propose(own_company, f"What does Ben earn? ({number})", None, scopes)
    shown = str(home(own_company))
    assert review_wording.hidden(2) in shown
    assert [f"({number})" in shown for number in range(3)] == [False, False, True]
    assert "may not read" not in str(home(own_company, "ben"))
    assert "may not read" not in "".join(message.text for message in told(own_company))
    assert review_wording.hidden(1).startswith("1 question that you may not read waits too")


@pytest.mark.parametrize("lost", ["the office", "the channel"])
def test_a_click_counts_by_the_rights_of_its_moment(own_company: Company, lost: str) -> None:
    secret = propose(own_company, "What does the landlord demand?", (Label("legal", "lease.md"),), LEGAL)
    shown = home(own_company)
    if lost == "the office":
        own_company.slack.make_guest("ana")
    else:
        own_company.slack.leave("ana", "legal")
    own_company.settled()
    own_company.slack.click_view("ana", shown["id"], f"gold_accept:{secret}")
    own_company.settled()
    assert case(own_company, secret, LEGAL).state == "proposed"
    said = wording.ADMINS_ONLY if lost == "the office" else review_wording.UNKNOWN
    assert [message.text for message in told(own_company)] == [said]
    assert "landlord" not in str(own_company.slack.home("ana"))


def test_accepting_what_another_accepted_case_contradicts_is_told_with_the_remedy(own_company: Company) -> None:
    before = propose(own_company)
    with own_company.database.writing() as connection:
        gold.accept(connection, before, "UOTHER")
        secret = gold.propose(connection, Proposal(QUESTION, ALL | {"user:UBEN"}, LEAVE, "label", "UBEN"))
        gold.accept(connection, secret, "UOTHER")
    case_id = propose(own_company, f"{QUESTION}!", (), ALL | {"user:UANA"})
    press(own_company, "gold_accept", case_id)
    assert case(own_company, case_id, ALL | {"user:UANA"}).state == "accepted"
    differs = "asks the same, but says that it is in the documents"
    warned = review_wording.contradicted(before, differs, "UANA")
    assert f"footnote gold retire {before} --as UANA" in warned
    assert [message.text for message in told(own_company)] == [f"{review_wording.ACCEPTED}\n{warned}"]
    assert warned in str(own_company.slack.home("ana"))
    assert secret not in str(own_company.slack.home("ana"))


def test_a_second_word_on_a_reviewed_case_changes_nothing(company: Company) -> None:
    case_id = propose(company, f"{QUESTION} (twice)")
    shown = home(company)
    with company.database.writing() as connection:
        gold.accept(connection, case_id, "UOTHER")
    company.slack.click_view("ana", shown["id"], f"gold_reject:{case_id}")
    assert case(company, case_id).state == "accepted"
    assert case(company, case_id).history[-1].by == "UOTHER"


def test_a_failed_answer_is_shown_with_its_votes_and_why_it_failed(company: Company) -> None:
    question = company.ask("ben", "general", "how many days of annual leave do full-time staff get?")
    reply = company.reply(question)
    company.slack.click("ben", "general", reply.ts, "feedback", "negative")
    note = company.slack.wait_for(lambda slack: slack.ephemerals("ben"))[-1]
    button = next(b["accessory"] for b in note.blocks if "Annual leave" in str(b.get("text")))
    company.slack.click("ben", "general", note.ts, button["action_id"])
    company.settled()
    shown = str(home(company))
    assert review_wording.votes(1, 0, 1) in shown
    assert review_wording.expected(["everyone/leave.md"], 0, "People name") in shown
    assert review_wording.DIAGNOSES["answering_somewhere"] in shown


def test_the_home_tab_shows_what_was_replied_as_long_as_the_reviewer_may_open_it(own_company: Company) -> None:
    """A message about it would stay, so there it only says where the reply stands."""
    reply = own_company.reply(
        question := own_company.ask("ana", "legal", "what does the landlord demand for the roof?")
    )
    assert "48,000" in reply.text
    own_company.slack.click("ana", "legal", reply.ts, "feedback", "negative")
    own_company.settled()
    shown = str(home(own_company))
    assert review_wording.replied(own_company.answer(question).is_doubtful) in shown
    assert "48,000" in shown.partition("> ")[2]
    own_company.service.nightly.ask_for_review("UANA", Slot("nightly", datetime.now(UTC), attempt=1, worker="test"))
    [message] = [each for each in told(own_company) if each.text == review_wording.TOLD]
    assert "landlord" in str(message.blocks)
    assert review_wording.REPLIES_ON_TAB in str(message.blocks)
    assert "48,000" not in str(message.blocks)
    with own_company.database.writing() as connection:
        assert "48,000" not in str(connection.execute(sa.select(gold_cases)).all())

    (own_company.documents / "legal" / "lease.md").unlink()
    own_company.sync()
    shown = str(home(own_company))
    assert "landlord" in shown
    assert "48,000" not in shown


def test_the_home_tab_says_that_there_was_no_answer(own_company: Company) -> None:
    reply = own_company.reply(own_company.ask("ana", "general", "Which boat leaves at dawn?"))
    own_company.slack.click("ana", "general", reply.ts, "feedback", "negative")
    own_company.settled()
    assert review_wording.NO_ANSWER in str(home(own_company))


def test_a_question_without_an_answer_is_not_said_to_have_a_wrong_one(company: Company) -> None:
    reply = company.reply(question := company.ask("ana", "general", "Which boat leaves at dawn?"))
    assert company.answer(question).outcome == "abstained"
    company.slack.click("ana", "general", reply.ts, "feedback", "negative")
    note = company.slack.wait_for(lambda slack: slack.ephemerals("ana"))[-1]
    button = next(
        b["accessory"] for b in note.blocks if "This one" in str(b.get("accessory")) and "leave" in str(b.get("text"))
    )
    company.slack.click("ana", "general", note.ts, button["action_id"])
    company.settled()
    shown = str(home(company))
    assert review_wording.DIAGNOSES["evidence_somewhere"] in shown


@pytest.mark.parametrize(
    ("origin", "found", "nothing"),
    [
        ("suggestion", "It was asked, and the bot found: everyone/leave.md", "the bot found nothing"),
        ("label", "People name: everyone/leave.md", "Said to be in no document."),
        ("vote", "The answer that was voted right cites: everyone/leave.md", "Said to be in no document."),
        ("import", "The imported case names: everyone/leave.md", "Imported as being in no document."),
    ],
)
def test_a_proposal_says_who_put_it_forward(own_company: Company, origin: Origin, found: str, nothing: str) -> None:
    propose(own_company, QUESTION, LEAVE, origin=origin)
    propose(own_company, "Who repairs the coffee machine?", (), origin=origin)
    shown = str(home(own_company))
    assert found in shown
    assert nothing in shown
    assert ("Said to be" in shown) == (origin in ("label", "vote"))
    assert ("From the questions that were asked" in shown) == (origin == "suggestion")
    assert ("From an imported file" in shown) == (origin == "import")
    assert ("From 1 person" in shown) == (origin in ("label", "vote"))
    assert shown.count(review_wording.UNCHECKED) == (2 if origin == "suggestion" else 0)


def test_a_follow_up_is_reviewed_as_the_question_that_it_stands_for(own_company: Company) -> None:
    standalone = "What does error 503 mean?"
    with own_company.database.writing() as connection:
        gold.propose(connection, Proposal("and 503?", ALL, (), "label", "UBEN", standalone))
    assert f"*and 503?*\\n{review_wording.standalone(standalone)}" in str(home(own_company))


def test_what_cannot_be_found_today_is_not_to_be_accepted_as_it_is(own_company: Company) -> None:
    gone = propose(own_company, "Where is the pool?", (Label("everyone", "pool.md"), Label("everyone", "sauna.md")))
    part = propose(own_company, QUESTION, (*LEAVE, Label("everyone", "pool.md")))
    shown = str(home(own_company))
    assert f"{review_wording.expected([], 2, 'People name')}\\n{review_wording.GONE}" in shown
    assert review_wording.expected(["everyone/leave.md"], 1, "People name") in shown
    assert [f"gold_accept:{case_id}" in shown for case_id in (gone, part)] == [False, True]
    for action in ("gold_correct", "gold_nowhere", "gold_reject"):
        assert f"{action}:{gone}" in shown


def test_a_document_that_was_renamed_is_named_as_it_is_called_now(own_company: Company) -> None:
    quoted = (Label("everyone", "holidays.md", quote="Full-time staff get 25 days of annual leave"),)
    case_id = propose(own_company, QUESTION, quoted)
    shown = str(home(own_company))
    assert review_wording.expected(["everyone/leave.md"], 0, "People name") in shown
    assert f"gold_accept:{case_id}" in shown


def test_a_night_with_new_proposals_asks_for_review_once_and_the_message_goes_on_to_what_waits(
    own_company: Company,
) -> None:
    first, second = propose(own_company), propose(own_company, "When do invoices go out?", None)
    secret = propose(own_company, "What does the landlord demand?", (Label("legal", "lease.md"),), LEGAL)
    own_company.slack.leave("ana", "legal")
    own_company.settled()
    slot = Slot("nightly", datetime.now(UTC), attempt=1, worker="test")
    for _ in range(2):
        own_company.service.nightly.ask_for_review("UANA", slot)
        own_company.service.nightly.ask_for_review("UBEN", slot)
    [message] = told(own_company)
    assert message.text == review_wording.TOLD
    assert QUESTION in str(message.blocks)
    assert "landlord" not in str(message.blocks)
    assert told(own_company, "ben") == []

    dm = own_company.slack.dm("ana").id
    own_company.slack.click("ana", dm, message.ts, f"gold_accept:{first}")
    assert case(own_company, first).state == "accepted"
    [message] = told(own_company)
    assert message.text == review_wording.ACCEPTED
    assert QUESTION not in str(message.blocks)
    own_company.slack.click("ana", dm, message.ts, f"gold_correct:{second}")
    own_company.slack.wait_for(lambda slack: slack.modal("ana"))
    own_company.slack.submit("ana", {"document": "invoices.md"})
    assert case(own_company, second).state == "accepted"
    [message] = told(own_company)
    assert len(message.blocks) == 1
    assert case(own_company, secret, LEGAL).state == "proposed"

    later = Slot("nightly", slot.at + timedelta(days=2), attempt=1, worker="test")
    propose(own_company, "And how many carry over?")
    own_company.service.nightly.ask_for_review("UANA", later)
    assert len(told(own_company)) == 1, "nothing is new since the night before"
