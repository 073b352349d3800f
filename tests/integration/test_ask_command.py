"""`footnote ask` and `footnote why` from the shell."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bot import wording
from bot.cli import app
from knowledge import privacy
from tests.company import WORKSPACE, Company

Run = Callable[..., str]


@pytest.fixture
def run(company: Company, tmp_path: Path) -> Run:
    config = tmp_path / "footnote.toml"
    config.write_text(f'[slack]\nfacts = "{WORKSPACE}"\n')
    url = company.settings.database_url
    assert url is not None
    environment = {"FOOTNOTE_DATABASE_URL": url.get_secret_value(), "FOOTNOTE_CONFIG": str(config)}
    return lambda *arguments: CliRunner().invoke(app, arguments, env=environment, catch_exceptions=False).stdout


def test_an_answer_names_its_sources_and_its_id_says_why(run: Run, company: Company) -> None:
    said = run("ask", "How many days of annual leave do full-time staff get?", "--as", "ben", "--in", "general")
    assert said.startswith(wording.QUOTED)
    assert "25 days" in said
    assert "[1] Annual leave" in said
    command = said.rstrip().rpartition("why: footnote ")[2].split()
    assert "answered" in (why := run(*command)) or "quoted" in why
    with company.database.writing() as connection:
        assert privacy.forget(connection, "UBEN")["answers"] >= 1


def test_without_an_answer_it_says_so_in_slacks_words_with_what_is_nearest(run: Run) -> None:
    question = ("ask", "Who repairs the coffee machine?", "--as", "ben", "--in")
    said = run(*question, "general")
    assert said.startswith(wording.ABSTAINED)
    assert f"{wording.NEAREST}\n• " in said
    printed = json.loads(run(*question, "dm", "--json"))
    assert printed["outcome"] == "abstained"
    assert printed["said"].startswith(wording.ABSTAINED_DIRECT)
    assert printed["nearest"][0]["title"] in printed["said"]


def test_a_question_in_another_language_than_the_nearest_documents_is_told_so(run: Run) -> None:
    said = run("ask", "Wer repariert die Kaffeemaschine?", "--as", "ben", "--in", "general")
    assert f"{wording.ABSTAINED} {wording.IN_ENGLISH}" in said
    assert wording.IN_ENGLISH not in run("ask", "Who repairs the coffee machine?", "--as", "ben", "--in", "general")


def test_who_may_read_nothing_is_told_that_and_nothing_is_stored(run: Run) -> None:
    assert run("ask", "How much leave?", "--as", "old").strip() == wording.NOTHING_ALLOWED_PERSON


def test_the_link_of_a_message_in_slack_says_why_too(run: Run, company: Company) -> None:
    reply = company.reply(company.ask("ben", "general", "How many days of annual leave do full-time staff get?"))
    link = f"{company.server.url}archives/{reply.channel}/p{reply.ts.replace('.', '')}?thread_ts={reply.root}"
    assert "leave" in run("why", link, "--as", "ben")
