"""`footnote gold` from the shell."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from bot.cli import app
from knowledge import gold
from knowledge.answers import Answer, Outcome, Question, save
from knowledge.db import Database
from knowledge.errors import DocumentUnknown
from knowledge.gold import Proposal
from knowledge.passages import Found
from tests.rows import add_chunk

WORKSPACE = Path(__file__).parents[1] / "data" / "workspace.yaml"
ALL = frozenset({"workspace"})


def ask(database: Database, name: str, question: str, outcome: Outcome) -> None:
    answer = Answer(name, question, question, "", outcome, (), (), Found((), {}, "none", 1, {}))
    with database.writing() as connection:
        save(connection, answer, Question(question, "UBEN", "CGENERAL"), ALL)


def test_suggested_questions_are_listed_labelled_accepted_and_exported(
    database: Database, postgres_url: str, tmp_path: Path
) -> None:
    config = tmp_path / "footnote.toml"
    config.write_text(f'[slack]\nfacts = "{WORKSPACE}"\n')
    environment = {"FOOTNOTE_DATABASE_URL": postgres_url, "FOOTNOTE_CONFIG": str(config)}

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(app, ["gold", *arguments], env=environment, catch_exceptions=False)

    ask(database, "a1", "How many days of leave are there?", "answered")
    ask(database, "a2", "Who repairs the coffee machine?", "abstained")
    proposed = json.loads(run("suggest", "--json").stdout)["proposed"]
    listed = json.loads(run("list", "--as", "ben", "--state", "proposed", "--json").stdout)["cases"]
    assert sorted(case["id"] for case in listed) == sorted(proposed)
    expected = {case["question"]: case["expected"] for case in listed}
    assert expected == {"How many days of leave are there?": None, "Who repairs the coffee machine?": []}

    with database.writing() as connection:
        add_chunk(connection, 1, ALL)
        add_chunk(connection, 2, {"channel:CLEGAL"})
    leave, coffee = (next(c["id"] for c in listed if word in c["question"]) for word in ("leave", "coffee"))
    assert "accepted" in run("accept", leave, "--as", "ben", "--document", "handbook/document-1").stdout
    assert "retired" in run("retire", coffee, "--as", "ben", "--reason", "not for us").stdout
    assert "handbook/document-1" in run("show", leave, "--as", "ben").stdout
    exported = [json.loads(line) for line in run("export", "--as", "ben").stdout.splitlines()]
    assert {case["id"]: case["state"] for case in exported} == {leave: "accepted", coffee: "retired"}
    assert "0 questions proposed" in run("suggest").stdout
    with database.writing() as connection:
        assert gold.counts(connection) == {"accepted": 1, "retired": 1}


def test_a_document_that_is_not_there_is_named_with_those_it_may_be_and_nothing_is_accepted(
    database: Database, postgres_url: str, tmp_path: Path
) -> None:
    config = tmp_path / "footnote.toml"
    config.write_text(f'[slack]\nfacts = "{WORKSPACE}"\n')
    environment = {"FOOTNOTE_DATABASE_URL": postgres_url, "FOOTNOTE_CONFIG": str(config)}
    with database.writing() as connection:
        add_chunk(connection, 1, ALL)
        add_chunk(connection, 2, {"channel:CLEGAL"})
        case = gold.propose(connection, Proposal("How many days?", ALL, None, "import", "UANA"))
    for wrong in ("handbook/dokument-1", "handbook/document-2"):
        arguments = ["gold", "accept", case, "--as", "ben", "--document", wrong]
        with pytest.raises(DocumentUnknown) as refused:
            CliRunner().invoke(app, arguments, env=environment, catch_exceptions=False)
        assert wrong in str(refused.value)
        assert "did you mean document-1 (handbook/document-1)?" in str(refused.value)
    with database.writing() as connection:
        assert gold.counts(connection) == {"proposed": 1}
