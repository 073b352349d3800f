"""The gold set measured with the real index, search and extractive answers; the results by hand where that is possible."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
import sqlalchemy as sa

from jobs import evaluation
from jobs.evaluation import units
from knowledge import evals, gold, why
from knowledge.answer_rows import save
from knowledge.answering import Answerer
from knowledge.answers import Answer, Question
from knowledge.db import Database
from knowledge.encoders import Embedder, load_embedder
from knowledge.evals import Result
from knowledge.gold import Proposal
from knowledge.index import Indexer
from knowledge.labels import Label, Located
from knowledge.permissions import Denial, Scopes
from knowledge.reranking import load_reranker
from knowledge.retrieval import Retriever
from knowledge.settings import Answers, Chunking, Models, Retrieval, Source
from knowledge.tables import gold_cases

ALL = frozenset({"workspace"})
LEGAL = frozenset({"workspace", "channel:C7"})

LEAVE = "# Leave\n\n## Unused days\n\nYou may carry up to 5 unused days into the next year.\n"
PARKING = "# Parking\n\nThe garage in Mill Street opens at six in the morning.\n"
LEASE = "# Lease dispute\n\nThe landlord of Mill Street asks for 40,000 euros.\n"


class Company:
    """A folder of documents under two sources, and everything that indexes and searches it."""

    def __init__(self, database: Database, embedder: Embedder, folder: Path) -> None:
        self.database = database
        self.folder = folder
        self.indexer = Indexer(database, embedder, Chunking())
        self.retriever = Retriever(database, embedder, load_reranker(Models()), Retrieval())
        self.answerer = Answerer(database, self.retriever, embedder, Answers())

    def write(self, path: str, text: str) -> None:
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")

    def sync(self) -> None:
        for name, scope in (("handbook", "workspace"), ("legal", "channel:C7")):
            source = Source(name=name, location=str(self.folder / name), scopes=(scope,), max_deleted_share=1.0)
            assert not self.indexer.sync(source).error

    def accept(self, question: str, *expected: Label, scopes: Scopes = ALL) -> str:
        with self.database.writing() as connection:
            case_id = gold.propose(connection, Proposal(question, scopes, expected, "import", "U1"))
            gold.accept(connection, case_id, "UADMIN")
        return case_id

    def evaluate(self, answering: bool = False) -> tuple[evals.Run, dict[str, Result]]:
        run_id = evaluation.run(self.database, self.retriever, self.answerer.answer if answering else None)
        with self.database.writing() as connection:
            return evals.runs(connection)[-1], evals.results(connection, run_id)


@pytest.fixture(scope="session")
def model() -> Embedder:
    return load_embedder(Models())


@pytest.fixture
def company(database: Database, model: Embedder, tmp_path: Path) -> Company:
    made = Company(database, model, tmp_path)
    made.write("handbook/leave.md", LEAVE)
    made.write("handbook/parking.md", PARKING)
    made.write("legal/lease.md", LEASE)
    made.sync()
    return made


CARRY = Label("handbook", "leave.md", ("Leave", "Unused days"), "up to 5 unused days")
DISPUTE = Label("legal", "lease.md", (), "asks for 40,000 euros")


def test_no_gold_cases_make_a_run_without_figures(company: Company) -> None:
    run, results = company.evaluate()
    assert results == {}
    assert run.metrics is not None
    assert run.metrics["cases"] == {"all": 0, "used": 0, "stale": 0, "failed": 0, "absent": 0}
    assert run.metrics["stages"]["reranked"] == {}
    assert run.metrics["abstention"] == {"precision": None, "recall": None, "doubtful": None}
    assert "NaN" not in json.dumps(run.metrics)


def test_each_case_is_measured_under_its_own_rights(company: Company) -> None:
    wide = company.accept("Do unused days survive into the next year?", CARRY)
    narrow = company.accept("What does the landlord of Mill Street ask for?", DISPUTE, scopes=LEGAL - ALL)
    run, results = company.evaluate()
    assert {case: r.outcome for case, r in results.items()} == {wide: "hit", narrow: "hit"}
    assert results[wide].ranks["reranked"] == 1
    assert run.metrics is not None
    assert run.metrics["stages"]["reranked"]["recall@5"] == 1.0
    assert run.metrics["stages"]["vector"]["mrr@10"] == 1.0
    assert {name: group["cases"] for name, group in run.metrics["widths"].items()} == {"wide": 1, "narrow": 1}
    assert {name: group["cases"] for name, group in run.metrics["sources"].items()} == {"handbook": 1, "legal": 1}
    assert run.metrics["leaks"] == 0
    assert run.metrics["ms_per_query"]["p95"] > 0
    assert run.configuration["embedder"]["name"] == company.retriever.embedder.name


def test_a_document_the_case_may_not_read_does_not_help_it(company: Company) -> None:
    case_id = company.accept("What does the landlord of Mill Street ask for?", DISPUTE)
    _, results = company.evaluate()
    assert results[case_id].outcome == "stale"


def test_a_deleted_document_makes_its_case_stale_and_not_a_miss(company: Company) -> None:
    company.accept("When does the garage open?", Label("handbook", "parking.md", (), "opens at six"))
    stale = company.accept("Do unused days survive?", CARRY)
    (company.folder / "handbook/leave.md").unlink()
    company.sync()
    run, results = company.evaluate()
    assert results[stale].outcome == "stale"
    assert run.metrics is not None
    assert run.metrics["cases"] == {"all": 2, "used": 1, "stale": 1, "failed": 0, "absent": 0}
    assert run.metrics["stages"]["reranked"]["recall@5"] == 1.0


def test_a_renamed_document_keeps_its_case_and_the_case_follows(company: Company) -> None:
    case_id = company.accept("Do unused days survive?", CARRY)
    (company.folder / "handbook/guides").mkdir()
    (company.folder / "handbook/leave.md").rename(company.folder / "handbook/guides/time-off.md")
    company.sync()
    _, results = company.evaluate()
    assert results[case_id].outcome == "hit"
    with company.database.reading(ALL) as connection:
        case = gold.get(connection, case_id, ALL)
    assert case.expected is not None
    assert case.expected[0].external_id == "guides/time-off.md"
    assert case.history[-1].what == "followed a move"


def test_a_case_that_is_corrected_or_deleted_while_a_run_goes_on_stays_so(company: Company) -> None:
    corrected, forgotten = (company.accept(f"Do unused days survive {i} years?", CARRY) for i in (1, 2))
    (company.folder / "handbook/leave.md").rename(company.folder / "handbook/time-off.md")
    company.sync()
    parking = (Label("handbook", "parking.md"),)

    def respond(question: Question, scopes: Scopes) -> Answer:
        with company.database.writing() as connection:
            gold.accept(connection, corrected, "UADMIN", parking)
            connection.execute(sa.delete(gold_cases).where(gold_cases.c.id == forgotten))
        return company.answerer.answer(question, scopes)

    run_id = evaluation.run(company.database, company.retriever, respond)
    with company.database.writing() as connection:
        assert set(evals.results(connection, run_id)) == {corrected}
    with company.database.reading(ALL) as connection:
        [case] = gold.cases(connection, ALL)
    assert (case.id, case.expected) == (corrected, parking)


def test_a_run_from_a_clock_that_was_ahead_is_not_the_last_one_forever(database: Database) -> None:
    with database.writing() as connection:
        for at in (datetime(2226, 1, 1, tzinfo=UTC), None):
            run_id = evals.begin(connection, {"embedder": {"name": "m", "revision": "1"}}, at)
            evals.finish(connection, run_id, {"at": str(at)}, [])
        assert [run.metrics for run in evals.runs(connection, 1)] == [{"at": "None"}]


def test_a_question_that_is_not_in_the_documents_should_be_declined(company: Company) -> None:
    absent = company.accept("Who won the chess championship of 1972?")
    known = company.accept("When does the garage in Mill Street open in the morning?", Label("handbook", "parking.md"))
    run, results = company.evaluate(answering=True)
    assert (results[absent].outcome, results[known].outcome) == ("abstained", "hit")
    assert run.metrics is not None
    assert run.metrics["abstention"] == {"precision": 1.0, "recall": 1.0, "doubtful": 0.0}
    assert run.metrics["citation_precision"] == 1.0
    assert run.metrics["cases"]["absent"] == 1


def test_quotes_for_a_question_that_is_not_in_the_documents_are_told_apart_when_they_were_given_with_doubt(
    company: Company,
) -> None:
    """Both count as answered: a reply that says it may not answer is still not the one that was expected."""
    hedged = company.accept("When does the garage GA-99 in Mill Street open in the morning?")
    plain = company.accept("When does the garage in Mill Street open in the morning?")
    run, results = company.evaluate(answering=True)
    assert {name: (each.outcome, each.bucket) for name, each in results.items()} == {
        hedged: ("wrongly_answered", "doubtful"),
        plain: ("wrongly_answered", None),
    }
    assert run.metrics is not None
    assert run.metrics["abstention"] == {"precision": None, "recall": 0.0, "doubtful": 0.5}


def test_a_question_whose_place_was_found_and_that_got_no_answer_did_not_end_as_expected(company: Company) -> None:
    silent = company.accept("Which unused boat survives the days of winter?", CARRY)
    told = company.accept("Do unused days survive into the next year?", CARRY)
    run, results = company.evaluate(answering=True)
    assert {name: (each.outcome, each.bucket) for name, each in results.items()} == {
        silent: ("hit", "unanswered"),
        told: ("hit", None),
    }
    assert [results[name].is_right for name in (silent, told)] == [False, True]
    assert run.metrics is not None
    assert run.metrics["abstention"]["precision"] == 0.0


def test_a_case_that_cannot_be_measured_counts_nowhere(company: Company) -> None:
    good = company.accept("Do unused days survive?", CARRY)
    bad = company.accept("When does the garage open?", Label("handbook", "parking.md"))

    def respond(question: Question, scopes: Scopes) -> Answer:
        if "garage" in question.text:
            raise RuntimeError("the service fell over")
        return company.answerer.answer(question, scopes)

    run_id = evaluation.run(company.database, company.retriever, respond)
    with company.database.writing() as connection:
        (run,), results = evals.runs(connection), evals.results(connection, run_id)
    assert (results[good].outcome, results[bad].outcome) == ("hit", "failed")
    assert run.metrics is not None
    assert run.metrics["cases"]["failed"] == 1
    assert run.metrics["stages"]["reranked"]["recall@5"] == 1.0


def test_a_run_that_fails_is_stored_with_its_reason(company: Company) -> None:
    with company.database.writing() as connection:
        connection.execute(sa.text("update generations set revision = 'other'"))
    company.accept("Do unused days survive?", CARRY)
    with company.database.writing() as connection:
        connection.execute(sa.text("alter table chunks rename column heading_path to headings"))
    with pytest.raises(sa.exc.ProgrammingError):
        company.evaluate()
    with company.database.writing() as connection:
        (run,) = evals.runs(connection)
    assert run.metrics is None
    assert run.error is not None
    assert "heading_path" in run.error


def test_places_count_once_at_their_first_chunk() -> None:
    located = [
        Located(Label("s", "a"), frozenset({1, 2})),
        Located(Label("s", "b"), frozenset({2, 3})),
        Located(Label("s", "c"), frozenset({9})),
    ]
    assert units([7, 2, 1, 3, 8], located) == [(7,), 0, (1,), 1, (8,)]


@pytest.mark.parametrize(
    ("question", "place", "bucket", "cause"),
    [
        ("Do unused days survive into the next year?", CARRY, "answered_wrongly", "answering"),
        ("When does the garage in Mill Street open?", CARRY, "answered_wrongly", "omission"),
        ("Which unused boat survives the days of winter?", CARRY, "unanswered", "evidence"),
        ("What does the landlord ask for?", DISPUTE, "not_retrieved", "filter"),
        ("When does the garage open?", Label("handbook", "gone.md"), "not_in_corpus", "absent"),
    ],
)
def test_a_stored_answer_is_explained(company: Company, question: str, place: Label, bucket: str, cause: str) -> None:
    asked = Question(question, "U1", "C1")
    answer = company.answerer.answer(asked, ALL)
    with company.database.writing() as connection:
        save(connection, answer, asked, ALL)
    explained = why.explain(company.database, answer.id, LEGAL, [place])
    assert explained is not None
    assert explained.diagnosis is not None
    assert (explained.diagnosis.bucket, explained.diagnosis.cause) == (bucket, cause)
    assert json.dumps(explained.to_json())
    assert why.explain(company.database, answer.id, frozenset({"channel:C9"}), [place]) is None


def test_a_denial_is_explained_to_those_alone_who_hold_the_scope_themselves(company: Company) -> None:
    asked = Question("Do unused days survive?", "U1", "C1")
    answer = company.answerer.answer(asked, ALL)
    denials = (Denial("channel:C7", "a guest reads this channel"), Denial("user:U1", "a guest reads this channel"))
    with company.database.writing() as connection:
        save(connection, answer, asked, ALL, denials)
    told = {scopes: why.explain(company.database, answer.id, scopes) for scopes in (ALL, LEGAL)}
    assert [explained and explained.denials for explained in told.values()] == [(), denials[:1]]


def test_an_explanation_takes_its_place_from_the_gold_set(company: Company) -> None:
    asked = Question("Do unused days survive?", "U1", "C1")
    answer = company.answerer.answer(asked, ALL)
    with company.database.writing() as connection:
        save(connection, answer, asked, ALL)
    explained = why.explain(company.database, answer.id, ALL)
    assert explained is not None
    assert (explained.expected, explained.diagnosis) == (None, None)
    company.accept("do unused days survive", CARRY)
    explained = why.explain(company.database, answer.id, ALL)
    assert explained is not None
    assert explained.expected == (CARRY,)
