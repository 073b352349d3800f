"""`footnote ask` and `footnote why` from the shell."""

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy as sa
from typer.testing import CliRunner

from bot import logs, review_wording, wording
from bot.cli import app
from bot.commands.console import command
from knowledge import privacy
from knowledge.errors import SettingsInvalid
from knowledge.tables import answers
from tests.company import WORKSPACE, Company

Run = Callable[..., str]


@pytest.fixture
def run(company: Company, tmp_path: Path) -> Run:
    logs.configure()  # what the bot logs meanwhile is no command's output
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
    words = shlex.split(said.rstrip().rpartition("why: footnote ")[2])
    assert "answered" in (why := run(*words)) or "quoted" in why
    with company.database.writing() as connection:
        assert privacy.forget(connection, "UBEN")["answers"] >= 1


def test_the_command_that_says_why_names_the_settings_and_fits_a_shell(run: Run, tmp_path: Path) -> None:
    (folder := tmp_path / "our settings").mkdir()
    (config := folder / "footnote.toml").write_text((tmp_path / "footnote.toml").read_text())
    said = run("ask", "How many days of leave?", "--as", "ben", "--config", str(config))
    words = shlex.split(said.rstrip().rpartition("why: footnote ")[2])
    assert words[2:] == ["--as", "ben", "--config", str(config)]
    assert "How many days of leave?" in run(*words)
    assert command(None, "why", words[1]) == f"footnote why {words[1]}"


def test_that_the_person_could_not_ask_in_that_channel_is_noted_below_the_answer(run: Run) -> None:
    said = run("ask", "How many days of annual leave do full-time staff get?", "--as", "ben", "--in", "legal")
    assert said.splitlines()[-5:-2] == [
        "note: no such reply can come about",
        "",
        "note: ben (UBEN) is not in #legal (CLEGAL): they can neither ask there nor read the reply",
    ]
    assert "note:" not in run("ask", "How many days of leave?", "--as", "ben", "--in", "general")


def test_without_an_answer_it_says_so_in_slacks_words_with_what_is_nearest(run: Run) -> None:
    question = ("ask", "Who repairs the coffee machine?", "--as", "ben", "--in")
    said = run(*question, "general")
    assert said.startswith(wording.ABSTAINED)
    assert f"{wording.NEAREST}\n• " in said
    printed = json.loads(run(*question, "dm", "--json"))
    assert printed["outcome"] == "abstained"
    assert printed["said"].startswith(wording.ABSTAINED_DIRECT)
    assert printed["nearest"][0]["title"] in printed["said"]


@pytest.mark.parametrize("text", ["hi there!", "thanks a lot"])
def test_small_talk_is_no_question_in_the_shell_either(run: Run, company: Company, text: str) -> None:
    with company.database.writing() as connection:
        before = connection.scalar(sa.select(sa.func.count()).select_from(answers))
    assert run("ask", text, "--as", "ben") == f"{wording.HELP}\n"
    assert json.loads(run("ask", text, "--as", "ben", "--json"))["said"] == wording.HELP
    with company.database.writing() as connection:
        assert connection.scalar(sa.select(sa.func.count()).select_from(answers)) == before


def test_a_question_in_another_language_than_the_nearest_documents_is_told_so(run: Run) -> None:
    said = run("ask", "Wer repariert die Kaffeemaschine?", "--as", "ben", "--in", "general")
    assert f"{wording.ABSTAINED} {wording.IN_ENGLISH}" in said
    assert wording.IN_ENGLISH not in run("ask", "Who repairs the coffee machine?", "--as", "ben", "--in", "general")


def test_who_may_read_nothing_is_told_that_and_nothing_is_stored(run: Run) -> None:
    said = run("ask", "How much leave?", "--as", "old")
    assert said.split("\n\n") == [wording.NOTHING_ALLOWED_PERSON, "note: old (UOLD) is deactivated\n"]


def test_the_link_of_a_message_in_slack_says_why_too(run: Run, company: Company) -> None:
    reply = company.reply(company.ask("ben", "general", "How many days of annual leave do full-time staff get?"))
    link = f"{company.server.url}archives/{reply.channel}/p{reply.ts.replace('.', '')}?thread_ts={reply.root}"
    assert "leave" in run("why", link, "--as", "ben")


