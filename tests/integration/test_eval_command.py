"""`footnote eval` on the gold set: what it says when there is little to measure."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bot.cli import app
from bot.commands.evaluating import told
from jobs.evaluation import Measured, summary
from knowledge.diagnosis import STAGES
from knowledge.evals import Outcome, Result

ALL = frozenset({"workspace"})


def absent(name: str, *, abstained: bool) -> Measured:
    outcome: Outcome = "abstained" if abstained else "wrongly_answered"
    return Measured(Result(name, ALL, outcome), absent=True, abstained=abstained, ms=10.0)


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


def test_cases_that_are_not_in_the_documents_give_abstention_and_no_empty_table() -> None:
    said = lines(absent("a", abstained=True), absent("b", abstained=False))
    assert (
        "abstention, precision 1.000: share of the questions it did not answer that were rightly not answered\n"
        "abstention, recall 0.500: share of the 2 questions not in the documents that it did not answer"
    ) in said
    assert "no accepted case could be looked for" in said
    assert "stage" not in said


def test_both_kinds_of_cases_give_both() -> None:
    said = lines(absent("a", abstained=True), found("b"), Measured(Result("c", ALL, "stale")))
    assert "reranked" in said
    assert "abstention, recall 1.000: share of the 1 question not in the documents" in said
    assert "stale, counted nowhere: 1" in said
    assert "abstention" not in lines(found("b"))


def test_one_question_is_one() -> None:
    assert lines(found("a")).startswith("1 question, ")
    assert lines(found("a"), absent("b", abstained=True)).startswith("2 questions, ")
