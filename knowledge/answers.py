"""An answer and everything it rests on: the types, and their rows."""

import hashlib
import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal

import sqlalchemy as sa

from knowledge.passages import Found, Passage
from knowledge.permissions import Denial, Scopes
from knowledge.tables import answers, replies

Outcome = Literal["answered", "quoted", "abstained", "refused", "failed"]
"""answered: written by the model and verified. quoted: the documents' own sentences. abstained: not in the documents.
refused: no document may be read for this reply. failed: the service gave nothing and no sentence answers by itself."""


class Notice(StrEnum):
    """What the reader should be told beside the answer; the words are the caller's."""

    UNAVAILABLE = "unavailable"
    """The answering service did not answer in time; quotes instead."""
    OVER_BUDGET = "over_budget"
    """Today's tokens are spent; quotes instead."""
    DECLINED = "declined"
    """The model would not answer; quotes instead."""
    UNVERIFIED = "unverified"
    """Nothing that the model wrote could be verified; quotes instead."""
    CUT_SHORT = "cut_short"
    """The answer ended early; what is there was verified, the last unfinished sentence is gone."""


@dataclass(frozen=True)
class Turn:
    """One message of the thread before the question. `who`: a person's or the bot's id."""

    role: Literal["person", "bot"]
    who: str
    text: str


@dataclass(frozen=True)
class Question:
    """`thread`: what is visible above the question, oldest first."""

    text: str
    asker: str
    place: str
    thread: tuple[Turn, ...] = ()


@dataclass(frozen=True)
class Citation:
    """One entry of the source list. `quote` is verbatim from the passage, live markup included; `more`: further quotes under the same number.

    `n` counts from 1 in order of first use, one number for each document and heading path. `stale_days` as in `Passage`.
    """

    n: int
    chunk_id: int
    document_id: int
    title: str
    url: str
    heading_path: tuple[str, ...]
    quote: str
    updated_at: datetime | None
    scopes: frozenset[str]
    more: tuple[str, ...] = ()
    stale_days: int | None = None


@dataclass(frozen=True)
class Removed:
    """A sentence, link or citation that grounding took out, and why."""

    text: str
    reason: str


@dataclass(frozen=True)
class Answer:
    """`text`: Markdown with `[n]` marks; for an abstention what the model says is missing, often empty.

    `passages`: everything the answer could use, extra searches included. `searches`: those extra queries.
    `usage`: tokens by kind, and `dollars` when the model's price is known. `ms`: milliseconds by stage.
    """

    id: str
    question: str
    standalone: str
    text: str
    outcome: Outcome
    citations: tuple[Citation, ...]
    passages: tuple[Passage, ...]
    found: Found
    model: str = ""
    prompt_hash: str = ""
    usage: Mapping[str, float] = field(default_factory=dict)
    ms: Mapping[str, float] = field(default_factory=dict)
    removed: tuple[Removed, ...] = ()
    notice: Notice | None = None
    searches: tuple[str, ...] = ()

    @property
    def abstained(self) -> bool:
        return self.outcome in ("abstained", "refused", "failed")

    @property
    def nearest(self) -> tuple[Passage, ...]:
        """The best passage of each of the three nearest documents, for a reply that has no answer."""
        by_document: dict[int, Passage] = {}
        for passage in self.passages:
            by_document.setdefault(passage.document_id, passage)
        return tuple(by_document.values())[:3]


@dataclass(frozen=True)
class StoredAnswer:
    """An answer's row. `stages`: by stage name `[chunk_id, score]` best first, `passages`: the chunk ids given, and
    `nearest`: ids of the documents that a reply without an answer named, and `denied`: `[scope, reason]` for what the
    asker could open and the reply might not use."""

    id: str
    asker: str
    place: str
    scopes: frozenset[str]
    question: str
    standalone: str
    text: str
    outcome: Outcome
    citations: tuple[Citation, ...]
    stages: Mapping[str, Any]
    removed: tuple[Removed, ...]
    model: str
    prompt_hash: str
    usage: Mapping[str, Any]
    ms: Mapping[str, float]
    reply_channel: str | None
    reply_ts: str | None
    thread_ts: str | None
    created_at: datetime


def as_json(answer: Answer, scopes: Scopes) -> dict[str, Any]:
    """The document that `footnote ask --json` prints."""
    return {
        "id": answer.id,
        "answer": answer.text,
        "outcome": answer.outcome,
        "abstained": answer.abstained,
        "notice": answer.notice,
        "standalone": answer.standalone,
        "searches": list(answer.searches),
        "allowed_scopes": sorted(scopes),
        "citations": [cited_as_json(c) for c in answer.citations],
        "nearest": [
            {
                "title": p.title,
                "url": p.url,
                "heading_path": list(p.heading_path),
                "updated_at": p.updated_at.isoformat() if p.updated_at else None,
            }
            for p in (answer.nearest if answer.abstained else ())
        ],
        "passages": [
            {
                "chunk_id": p.chunk_id,
                "document": p.external_id,
                "title": p.title,
                "heading_path": list(p.heading_path),
                "text": p.body,
                "ranks": asdict(p.ranks),
                "score": p.score,
            }
            for p in answer.passages
        ],
        "removed": [asdict(r) for r in answer.removed],
        "usage": dict(answer.usage),
        "ms": dict(answer.ms),
    }


