"""Answers as they are kept: written once with what they rest on, found again by id."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from knowledge.answers import (
    WITH_ANSWER,
    Answer,
    Citation,
    Outcome,
    Question,
    Removed,
    Strength,
    is_doubtful,
    strength_as_json,
)
from knowledge.permissions import Denial, Scopes
from knowledge.tables import answers, replies


@dataclass(frozen=True)
class StoredAnswer:
    """An answer's row. `stages`: by stage name `[chunk_id, score]` best first, `passages`: the chunk ids given, and
    `nearest`: ids of the documents that a reply without an answer named, and `denied`: `[scope, reason]` for what the
    asker could open and the reply might not use, and `strength`: of the evidence for quotes, absent in older rows."""

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

    @property
    def is_doubtful(self) -> bool:
        return is_doubtful(self.outcome, self.strength)

    @property
    def strength(self) -> Strength | None:
        """Of the evidence for quotes; None when none were looked for."""
        return _strength(self.stages.get("strength"))


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
                "strength": strength_as_json(answer.strength),
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


def delete(connection: sa.Connection, answer_ids: Collection[str]) -> None:
    """Forget these answers with their votes, in a transaction that writes."""
    connection.execute(answers.delete().where(answers.c.id.in_(answer_ids)))


def worth_repeating(connection: sa.Connection, answer_ids: Collection[str]) -> frozenset[str]:
    """Those of the answers that were given without doubt, to a question that stands without its thread.

    Needs a transaction that writes, and returns no text.
    """
    c = answers.c
    alone = c.standalone == c.question
    rows = connection.execute(
        sa.select(c.id, c.outcome, c.stages["strength"].label("strength")).where(c.id.in_(answer_ids), alone)
    )
    return frozenset(
        row.id for row in rows if row.outcome in WITH_ANSWER and not is_doubtful(row.outcome, _strength(row.strength))
    )


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


def _strength(row: Mapping[str, Any] | None) -> Strength | None:
    """What another version of the program knows more of it is left out."""
    return Strength(**{key: row[key] for key in Strength.__dataclass_fields__ if key in row}) if row else None


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
