"""Questions to begin a gold set with, out of those that were really asked."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import sqlalchemy as sa

from knowledge import analysis, answer_rows, gold, proposals, votes
from knowledge.answers import WITH_ANSWER, Outcome
from knowledge.clusters import Encode, Vectors, clusters
from knowledge.db import Database
from knowledge.permissions import Scopes
from knowledge.tables import answers as answers_table
from knowledge.votes import Tally

BY = "footnote"
CONSIDERED = 1000


@dataclass(frozen=True)
class Asked:
    """A question of the log. `answered`: the reply had an answer with sources."""

    answer_id: str
    question: str
    scopes: Scopes
    answered: bool


IsIdle = Callable[[str], bool]
"""Whether a text asks for nothing, such as a greeting."""


def suggest(
    database: Database,
    encode: Encode,
    count: int = 30,
    unanswered: int = 5,
    readable: Scopes | None = None,
    is_idle: IsIdle = lambda _: False,
) -> tuple[str, ...]:
    """Propose up to `count` questions, at least `unanswered` of them without an answer if there are so many; the cases' ids.

    Each names what its answer cites, if that `is_to_be_believed`; an owner confirms it, corrects it, or is the first to say.
    Left out are questions that are in the gold set already, in whatever state, those without a word of content, what
    `is_idle`, and those whose reply a holder of `readable` may not read; None: everybody's.
    """
    asked = [each for each in _log(database, readable) if analysis.terms(each.question) and not is_idle(each.question)]
    vectors = encode([a.question for a in asked]) if asked else np.zeros((0, 1), np.float32)
    ids = []
    for chosen in choose(asked, vectors, count, unanswered):
        with database.reading(chosen.scopes) as connection:
            answer = answer_rows.load(connection, chosen.answer_id)
            tally = votes.tally(connection, chosen.answer_id)
        if answer is None:
            continue
        if is_to_be_believed(answer.outcome, answer.is_doubtful, tally):
            ids.append(proposals.propose_cited(database, answer, BY, "suggestion"))
        else:
            ids.append(proposals.propose(database, answer, BY, None, "suggestion"))
    return tuple(ids)


def is_to_be_believed(outcome: Outcome, is_doubtful: bool, tally: Tally) -> bool:
    """Whether an answer says where its question is answered. Not when it was doubtful, or when more people voted against it
    than for it; nor when there was none: what was not found may be there all the same."""
    return outcome in WITH_ANSWER and not is_doubtful and tally.down <= tally.up


def choose(asked: Sequence[Asked], vectors: Vectors, count: int, unanswered: int) -> list[Asked]:
    """Questions unlike each other, in the order given; a place for `unanswered` ones is kept as long as there are any."""
    distinct = list(clusters(vectors))
    without = [n for n in distinct if not asked[n].answered]
    kept = set(without[:unanswered])
    others = [n for n in distinct if n not in kept][: max(0, count - len(kept))]
    return [asked[n] for n in sorted([*kept, *others])][:count]


def _log(database: Database, readable: Scopes | None) -> list[Asked]:
    """The newest questions, each read under the scopes of its own reply. `readable` as in `suggest`."""
    c = answers_table.c
    with database.writing() as connection:
        rights = [frozenset(row) for row in connection.scalars(sa.select(c.scopes).distinct()) if row]
    found = []
    for scopes in sorted((each for each in rights if readable is None or each <= readable), key=sorted):
        with database.reading(scopes) as connection:
            known = [case.standalone for case in gold.cases(connection, scopes)]
            query = sa.select(c.id, c.standalone, c.outcome, c.created_at).where(
                c.scopes == sorted(scopes), c.outcome.in_((*WITH_ANSWER, "abstained"))
            )
            for row in connection.execute(query.order_by(c.created_at.desc()).limit(CONSIDERED)):
                if not any(gold.same_question(row.standalone, other) for other in known):
                    asked = Asked(row.id, row.standalone, scopes, row.outcome != "abstained")
                    found.append((row.created_at, asked))
    return [asked for _, asked in sorted(found, key=lambda entry: entry[0], reverse=True)][:CONSIDERED]
