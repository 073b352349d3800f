"""Gold cases: questions with the places that answer them, proposed by readers, accepted by owners, measured nightly.

1. A proposal for a question that is already proposed under the same rights joins that proposal.
2. Nothing is measured before an owner has accepted it; an accepted case changes only by an owner.
3. Every change is kept in the case's history.

Texts are read inside `database.reading(scopes)`, written inside `database.writing()`.
"""

import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

import sqlalchemy as sa

from knowledge import turns
from knowledge.errors import GoldCaseUnknown, GoldCaseUnlabelled
from knowledge.labels import Label
from knowledge.permissions import Scopes
from knowledge.tables import gold_cases

State = Literal["proposed", "accepted", "retired"]
Origin = Literal["vote", "label", "import", "suggestion"]
"""vote: a 👍 or 👎 alone; label: a person named what would have been right."""
Expected = tuple[Label, ...] | None
"""() = not in the documents; None = nobody has said yet, which cannot be accepted."""


@dataclass(frozen=True)
class Change:
    at: datetime
    by: str
    what: str


@dataclass(frozen=True)
class GoldCase:
    """`scopes`: what the reply to the question was allowed to read. `proposed_by`: people, each once."""

    id: str
    question: str
    standalone: str
    scopes: Scopes
    expected: Expected
    state: State
    origin: str
    answer_id: str | None
    proposed_by: tuple[str, ...]
    history: tuple[Change, ...]
    created_at: datetime

    @property
    def is_unchecked(self) -> bool:
        """Whether what it expects is only what the bot itself found, or did not find."""
        return self.origin == "suggestion" and self.state == "proposed" and self.expected is not None

    def to_json(self) -> dict[str, Any]:
        """One line of an export."""
        return {
            "id": self.id,
            "question": self.question,
            "standalone": self.standalone,
            "scopes": sorted(self.scopes),
            "expected": _expected_json(self.expected),
            "state": self.state,
            "origin": self.origin,
            "answer_id": self.answer_id,
            "proposed_by": list(self.proposed_by),
            "history": [_change_json(change) for change in self.history],
        }


@dataclass(frozen=True)
class Proposal:
    """A question and, when somebody said so, where its answer is. `standalone` empty: the question stands alone."""

    question: str
    scopes: Scopes
    expected: Expected
    origin: Origin
    by: str
    standalone: str = ""
    answer_id: str | None = None


def propose(connection: sa.Connection, proposal: Proposal) -> str:
    """Put a case forward; the id of the case, which may be an older one of the same question."""
    turns.take(connection, "footnote proposals")
    twin = _twin(connection, proposal)
    if twin is None:
        return _insert(connection, proposal)
    people = [*twin.proposed_by, *({proposal.by} - set(twin.proposed_by))]
    if twin.state == "accepted":
        agrees = proposal.expected in (None, twin.expected)
        _update(connection, twin, proposal.by, "confirmed" if agrees else "disputed", proposed_by=people)
    else:
        expected = merged(twin.expected, proposal.expected)
        origin = twin.origin if proposal.expected is None else proposal.origin
        values = {"proposed_by": people, "expected": _expected_json(expected), "origin": origin}
        _update(connection, twin, proposal.by, "proposed again", **values)
    return twin.id


def merged(old: Expected, new: Expected) -> Expected:
    """Both people's places; when one says that there is none, the later word counts."""
    if not old or not new:
        return old if new is None else new
    return tuple(dict.fromkeys((*old, *new)))


def accept(connection: sa.Connection, case_id: str, by: str, expected: Expected = None) -> GoldCase:
    """Take a case into the gold set, with other places than proposed when `expected` is given.

    Raises `GoldCaseUnknown`, or `GoldCaseUnlabelled` when nobody has said where the answer is.
    """
    case = _get(connection, case_id)
    settled = case.expected if expected is None else expected
    if settled is None:
        raise GoldCaseUnlabelled(
            f"nobody has said where {case_id} is answered; accept it with --document SOURCE/PATH, or with --nowhere if it is "
            "not in the documents"
        )
    what = "accepted" if settled == case.expected else "corrected and accepted"
    _update(connection, case, by, what, state="accepted", expected=_expected_json(settled))
    return _get(connection, case_id)


def retire(connection: sa.Connection, case_id: str, by: str, reason: str = "") -> GoldCase:
    """Take a case out of the gold set, or refuse a proposal; one that is retired stays as it is.

    Raises `GoldCaseUnknown`.
    """
    case = _get(connection, case_id)
    if case.state == "retired":
        return case
    _update(connection, case, by, f"retired: {reason}" if reason else "retired", state="retired")
    return _get(connection, case_id)