def test_the_link_of_the_question_says_why_its_answer_is_so_to_those_who_may_read_the_answer(
    run: Run, company: Company
) -> None:
    asked_at = company.ask("ana", "legal", "How many days of annual leave do full-time staff get?")
    reply = company.reply(asked_at)
    links = [f"{company.server.url}archives/{reply.channel}/p{ts.replace('.', '')}" for ts in (asked_at.ts, reply.ts)]
    of_question, of_reply = (run("why", link, "--as", "ana") for link in links)
    assert of_question == of_reply
    assert "leave.md" in of_question
    for link in links:
        with pytest.raises(SettingsInvalid, match=r"there is no answer .* that ben may read"):
            run("why", link, "--as", "ben")


def test_why_lists_what_was_found_with_its_ranks_and_how_to_say_what_was_right(run: Run, company: Company) -> None:
    question = "How many days of annual leave can ben carry over?"
    why = run("why", answer_id := asked(run, question), "--as", "ben")
    assert why.startswith(f"{question}\nquoted\n")
    head = "given  vector  keyword  fused  reranked\n"
    assert f"{review_wording.FOUND}\n{head}" in why
    [first, *_] = why.partition(head)[2].strip().splitlines()
    assert first.split()[0] == "✓"
    assert first.split()[4] == "1"
    assert first.endswith("Annual leave › Carrying days over (everyone/leave.md)")
    [other] = [line for line in why.splitlines() if "(everyone/invoices.md)" in line]
    assert "–" in other or "✓" in other
    assert review_wording.UNSAID in why
    line = why.partition("footnote gold import FILE")[2].partition("\n")[2].strip()
    file = company.documents / "case.jsonl"
    file.write_text(line.replace("SOURCE", "everyone").replace("PATH", "leave.md"), encoding="utf-8")
    run("gold", "import", str(file))
    told = run("why", answer_id, "--as", "ben")
    assert review_wording.expected(["everyone/leave.md"], 0) in told
    assert review_wording.GIVEN_SOMEWHERE in told, "only the document is named"
    assert "rank of the best passage of that document: vector 1, keyword 1, fused 1, reranked 1" in told


def test_why_says_that_a_gold_case_has_it_in_no_document(run: Run, company: Company) -> None:
    answer_id = asked(run, "Who plays the tuba in the orchestra?")
    case = {"id": "tuba", "question": "Who plays the tuba in the orchestra?", "scopes": ["workspace"], "expected": []}
    file = company.documents / "tuba.jsonl"
    file.write_text(json.dumps(case), encoding="utf-8")
    run("gold", "import", str(file))
    why = run("why", answer_id, "--as", "ben")
    assert review_wording.IN_NONE in why
    assert review_wording.UNSAID not in why


def test_why_says_that_a_place_was_given_and_judged_too_weak(run: Run, company: Company) -> None:
    answer_id = asked(run, "Who plays the bassoon in the orchestra?")
    line = run("why", answer_id, "--as", "ben").partition("footnote gold import FILE")[2].partition("\n")[2].strip()
    file = company.documents / "bassoon.jsonl"
    file.write_text(line.replace("SOURCE", "everyone").replace("PATH", "leave.md"), encoding="utf-8")
    run("gold", "import", str(file))
    assert review_wording.DIAGNOSES["evidence_somewhere"] in run("why", answer_id, "--as", "ben")


def test_why_tells_how_strong_the_evidence_for_quotes_was(run: Run) -> None:
    def strength(question: str) -> tuple[float, float]:
        told = re.search(
            r"^evidence: (0\.\d\d) of 1; quotes are given from (0\.\d\d), as an answer from 0\.50$",
            run("why", asked(run, question), "--as", "ben"),
            re.M,
        )
        assert told
        return float(told[1]), float(told[2])

    found, needed = strength("How many days of annual leave can ben carry over?")
    assert found >= needed
    found, needed = strength("Who plays the bassoon in the orchestra?")
    assert found < needed


def test_why_names_the_part_of_a_question_for_which_nothing_was_found(run: Run) -> None:
    question = "How many days of annual leave do full-time staff get, and who plays the bassoon in the orchestra?"
    said = run("ask", question, "--as", "ben")
    part = "who plays the bassoon in the orchestra"
    assert said.startswith(wording.doubtful((), (part,)))
    assert "25 days" in said
    [answer_id] = re.findall(r"footnote why (\w+)", said)
    assert f"; nothing was found for {part}?\n" in run("why", answer_id, "--as", "ben")


