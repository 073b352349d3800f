"""What was received and what became of it: one row per event, click or command, and the messages sent in reply.

A row is written in the transaction that also defers the work, before the sender is told that it arrived. Its `kind` is
the name of that work.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB, insert

from knowledge.tables import inbox, replies

OPEN = ("received", "working")


@dataclass(frozen=True)
class Receipt:
    """One received thing. `attempt` counts from 1 how often its work was begun; `state` is open or final."""

    id: int
    event_id: str
    kind: str
    payload: Mapping[str, Any]
    state: str
    attempt: int
    message_key: str | None
    thread_key: str | None
    person: str | None
    answer_id: str | None
    error_id: str | None
    received_at: datetime

    @property
    def finished(self) -> bool:
        return self.state not in OPEN


@dataclass(frozen=True)
class Reply:
    """One message sent in reply. `answer_id` is None where it carries no answer."""

    channel: str
    ts: str
    inbox_id: int
    part: int
    answer_id: str | None


def record(
    connection: sa.Connection,
    event_id: str,
    kind: str,
    payload: Mapping[str, Any],
    *,
    person: str | None = None,
    message_key: str | None = None,
    thread_key: str | None = None,
) -> int | None:
    """The new row's id; None when this event, or this message by another event, is already here."""
    row = {
        "event_id": event_id,
        "kind": kind,
        "payload": dict(payload),
        "state": "received",
        "person": person,
        "message_key": message_key,
        "thread_key": thread_key,
    }
    statement = insert(inbox).values(row).on_conflict_do_nothing().returning(inbox.c.id)
    new: int | None = connection.scalar(statement)
    return new


def claim(connection: sa.Connection, inbox_id: int) -> Receipt | None:
    """Begin (or begin again) the work of a row; None when it is finished or gone."""
    statement = (
        sa.update(inbox)
        .where(inbox.c.id == inbox_id, inbox.c.state.in_(OPEN))
        .values(state="working", attempt=inbox.c.attempt + 1)
        .returning(*_COLUMNS)
    )
    return _one(connection, statement)


def finish(
    connection: sa.Connection,
    inbox_id: int,
    state: str,
    *,
    answer_id: str | None = None,
    error_id: str | None = None,
) -> None:
    """Say how it ended: answered, refused, ignored, withdrawn, done or failed."""
    ended = {"state": state, "answer_id": answer_id, "error_id": error_id, "finished_at": sa.func.now()}
    connection.execute(sa.update(inbox).where(inbox.c.id == inbox_id).values(ended))


def load(connection: sa.Connection, inbox_id: int) -> Receipt | None:
    return _one(connection, sa.select(*_COLUMNS).where(inbox.c.id == inbox_id))


def by_message(connection: sa.Connection, message_key: str) -> Receipt | None:
    """The question that was asked with this message."""
    return _one(connection, sa.select(*_COLUMNS).where(inbox.c.message_key == message_key))


def asked_at(connection: sa.Connection, channel: str, ts: str) -> Receipt | None:
    """As `by_message`, for whoever does not know the workspace's id, with which the key begins: there is one of them."""
    of_any_team = inbox.c.message_key.endswith(f":{channel}:{ts}", autoescape=True)
    return _one(connection, sa.select(*_COLUMNS).where(of_any_team))


def askers(connection: sa.Connection, thread_key: str) -> frozenset[str]:
    """Who asked in this thread, when the thread began with a question; else nobody."""
    begun = sa.exists().where(inbox.c.message_key == thread_key)
    return frozenset(connection.scalars(sa.select(inbox.c.person).where(inbox.c.thread_key == thread_key, begun)))


def asked_before(connection: sa.Connection, question: Receipt, within: timedelta) -> Receipt | None:
    """The last question that the same person asked in the same conversation, in another thread of it and at most so long
    before this one; None when there is none, or its words are gone.
    """
    conversation = str(question.message_key).rpartition(":")[0] + ":"
    earlier = sa.select(*_COLUMNS).where(
        inbox.c.id < question.id,
        inbox.c.person == question.person,
        inbox.c.message_key.startswith(conversation, autoescape=True),
        inbox.c.thread_key != question.thread_key,
        inbox.c.received_at >= question.received_at - within,
        inbox.c.state.not_in(("ignored", "withdrawn")),
    )
    return _one(connection, earlier.order_by(inbox.c.id.desc()).limit(1))


