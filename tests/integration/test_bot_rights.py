"""What changes in Slack counts for the next question: by its event, and without any event after the set time."""

from dataclasses import replace

import pytest

from bot import wording
from bot.client import identify, web_client
from bot.directory import Directory
from bot.errors import SlackUnavailable
from bot.local_slack import LocalSlack, Person
from knowledge.permissions import NOTHING, WORKSPACE, PersonKind
from tests.company import Company, until

LEASE = "how much does the landlord of the Harbour Street office demand for the roof repair?"


def directory(company: Company, facts_max_age_s: float) -> Directory:
    """One that hears of no event: nobody tells it anything."""
    client = web_client(company.settings.slack)
    slack = company.settings.slack.model_copy(update={"facts_max_age_s": facts_max_age_s})
    return Directory(client, company.database, slack, identify(client))


def heard(company: Company) -> Directory:
    """The bot's own, once every event has arrived."""
    company.slack.wait_until_idle()
    return company.service.directory


def test_every_kind_of_person_is_known_for_what_they_are(listening: Company) -> None:
    kinds = {p.name: listening.service.directory.person(p.id).kind for p in listening.slack.state.people.values()}
    assert kinds == {
        "ana": PersonKind.MEMBER,
        "ben": PersonKind.MEMBER,
        "gus": PersonKind.GUEST,
        "sol": PersonKind.GUEST,
        "eve": PersonKind.EXTERNAL,
        "deploybot": PersonKind.BOT,
        "old": PersonKind.DEACTIVATED,
        "footnote": PersonKind.BOT,
    }
    assert listening.service.directory.person("UNOBODY").kind is PersonKind.UNKNOWN


def test_whoever_leaves_a_private_channel_loses_its_documents_with_the_next_question(own_company: Company) -> None:
    assert "48,000" in own_company.reply(own_company.ask("ana", "dm", LEASE)).text
    own_company.slack.leave("ana", "legal")
    assert "48,000" not in own_company.reply(own_company.ask("ana", "dm", LEASE)).text


def test_whoever_joins_gets_them_with_the_next_question(own_company: Company) -> None:
    assert "48,000" not in own_company.reply(own_company.ask("ben", "dm", LEASE)).text
    own_company.slack.join("ben", "legal")
    assert "48,000" in own_company.reply(own_company.ask("ben", "dm", LEASE)).text


def _guest_comes(slack: LocalSlack) -> None:
    slack.join("gus", "general")


def _shared(slack: LocalSlack) -> None:
    slack.share_channel("general")


def _stranger_comes(slack: LocalSlack) -> None:
    """Before Slack marks the channel as shared, which this one does at once."""
    with slack.state.changed:
        slack.state.add_member(slack.state.channel("general"), "UEVE", None)


@pytest.mark.parametrize("change", [_guest_comes, _shared, _stranger_comes])
def test_a_channel_that_outsiders_can_read_is_cut_to_its_own_documents(listening: Company, change: object) -> None:
    assert WORKSPACE in listening.service.directory.decide("UBEN", "CGENERAL").allowed
    change(listening.slack)  # type: ignore[operator]  # one of the three above
    assert heard(listening).decide("UBEN", "CGENERAL").allowed == {"channel:CGENERAL"}


def test_a_member_made_guest_keeps_only_their_channels(listening: Company) -> None:
    listening.service.directory.decide("UBEN", None)
    listening.slack.make_guest("ben")
    held = heard(listening).decide("UBEN", None).allowed
    assert held == {"user:UBEN", "channel:CGENERAL", "channel:CRANDOM", "channel:GLUNCH"}


def test_a_deactivated_person_reads_nothing(listening: Company) -> None:
    listening.service.directory.decide("UBEN", None)
    listening.slack.deactivate("ben")
    assert heard(listening).decide("UBEN", None).allowed == NOTHING


def test_a_channel_made_private_is_no_longer_everybodys(listening: Company) -> None:
    listening.slack.join("footnote", "random")
    assert "channel:CRANDOM" in heard(listening).decide("UBEN", "CGENERAL").allowed
    listening.slack.convert("random", "private")
    assert "channel:CRANDOM" not in heard(listening).decide("UBEN", "CGENERAL").allowed


def test_a_channel_made_public_is_everybodys(listening: Company) -> None:
    assert "channel:CLEGAL" not in listening.service.directory.decide("UBEN", None).allowed
    listening.slack.convert("legal", "public")
    assert "channel:CLEGAL" in heard(listening).decide("UBEN", None).allowed


def test_without_events_a_change_counts_after_the_set_time(listening: Company) -> None:
    deaf = directory(listening, facts_max_age_s=0.5)
    assert "channel:CLEGAL" in deaf.decide("UANA", None).allowed
    listening.service.stop()
    listening.slack.leave("ana", "legal")
    until(lambda: "channel:CLEGAL" not in deaf.decide("UANA", None).allowed, within_s=5)