def test_why_reads_what_a_newer_version_of_the_program_has_stored(run: Run, company: Company) -> None:
    answer_id = asked(run, "How many days of annual leave do full-time staff get?")
    with company.database.writing() as connection:
        more = "update answers set stages = jsonb_set(stages, '{strength,later}', '1') where id = :id"
        connection.execute(sa.text(more), {"id": answer_id})
    assert "evidence: " in run("why", answer_id, "--as", "ben")


def test_why_says_of_quotes_that_they_were_given_with_doubt(run: Run) -> None:
    answer_id = asked(run, question := "How many days of annual leave does the form LN-99 give full-time staff?")
    assert run("why", answer_id, "--as", "ben").startswith(f"{question}\nquoted, not sure that it answers\nevidence: ")
    assert json.loads(run("why", answer_id, "--as", "ben", "--json"))["doubtful"] is True


def test_why_tells_the_click_that_labels_an_answer_in_slack(run: Run, company: Company) -> None:
    reply = company.reply(company.ask("ben", "general", "When do invoices go out to customers?"))
    link = f"{company.server.url}archives/{reply.channel}/p{reply.ts.replace('.', '')}"
    assert review_wording.LABEL_IN_SLACK in run("why", link, "--as", "ben")


def test_why_names_no_document_that_was_taken_from_who_looks(run: Run, company: Company) -> None:
    company.write("everyone/parking.md", "# Parking permits\n\nParking permits cost 40 euros a month.\n")
    company.sync()
    answer_id = asked(run, "How much do parking permits cost?")
    assert "Parking permits (everyone/parking.md)" in run("why", answer_id, "--as", "ben")
    narrowed = "---\nscopes: [channel:CLEGAL]\n---\n# Parking permits\n\nParking permits cost 40 euros a month.\n"
    company.write("everyone/parking.md", narrowed)
    company.sync()
    assert "arking permits (" not in run("why", answer_id, "--as", "ben")
    assert "everyone/parking.md" not in run("why", answer_id, "--as", "ben")


def test_why_counts_what_was_given_and_is_not_there_any_more_however_it_went(run: Run, company: Company) -> None:
    """Changed, narrowed and deleted look the same: that it exists for others is not theirs to know."""

    def table(why: str) -> str:
        return why.partition(review_wording.FOUND)[2]

    crates = "# Crates\n\nCrates are stacked five high.\n"
    company.write("everyone/crates.md", crates)
    company.sync()
    answer_id = asked(run, "How high are crates stacked?")
    given = run("why", answer_id, "--as", "ben")
    assert "Crates (everyone/crates.md)" in given
    assert "gone since" not in given
    company.write("everyone/crates.md", crates.replace("five", "six"))
    company.sync()
    changed = table(run("why", answer_id, "--as", "ben"))
    assert "\n\n1 of what was given has changed or is gone since.\n\n" in changed
    company.write("everyone/crates.md", f"---\nscopes: [channel:CLEGAL]\n---\n{crates}")
    company.sync()
    assert table(run("why", answer_id, "--as", "ben")) == changed
    (company.documents / "everyone" / "crates.md").unlink()
    company.sync()
    assert table(run("why", answer_id, "--as", "ben")) == changed


def test_readers_whom_the_settings_no_longer_name_are_gone_before_the_next_sync(
    own_company: Company, tmp_path: Path
) -> None:
    logs.configure()
    config, url = tmp_path / "footnote.toml", own_company.settings.database_url
    assert url is not None

    def ask(scopes: str) -> str:
        location = own_company.documents / "everyone"
        source = f'[[sources]]\nname = "everyone"\nlocation = "{location}"\nscopes = {scopes}\n'
        config.write_text(f'{source}[slack]\nfacts = "{WORKSPACE}"\n')
        environment = {"FOOTNOTE_DATABASE_URL": url.get_secret_value(), "FOOTNOTE_CONFIG": str(config)}
        arguments = ["ask", "How many days of annual leave do full-time staff get?", "--as", "ben"]
        return CliRunner().invoke(app, arguments, env=environment, catch_exceptions=False).stdout

    assert "25 days" in ask('["workspace"]')
    assert "leave" not in ask('["channel:CLEGAL"]').partition("why:")[0]
    assert "25 days" not in ask('["workspace"]'), "more readers come with the next sync"


def asked(run: Run, question: str) -> str:
    """The id of the answer to a question of ben's in #general, asked in the shell."""
    return run("ask", question, "--as", "ben", "--in", "general").partition("why: footnote why ")[2].split()[0]
