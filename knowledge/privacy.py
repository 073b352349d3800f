"""What is kept about one person: handed out to them, or forgotten.

Kept by person are what they asked and clicked (`inbox`), the answers they got, their votes, what they proposed for the
gold set, and Slack's facts about them. What was posted in Slack is Slack's to delete; logs are the operator's.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from knowledge import workspace
from knowledge.db import Database
from knowledge.permissions import Scopes, user_scope
from knowledge.receipts import OPEN
from knowledge.tables import answers, facts, gold_cases, inbox, votes

FORGOTTEN = "forgotten"
"""Stands in gold cases where a person's id stood."""

ABOUT_PEOPLE = ("person", "channels_of", "members", "channel")
"""The kinds of facts that name people."""


@dataclass(frozen=True)
class Case:
    """What decides about a gold case. `from_answer`: it was made from an answer that this person got. `private`: nobody
    else may read it, because it was asked in their direct messages.
    """

    state: str
    proposed_by: tuple[str, ...]
    from_answer: bool
    private: bool = False


def goes(case: Case, person: str) -> bool:
    """Whether a case goes with the person: nobody else may read it, or it was not accepted, and is theirs alone or asks
    what they asked.
    """
    others = set(case.proposed_by) - {person, FORGOTTEN}
    theirs = case.from_answer or (person in case.proposed_by and not others)
    return case.private or (case.state != "accepted" and theirs)


def forget(connection: sa.Connection, person: str) -> dict[str, int]:
    """Delete what is kept about `person`; how many rows of each kind. In a transaction that writes.

    `gold_cases` counts those deleted, `gold_cases_kept` those that stay without the person's id. `in_progress` counts
    questions that a worker answers at this moment; they stay, and so may what becomes of them.
    """
    theirs = list(connection.scalars(sa.select(answers.c.id).where(answers.c.asker == person)))
    busy = _busy(connection, person)
    deleted, kept = _forget_cases(connection, person, theirs)
    rows = {
        "questions_and_clicks": sa.delete(inbox).where(inbox.c.person == person, inbox.c.id.not_in(busy)),
        "votes": sa.delete(votes).where(votes.c.person == person),
        "answers": sa.delete(answers).where(answers.c.id.in_(theirs)),  # and with them everybody's votes on them
        "facts": sa.delete(facts).where(_about(person)),
    }
    counts = {name: connection.execute(statement).rowcount for name, statement in rows.items()}
    # An older look-up that is still under way must not bring deleted facts back.
    workspace.forget(connection, [f"{kind}:{workspace.ANY}" for kind in ABOUT_PEOPLE])
    return {**counts, "gold_cases": deleted, "gold_cases_kept": kept, "in_progress": len(busy)}


def export(database: Database, person: str, scopes: Scopes) -> dict[str, Any]:
    """What is kept about `person`, as JSON's types.

    What they wrote is all there. Of answers and gold cases the texts are only where `scopes`, what the person may read
    now, covers them.
    """
    with database.reading(scopes) as connection:
        texts = _columns(answers, "id", "question", "text").where(answers.c.asker == person)
        readable = {row.pop("id"): row for row in _rows(connection, texts)}
        cases = _rows(
            connection,
            _columns(gold_cases, "id", "question", "state", "origin", "created_at").where(_concerns(person)),
        )
    with database.writing() as connection:
        asked = inbox.c.payload["text"].astext.label("text")
        typed = inbox.c.payload["fields"].label("fields")
        received = sa.select(inbox.c.kind, asked, typed, inbox.c.state, inbox.c.received_at)
        answered = _columns(answers, "id", "place", "outcome", "created_at").where(answers.c.asker == person)
        voted = _columns(votes, "answer_id", "value", "created_at", "withdrawn_at")
        return {
            "person": person,
            "received": _rows(connection, received.where(inbox.c.person == person).order_by(inbox.c.id)),
            "answers": [
                row | readable.get(row["id"], {}) for row in _rows(connection, answered.order_by(answers.c.created_at))
            ],
            "votes": _rows(connection, voted.where(votes.c.person == person).order_by(votes.c.created_at)),
            "gold_cases": cases,
            "facts": _facts(connection, person),
        }


def _busy(connection: sa.Connection, person: str) -> list[int]:
    """Their receipts that a worker holds; the others cannot be begun until this transaction ends."""
    ids = connection.scalars(sa.select(inbox.c.id).where(inbox.c.person == person, inbox.c.state.in_(OPEN))).all()
    return [inbox_id for inbox_id in ids if not _locked(connection, inbox_id)]


def _locked(connection: sa.Connection, inbox_id: int) -> bool:
    """The lock that whoever works on a receipt holds, until the end of this transaction."""
    key = sa.func.hashtextextended(f"inbox:{inbox_id}", 0)
    return bool(connection.scalar(sa.select(sa.func.pg_try_advisory_xact_lock(key))))


def _forget_cases(connection: sa.Connection, person: str, their_answers: Collection[str]) -> tuple[int, int]:
    """How many gold cases were deleted, and how many were kept without the person."""
    from_answer = gold_cases.c.answer_id.in_(their_answers)
    touched = sa.select(gold_cases, from_answer.label("from_answer")).where(_concerns(person))
    deleted = kept = 0
    for row in connection.execute(touched.with_for_update()).all():
        this = gold_cases.c.id == row.id
        private = user_scope(person) in row.scopes
        if goes(Case(row.state, tuple(row.proposed_by), bool(row.from_answer), private), person):
            connection.execute(sa.delete(gold_cases).where(this))
            deleted += 1
            continue
        proposers = dict.fromkeys(FORGOTTEN if by == person else by for by in row.proposed_by)
        history = [{**entry, "by": FORGOTTEN} if entry["by"] == person else entry for entry in row.history]
        changed = {"proposed_by": list(proposers), "history": history}
        origin = {"answer_id": None} if row.from_answer else {}
        connection.execute(sa.update(gold_cases).where(this).values(**changed, **origin))
        kept += 1
    return deleted, kept


def _concerns(person: str) -> sa.ColumnElement[bool]:
    """Gold cases that they had a hand in, that ask what they asked, or that only they may read."""
    c = gold_cases.c
    asked = c.answer_id.in_(sa.select(answers.c.id).where(answers.c.asker == person))
    return sa.or_(
        c.proposed_by.contains([person]),
        c.history.contains([{"by": person}]),
        c.scopes.contains([user_scope(person)]),
        asked,
    )


def _about(person: str) -> sa.ColumnElement[bool]:
    """Facts whose key is the person's, member lists they are in, and their conversation with the bot."""
    own = facts.c.key.in_([f"{kind}:{person}" for kind in ABOUT_PEOPLE])
    return sa.or_(own, facts.c.value.contains([person]), facts.c.value["with"].astext == person)


def _facts(connection: sa.Connection, person: str) -> dict[str, Any]:
    """By key. Of a member list only that they are in it: the others' ids are not theirs to have."""
    rows = connection.execute(sa.select(facts.c.key, facts.c.value).where(_about(person)).order_by(facts.c.key)).all()
    return {row.key: [person] if row.key.startswith("members:") else row.value for row in rows}


def _columns(table: sa.Table, *names: str) -> sa.Select[Any]:
    return sa.select(*(table.c[name] for name in names))


def _rows(connection: sa.Connection, query: sa.Select[Any]) -> list[dict[str, Any]]:
    return [
        {name: value.isoformat() if hasattr(value, "isoformat") else value for name, value in row.items()}
        for row in connection.execute(query).mappings()
    ]
