"""Questions asked in Slack and answered there: the real bot, database, search and websocket."""

import pytest
import sqlalchemy as sa

from bot import wording
from knowledge.tables import answers
from tests.company import Company

LEAVE = "how many days of annual leave do full-time staff get?"
LEASE = "how much does the landlord of the Harbour Street office demand for the roof repair?"


def test_a_mention_is_answered_once_in_its_thread_with_a_source(company: Company) -> None:
    question = company.ask("ben", "general", LEAVE)
    reply = company.reply(question)
    company.settled()
    assert "25 days" in reply.text
    assert reply.thread_ts == question.ts
    assert "https://docs.example.test/everyone/leave.md" in str(reply.blocks)
    assert len(company.slack.replies(question)) == 1


def test_a_mention_in_a_thread_is_answered_in_that_thread(company: Company) -> None:
    root = company.slack.say("ana", "general", "Does anybody know about leave?")
    question = company.ask("ben", "general", LEAVE, root.ts)
    assert company.reply(question).thread_ts == root.ts


def test_a_bare_mention_is_about_what_was_said_above_it(company: Company) -> None:
    root = company.slack.say("ana", "general", "How many days of annual leave do full-time staff get?")
    question = company.ask("ben", "general", "", root.ts)
    assert "25 days" in company.reply(question).text


def test_a_direct_message_needs_no_mention(company: Company) -> None:
    question = company.ask("ben", "dm", LEAVE)
    assert "25 days" in company.reply(question).text


def test_a_follow_up_needs_no_mention_and_is_understood_with_what_came_before(company: Company) -> None:
    root = company.ask("ben", "general", "how many days of annual leave do staff get?")
    company.reply(root)
    more = company.slack.say("ben", "general", "and how many can be carried over?", root.ts)
    reply = company.reply(more)
    assert "five days" in reply.text.lower()
    assert reply.thread_ts == root.ts


def test_in_a_direct_message_one_may_ask_on_in_the_main_field(own_company: Company) -> None:
    own_company.reply(own_company.ask("ben", "dm", "how many days of annual leave do staff get?"))
    more = own_company.ask("ben", "dm", "and how many can be carried over?")
    reply = own_company.reply(more)
    assert "five days" in reply.text.lower()
    assert reply.thread_ts == more.ts
    for thread in (more.ts, None):
        last = own_company.ask("ben", "dm", "and until when?", thread)
        own_company.reply(last)
        words = set(own_company.answer(last).standalone.replace("(", "").replace(")", "").split())
        assert {"annual", "leave", "carried"} <= words


def test_in_a_channel_the_main_field_is_no_conversation_with_the_bot(own_company: Company) -> None:
    own_company.reply(own_company.ask("ben", "general", "how many days of annual leave do staff get?"))
    more = own_company.ask("ben", "general", "and how many can be carried over?")
    own_company.reply(more)
    assert own_company.answer(more).standalone == "and how many can be carried over?"


def test_a_question_that_stands_alone_takes_nothing_along_from_the_direct_message_before(own_company: Company) -> None:
    own_company.reply(own_company.ask("ben", "dm", "how many days of annual leave do staff get?"))
    other = own_company.ask("ben", "dm", "what is the rent of the roof terrace in Harbour Street?")
    own_company.reply(other)
    assert own_company.answer(other).standalone == "what is the rent of the roof terrace in Harbour Street?"


def test_a_deleted_question_is_not_asked_on_from(own_company: Company) -> None:
    first = own_company.ask("ben", "dm", "how many days of annual leave do staff get?")
    own_company.reply(first)
    own_company.slack.delete("ben", first.channel, first.ts)
    own_company.settled()
    more = own_company.ask("ben", "dm", "and how many can be carried over?")
    own_company.reply(more)
    assert own_company.answer(more).standalone == "and how many can be carried over?"


def test_people_who_talk_to_each_other_in_its_thread_are_left_alone(company: Company) -> None:
    root = company.ask("ben", "general", LEAVE)
    company.reply(root)
    company.slack.say("ana", "general", "and who pays for lunch?", root.ts)
    company.slack.say("ben", "general", "<@UANA> you do?", root.ts)
    company.slack.say("ben", "general", "really?", root.ts)
    company.slack.say("ben", "general", "thanks!", root.ts)
    company.settled()
    assert len(company.slack.replies(root)) == 1


