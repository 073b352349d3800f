"""The conversation with the bot: what it offers to be asked, and what its threads are called."""

import sqlalchemy as sa

from bot import wording
from tests.company import Company

SITE = wording.ask_about("Site access")
LEAVE = "how many days of annual leave do full-time staff get?"


def offered(company: Company, user: str) -> list[dict[str, str]]:
    """What this person finds after opening the conversation anew."""
    direct = company.slack.dm(user).id
    company.slack.open_home(user, "messages")
    company.settled()
    return company.slack.state.statuses.prompts[direct, ""]


def test_everyone_is_offered_what_they_may_read_and_asked_last(own_company: Company) -> None:
    mine = offered(own_company, "ana")
    assert wording.ask_about("Lease dispute") in [prompt["title"] for prompt in mine]
    assert len(mine) == 4
    own_company.reply(own_company.ask("ben", "general", LEAVE))
    others = offered(own_company, "ben")
    assert others[0] == {"title": LEAVE, "message": LEAVE}
    assert "Lease" not in str(others)
    assert [prompt["title"] for prompt in offered(own_company, "gus")] == [SITE, wording.ASK_HELP]


def test_follow_ups_are_not_offered_outside_of_their_thread(own_company: Company) -> None:
    root = own_company.ask("ben", "dm", LEAVE)
    own_company.reply(root)
    for follow_up in ("when can they carry them over?", "and who do I ask for it?"):
        asked = own_company.ask("ben", "dm", follow_up, root.ts)
        own_company.receipt(asked)
        assert own_company.answer(asked).standalone != follow_up
    assert offered(own_company, "ben")[0] == {"title": LEAVE, "message": LEAVE}


def test_what_got_no_answer_or_a_doubtful_one_is_not_offered_again(own_company: Company) -> None:
    own_company.reply(own_company.ask("ben", "dm", LEAVE))
    unanswered = own_company.ask("ben", "dm", "do we have a canteen?")
    own_company.reply(unanswered)
    assert own_company.answer(unanswered).outcome == "abstained"
    assert offered(own_company, "ben")[0]["message"] == LEAVE
    doubtful = "update answers set stages = jsonb_set(stages, '{strength,found}', '0.1') where outcome = 'quoted'"
    with own_company.database.writing() as connection:
        connection.execute(sa.text(doubtful))
    assert "canteen" not in str(offered(own_company, "ben"))
    assert LEAVE not in str(offered(own_company, "ben"))


def test_what_only_a_deleted_document_answered_is_not_offered_again(own_company: Company) -> None:
    own_company.reply(own_company.ask("ben", "dm", LEAVE))
    assert offered(own_company, "ben")[0]["message"] == LEAVE
    (own_company.documents / "everyone" / "leave.md").unlink()
    own_company.sync()
    own_company.settled()
    assert LEAVE not in str(offered(own_company, "ben"))


def test_what_is_offered_is_answered(company: Company) -> None:
    about = next(each for each in offered(company, "gus") if each["title"] == SITE)
    assert "gate house" in company.reply(company.ask("gus", "dm", about["message"])).text


def test_without_facts_from_slack_help_is_offered_alone(own_company: Company) -> None:
    own_company.slack.fault("api_error", "users.info", times=50)
    assert [prompt["message"] for prompt in offered(own_company, "ana")] == ["help"]


def test_a_direct_conversations_threads_are_called_by_their_questions_and_others_are_not(company: Company) -> None:
    direct = company.ask("ben", "dm", "who   asks about *leave*?")
    company.reply(direct)
    more = company.ask("ben", "dm", "how many days of it?", direct.ts)
    company.reply(more)
    in_channel = company.ask("ben", "general", LEAVE)
    company.reply(in_channel)
    titles = company.slack.state.statuses.titles
    assert titles[direct.channel, direct.ts] == "who asks about *leave*?"
    assert (direct.channel, more.ts) not in titles
    assert (in_channel.channel, in_channel.ts) not in titles