def follow(connection: sa.Connection, case: GoldCase, expected: tuple[Label, ...]) -> None:
    """Point a case to where its documents have moved, unless it has been changed or deleted since it was read."""
    if _locked(connection, case.id) == case:
        _update(connection, case, "footnote", "followed a move", expected=_expected_json(expected))


def get(connection: sa.Connection, case_id: str, scopes: Scopes) -> GoldCase:
    """Raises `GoldCaseUnknown` when there is none that a holder of `scopes` may read."""
    found = cases(connection, scopes, ids=[case_id])
    if not found:
        raise GoldCaseUnknown(f"there is no gold case {case_id!r}; `footnote gold list` shows them")
    return found[0]


def cases(
    connection: sa.Connection, scopes: Scopes, state: State | None = None, ids: Sequence[str] | None = None
) -> tuple[GoldCase, ...]:
    """The cases that a holder of all their scopes may read, oldest first; of one state, or among `ids`, if given."""
    c = gold_cases.c
    query = sa.select(gold_cases).where(c.scopes.contained_by(sorted(scopes)), sa.func.cardinality(c.scopes) > 0)
    query = query if state is None else query.where(c.state == state)
    query = query if ids is None else query.where(c.id.in_(ids))
    return tuple(_case(row) for row in connection.execute(query.order_by(c.created_at, c.id)).mappings())


def rights(connection: sa.Connection, state: State = "accepted") -> dict[str, Scopes]:
    """Each case's scopes by id, without its text; in a transaction that writes, where all are seen."""
    query = sa.select(gold_cases.c.id, gold_cases.c.scopes).where(gold_cases.c.state == state)
    return {row.id: frozenset(row.scopes) for row in connection.execute(query.order_by(gold_cases.c.id))}


def counts(connection: sa.Connection) -> dict[str, int]:
    """How many cases are in each state; in a transaction that writes."""
    query = sa.select(gold_cases.c.state, sa.func.count()).group_by(gold_cases.c.state)
    return {state: int(count) for state, count in connection.execute(query)}


def same_question(one: str, other: str) -> bool:
    """Whether two questions are the same but for case, spacing and punctuation."""
    return words(one) == words(other)


def words(text: str) -> tuple[str, ...]:
    """What two questions that are the same have in common."""
    return tuple(re.findall(r"\w+", text.casefold()))


def _twin(connection: sa.Connection, proposal: Proposal) -> GoldCase | None:
    c = gold_cases.c
    alike = (
        sa.select(gold_cases).where(c.scopes == sorted(proposal.scopes), c.state != "retired").order_by(c.created_at)
    )
    standalone = proposal.standalone or proposal.question
    rows = connection.execute(alike).mappings()
    return next((_case(row) for row in rows if same_question(row["standalone"], standalone)), None)


def _insert(connection: sa.Connection, proposal: Proposal) -> str:
    case_id = secrets.token_hex(5)
    row = {
        "id": case_id, "question": proposal.question, "standalone": proposal.standalone or proposal.question,
        "scopes": sorted(proposal.scopes), "expected": _expected_json(proposal.expected), "state": "proposed",
        "origin": proposal.origin, "answer_id": proposal.answer_id, "proposed_by": [proposal.by],
        "history": [_change_json(Change(datetime.now(UTC), proposal.by, "proposed"))],
    }  # fmt: skip
    connection.execute(sa.insert(gold_cases).values(row))
    return case_id


def _get(connection: sa.Connection, case_id: str) -> GoldCase:
    case = _locked(connection, case_id)
    if case is None:
        raise GoldCaseUnknown(f"there is no gold case {case_id!r}; `footnote gold list` shows them")
    return case


def _locked(connection: sa.Connection, case_id: str) -> GoldCase | None:
    this = sa.select(gold_cases).where(gold_cases.c.id == case_id).with_for_update()
    row = connection.execute(this).mappings().first()
    return _case(row) if row else None


def _update(connection: sa.Connection, case: GoldCase, by: str, what: str, **values: object) -> None:
    history = [*map(_change_json, case.history), _change_json(Change(datetime.now(UTC), by, what))]
    connection.execute(sa.update(gold_cases).where(gold_cases.c.id == case.id).values(history=history, **values))


def _expected_json(expected: Expected) -> list[dict[str, Any]] | None:
    return None if expected is None else [label.to_json() for label in expected]


def _change_json(change: Change) -> dict[str, str]:
    return {"at": change.at.isoformat(), "by": change.by, "what": change.what}


def _case(row: Any) -> GoldCase:
    expected, history = row["expected"], row["history"]
    return GoldCase(
        **{
            **row,
            "scopes": frozenset(row["scopes"]),
            "expected": None if expected is None else tuple(map(Label.from_json, expected)),
            "proposed_by": tuple(row["proposed_by"]),
            "history": tuple(Change(datetime.fromisoformat(h["at"]), h["by"], h["what"]) for h in history),
        }
    )
