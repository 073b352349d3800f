"""Votes on answers: one a person and answer, the latest counts, and taking it back is possible."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from knowledge import turns
from knowledge.answers import WITH_ANSWER, Outcome
from knowledge.tables import answers, gold_cases, votes


@dataclass(frozen=True)
class Tally:
    up: int
    down: int


@dataclass(frozen=True)
class Change:
    """A vote (+1 or -1) given, or taken back when not `added`; `at` is its own time in seconds."""

    at: float
    value: int
    added: bool


def standing(changes: Iterable[Change]) -> int | None:
    """What counts after all that one person changed about one answer, in whatever order it became known."""
    value = None
    for change in sorted(changes, key=lambda each: each.at):
        if change.added:
            value = change.value
        elif change.value == value:
            value = None
    return value


def cast(connection: sa.Connection, answer_id: str, person: str, value: int | None) -> bool:
    """Count `value` (+1, -1, None for no vote any more) for this person; False when exactly that counts already.

    One person's votes are counted one after the other, so that `cast_today` in the same transaction misses none.
    """
    turns.take(connection, f"footnote votes of {person}")
    mine = (votes.c.answer_id == answer_id) & (votes.c.person == person) & votes.c.withdrawn_at.is_(None)
    if connection.scalar(sa.select(votes.c.value).where(mine)) == value:
        return False
    if value is None:
        connection.execute(sa.update(votes).where(mine).values(withdrawn_at=sa.func.now()))
        return True
    statement = insert(votes).values(answer_id=answer_id, person=person, value=value)
    again = {"value": value, "created_at": sa.func.now(), "withdrawn_at": None}
    connection.execute(statement.on_conflict_do_update(index_elements=["answer_id", "person"], set_=again))
    return True


def tally(connection: sa.Connection, answer_id: str) -> Tally:
    """How many people stand by each vote."""
    up, down = (sa.func.count().filter(votes.c.value == value) for value in (1, -1))
    counted = sa.select(up, down).where(votes.c.answer_id == answer_id, votes.c.withdrawn_at.is_(None))
    return Tally(*connection.execute(counted).one())


def accepted_threads(connection: sa.Connection, channel: str) -> frozenset[str]:
    """Threads of a channel, by the ts of their first message, with an answer that has more votes for than against it.

    Needs a transaction that writes: it looks at every answer, and returns no text.
    """
    query = (
        sa.select(answers.c.thread_ts)
        .join(votes, votes.c.answer_id == answers.c.id)
        .where(answers.c.reply_channel == channel, answers.c.thread_ts.is_not(None))
        .where(answers.c.outcome.in_(WITH_ANSWER), votes.c.withdrawn_at.is_(None))
        .group_by(answers.c.id)
        .having(sa.func.sum(votes.c.value) > 0)
    )
    return frozenset(connection.scalars(query))


def doubted(connection: sa.Connection, since: datetime) -> dict[str, Outcome]:
    """Gold cases whose answer more people voted against than for, where the last vote is newer than `since`; with what
    kind of reply that was.

    Needs a transaction that writes: it looks at every answer, and returns no text.
    """
    query = (
        sa.select(gold_cases.c.id, answers.c.outcome)
        .join(answers, answers.c.id == gold_cases.c.answer_id)
        .join(votes, votes.c.answer_id == answers.c.id)
        .where(gold_cases.c.state == "accepted", votes.c.withdrawn_at.is_(None))
        .group_by(gold_cases.c.id, answers.c.id)
        .having((sa.func.sum(votes.c.value) < 0) & (sa.func.max(votes.c.created_at) > since))
    )
    return {case_id: outcome for case_id, outcome in connection.execute(query)}


def cast_today(connection: sa.Connection, person: str) -> int:
    """How many answers this person voted on in the last 24 hours, votes taken back included."""
    recent = votes.c.created_at > sa.func.now() - sa.text("interval '1 day'")
    return int(connection.scalar(sa.select(sa.func.count()).where(votes.c.person == person, recent)) or 0)