def test_help_is_explained_without_looking_into_documents(company: Company) -> None:
    assert company.reply(company.ask("ben", "general", "“help”")).text == wording.HELP


def test_what_is_not_in_the_documents_is_said_to_be_so(company: Company) -> None:
    reply = company.reply(company.ask("ben", "general", "which colour has the moon of Jupiter?"))
    assert wording.ABSTAINED in reply.text


def test_a_private_channel_may_read_its_own_documents(company: Company) -> None:
    assert "48,000" in company.reply(company.ask("ana", "legal", LEASE)).text


def test_in_public_nothing_hints_at_a_private_document_but_the_asker_is_told_alone(own_company: Company) -> None:
    question = own_company.ask("ana", "general", LEASE)
    reply = own_company.reply(question)
    assert "48,000" not in str((reply.text, reply.blocks))
    assert "lease" not in str((reply.text, reply.blocks)).lower()
    note = own_company.slack.wait_for(lambda slack: slack.ephemerals("ana"))[0]
    assert note.thread_ts == question.ts
    assert "lease" not in str((note.text, note.blocks)).lower()

    own_company.slack.click("ana", "general", note.ts, "show_privately")
    channel = own_company.slack.dm("ana").id
    own_company.settled()
    private = [message for message in own_company.slack.state.history(channel) if message.from_bot]
    assert any("48,000" in message.text for message in private)


def test_somebody_who_could_not_open_it_either_is_told_nothing(own_company: Company) -> None:
    reply = own_company.reply(own_company.ask("ben", "general", LEASE))
    own_company.settled()
    assert "48,000" not in str((reply.text, reply.blocks))
    assert own_company.slack.ephemerals("ben") == []


def test_rights_lost_before_the_click_count(own_company: Company) -> None:
    own_company.reply(own_company.ask("ana", "general", LEASE))
    note = own_company.slack.wait_for(lambda slack: slack.ephemerals("ana"))[0]
    own_company.slack.leave("ana", "legal")
    own_company.slack.click("ana", "general", note.ts, "show_privately")
    own_company.settled()
    assert "48,000" not in str(own_company.slack.calls[-20:])
    assert "48,000" not in str([m.text for m in own_company.slack.state.everything()])


@pytest.mark.parametrize("asker", ["gus", "eve"])
def test_outsiders_read_only_their_channels_documents(company: Company, asker: str) -> None:
    place = {"gus": "guests", "eve": "partner"}[asker]
    own = {"gus": ("where do contractors get their badge?", "gate house")}
    own["eve"] = ("at which dock does the partner pick up parcels?", "dock seven")
    assert own[asker][1] in company.reply(company.ask(asker, place, own[asker][0])).text
    assert company.answer(company.ask(asker, place, LEAVE)).scopes == {f"channel:C{place.upper()}"}


def test_a_member_asking_where_outsiders_read_gets_that_channels_documents_only(company: Company) -> None:
    answer = company.answer(company.ask("ana", "guests", LEAVE))
    assert answer.scopes == {"channel:CGUESTS"}
    assert "25 days" not in answer.text


def test_another_bot_is_refused_in_words(own_company: Company) -> None:
    own_company.slack.join("deploybot", "general")
    reply = own_company.reply(own_company.ask("deploybot", "general", LEAVE))
    assert reply.text == wording.NOTHING_ALLOWED_PERSON


def test_an_edit_within_a_minute_changes_the_answer_in_place(company: Company) -> None:
    question = company.ask("ben", "general", LEAVE)
    first = company.reply(question)
    company.slack.edit("ben", "general", question.ts, "<@UFOOTNOTE> when do customer invoices go out?")
    company.slack.wait_for(lambda slack: "first Monday" in slack.replies(question)[0].text)
    company.settled()
    assert [reply.ts for reply in company.slack.replies(question)] == [first.ts]


