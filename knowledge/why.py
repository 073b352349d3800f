"""Why one stored answer went wrong: its recorded search, looked at beside the place that would have been right."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import sqlalchemy as sa

from knowledge import analysis, answer_rows, labels, retrieval
from knowledge.answer_rows import StoredAnswer
from knowledge.answers import WITHOUT_ANSWER
from knowledge.db import Database
from knowledge.diagnosis import STAGES, Diagnosis, Failure, diagnose
from knowledge.gold import same_question
from knowledge.labels import Label, Located
from knowledge.passages import Passage
from knowledge.permissions import Denial, Scopes
from knowledge.tables import gold_cases


@dataclass(frozen=True)
class Explanation:
    """`expected` None: nobody has said what would have been right; empty: it is in no document. `diagnosis` is None then.

    `denials`: what the reply might not use and why, of the scopes that whoever looks holds. `readable`: those of
    `expected` that whoever looks may read today.
    """

    answer: StoredAnswer
    expected: tuple[Label, ...] | None
    diagnosis: Diagnosis | None
    denials: tuple[Denial, ...] = ()
    readable: tuple[Label, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "answer": self.answer.id,
            "question": self.answer.question,
            "standalone": self.answer.standalone,
            "outcome": self.answer.outcome,
            "doubtful": self.answer.is_doubtful,
            "strength": self.answer.stages.get("strength"),
            "allowed_scopes": sorted(self.answer.scopes),
            "denied": [asdict(denial) for denial in self.denials],
            "stages": self.answer.stages.get("stages", {}),
            "passages": self.answer.stages.get("passages", []),
            "expected": [label.to_json() for label in self.expected or ()],
            "diagnosis": None if self.diagnosis is None else asdict(self.diagnosis),
        }


def explain(
    database: Database, answer_id: str, scopes: Scopes, expected: Sequence[Label] | None = None
) -> Explanation | None:
    """What a holder of `scopes` may know of it; None when there is no such answer for them.

    `expected` None: as its gold case says. What that holder may read and the reply might not counts as kept back.
    """
    with database.reading(scopes) as connection:
        answer = answer_rows.load(connection, answer_id)
        if answer is None:
            return None
        places = _of_gold_case(connection, answer) if expected is None else tuple(expected)
        theirs = labels.locate(connection, places or (), scopes)
    # That the asker is in some private channel is for those to know who are in it too.
    denials = tuple(Denial(scope, why) for scope, why in answer.stages.get("denied", ()) if scope in scopes)
    if not places:
        return Explanation(answer, places, None, denials)
    with database.reading(answer.scopes) as connection:
        located = labels.locate(connection, places, answer.scopes)
        shared = _shared_terms(connection, answer, located)
    hidden = any(place.chunk_ids for place in theirs)
    readable = tuple(place.label for place in theirs if place.chunk_ids)
    return Explanation(answer, places, diagnose(_failure(answer, located, hidden, shared)), denials, readable)


def passages(database: Database, answer: StoredAnswer, scopes: Scopes) -> tuple[Passage, ...]:
    """What the answer's search found, as far as a holder of `scopes` may read it today, with its rank at each stage.

    First what was given to be answered from, then in the order of the last stage.
    """
    recorded = answer.stages.get("stages", {})
    ranks = {name: {chunk: n for n, (chunk, _) in enumerate(recorded.get(name, ()), start=1)} for name in STAGES}
    in_order = [*answer.stages.get("passages", ()), *(chunk for name in reversed(STAGES) for chunk in ranks[name])]
    with database.reading(scopes) as connection:
        readable = retrieval.read(connection, in_order, scopes)
    return tuple(retrieval.placed(readable[chunk], ranks, {}) for chunk in dict.fromkeys(in_order) if chunk in readable)


def _failure(answer: StoredAnswer, located: Sequence[Located], hidden: bool, shared_terms: int) -> Failure:
    recorded = answer.stages.get("stages", {})
    return Failure(
        expected=_chunks(located),
        stages={name: [chunk for chunk, _ in hits] for name, hits in recorded.items()},
        passages=answer.stages.get("passages", []),
        hidden=hidden,
        loose=_chunks(p for p in located if p.anywhere) - _chunks(p for p in located if not p.anywhere),
        split=any(place.split for place in located),
        shared_terms=shared_terms,
        answered=answer.outcome not in WITHOUT_ANSWER,
        cited=[citation.chunk_id for citation in answer.citations],
    )


def _chunks(located: Iterable[Located]) -> frozenset[int]:
    return frozenset(chunk for place in located for chunk in place.chunk_ids)


def _shared_terms(connection: sa.Connection, answer: StoredAnswer, located: Sequence[Located]) -> int:
    asked = set(analysis.terms(answer.standalone))
    passages = retrieval.read(connection, _chunks(located), answer.scopes).values()
    return max((len(asked & set(analysis.terms(f"{p.label} {p.body}"))) for p in passages), default=0)


def _of_gold_case(connection: sa.Connection, answer: StoredAnswer) -> tuple[Label, ...] | None:
    """The labels of the case that came from this answer, or of one that asks the same under the same rights; None when nobody
    has said where that is answered.
    """
    c = gold_cases.c
    query = sa.select(c.answer_id, c.standalone, c.expected).where(
        c.scopes.contained_by(sorted(answer.scopes)), c.state != "retired", c.expected.is_not(None)
    )
    rows = [row for row in connection.execute(query) if row.expected is not None]
    rows.sort(key=lambda row: (row.answer_id != answer.id, not row.expected))
    chosen = next((r for r in rows if r.answer_id == answer.id or same_question(r.standalone, answer.standalone)), None)
    return tuple(Label.from_json(label) for label in chosen.expected) if chosen else None
