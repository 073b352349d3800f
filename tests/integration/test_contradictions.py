"""Accepted cases of one question that expect something else of each other."""

import pytest

from knowledge import contradictions, gold
from knowledge.db import Database
from knowledge.gold import GoldCase, Proposal
from knowledge.labels import Label
from knowledge.permissions import Scopes
from tests.rows import add_chunk

ALL = frozenset({"workspace"})
LEGAL = frozenset({"workspace", "channel:CLEGAL"})
DM = ALL | {"user:UBEN"}
OPEN, OTHER, SECRET = (Label("handbook", f"document-{n}") for n in (1, 2, 3))


@pytest.fixture
def handbook(database: Database) -> Database:
    """Two documents for everyone, and a third for #legal."""
    with database.writing() as connection:
        for number, scopes in ((1, ALL), (2, ALL), (3, LEGAL - ALL)):
            add_chunk(connection, number, scopes)
    return database


def accept(database: Database, scopes: Scopes, *expected: Label, question: str = "How many days?") -> GoldCase:
    with database.writing() as connection:
        # Under a name of its own, or it would join the case that is there.
        case_id = gold.propose(connection, Proposal(question, scopes | {"channel:CNEW"}, expected, "import", "UANA"))
        connection.exec_driver_sql("update gold_cases set scopes = %s where id = %s", (sorted(scopes), case_id))
        return gold.accept(connection, case_id, "UANA")


@pytest.mark.parametrize(
    ("one", "other", "contradict"),
    [
        ((ALL,), (ALL, OPEN), True),
        ((ALL,), (DM, OPEN), True),
        ((DM,), (ALL, OPEN), True),
        ((ALL,), (LEGAL, SECRET), False),
        ((ALL,), (LEGAL, SECRET, OPEN), True),
        ((LEGAL,), (LEGAL - ALL, SECRET), True),
        ((ALL,), (LEGAL - ALL, SECRET), False),
        ((ALL,), (DM,), False),
        ((ALL, OPEN), (ALL, OTHER), True),
        ((ALL, OPEN), (DM, OTHER), True),
        ((ALL, OPEN), (ALL, OPEN, OTHER), False),
        ((ALL, OPEN), (LEGAL, SECRET), False),
        ((ALL,), (ALL, Label("handbook", "gone")), True),
        ((ALL,), (DM, Label("handbook", "gone")), False),
    ],
)
def test_what_one_says_is_found_by_the_readers_of_the_other(
    handbook: Database,
    one: tuple[Scopes, *tuple[Label, ...]],
    other: tuple[Scopes, *tuple[Label, ...]],
    contradict: bool,
) -> None:
    cases = [accept(handbook, scopes, *expected) for scopes, *expected in (one, other)]
    for case, its_other in (cases, cases[::-1]):
        assert [each.id for each in contradictions.of_case(handbook, case, LEGAL | DM)] == [its_other.id] * contradict
        pairs = [(a.id, b.id) for a, b in contradictions.of_ids(handbook, [case.id])]
        assert pairs == [(case.id, its_other.id)] * contradict
    assert len(list(contradictions.of_ids(handbook, [case.id for case in cases]))) == contradict


def test_nobody_is_told_of_a_case_that_they_may_not_read(handbook: Database) -> None:
    case = accept(handbook, ALL)
    accept(handbook, DM, OPEN)
    assert contradictions.of_case(handbook, case, ALL) == ()
    assert contradictions.of_case(handbook, case, LEGAL) == ()


def test_other_questions_and_cases_that_are_not_accepted_contradict_nothing(handbook: Database) -> None:
    case = accept(handbook, ALL)
    accept(handbook, ALL, OPEN, question="How many weeks?")
    retired = accept(handbook, ALL, OPEN)
    with handbook.writing() as connection:
        gold.propose(connection, Proposal("how many DAYS", DM, (OPEN,), "import", "UANA"))
        gold.retire(connection, retired.id, "UANA")
    assert contradictions.of_case(handbook, case, LEGAL | DM) == ()
    assert list(contradictions.of_ids(handbook, [case.id])) == []
    accept(handbook, ALL, OPEN, question="how many days")
    assert len(contradictions.of_case(handbook, case, ALL)) == 1