def test_fresh_facts_are_not_asked_for_again(listening: Company) -> None:
    patient = directory(listening, facts_max_age_s=3600)
    patient.decide("UANA", "CGENERAL")
    before = len(listening.slack.calls)
    patient.decide("UANA", "CGENERAL")
    assert len(listening.slack.calls) == before


def test_a_live_look_asks_again_however_fresh_the_facts_are(listening: Company) -> None:
    patient = directory(listening, facts_max_age_s=3600)
    patient.decide("UANA", "CLEGAL")
    legal = listening.slack.state.channels["CLEGAL"]
    listening.slack.state.channels["CLEGAL"] = replace(legal, members=legal.members - {"UANA"})  # no event tells
    assert "channel:CLEGAL" not in patient.decide("UANA", "CLEGAL", live=True).allowed


@pytest.mark.parametrize(
    "method",
    ["users.info", "users.conversations", "conversations.info", "conversations.members", "conversations.list"],
)
def test_whatever_slack_does_not_say_closes_the_door(listening: Company, method: str) -> None:
    directory(listening, facts_max_age_s=3600).decide("UANA", "CLEGAL")  # known, and too old a moment later
    listening.slack.fault("api_error", method, times=100)
    with pytest.raises(SlackUnavailable, match=method.replace(".", r"\.")):
        directory(listening, facts_max_age_s=0.001).decide("UANA", "CLEGAL")


def test_facts_that_are_still_fresh_outlive_an_outage_and_then_the_door_closes(listening: Company) -> None:
    patient, hasty = directory(listening, 3600), directory(listening, 0.001)
    patient.decide("UANA", "CLEGAL")
    listening.slack.fault("server_error", times=1000)
    assert "channel:CLEGAL" in patient.decide("UANA", "CLEGAL").allowed
    with pytest.raises(SlackUnavailable):
        hasty.decide("UANA", "CLEGAL")


def test_a_member_list_without_the_bot_in_it_was_cut_short(listening: Company) -> None:
    listening.slack.leave("footnote", "general")
    assert directory(listening, 0.001).decide("UANA", "CGENERAL").allowed == NOTHING


def test_a_long_list_is_read_to_its_end(listening: Company) -> None:
    """The only guest is on the last page of the members and of the people."""
    state = listening.slack.state
    crowd = {f"UX{number:05}": Person(f"UX{number:05}", f"x{number}") for number in range(1_500)}
    last = Person("UZLAST", "last", kind="guest")
    state.people.update(crowd, UZLAST=last)
    general = state.channel("general")
    state.channels[general.id] = replace(general, members=general.members | set(crowd))
    assert WORKSPACE in directory(listening, 0.001).decide("UANA", "CGENERAL").allowed
    state.channels[general.id] = replace(general, members=general.members | set(crowd) | {last.id})
    assert directory(listening, 0.001).decide("UANA", "CGENERAL").allowed == {"channel:CGENERAL"}


def test_a_dm_belongs_to_its_person_only(listening: Company) -> None:
    dm = listening.slack.dm("ana").id
    assert listening.service.directory.decide("UANA", dm).withheld == NOTHING
    assert listening.service.directory.decide("UBEN", dm).allowed == NOTHING


@pytest.mark.parametrize(
    ("place", "asker", "named"),
    [
        ("CGENERAL", "UANA", {"CGENERAL"}),
        ("CLEGAL", "UANA", {"CGENERAL", "CLEGAL"}),
        ("DANA", "UANA", {"CGENERAL", "CLEGAL"}),
        ("DANA", "UBEN", set()),
        ("CGUESTS", "UANA", set()),
        ("CGENERAL", None, {"CGENERAL"}),
        ("CLEGAL", None, {"CGENERAL", "CLEGAL"}),
        ("DANA", None, set()),
    ],
)
def test_a_channel_is_named_only_to_those_who_may_know_it(
    company: Company, place: str, asker: str | None, named: set[str]
) -> None:
    company.slack.dm("ana")
    names = company.service.directory.names((), ("CGENERAL", "CLEGAL"), place, asker)
    assert {channel for channel, name in names.items() if name != wording.NO_CHANNEL} == named


def test_the_names_of_a_crowd_are_asked_for_as_one_list(listening: Company) -> None:
    state = listening.slack.state
    crowd = {f"UX{number:05}": Person(f"UX{number:05}", f"x{number}") for number in range(60)}
    state.people.update(crowd)
    names = listening.service.directory.names(crowd, (), "CGENERAL", "UANA")
    assert names == {person.id: person.name for person in crowd.values()}
    assert not [call for call in listening.slack.calls if call.method == "users.info"]


def test_whoever_mentions_a_private_channel_does_not_learn_its_name(company: Company) -> None:
    question = company.ask("ben", "general", "what is said in <#CLEGAL|legal> about leave?")
    company.reply(question)
    assert "legal" not in company.answer(question).question


def test_an_outage_while_asking_is_said_in_words(own_company: Company) -> None:
    own_company.slack.fault("api_error", "users.info", times=100)
    question = own_company.ask("ben", "general", "how many days of leave?")
    assert own_company.reply(question).text == wording.FACTS_UNKNOWN