def cited_as_json(citation: Citation) -> dict[str, Any]:
    return {
        "n": citation.n,
        "title": citation.title,
        "url": citation.url,
        "heading_path": list(citation.heading_path),
        "quote": citation.quote,
        "more": list(citation.more),
        "updated_at": citation.updated_at.isoformat() if citation.updated_at else None,
    }


def new_id() -> str:
    """Ten base-32 characters: short enough for a button's value and a command line, 50 bits against guessing."""
    return "".join(secrets.choice("abcdefghijklmnopqrstuvwxyz234567") for _ in range(10))


def hash_of(text: str) -> str:
    """Twelve hex digits of SHA-256, to tell one prompt from another."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def save(
    connection: sa.Connection, answer: Answer, question: Question, scopes: Scopes, denials: Sequence[Denial] = ()
) -> None:
    """Write the answer's row, in a transaction that writes. `scopes`: those the reply was allowed."""
    found = answer.found
    stages = {name: [[hit.chunk_id, round(hit.score, 6)] for hit in hits] for name, hits in found.stages.items()}
    connection.execute(
        answers.insert().values(
            id=answer.id,
            asker=question.asker,
            place=question.place,
            scopes=sorted(scopes),
            question=_storable(answer.question),
            standalone=_storable(answer.standalone),
            text=_storable(answer.text),
            outcome=answer.outcome,
            citations=[_citation_row(c) for c in answer.citations],
            stages={
                "stages": stages,
                "passages": [p.chunk_id for p in answer.passages],
                "reranker": found.reranker,
                "generation": found.generation_id,
                "searches": [_storable(s) for s in answer.searches],
                "notice": answer.notice,
                "denied": [[denial.scope, denial.reason] for denial in denials],
                "nearest": [p.document_id for p in answer.nearest] if answer.abstained else [],
            },
            removed=[{"text": _storable(r.text), "reason": _storable(r.reason)} for r in answer.removed],
            model=answer.model,
            prompt_hash=answer.prompt_hash,
            usage=dict(answer.usage),
            ms={name: round(value, 2) for name, value in answer.ms.items()},
        )
    )


def load(connection: sa.Connection, answer_id: str) -> StoredAnswer | None:
    """The stored answer; `None` when there is none, or when this transaction may not read it."""
    row = connection.execute(sa.select(answers).where(answers.c.id == answer_id)).mappings().one_or_none()
    return _stored(dict(row)) if row else None


def set_reply(connection: sa.Connection, answer_id: str, channel: str, ts: str, thread_ts: str | None) -> None:
    """Remember where the answer was posted, so that a reaction or a button there finds it again."""
    connection.execute(
        answers.update()
        .where(answers.c.id == answer_id)
        .values(reply_channel=channel, reply_ts=ts, thread_ts=thread_ts)
    )


def by_reply(connection: sa.Connection, channel: str, ts: str) -> StoredAnswer | None:
    """The answer posted as this message; `None` when it is not one of ours or may not be read here."""
    query = sa.select(answers).where(answers.c.reply_channel == channel, answers.c.reply_ts == ts)
    row = connection.execute(query.order_by(answers.c.created_at.desc()).limit(1)).mappings().one_or_none()
    return _stored(dict(row)) if row else None


def delete(connection: sa.Connection, answer_ids: Collection[str]) -> None:
    """Forget these answers with their votes, in a transaction that writes."""
    connection.execute(answers.delete().where(answers.c.id.in_(answer_ids)))


def posted_citations(connection: sa.Connection, answer: StoredAnswer, besides: int) -> frozenset[int]:
    """Ids of the documents cited by what was posted in the answer's thread for the same question.

    `besides`: the receipt whose own replies do not count. Needs a transaction that writes: it looks at every such
    answer, and returns no text.
    """
    posted = sa.exists().where(replies.c.answer_id == answers.c.id, replies.c.inbox_id != besides)
    same = [
        answers.c.reply_channel == answer.reply_channel,
        answers.c.thread_ts.is_not_distinct_from(answer.thread_ts),
        answers.c.standalone == answer.standalone,
    ]
    rows = connection.scalars(sa.select(answers.c.citations).where(posted, *same))
    return frozenset(int(citation["document_id"]) for citations in rows for citation in citations)


def _stored(row: Mapping[str, Any]) -> StoredAnswer:
    return StoredAnswer(
        **{
            **row,
            "scopes": frozenset(row["scopes"]),
            "citations": tuple(_citation(c) for c in row["citations"]),
            "removed": tuple(Removed(**r) for r in row["removed"]),
        }
    )


def _citation_row(citation: Citation) -> dict[str, Any]:
    row = asdict(citation)
    row["scopes"] = sorted(citation.scopes)
    row["updated_at"] = citation.updated_at.isoformat() if citation.updated_at else None
    row["quote"], row["more"] = _storable(citation.quote), [_storable(q) for q in citation.more]
    return row


def _citation(row: Mapping[str, Any]) -> Citation:
    return Citation(
        **{
            **row,
            "heading_path": tuple(row["heading_path"]),
            "updated_at": datetime.fromisoformat(row["updated_at"]) if row["updated_at"] else None,
            "scopes": frozenset(row["scopes"]),
            "more": tuple(row["more"]),
        }
    )


def _storable(text: str) -> str:
    """Postgres text holds no NUL."""
    return text.replace("\x00", "")