def in_thread(connection: sa.Connection, thread_key: str, person: str) -> tuple[Receipt, ...]:
    """What this person sent that belongs to one thread and was not refused, in the order in which it arrived."""
    sent = sa.select(*_COLUMNS).where(inbox.c.thread_key == thread_key, inbox.c.person == person)
    rows = connection.execute(sent.where(inbox.c.state != "refused").order_by(inbox.c.id))
    return tuple(Receipt(**row._mapping) for row in rows)


def recent(connection: sa.Connection, person: str, limit: int) -> tuple[Receipt, ...]:
    """One person's latest questions, newest first."""
    asked = sa.select(*_COLUMNS).where(inbox.c.person == person, inbox.c.message_key.is_not(None))
    rows = connection.execute(asked.order_by(inbox.c.id.desc()).limit(limit))
    return tuple(Receipt(**row._mapping) for row in rows)


def count_today(connection: sa.Connection, person: str, kind: str) -> int:
    """How many things of a kind this person sent in the last 24 hours."""
    recent = inbox.c.received_at > sa.func.now() - sa.text("interval '1 day'")
    sent = sa.select(sa.func.count()).where(inbox.c.person == person, inbox.c.kind == kind, recent)
    return int(connection.scalar(sent) or 0)


def count_open(connection: sa.Connection) -> int:
    """How many received things are not finished."""
    return int(connection.scalar(sa.select(sa.func.count()).where(inbox.c.state.in_(OPEN))) or 0)


def health(connection: sa.Connection) -> tuple[int, int]:
    """How many questions wait, and how many failed in the last 24 hours."""
    failed = (inbox.c.state == "failed") & (inbox.c.finished_at > sa.func.now() - sa.text("interval '1 day'"))
    waiting = sa.func.count().filter(inbox.c.state.in_(OPEN))
    row = connection.execute(
        sa.select(waiting, sa.func.count().filter(failed)).where(inbox.c.message_key.is_not(None))
    ).one()
    return int(row[0]), int(row[1])


def change_text(connection: sa.Connection, inbox_id: int, payload: Mapping[str, Any]) -> None:
    """The person edited the question."""
    connection.execute(sa.update(inbox).where(inbox.c.id == inbox_id).values(payload=dict(payload)))


def erase_text(connection: sa.Connection, inbox_id: int) -> None:
    """The person deleted the question: its words go, and those that it was edited to."""
    connection.execute(sa.update(inbox).where(inbox.c.id == inbox_id).values(payload={}, state="withdrawn"))
    edits = inbox.c.payload.contains({"question": inbox_id})
    nothing = sa.func.jsonb_set(inbox.c.payload, ["text"], sa.cast("", JSONB), False)
    connection.execute(sa.update(inbox).where(edits).values(payload=nothing))


def add_reply(connection: sa.Connection, reply: Reply) -> None:
    statement = insert(replies).values(reply.__dict__)
    changed = {"ts": reply.ts, "channel": reply.channel, "answer_id": reply.answer_id}
    connection.execute(statement.on_conflict_do_update(index_elements=["inbox_id", "part"], set_=changed))


def replies_to(connection: sa.Connection, inbox_id: int) -> tuple[Reply, ...]:
    """The messages sent for a row, in order."""
    rows = connection.execute(_REPLIES.where(replies.c.inbox_id == inbox_id).order_by(replies.c.part))
    return tuple(Reply(**row._mapping) for row in rows)


def reply_at(connection: sa.Connection, channel: str, ts: str) -> Reply | None:
    """The reply that is this message; None when it is not one of ours."""
    row = connection.execute(_REPLIES.where(replies.c.channel == channel, replies.c.ts == ts)).first()
    return Reply(**row._mapping) if row else None


def replies_with(connection: sa.Connection, answer_id: str) -> tuple[Reply, ...]:
    """Every message that carries this answer."""
    rows = connection.execute(_REPLIES.where(replies.c.answer_id == answer_id).order_by(replies.c.part))
    return tuple(Reply(**row._mapping) for row in rows)


def drop_reply(connection: sa.Connection, reply: Reply) -> None:
    """The message is gone."""
    connection.execute(sa.delete(replies).where(replies.c.channel == reply.channel, replies.c.ts == reply.ts))


_COLUMNS = [inbox.c[name] for name in Receipt.__dataclass_fields__]
_REPLIES = sa.select(*[replies.c[name] for name in Reply.__dataclass_fields__])


def _one(connection: sa.Connection, statement: sa.Executable) -> Receipt | None:
    row = connection.execute(statement).first()
    return Receipt(**row._mapping) if row else None
