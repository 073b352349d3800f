"""From what a reader said about an answer to a proposed gold case, and back when the reader takes it back."""

from collections.abc import Sequence

import sqlalchemy as sa

from knowledge import gold, labels, retrieval
from knowledge.answer_rows import StoredAnswer
from knowledge.catalog import Entry
from knowledge.db import Database
from knowledge.gold import Expected, Origin, Proposal
from knowledge.labels import Label
from knowledge.tables import gold_cases


def propose(
    database: Database, answer: StoredAnswer, person: str, expected: Sequence[Entry] | None, origin: Origin
) -> str:
    """Put the answer's question forward; the case's id.

    `expected` None: nobody has said yet where it is answered; (): not in the documents. A document stands for all of it:
    the person said which one, not where in it. One that the reply might not read is left out, because whoever may read
    the case would learn of it.
    """
    places = None if expected is None else [Label(entry.source, entry.external_id) for entry in expected]
    return _propose(database, answer, person, places, origin)


def propose_cited(database: Database, answer: StoredAnswer, person: str, origin: Origin) -> str:
    """Put the answer's question forward with what the answer cited, as the places that answer it; the case's id."""
    with database.reading(answer.scopes) as connection:
        cited = retrieval.read(connection, [c.chunk_id for c in answer.citations], answer.scopes)
    found = {
        Label(p.source, p.external_id, p.heading_path, c.quote)
        for c in answer.citations
        if (p := cited.get(c.chunk_id)) is not None
    }
    places = sorted(found, key=lambda label: (label.source, label.external_id, label.quote))
    return _propose(database, answer, person, places or None, origin)


def take_back(database: Database, answer_id: str, person: str) -> None:
    """Delete the proposal that this person's vote alone has made; what somebody named or reviewed stays."""
    c = gold_cases.c
    theirs = c.answer_id == answer_id, c.state == "proposed", c.origin == "vote", c.proposed_by == [person]
    with database.writing() as connection:
        connection.execute(sa.delete(gold_cases).where(*theirs))


def _propose(
    database: Database, answer: StoredAnswer, person: str, places: Sequence[Label] | None, origin: Origin
) -> str:
    with database.reading(answer.scopes) as connection:
        readable = labels.stamped(connection, places or (), answer.scopes)
    settled: Expected = readable if readable or places == [] else None
    proposal = Proposal(
        answer.question, answer.scopes, settled, origin, person, standalone=answer.standalone, answer_id=answer.id
    )
    with database.writing() as connection:
        return gold.propose(connection, proposal)
