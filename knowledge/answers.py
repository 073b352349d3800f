"""An answer and everything it rests on."""

import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal

from knowledge.language import asks_in_another
from knowledge.passages import Found, Passage
from knowledge.permissions import Scopes

Outcome = Literal["answered", "quoted", "abstained", "refused", "failed"]
"""answered: written by the model and verified. quoted: the documents' own sentences. abstained: not in the documents.
refused: no document may be read for this reply. failed: the service gave nothing and no sentence answers by itself."""
WITH_ANSWER: frozenset[Outcome] = frozenset({"answered", "quoted"})
WITHOUT_ANSWER: frozenset[Outcome] = frozenset({"abstained", "refused", "failed"})


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
class Strength:
    """How strong the evidence for quotes was, how strong it has to be for any, and from where they seldom mislead; in [0, 1].

    `missing`: what the question names and nothing that was found has (`names.py`). `unanswered`: those of several questions
    in one for which nothing was found, when there are quotes for the others, or who it is (`persons.py`).
    """

    found: float
    needed: float
    sure: float
    missing: tuple[str, ...] = ()
    unanswered: tuple[str, ...] = ()

    @property
    def is_enough(self) -> bool:
        return self.found >= self.needed

    @property
    def is_sure(self) -> bool:
        return self.found >= self.sure and not self.missing and not self.unanswered


@dataclass(frozen=True)
class Answer:
    """`text`: Markdown with `[n]` marks; for an abstention what the model says is missing, often empty.

    `passages`: everything the answer could use, extra searches included. `searches`: those extra queries.
    `usage`: tokens by kind, and `dollars` when the model's price is known. `ms`: milliseconds by stage.
    `strength`: of the evidence for quotes; None when none were looked for.
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
    strength: Strength | None = None

    @property
    def abstained(self) -> bool:
        return self.outcome in WITHOUT_ANSWER

    @property
    def is_doubtful(self) -> bool:
        return is_doubtful(self.outcome, self.strength)

    @property
    def nearest(self) -> tuple[Passage, ...]:
        """The best passage of each of the three nearest documents, for a reply that has no answer."""
        by_document: dict[int, Passage] = {}
        for passage in self.passages:
            by_document.setdefault(passage.document_id, passage)
        return tuple(by_document.values())[:3]

    @property
    def in_another_language(self) -> bool:
        """Whether there is no answer to a question that is not English, as the nearest documents are."""
        return self.outcome == "abstained" and asks_in_another(self.question, [p.text for p in self.nearest])


def is_doubtful(outcome: Outcome, strength: Strength | None) -> bool:
    """Whether it is quotes that may well not answer."""
    return outcome == "quoted" and strength is not None and not strength.is_sure


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
        "strength": strength_as_json(answer.strength),
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


def strength_as_json(strength: Strength | None) -> dict[str, Any] | None:
    return {**asdict(strength), "found": round(strength.found, 4)} if strength else None


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
