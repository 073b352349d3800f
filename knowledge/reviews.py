"""The review of proposed gold cases: what waits, as far as a reviewer may read it, and the reviewer's word on one of them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from knowledge import catalog, gold, labels, votes, why
from knowledge.catalog import Entry
from knowledge.db import Database
from knowledge.diagnosis import Diagnosis
from knowledge.errors import DocumentUnknown, GoldCaseUnlabelled
from knowledge.gold import GoldCase
from knowledge.labels import Label
from knowledge.permissions import Scopes
from knowledge.replied import Replied, replied
from knowledge.tables import gold_cases
from knowledge.tasks import gather
from knowledge.votes import Tally


@dataclass(frozen=True)
class Waiting:
    """A proposed case. `expected`: those of its places that its readers find today; `gone`: how many others it names.

    `diagnosis`: of the answer it came from; None when somebody has yet to say what would have been right, and for an
    answer that nobody voted down. `reply`: that answer, None where whoever looks may not read it.
    """

    case: GoldCase
    expected: tuple[Label, ...]
    gone: int
    tally: Tally
    diagnosis: Diagnosis | None
    reply: Replied | None = None


def waiting(database: Database, scopes: Scopes, limit: int) -> tuple[tuple[Waiting, ...], int]:
    """The oldest `limit` proposals that a holder of `scopes` may read, and how many there are in all."""
    with database.reading(scopes) as connection:
        proposed = gold.cases(connection, scopes, "proposed")
    return tuple(_looked_at(database, case, scopes) for case in proposed[:limit]), len(proposed)


def hidden(database: Database, scopes: Scopes) -> int:
    """How many proposals wait that a holder of `scopes` may not read."""
    readable = gold_cases.c.scopes.contained_by(sorted(scopes)) & (sa.func.cardinality(gold_cases.c.scopes) > 0)
    proposed = sa.select(sa.func.count()).where(gold_cases.c.state == "proposed", ~readable)
    with database.writing() as connection:
        return int(connection.scalar(proposed) or 0)


def newest(database: Database, scopes: Scopes) -> datetime | None:
    """When the latest proposal that a holder of `scopes` may read was made; None when none waits."""
    with database.reading(scopes) as connection:
        return max((case.created_at for case in gold.cases(connection, scopes, "proposed")), default=None)


def accept(
    database: Database, case_id: str, by: str, scopes: Scopes, expected: Sequence[Entry] | None = None
) -> GoldCase | None:
    """Take a proposal into the gold set, as proposed or with other documents; None when it waits no more.

    A document that the case's own readers may not open is left out. Raises `GoldCaseUnknown` when a holder of `scopes`
    may not read it, `GoldCaseUnlabelled` when nothing is left that could be expected.
    """
    with database.reading(scopes) as connection:
        case = gold.get(connection, case_id, scopes)
    places = None
    if expected:
        with database.reading(case.scopes) as connection:
            named = [Label(entry.source, entry.external_id) for entry in expected]
            places = labels.stamped(connection, named, case.scopes)
        if not places:
            raise GoldCaseUnlabelled(f"the readers of {case_id} may not open what it was to be corrected to")
    elif expected is not None:
        places = ()
    with _proposed(database, case_id) as connection:
        return None if connection is None else gold.accept(connection, case_id, by, places)


def places(database: Database, case: GoldCase, named: Sequence[Label], scopes: Scopes) -> tuple[Label, ...]:
    """The documents that a reviewer who holds `scopes` names for a case, as they are now.

    Raises `DocumentUnknown` when one of them does not exist for the reviewer, `GoldCaseUnlabelled` when the case's own
    readers may not open it.
    """
    with database.reading(scopes) as connection:
        there = labels.stamped(connection, named, scopes)
        for label in (each for each in named if each not in there):
            entries = catalog.nearest(connection, label.external_id, scopes)
            near = "; ".join(f"{entry.title} ({entry.source}/{entry.external_id})" for entry in entries)
            hint = f"did you mean {near}?" if near else "write SOURCE/PATH, such as handbook/annual-leave.md"
            raise DocumentUnknown(f"there is no document {label.source}/{label.external_id} that you may open; {hint}")
    with database.reading(case.scopes) as connection:
        theirs = labels.stamped(connection, named, case.scopes)
    for label in (each for each in named if each not in theirs):
        raise GoldCaseUnlabelled(f"the readers of {case.id} may not open {label.source}/{label.external_id}")
    return there


def refuse(database: Database, case_id: str, by: str, scopes: Scopes) -> GoldCase | None:
    """Retire a proposal; None when it waits no more. Raises `GoldCaseUnknown`."""
    with database.reading(scopes) as connection:
        gold.get(connection, case_id, scopes)
    with _proposed(database, case_id) as connection:
        return None if connection is None else gold.retire(connection, case_id, by)


@contextmanager
def _proposed(database: Database, case_id: str) -> Iterator[sa.Connection | None]:
    """A transaction that alone may change the case; None when somebody has reviewed it already."""
    with database.writing() as connection:
        state = sa.select(gold_cases.c.state).where(gold_cases.c.id == case_id).with_for_update()
        yield connection if connection.scalar(state) == "proposed" else None


def _looked_at(database: Database, case: GoldCase, scopes: Scopes) -> Waiting:
    located = [place for task in gather(database, {case.id: case.scopes}) for place in task.located]
    expected = tuple(place.label for place in located if place.chunk_ids)
    with database.reading(scopes) as connection:
        tally = votes.tally(connection, case.answer_id) if case.answer_id else Tally(0, 0)
        reply = replied(connection, case.answer_id, scopes)
    explained = None
    if expected and tally.down and case.answer_id:
        explained = why.explain(database, case.answer_id, scopes, expected)
    gone = len(case.expected or ()) - len(expected)
    return Waiting(case, expected, gone, tally, explained.diagnosis if explained else None, reply)
