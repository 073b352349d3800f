"""What the bot replied to a question, for somebody who reviews it: read anew each time, under the reviewer's own rights.

1. The reply is for those who hold all of its scopes, as for `why`.
2. Of those it is for whoever may open all that it cites today: its words are those documents'.
3. One that is no longer kept, or was taken back, is gone here too.
"""

from dataclasses import dataclass

import sqlalchemy as sa

from knowledge import answer_rows, catalog
from knowledge.answers import WITH_ANSWER, WITHOUT_ANSWER
from knowledge.permissions import Scopes


@dataclass(frozen=True)
class Replied:
    """`text`: the answer's Markdown; empty when there was no answer. `is_doubtful`: it is quotes that may well not answer."""

    text: str
    is_doubtful: bool = False


def replied(connection: sa.Connection, answer_id: str | None, scopes: Scopes) -> Replied | None:
    """None when no reply is known, or none that a holder of `scopes` may read. Run it inside `database.reading(scopes)`."""
    answer = answer_rows.load(connection, answer_id) if answer_id else None
    if answer is None or not answer.scopes or not answer.scopes <= scopes:
        return None
    if answer.outcome in WITHOUT_ANSWER:
        return Replied("")
    cited = {citation.document_id for citation in answer.citations}
    if answer.outcome not in WITH_ANSWER or cited - catalog.readable_documents(connection, cited, scopes):
        return None
    return Replied(answer.text, answer.is_doubtful)
