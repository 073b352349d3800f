"""`footnote eval` on the gold set: what it says when there is little to measure."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy as sa
from typer.testing import CliRunner

from bot import logs
from bot.cli import app
from bot.commands.evaluating import Failed, told
from bot.digest_wording import BUCKETS
from bot.errors import UsageWrong
from jobs.evaluation import Measured, summary
from knowledge import gold
from knowledge.diagnosis import STAGES
from knowledge.errors import SettingsInvalid
from knowledge.evals import Outcome, Result
from knowledge.gold import Proposal
from knowledge.labels import Label
from knowledge.permissions import Scopes
from knowledge.tables import eval_runs
from tests.company import WORKSPACE, Company

ALL = frozenset({"workspace"})
LEGAL = frozenset({"channel:CLEGAL"})


def absent(name: str, *, abstained: bool, bucket: str | None = None) -> Measured:
    outcome: Outcome = "abstained" if abstained else "wrongly_answered"
    return Measured(Result(name, ALL, outcome, bucket=bucket), absent=True, abstained=abstained, ms=10.0)


def found(name: str) -> Measured:
    figures = {stage: {"recall@5": 1.0} for stage in STAGES}
    return Measured(Result(name, ALL, "hit"), figures=figures, abstained=False, ms=10.0)


def lines(*measured: Measured) -> str:
    figures = summary(measured)
    metrics = figures["stages"]["reranked"]
    return "\n".join(told({"queries": figures["cases"]["used"], "metrics": metrics, **figures}))


def test_without_accepted_cases_it_says_so(postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    environment = {"FOOTNOTE_DATABASE_URL": postgres_url, "FOOTNOTE_HOME": str(tmp_path)}
    run = CliRunner().invoke(app, ["eval"], env=environment, catch_exceptions=False)
    assert (run.exit_code, run.stdout) == (0, "no accepted cases; see `footnote gold`\n")
    run = CliRunner().invoke(app, ["eval", "--json"], env=environment, catch_exceptions=False)
    assert json.loads(run.stdout)["cases"]["all"] == 0


Run = Callable[..., str]


@pytest.fixture
def run(own_company: Company, tmp_path: Path) -> Run:
    """Runs `footnote eval` on the company's index, with its people."""
    logs.configure()
    config = tmp_path / "footnote.toml"
    config.write_text(f'[slack]\nfacts = "{WORKSPACE}"\n')
    url = own_company.settings.database_url
    assert url is not None
    environment = {"FOOTNOTE_DATABASE_URL": url.get_secret_value(), "FOOTNOTE_CONFIG": str(config)}
    return lambda *words: CliRunner().invoke(app, ["eval", *words], env=environment, catch_exceptions=False).stdout


def accept(company: Company, question: str, scopes: Scopes, *expected: Label) -> str:
    with company.database.writing() as connection:
        case_id = gold.propose(connection, Proposal(question, scopes, expected, "import", "UANA"))
        gold.accept(connection, case_id, "UANA")
    return case_id


def test_the_cases_that_failed_are_named_and_their_questions_to_those_alone_who_may_read_them(
    own_company: Company, run: Run, tmp_path: Path
) -> None:
    long = f"How many days of annual leave do full-time staff get{' please' * 20}?"
    answered = accept(own_company, long, ALL)
    silent = accept(own_company, "Who plays the bassoon in the orchestra?", ALL, Label("everyone", "leave.md"))
    secret = accept(own_company, "How much does the landlord demand?", LEGAL)
    gone = accept(own_company, "Where is the pool?", LEGAL, Label("legal", "pool.md"))
    right = accept(own_company, "When do customer invoices go out?", ALL, Label("everyone", "invoices.md"))
    words, no_answer = BUCKETS["wrongly_answered"][0], BUCKETS["unanswered"][0]

    said = run()
    assert "not as expected: 4 cases\n" in said
    for case_id, verdict in (
        (answered, words),
        (silent, no_answer),
        (secret, words),
        (gone, "what it expects is gone"),
    ):
        assert f"  {case_id}  {verdict}\n" in said
    assert f"to see one with its question: footnote gold show ID --as NAME --config {tmp_path}/footnote.toml\n" in said
    assert right not in said
    assert not any(text in said for text in ("annual", "bassoon", "landlord", "leave.md"))

    said = run("--as", "ben").partition("not as expected")[2]
    assert f"  {answered}  How many days of annual leave do full-time staff get please" in said
    assert f"…\n    expected: not in the documents\n    happened: {words}\n" in said
    assert f"orchestra?\n    expected: everyone/leave.md\n    happened: {no_answer}\n" in said
    assert "  2 cases that ben may not read\n" in said
    assert not any(text in said for text in (secret, gone, "landlord", "pool"))
    assert "footnote gold show ID --as ben " in said

    said = run("--as", "ana").partition("not as expected")[2]
    assert "landlord" in said
    assert "    expected: 1 place that cannot be opened today\n    happened: what it expects is gone\n" in said
    assert "may not read" not in said

    printed = json.loads(run("--json", "--as", "ben"))
    assert printed["failures_withheld"] == 2
    assert {each["id"]: (each["outcome"], each["question"]) for each in printed["failures"]} == {
        answered: ("wrongly_answered", long),
        silent: ("hit", "Who plays the bassoon in the orchestra?"),
    }
    assert [set(each) for each in json.loads(run("--json"))["failures"]] == [{"id", "outcome", "verdict"}] * 4
    with own_company.database.plain() as connection:
        assert "bassoon" not in str(connection.execute(sa.select(eval_runs)).all())


def test_a_person_is_asked_for_the_gold_set_alone_and_has_to_be_known(run: Run, tmp_path: Path) -> None:
    with pytest.raises(UsageWrong, match="--as is for the gold set"):
        run("--as", "ben", "--beir", str(tmp_path))
    with pytest.raises(SettingsInvalid, match="nobody is called 'nobody'"):
        run("--as", "nobody")


def test_cases_that_are_not_in_the_documents_give_abstention_and_no_empty_table() -> None:
    said = lines(absent("a", abstained=True), absent("b", abstained=False))
    assert (
        "abstention, precision 1.000: share of the questions it did not answer that were rightly not answered\n"
        "abstention, recall 0.500: share of the 2 questions not in the documents that it did not answer"
    ) in said
    assert "no accepted case could be looked for" in said
    assert "stage" not in said
    assert "doubtful" not in said


def test_quotes_given_with_doubt_where_nothing_was_to_be_found_have_a_share_and_a_word_of_their_own() -> None:
    wrong = absent("c", abstained=False), absent("d", abstained=False, bucket="doubtful")
    said = lines(absent("a", abstained=True), absent("b", abstained=True), *wrong)
    assert "abstention, recall 0.500: share of the 4 questions" in said
    assert "abstention, doubtful 0.250: share of these that it gave quotes for, headed as doubtful; they count" in said
    assert [Failed(each.result).verdict for each in wrong] == [
        "it is accepted as not in the documents, and was answered all the same",
        "it is accepted as not in the documents, and quotes were given, with doubt",
    ]


def test_both_kinds_of_cases_give_both() -> None:
    said = lines(absent("a", abstained=True), found("b"), Measured(Result("c", ALL, "stale")))
    assert "reranked" in said
    assert "abstention, recall 1.000: share of the 1 question not in the documents" in said
    assert "stale, counted nowhere: 1" in said
    assert "abstention" not in lines(found("b"))


def test_one_question_is_one() -> None:
    assert lines(found("a")).startswith("1 question, ")
    assert lines(found("a"), absent("b", abstained=True)).startswith("2 questions, ")
