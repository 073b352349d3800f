"""Where a gold label points to today: a document, a heading and a quote, found again whatever became of the chunks.

1. The document by source and external id; when it is gone, it was renamed or moved: another one of that source with
   the content it had, or else the only one in which the quote occurs.
2. In it the chunks that hold the quote; a quote that was cut in two is found in both; without a quote, the chunks under
   the heading; without a heading too, the whole document.
3. Nothing: the label is stale.

Quotes are compared without case, spacing and Markdown marks.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import sqlalchemy as sa

from knowledge.acls import visible
from knowledge.permissions import Scopes
from knowledge.tables import chunks, documents


@dataclass(frozen=True)
class Label:
    """A place that answers a question. Empty `heading_path` and `quote`: anywhere in the document.

    `content_hash`: the document's when the label was made, empty when that is not known.
    """

    source: str
    external_id: str
    heading_path: tuple[str, ...] = ()
    quote: str = ""
    content_hash: str = field(default="", compare=False)

    def to_json(self) -> dict[str, Any]:
        return {
            "source": self.source,
            "external_id": self.external_id,
            "heading_path": list(self.heading_path),
            "quote": self.quote,
            **({"content_hash": self.content_hash} if self.content_hash else {}),
        }

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> "Label":
        path, quote = tuple(row.get("heading_path", ())), row.get("quote", "")
        return cls(row["source"], row["external_id"], path, quote, row.get("content_hash", ""))


@dataclass(frozen=True)
class Piece:
    """A chunk as labels are looked up in it, in the order of its document."""

    chunk_id: int
    external_id: str
    heading_path: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class Located:
    """`label`: with the document's present id. `chunk_ids` empty: stale. `split`: the quote spans several chunks.

    `anywhere`: they are all of a document that has several, because nothing says where in it.
    """

    label: Label
    chunk_ids: frozenset[int] = frozenset()
    split: bool = False
    anywhere: bool = False


def locate(connection: sa.Connection, labels: Iterable[Label], scopes: Scopes) -> tuple[Located, ...]:
    """Each label's chunks, as far as a holder of `scopes` may read them. Run it inside `database.reading(scopes)`."""
    return tuple(_locate(connection, label, scopes) for label in labels)


def stamped(connection: sa.Connection, labels: Iterable[Label], scopes: Scopes) -> tuple[Label, ...]:
    """The labels with the present content hash of their documents; without those a holder of `scopes` may not read."""
    readable = visible(documents.c.acl_id, scopes)
    hashes = {
        label: connection.scalar(sa.select(documents.c.content_hash).where(_is(label), readable)) for label in labels
    }
    return tuple(replace(label, content_hash=found) for label, found in hashes.items() if found is not None)


def _is(label: Label) -> sa.ColumnElement[bool]:
    return sa.and_(documents.c.source == label.source, documents.c.external_id == label.external_id)


def _locate(connection: sa.Connection, label: Label, scopes: Scopes) -> Located:
    here = _pieces(connection, label.source, scopes, _is(label))
    if here:
        return find(label, here)
    moved = sa.and_(documents.c.content_hash == label.content_hash, documents.c.content_hash != "")
    if twins := _found_in(label, _pieces(connection, label.source, scopes, moved)):
        return twins[0]
    elsewhere = _found_in(label, _pieces(connection, label.source, scopes, sa.true())) if label.quote else []
    return elsewhere[0] if len(elsewhere) == 1 else Located(label)  # a sentence of several documents proves nothing


def _found_in(label: Label, pieces: Sequence[Piece]) -> list[Located]:
    """The label in each document of the pieces in which it is found."""
    names = dict.fromkeys(piece.external_id for piece in pieces)
    tries = (find(replace(label, external_id=n), [p for p in pieces if p.external_id == n]) for n in names)
    return [found for found in tries if found.chunk_ids]


def find(label: Label, pieces: Sequence[Piece]) -> Located:
    """The label's chunks among those of one document."""
    if not label.quote:
        below = [
            p for p in pieces if label.heading_path and p.heading_path[: len(label.heading_path)] == label.heading_path
        ]
        return Located(label, frozenset(p.chunk_id for p in below or pieces), anywhere=not below and len(pieces) > 1)
    quote = plain(label.quote)
    texts = [plain(p.text) for p in pieces]
    whole = frozenset(p.chunk_id for p, text in zip(pieces, texts, strict=True) if quote in text)
    if whole:
        return Located(label, whole)
    neighbours = zip(pieces, pieces[1:], texts, texts[1:], strict=False)
    across = [(a, b) for a, b, first, second in neighbours if quote in f"{first} {second}"]
    return Located(label, frozenset(p.chunk_id for pair in across for p in pair), split=bool(across))


def plain(text: str) -> str:
    """Text for comparison: lower case, single spaces, no Markdown marks."""
    return " ".join(re.sub(r"[*_`|~#>]+", " ", text).casefold().split())


def _pieces(connection: sa.Connection, source: str, scopes: Scopes, which: sa.ColumnElement[bool]) -> list[Piece]:
    query = (
        sa.select(chunks.c.id, documents.c.external_id, chunks.c.heading_path, chunks.c.text)
        .join(documents, documents.c.id == chunks.c.document_id)
        .where(documents.c.source == source, which, visible(chunks.c.acl_id, scopes))
        .order_by(documents.c.id, chunks.c.ordinal)
    )
    return [Piece(row.id, row.external_id, tuple(row.heading_path), row.text) for row in connection.execute(query)]
