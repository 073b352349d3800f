"""The whole loop on the local Slack, with the clock moved from night to night: a bad answer becomes a reviewed question,
the digest names it as broken, somebody mends the document, and the next digest names it as mended."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar
from zoneinfo import ZoneInfo

from bot import digest_wording, review_wording, wording
from bot.local_slack import LocalSlack
from jobs.schedule import Scheduler
from jobs.settings import Schedule
from knowledge import evals, gold
from knowledge.encoders import Embedder
from knowledge.reranking import Reranker
from tests.company import Company, running

Value = TypeVar("Value")

CHANNEL = "CGENERAL"
QUESTION = "How much may a hotel night in Lisbon cost at most?"
TOWNS = "Porto Faro Ghent Lyon Turin Graz Krakow Malmo Bergen Tallinn Cork Leeds".split()  # noqa: SIM905
HOTELS = {
    f"everyone/hotel-{town.lower()}.md": f"# Hotels in {town}\n\nA hotel night in {town} is booked by the office there. "
    f"What a hotel night in {town} may cost at most is agreed with that office.\n"
    for town in TOWNS
}
RATES = "# Rates, table B\n\nZone one: 140. Zone two: 110. Zone three: 95.\n"
MENDED = f"{RATES}\n## Hotel nights in Lisbon\n\nA hotel night in Lisbon may cost 140 euros at most, as in zone one.\n"


class Nights:
    """The schedule's clock, which stands at noon until the next night is wanted."""

    def __init__(self, company: Company) -> None:
        self.now = datetime.now(UTC).replace(hour=12, minute=0)
        self.company = company
        self.job = next(job for job in company.service.nightly.jobs if job.name == "nightly")
        self.scheduler = Scheduler(company.database, [self.job], lambda: self.now)
        self.scheduler.open_history()

    def digest(self) -> str:
        """What is posted in the next night; a second look posts nothing more."""
        before = len(self.company.slack.state.history(CHANNEL))
        self.now += timedelta(days=1)
        self.company.slack.advance(timedelta(days=1).total_seconds())
        assert [self.scheduler.look(self.job) for _ in range(3)] == [True, False, False]
        posted = self.company.slack.state.history(CHANNEL)[: -before or None]
        [text] = [message.text for message in posted if message.text and "Recall@5" in message.text]
        return text


def shown(company: Company, look: Callable[[LocalSlack], Value | None]) -> Value:
    value = company.slack.wait_for(look)
    assert value is not None
    return value


def a_bad_answer_is_labelled(company: Company) -> None:
    question = company.ask("ben", "general", QUESTION)
    reply = company.reply(question)
    assert "140" not in reply.text
    company.slack.click("ben", "general", reply.ts, "feedback", "negative")
    note = shown(company, lambda slack: next(iter(slack.ephemerals("ben")), None))
    company.slack.click("ben", "general", note.ts, "name_source")
    shown(company, lambda slack: slack.modal("ben"))
    company.slack.submit("ben", {"document": "Rates, table B"})
    company.settled()
    assert wording.LABEL_THANKS in [each.text for each in company.slack.ephemerals("ben")]


def an_administrator_accepts_it(company: Company) -> str:
    company.slack.open_home("ana")
    home = shown(company, lambda slack: slack.home("ana"))
    assert QUESTION in str(home)
    assert review_wording.DIAGNOSES["ranking"] in str(home)
    with company.database.writing() as connection:
        [proposed] = gold.rights(connection, "proposed")
    company.slack.click_view("ana", home["id"], f"gold_accept:{proposed}")
    company.settled()
    with company.database.writing() as connection:
        assert list(gold.rights(connection)) == [proposed]
    return proposed


def test_from_a_thumbs_down_to_the_digest_that_names_it_as_fixed(
    tmp_path: Path, postgres_url: str, models: tuple[Embedder, Reranker]
) -> None:
    schedule = Schedule(digest_channel=CHANNEL, timezone="Europe/Berlin")
    documents = {**HOTELS, "everyone/rates.md": RATES}
    with running(tmp_path, postgres_url, models, documents=documents, schedule=schedule) as company:
        nights = Nights(company)
        a_bad_answer_is_labelled(company)
        case = an_administrator_accepts_it(company)

        first = nights.digest()
        _, step = digest_wording.BUCKETS["ranked_low"]
        assert "Recall@5 0%: the share of 1 question whose right place" in first
        assert QUESTION in first
        assert step in first
        assert "fixed" not in first

        company.write("everyone/rates.md", MENDED)
        company.sync()
        second = nights.digest()
        assert "Recall@5 100%, +100 points: the share of 1 question" in second
        assert "Changed since the last run: documents." in second
        assert second[second.index("Newly fixed: 1") :].splitlines()[1] == f"• {QUESTION}"
        assert "Newly broken" not in second

        with company.database.writing() as connection:
            runs = evals.runs(connection)
            results = [evals.results(connection, run.id)[case].outcome for run in runs]
        assert results == ["miss", "hit"]
        assert {run.started_at.astimezone(ZoneInfo("Europe/Berlin")).strftime("%H:%M") for run in runs} == {"02:30"}
        assert "140 euros" in company.reply(company.ask("ben", "general", QUESTION)).text
