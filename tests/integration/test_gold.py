"""Gold cases on a real database: proposed, accepted, found again after the documents changed."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
import sqlalchemy as sa

from knowledge import gold, gold_file, labels, proposals, samples
from knowledge.answer_rows import StoredAnswer, save
from knowledge.answer_rows import load as load_answer
from knowledge.answers import Answer, Citation, Question
from knowledge.catalog import Entry
from knowledge.db import Database
from knowledge.errors import GoldCaseUnknown, GoldCaseUnlabelled, GoldFileInvalid
from knowledge.gold import Proposal
from knowledge.labels import Label, Piece, find
from knowledge.passages import Found
from knowledge.tables import documents
from tests.rows import add_chunk

ALL = frozenset({"workspace"})
LEGAL = frozenset({"workspace", "channel:C7"})
LEAVE = Label("handbook", "leave.md", ("Leave", "Unused days"), "up to 5 unused days")


def propose(
    database: Database,
    question: str = "Do unused days survive?",
    expected: gold.Expected = (LEAVE,),
    by: str = "U1",
    scopes: frozenset[str] = ALL,
) -> str:
    with database.writing() as connection:
        return gold.propose(connection, Proposal(question, scopes, expected, "vote", by))


def only(database: Database, scopes: frozenset[str] = ALL) -> gold.GoldCase:
    with database.reading(scopes) as connection:
        (case,) = gold.cases(connection, scopes)
    return case


def test_a_proposal_is_not_gold_before_somebody_accepts_it(database: Database) -> None:
    case_id = propose(database)
    with database.writing() as connection:
        assert gold.rights(connection) == {}
        gold.accept(connection, case_id, "UADMIN")
        assert gold.rights(connection) == {case_id: ALL}
        assert gold.counts(connection) == {"accepted": 1}
    assert [(c.by, c.what) for c in only(database).history] == [("U1", "proposed"), ("UADMIN", "accepted")]


def test_the_same_question_joins_the_first_proposal(database: Database) -> None:
    other = Label("handbook", "faq.md")
    first = propose(database)
    assert propose(database, "do unused  days SURVIVE", by="U2") == first
    assert propose(database, expected=(other,), by="U2") == first
    case = only(database)
    assert case.proposed_by == ("U1", "U2")
    assert case.expected == (LEAVE, other)


def test_the_same_question_under_other_rights_is_another_case(database: Database) -> None:
    assert propose(database) != propose(database, scopes=LEGAL)


def test_a_later_word_that_it_is_nowhere_counts(database: Database) -> None:
    propose(database)
    propose(database, expected=(), by="U2")
    assert only(database).expected == ()


def test_nobody_but_an_owner_changes_an_accepted_case(database: Database) -> None:
    case_id = propose(database)
    with database.writing() as connection:
        gold.accept(connection, case_id, "UADMIN")
    propose(database, expected=(), by="U2")
    case = only(database)
    assert (case.expected, case.state) == ((LEAVE,), "accepted")
    assert case.history[-1].what == "disputed"


def test_a_case_without_a_label_waits_for_one(database: Database) -> None:
    case_id = propose(database, expected=None)
    with pytest.raises(GoldCaseUnlabelled, match=case_id), database.writing() as connection:
        gold.accept(connection, case_id, "UADMIN")
    with database.writing() as connection:
        case = gold.accept(connection, case_id, "UADMIN", expected=(LEAVE,))
    assert (case.expected, case.history[-1].what) == ((LEAVE,), "corrected and accepted")


def test_a_retired_case_is_not_measured_and_may_be_proposed_again(database: Database) -> None:
    first = propose(database)
    with database.writing() as connection:
        gold.accept(connection, first, "UADMIN")
        gold.retire(connection, first, "UADMIN", "the policy changed")
        assert gold.rights(connection) == {}
    assert propose(database) != first


def test_a_case_is_read_only_with_all_of_its_scopes(database: Database) -> None:
    case_id = propose(database, scopes=LEGAL)
    with database.reading(ALL) as connection:
        assert gold.cases(connection, ALL) == ()
    with database.reading(LEGAL) as connection:
        assert gold.get(connection, case_id, LEGAL).id == case_id
        with pytest.raises(GoldCaseUnknown, match=case_id):
            gold.get(connection, case_id, ALL)


def test_an_export_can_be_imported_elsewhere(database: Database, tmp_path: Path) -> None:
    propose(database)
    line = only(database).to_json()
    file = tmp_path / "gold.jsonl"
    file.write_text(json.dumps(line))
    with database.scratch() as other:
        with other.writing() as connection:
            assert gold_file.load(connection, gold_file.read(file), "UADMIN") == (
                gold_file.Loaded(str(line["id"]), "proposed", None, ()),
            )
        copy = only(other)
    assert (copy.id, copy.question, copy.expected) == (line["id"], line["question"], (LEAVE,))
    assert copy.history[-1].what == "imported as proposed"


def test_the_sample_questions_can_be_imported(database: Database) -> None:
    lines = gold_file.read(samples.GOLD, "accepted")
    with database.writing() as connection:
        assert len(gold_file.load(connection, lines, "footnote")) == len(lines) >= 30
        assert gold.counts(connection) == {"accepted": len(lines)}


def test_an_import_goes_on_with_the_history_of_a_case_and_keeps_who_proposed_it(
    database: Database, tmp_path: Path
) -> None:
    case_id = propose(database)
    file = tmp_path / "gold.jsonl"
    file.write_text(json.dumps(only(database).to_json()))
    with database.writing() as connection:
        gold.accept(connection, case_id, "UADMIN")

    line = {"id": case_id, "question": "Do they survive?", "scopes": ["workspace"], "expected": []}
    again = tmp_path / "again.jsonl"
    again.write_text(json.dumps(line))
    for _ in range(2):
        with database.writing() as connection:
            gold_file.load(connection, gold_file.read(again), "import")
    case = only(database)
    assert (case.state, case.expected, case.proposed_by) == ("accepted", (), ("U1",))
    told = ["proposed", "accepted", "imported again: replaced question, question in full, expected places"]
    assert [change.what for change in case.history] == told, "the second time nothing was changed"

    with database.writing() as connection:
        gold_file.load(connection, gold_file.read(file, "accepted"), "import")
    case = only(database)
    assert (case.state, case.expected) == ("proposed", (LEAVE,)), "the exported line says that it is proposed"
    assert case.history[-1].what.startswith("imported again: accepted before, proposed now; replaced question")
    assert len(case.history) == 4, "what the file and the case both have in their history is there once"


def test_an_import_does_not_take_the_places_of_an_accepted_case_without_saying_that_it_is_proposed(
    database: Database, tmp_path: Path
) -> None:
    case_id = propose(database)
    with database.writing() as connection:
        gold.accept(connection, case_id, "UADMIN")
    line = {"id": case_id, "question": "Do they survive?", "scopes": ["workspace"], "expected": None}
    file = tmp_path / "gold.jsonl"
    file.write_text(json.dumps(line))
    with pytest.raises(GoldFileInvalid, match=f"'{case_id}' is accepted"), database.writing() as connection:
        gold_file.load(connection, gold_file.read(file), "import")
    assert (only(database).state, only(database).expected) == ("accepted", (LEAVE,))
    file.write_text(json.dumps({**line, "state": "proposed"}))
    with database.writing() as connection:
        gold_file.load(connection, gold_file.read(file), "import")
    assert (only(database).state, only(database).expected) == ("proposed", None)


def document(database: Database, number: int, name: str, text: str, scopes: Sequence[str] = ("workspace",)) -> None:
    with database.writing() as connection:
        add_chunk(connection, number, scopes)
        here = documents.c.external_id == f"document-{number}"
        values = {"external_id": name, "content_hash": str(hash(text))}
        connection.execute(sa.update(documents).where(here).values(values))
        connection.execute(sa.text("update chunks set text = :text where id = :id"), {"text": text, "id": number})


def located(database: Database, label: Label, scopes: frozenset[str] = ALL) -> labels.Located:
    with database.reading(scopes) as connection:
        (found,) = labels.locate(connection, [label], scopes)
    return found


def test_a_quote_is_found_whatever_its_case_spacing_and_marks(database: Database) -> None:
    document(database, 1, "leave.md", "You may carry **up to\n5** Unused days into the next year.")
    assert located(database, LEAVE).chunk_ids == {1}


def test_a_quote_that_no_longer_occurs_is_stale(database: Database) -> None:
    document(database, 1, "leave.md", "Unused days are lost.")
    document(database, 2, "other.md", "You may carry up to 5 unused days.")
    assert located(database, LEAVE).chunk_ids == frozenset()


def test_a_label_follows_a_document_that_was_renamed(database: Database) -> None:
    document(database, 1, "guides/new.md", "You may carry up to 5 unused days.")
    found = located(database, LEAVE)
    assert (found.chunk_ids, found.label.external_id) == (frozenset({1}), "guides/new.md")


def test_a_label_without_a_quote_follows_the_content(database: Database) -> None:
    document(database, 1, "leave.md", "You may carry days.")
    with database.reading(ALL) as connection:
        (label,) = labels.stamped(connection, [Label("handbook", "leave.md")], ALL)
    with database.writing() as connection:
        connection.execute(sa.update(documents).values(external_id="guides/new.md"))
    assert located(database, label).label.external_id == "guides/new.md"


def test_a_quote_in_several_other_documents_proves_no_move(database: Database) -> None:
    document(database, 1, "one.md", "You may carry up to 5 unused days.")
    document(database, 2, "two.md", "You may carry up to 5 unused days, too.")
    assert located(database, LEAVE).chunk_ids == frozenset()


def test_what_the_case_may_not_read_is_not_found(database: Database) -> None:
    document(database, 1, "leave.md", "You may carry up to 5 unused days.", ["channel:C7"])
    assert located(database, LEAVE).chunk_ids == frozenset()
    assert located(database, LEAVE, LEGAL).chunk_ids == {1}


def test_a_quote_across_two_chunks_is_found_in_both() -> None:
    pieces = [
        Piece(1, "leave.md", (), "You may carry up to"),
        Piece(2, "leave.md", (), "5 unused days."),
        Piece(3, "leave.md", (), "x"),
    ]
    found = find(LEAVE, pieces)
    assert (found.chunk_ids, found.split) == (frozenset({1, 2}), True)


def test_without_a_quote_the_heading_counts_and_without_it_the_document() -> None:
    pieces = [Piece(1, "a.md", ("A", "B"), "x"), Piece(2, "a.md", ("A", "B", "C"), "y"), Piece(3, "a.md", ("A",), "z")]
    assert find(Label("s", "a.md", ("A", "B")), pieces).chunk_ids == {1, 2}
    assert find(Label("s", "a.md"), pieces).chunk_ids == {1, 2, 3}


CITED = (Citation(1, 1, 1, "Leave", "", ("Leave",), "up to 5 unused days", None, ALL),)


def stored_answer(database: Database, citations: tuple[Citation, ...] = ()) -> StoredAnswer:
    answer = Answer(
        "a1",
        "Do they survive?",
        "Do unused days survive?",
        "Yes [1].",
        "answered",
        citations,
        (),
        Found((), {}, "none", 1, {}),
    )
    with database.writing() as connection:
        save(connection, answer, Question("Do they survive?", "U1", "C1"), ALL)
        stored = load_answer(connection, answer.id)
    assert stored is not None
    return stored


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (None, None),
        ([], ()),
        ([Entry(1, "handbook", "leave.md", "Leave", "")], (Label("handbook", "leave.md"),)),
    ],
)
def test_a_vote_becomes_a_proposal_with_the_rights_of_the_reply(
    database: Database, said: list[Entry] | None, expected: gold.Expected
) -> None:
    document(database, 1, "leave.md", "You may carry up to 5 unused days.")
    proposals.propose(database, stored_answer(database, CITED), "U1", said, "vote")
    case = only(database)
    assert (case.question, case.standalone) == ("Do they survive?", "Do unused days survive?")
    assert (case.scopes, case.expected, case.state, case.answer_id) == (ALL, expected, "proposed", "a1")


def test_a_liked_answer_becomes_a_proposal_with_what_it_cited(database: Database) -> None:
    document(database, 1, "leave.md", "You may carry up to 5 unused days.")
    with database.writing() as connection:
        connection.execute(sa.text("update chunks set heading_path = '{Leave}'"))
    proposals.propose_cited(database, stored_answer(database, CITED), "U1", "vote")
    assert only(database).expected == (Label("handbook", "leave.md", ("Leave",), "up to 5 unused days"),)


def test_what_a_vote_proposed_goes_with_the_vote_and_what_a_person_named_stays(database: Database) -> None:
    answer = stored_answer(database)
    proposals.propose(database, answer, "U1", None, "vote")
    proposals.take_back(database, answer.id, "U2")
    assert only(database).proposed_by == ("U1",)
    proposals.take_back(database, answer.id, "U1")
    with database.reading(ALL) as connection:
        assert gold.cases(connection, ALL) == ()
    proposals.propose(database, answer, "U1", None, "vote")
    proposals.propose(database, answer, "U1", [], "label")
    proposals.take_back(database, answer.id, "U1")
    assert (only(database).expected, only(database).origin) == ((), "label")


def test_a_source_that_the_reply_might_not_read_is_not_named_in_the_case(database: Database) -> None:
    document(database, 1, "legal/acquisition.md", "Codename Heron.", ["channel:C7"])
    answer = stored_answer(database)
    proposals.propose(database, answer, "U1", [Entry(1, "handbook", "legal/acquisition.md", "Acquisition", "")], "vote")
    assert only(database).expected is None


def test_a_liked_answer_without_sources_waits_for_a_label(database: Database) -> None:
    proposals.propose_cited(database, stored_answer(database), "U1", "vote")
    assert only(database).expected is None
