"""From what a reader said about an answer to a proposed gold case."""

from collections.abc import Sequence

from knowledge import gold, labels, retrieval
from knowledge.answers import StoredAnswer
from knowledge.catalog import Entry
from knowledge.db import Database
from knowledge.gold import Proposal
from knowledge.labels import Label


def propose(
    database: Database, answer: StoredAnswer, person: str, expected: Sequence[Entry] | None, origin: str
) -> str:
    """Put the answer's question forward; the case's id.

    `expected` None: what the answer cited was right, or nobody knows when it cited nothing; (): not in the documents.
    A document stands for all of it: the person said which one, not where in it. One that the reply might not read is
    left out, because whoever may read the case would learn of it.
    """
    with database.reading(answer.scopes) as connection:
        if expected is None:
            cited = retrieval.read(connection, [c.chunk_id for c in answer.citations], answer.scopes)
            found = {
                Label(p.source, p.external_id, p.heading_path, c.quote)
                for c in answer.citations
                if (p := cited.get(c.chunk_id)) is not None
            }
            places = sorted(found, key=lambda label: (label.source, label.external_id, label.quote)) or None
        else:
            places = [Label(entry.source, entry.external_id) for entry in expected]
        readable = labels.stamped(connection, places or (), answer.scopes)
    settled = readable if readable or places == [] else None
    proposal = Proposal(
        answer.question, answer.scopes, settled, origin, person, standalone=answer.standalone, answer_id=answer.id
    )
    with database.writing() as connection:
        return gold.propose(connection, proposal)