def test_a_late_edit_changes_nothing(own_company: Company) -> None:
    question = own_company.ask("ben", "general", LEAVE)
    own_company.reply(question)
    own_company.slack.advance(120)
    own_company.slack.edit("ben", "general", question.ts, "<@UFOOTNOTE> when do customer invoices go out?")
    own_company.settled()
    assert [("25 days" in reply.text) for reply in own_company.slack.replies(question)] == [True]


def test_a_deleted_question_takes_its_answer_and_its_text_along(own_company: Company) -> None:
    question = own_company.ask("ben", "general", LEAVE)
    own_company.reply(question)
    own_company.slack.delete("ben", "general", question.ts)
    own_company.slack.wait_for(lambda slack: "25 days" not in str([m.text for m in slack.state.everything()]))
    own_company.settled()
    assert own_company.receipt(question).payload == {}
    with own_company.database.writing() as connection:
        assert connection.scalar(sa.select(sa.func.count()).select_from(answers)) == 0


def test_an_answer_is_taken_back_when_its_document_is_deleted(own_company: Company) -> None:
    question = own_company.ask("ben", "general", LEAVE)
    own_company.reply(question)
    (own_company.documents / "everyone" / "leave.md").unlink()
    own_company.sync()
    reply = own_company.slack.replies(question)[0]
    assert reply.text == wording.WITHDRAWN_SOURCE
    assert "25 days" not in str(reply.blocks)
    assert own_company.answer(question).text == ""


def test_an_answer_is_taken_back_when_its_document_gets_fewer_readers(own_company: Company) -> None:
    question = own_company.ask("ben", "general", LEAVE)
    own_company.reply(question)
    text = (own_company.documents / "everyone" / "leave.md").read_text(encoding="utf-8")
    own_company.write("everyone/leave.md", f"---\nscopes: [channel:CLEGAL]\n---\n{text}")
    own_company.sync()
    assert "25 days" not in str([m.text for m in own_company.slack.state.everything()])


def test_a_document_that_was_named_as_near_is_taken_back_too(own_company: Company) -> None:
    reply = own_company.reply(own_company.ask("ben", "general", "which colour has the moon of Jupiter?"))
    assert "everyone/" in str(reply.blocks)
    for name in ("leave.md", "invoices.md"):
        own_company.write(f"everyone/{name}", "---\nscopes: [channel:CLEGAL]\n---\n# Kept by lawyers\n\nNow.\n")
    own_company.sync()
    assert "everyone/" not in str([(m.text, m.blocks) for m in own_company.slack.state.everything()])


def test_without_facts_from_slack_no_document_is_read_and_the_asker_is_told(own_company: Company) -> None:
    own_company.slack.fault("api_error", "conversations.members", times=50)
    reply = own_company.reply(own_company.ask("ana", "general", LEAVE))
    assert reply.text == wording.FACTS_UNKNOWN


def test_a_fault_of_ours_is_owned_up_to_with_an_id(own_company: Company) -> None:
    with own_company.database.writing() as connection:
        connection.exec_driver_sql("alter table chunk_terms rename to gone")
    question = own_company.ask("ben", "general", LEAVE)
    reply = own_company.reply(question)
    receipt = own_company.receipt(question)
    assert receipt.state == "failed"
    assert receipt.error_id is not None
    assert reply.text == wording.failed(receipt.error_id)


def test_rows_of_two_tables_are_one_message(own_company: Company) -> None:
    for name, head, price in (("rates", "Zone | Price", "4.20"), ("rates-2019", "Zone | Price in 2019", "3.20")):
        table = f"| {head} |\n|---|---|\n| Zone 1 parcel | {price} euros |\n"
        own_company.write(f"everyone/{name}.md", f"# Delivery {name}\n\n{table}")
    own_company.sync()
    question = own_company.ask("ben", "general", "how many euros does a zone 1 parcel cost?")
    own_company.reply(question)
    [reply] = own_company.slack.replies(question)
    assert [price in str(reply.blocks) for price in ("4.20 euros", "3.20 euros")] == [True, True]
    assert "table" in [block["type"] for block in reply.blocks]
