"""A fault of ours, whatever was asked for: owned up to with an id where there is somebody to tell, and not left open."""

import sqlalchemy as sa

from bot import wording
from bot.local_slack import Message
from tests.company import Company

LEASE = "how much does the landlord of the Harbour Street office demand for the roof repair?"


def break_reading(company: Company) -> None:
    """From now on nothing that needs a document succeeds."""
    with company.database.writing() as connection:
        connection.exec_driver_sql("alter table acls rename to gone")


def failures(company: Company) -> dict[str, str]:
    """Kind of work -> the id of its error, once nothing is open any more."""
    company.settled()
    with company.database.plain() as connection:
        rows = connection.execute(sa.text("select kind, error_id from inbox where state = 'failed'"))
        return {kind: error_id for kind, error_id in rows}


def told(company: Company, user: str) -> str:
    direct: list[Message] = company.slack.state.history(company.slack.dm(user).id)
    return "\n".join(message.text for message in (*company.slack.ephemerals(user), *direct))


def test_clicks_commands_and_reactions_that_fail_are_told_with_an_id_and_end(own_company: Company) -> None:
    slack = own_company.slack
    question = own_company.ask("ana", "general", LEASE)
    reply = own_company.reply(question)
    note = slack.wait_for(lambda each: each.ephemerals("ana"))[-1]
    break_reading(own_company)
    slack.click("ana", "general", note.ts, "show_privately")
    slack.command("ana", "general", "/reindex status")
    slack.react("ana", "general", reply.ts, "-1")
    slack.shortcut("ana", "mark_answer_wrong", "general", reply.ts)
    ids = failures(own_company)
    assert set(ids) == {"show_privately", "reindex", "vote", "ask_source"}
    assert all(wording.failed(error_id) in told(own_company, "ana") for error_id in ids.values())


def test_the_home_tab_says_so_itself_and_prompts_are_missed_by_nobody(own_company: Company) -> None:
    break_reading(own_company)
    own_company.slack.open_home("ana")
    own_company.slack.open_home("ana", "messages")
    ids = failures(own_company)
    assert set(ids) == {"home", "prompts"}
    assert wording.failed(ids["home"]) in str(own_company.slack.home("ana"))
    assert told(own_company, "ana") == ""
