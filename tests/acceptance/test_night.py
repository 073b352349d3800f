"""One night on the local Slack: the gold set is measured and its digest is posted once, for its readers' eyes."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot import wording
from bot.errors import SlackUnavailable
from jobs.settings import Schedule
from knowledge import evals, gold
from knowledge.encoders import Embedder
from knowledge.gold import Proposal
from knowledge.labels import Label
from knowledge.local_claude import LocalClaude, Step, serve
from knowledge.reranking import Reranker
from knowledge.settings import Answers
from knowledge.slots import Slot
from tests.company import Company, running

NIGHT = datetime(2026, 11, 30, 2, 30, tzinfo=UTC)
CHANNEL = "CGENERAL"
Models = tuple[Embedder, Reranker]


def add_case(company: Company, question: str, scopes: set[str], *expected: Label) -> None:
    with company.database.writing() as connection:
        case = gold.propose(connection, Proposal(question, frozenset(scopes), expected, "import", "UANA"))
        gold.accept(connection, case, "UANA")


def posts(company: Company) -> list[str]:
    return [str(c.arguments) for c in company.slack.calls if c.method == "chat.postMessage" and c.ok]


def test_the_digest_is_posted_once_with_its_chart_and_names_only_what_its_readers_may_see(own_company: Company) -> None:
    company = own_company
    company.write("everyone/bicycles.md", "# Bicycles\n\nThe bicycle cellar is opened with the code 4711.\n")
    company.write("legal/rent.md", "# Rent\n\nThe landlord asks for saffron money.\n")
    company.sync()
    add_case(company, "How do I open the bicycle cellar?", {"workspace"}, Label("everyone", "bicycles.md"))
    add_case(company, "Which money does the landlord want?", {"channel:CLEGAL"}, Label("legal", "rent.md"))
    nightly = company.service.nightly
    for day in range(2):
        slot = Slot("nightly", NIGHT + timedelta(days=day), attempt=1, worker="test")
        nightly.measure(slot)
        nightly.post(CHANNEL, slot)
        nightly.post(CHANNEL, slot)
    digests = posts(company)
    assert len(digests) == 2
    assert "Recall@5 100%" in digests[0]
    assert "the share of 2 questions" in digests[0]
    assert sum(c.method == "files.completeUploadExternal" and c.ok for c in company.slack.calls) == 2
    assert "saffron" not in str(company.slack.calls)
    assert "landlord" not in str(company.slack.calls)
    with company.database.writing() as connection:
        run = evals.runs(connection)[-1]
    assert run.metrics is not None
    assert run.metrics["seconds"] > 0
    assert {"version", "prompt", "answers", "embedder", "reranker", "retrieval", "index"} == set(run.configuration)


def test_follow_ups_without_an_answer_are_told_as_they_were_asked_with_the_question_that_began_them(
    own_company: Company,
) -> None:
    company, began = own_company, "Does the orchestra rehearse in Spain?"
    root = company.ask("ben", "general", began)
    company.reply(root)
    for text in ("what about the tuba", "what about bassoons"):
        follow_up = company.ask("ben", "general", text, root.ts)
        company.reply(follow_up)
        assert company.answer(follow_up).standalone != text
        assert company.answer(follow_up).outcome == "abstained"
    lease = company.ask("ana", "legal", "Who tunes the organ of the landlord?")
    company.reply(lease)
    company.service.nightly.post(CHANNEL, Slot("nightly", datetime.now(UTC), attempt=1, worker="test"))
    [digest] = [message.text for message in company.slack.state.history(CHANNEL) if "Asked without" in message.text]
    for text in ("what about the tuba", "what about bassoons"):
        assert f"{text} (a follow-up to “{began}”)" in digest
    assert " times)" not in digest
    assert "landlord" not in digest


def test_a_digest_that_was_cut_off_after_its_chart_is_finished_without_another_chart(own_company: Company) -> None:
    company, nightly = own_company, own_company.service.nightly
    add_case(company, "How many days of annual leave do I get?", {"workspace"}, Label("everyone", "leave.md"))
    slot = Slot("nightly", NIGHT, attempt=1, worker="test")
    nightly.measure(slot)
    company.slack.fault("api_error", "chat.postMessage", error="restricted_action")
    with pytest.raises(SlackUnavailable):
        nightly.post(CHANNEL, slot)
    nightly.post(CHANNEL, slot)
    assert sum(c.method == "files.completeUploadExternal" and c.ok for c in company.slack.calls) == 1
    assert len(posts(company)) == 1


def test_answers_of_the_day_are_judged_where_there_is_a_budget(
    tmp_path: Path, postgres_url: str, models: Models
) -> None:
    verdict = json.dumps({"claims": 4, "supported": 3, "relevance": 2})
    claude = LocalClaude(Step(), Step(content=({"type": "text", "text": verdict},)))
    with (
        serve(claude) as url,
        running(
            tmp_path,
            postgres_url,
            models,
            answers=Answers.model_validate({"api_key": "k", "base_url": url, "daily_token_budget": 100_000}),
        ) as company,
    ):
        company.reply(company.ask("ben", "general", "How many days of annual leave do full-time staff get?"))
        slot = Slot("nightly", datetime.now(UTC), attempt=1, worker="test")
        company.service.nightly.measure(slot)
        company.service.nightly.post(CHANNEL, slot)
        assert "A model's opinion of 1 answer: 75% of the claims supported, 100% to the point." in posts(company)[-1]


def test_a_night_without_gold_cases_says_so(own_company: Company) -> None:
    own_company.service.nightly.post(CHANNEL, Slot("nightly", NIGHT, attempt=1, worker="test"))
    [digest] = posts(own_company)
    assert "no gold questions yet" in digest


def press(company: Company, user: str) -> str:
    """Press the button on the Home tab; what the bot says to that person then."""
    slack = company.slack
    slack.open_home(user)
    home = slack.wait_for(lambda each: each.home(user))
    assert home is not None
    slack.click_view(user, home["id"], "home_nightly", "now")
    company.settled()
    return "\n".join(message.text for message in slack.state.history(slack.dm(user).id))


def test_an_administrator_has_the_night_done_now(tmp_path: Path, postgres_url: str, models: Models) -> None:
    with running(tmp_path, postgres_url, models, schedule=Schedule(digest_channel=CHANNEL)) as company:
        add_case(company, "How many days of annual leave do I get?", {"workspace"}, Label("everyone", "leave.md"))
        told = press(company, "ana")
        assert wording.nightly_posted(CHANNEL) in told
        assert wording.nightly_posted(CHANNEL) in str(company.slack.home("ana"))
        [digest] = [message for message in company.slack.state.history(CHANNEL) if "Recall@5" in message.text]
        assert "the share of 1 question whose right place" in digest.text
        assert [call.ok for call in company.slack.calls if call.method == "files.completeUploadExternal"] == [True]


def test_without_a_channel_for_the_digest_its_figures_are_told_and_the_setting_named(own_company: Company) -> None:
    assert wording.nightly_measured(None, 0) in press(own_company, "ana")
    add_case(own_company, "How many days of annual leave do I get?", {"workspace"}, Label("everyone", "leave.md"))
    add_case(own_company, "Where is the swimming pool?", {"workspace"})
    told = press(own_company, "ana")
    assert "recall@5 is 100% over 1 question. `schedule.digest_channel` in footnote.toml names no channel" in told
    assert "annual leave" not in told


def test_a_digest_that_cannot_be_posted_is_told_with_an_id(tmp_path: Path, postgres_url: str, models: Models) -> None:
    with running(tmp_path, postgres_url, models, schedule=Schedule(digest_channel="CNOWHERE")) as company:
        assert "did not come to its end" in press(company, "ana")


def test_others_have_no_such_button_and_one_who_is_no_administrator_any_more_is_refused(own_company: Company) -> None:
    slack = own_company.slack
    slack.open_home("ben")
    assert "home_nightly" not in str(slack.wait_for(lambda each: each.home("ben")))
    slack.open_home("ana")
    home = slack.wait_for(lambda each: each.home("ana"))
    assert home is not None
    slack.make_guest("ana")
    slack.click_view("ana", home["id"], "home_nightly", "now")
    own_company.settled()
    assert [message.text for message in slack.state.history(slack.dm("ana").id)] == [wording.ADMINS_ONLY]
