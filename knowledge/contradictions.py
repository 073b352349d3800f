"""Accepted gold cases of one question that expect something else of each other. Whoever accepts one is told; both stay.

1. Two cases ask the same when `gold.same_question` says so of their questions as they stand alone.
2. One says *not in the documents*, the other names a place that the first one's readers find too: they contradict each
   other. What only wider rights find is no contradiction: each case is measured under its own.
3. Both name places, in no document the same one, and the readers of each find the other's: they contradict each other.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence

from knowledge import gold, labels, tasks
from knowledge.db import Database
from knowledge.gold import GoldCase
from knowledge.permissions import Scopes


def of_case(database: Database, case: GoldCase, scopes: Scopes) -> tuple[GoldCase, ...]:
    """The accepted cases that contradict this accepted one, as far as a holder of `scopes` may read them."""
    with database.reading(scopes) as connection:
        accepted = gold.cases(connection, scopes, "accepted")
    return tuple(other for other in accepted if _contradict(database, case, other))


def of_ids(database: Database, ids: Collection[str]) -> Iterator[tuple[GoldCase, GoldCase]]:
    """Each pair of contradicting accepted cases, whoever may read them, of which one at least is among `ids` and comes first."""
    with database.writing() as connection:
        rights = gold.rights(connection)
    asking: defaultdict[tuple[str, ...], list[GoldCase]] = defaultdict(list)
    for case in tasks.read(database, rights):
        asking[gold.words(case.standalone)].append(case)
    for alike in asking.values():
        yield from _pairs(database, alike, frozenset(ids))


def _pairs(database: Database, alike: Sequence[GoldCase], ids: Collection[str]) -> Iterator[tuple[GoldCase, GoldCase]]:
    ours = [case for case in alike if case.id in ids]
    theirs = [case for case in alike if case.id not in ids]
    for number, case in enumerate(ours):
        yield from ((case, other) for other in (*ours[number + 1 :], *theirs) if _contradict(database, case, other))


def _contradict(database: Database, one: GoldCase, other: GoldCase) -> bool:
    if one.id == other.id or not gold.same_question(one.standalone, other.standalone):
        return False
    if not one.expected or not other.expected:
        said, nothing = (one, other) if one.expected else (other, one)
        return bool(said.expected) and nothing.expected == () and _finds(database, nothing, said)
    documents = ({(label.source, label.external_id) for label in case.expected or ()} for case in (one, other))
    return not set.intersection(*documents) and _finds(database, one, other) and _finds(database, other, one)


def _finds(database: Database, case: GoldCase, other: GoldCase) -> bool:
    """Whether the readers of `case` may find a place that the other expects."""
    if other.scopes <= case.scopes:
        return True
    with database.reading(case.scopes) as connection:
        return any(place.chunk_ids for place in labels.locate(connection, other.expected or (), case.scopes))
