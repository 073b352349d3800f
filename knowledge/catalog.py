"""Documents and sources as a reader may know them. Run inside `Database.reading(scopes)`: the transaction's scopes decide."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from knowledge import spelling
from knowledge.acls import visible
from knowledge.permissions import Scopes
from knowledge.tables import acls, answers, chunks, documents, sources


@dataclass(frozen=True)
class Entry:
    """One document."""

    document_id: int
    source: str
    external_id: str
    title: str
    url: str
    content_hash: str = ""


@dataclass(frozen=True)
class Failures:
    """Documents that readers miss something of: those a reader may open with the reason, and how many others."""

    known: tuple[tuple[str, str], ...] = ()
    hidden: int = 0


@dataclass(frozen=True)
class SourceState:
    """A source as its readers may know it; `documents` counts those they may read. `error`: what the last sync could not
    do, or that the bot's settings are older than the index; else empty."""

    name: str
    kind: str
    documents: int
    succeeded_at: datetime | None
    error: str
    failures: Failures


def readable_chunks(connection: sa.Connection, chunk_ids: Iterable[int], scopes: Scopes) -> frozenset[int]:
    """Those of the chunks that still exist and that a holder of `scopes` may read."""
    wanted = sa.select(chunks.c.id).where(chunks.c.id.in_(list(chunk_ids)), visible(chunks.c.acl_id, scopes))
    return frozenset(connection.scalars(wanted))


def readable_documents(connection: sa.Connection, document_ids: Iterable[int], scopes: Scopes) -> frozenset[int]:
    """Those of the documents that still exist and that a holder of `scopes` may read."""
    wanted = sa.select(documents.c.id).where(
        documents.c.id.in_(list(document_ids)), visible(documents.c.acl_id, scopes)
    )
    return frozenset(connection.scalars(wanted))


def document(connection: sa.Connection, document_id: int, scopes: Scopes) -> Entry | None:
    query = sa.select(*_ENTRY).where(documents.c.id == document_id, visible(documents.c.acl_id, scopes))
    row = connection.execute(query).first()
    return _entry(row) if row else None


def find(connection: sa.Connection, named: str, scopes: Scopes, limit: int = 5) -> tuple[Entry, ...]:
    """Readable documents by link, path or title: exact ones alone if there are any, else titles that contain the words.

    One whose text could not be read is not found: it may have meant to narrow its readers.
    """
    name = named.strip().strip("<>").partition("|")[0]
    readable = sa.and_(visible(documents.c.acl_id, scopes), documents.c.state == "ok")
    exact = sa.or_(
        documents.c.url == name, documents.c.external_id == name, sa.func.lower(documents.c.title) == name.lower()
    )
    words = [documents.c.title.icontains(word, autoescape=True) for word in name.split()]
    for condition in (exact, sa.and_(*words) if words else sa.false()):
        query = sa.select(*_ENTRY).where(readable, condition).order_by(sa.func.length(documents.c.title)).limit(limit)
        if rows := connection.execute(query).all():
            return tuple(map(_entry, rows))
    return ()


SPELLED = 20_000
"""Documents whose names are compared with a misspelt one, those that changed last: half a second, of Slack's three."""


def nearest(connection: sa.Connection, named: str, scopes: Scopes, limit: int = 3) -> tuple[Entry, ...]:
    """Readable documents whose title or file name is nearly the title, path or link that was typed, the nearest first."""
    names: dict[str, Entry] = {}
    for entry in latest(connection, scopes, SPELLED):
        for name in (entry.title, _file(entry.external_id)):
            names.setdefault(name, entry)
    return tuple(dict.fromkeys(names[name] for name in spelling.nearest(_file(named), names, limit)))


def latest(connection: sa.Connection, scopes: Scopes, limit: int) -> tuple[Entry, ...]:
    """Readable documents, those that changed last first."""
    readable = sa.and_(documents.c.state == "ok", visible(documents.c.acl_id, scopes))
    newest = documents.c.updated_at.desc().nulls_last()
    query = sa.select(*_ENTRY).where(readable).order_by(newest, documents.c.id.desc()).limit(limit)
    return tuple(map(_entry, connection.execute(query)))


def source_states(connection: sa.Connection, scopes: Scopes) -> tuple[SourceState, ...]:
    """The sources in which a holder of `scopes` may read something, by name."""
    count = sa.func.count(documents.c.id)
    query = (
        sa.select(sources.c.name, sources.c.kind, count, sources.c.succeeded_at, sources.c.outcome)
        .join(documents, documents.c.source == sources.c.name)
        .where(documents.c.state == "ok", visible(documents.c.acl_id, scopes))
        .group_by(sources.c.name)
        .order_by(sources.c.name)
    )
    return tuple(_state(connection, row, scopes) for row in connection.execute(query).all())


def failures(connection: sa.Connection, source: str, failed: Sequence[tuple[str, str]], scopes: Scopes) -> Failures:
    """What a holder of `scopes` may know of documents (external id, reason) that a sync could not read whole.

    One that was never read far enough to know its readers is counted only.
    """
    named = documents.c.external_id == sa.any_(sa.cast([name for name, _ in failed], sa.ARRAY(sa.Text)))
    of_source = documents.c.source == source, named, visible(documents.c.acl_id, scopes)
    readable = frozenset(connection.scalars(sa.select(documents.c.external_id).where(*of_source)))
    known = tuple((name, reason) for name, reason in failed if name in readable)
    return Failures(known, len(failed) - len(known))


def unsupported_answers(connection: sa.Connection, since: datetime) -> tuple[str, ...]:
    """Ids of answers since then that cite, or name as near, a document which is gone or which their readers may not open.

    Needs a transaction that writes: it looks at every answer, and returns no text.
    """
    cited = (
        sa.func.jsonb_to_recordset(answers.c.citations)
        .table_valued(sa.column("document_id", sa.BigInteger), joins_implicitly=True)
        .render_derived(with_types=True)
    )
    near = sa.func.jsonb_array_elements_text(sa.func.coalesce(answers.c.stages["nearest"], sa.text("'[]'::jsonb")))
    named = near.table_valued(sa.column("document_id", sa.Text), joins_implicitly=True).render_derived()
    found: set[str] = set()
    for mentioned in (cited, named):
        document_id = sa.cast(mentioned.c.document_id, sa.BigInteger)
        still = (
            sa.select(documents.c.id)
            .join(acls, acls.c.id == documents.c.acl_id)
            .where(documents.c.id == document_id, acls.c.scopes.overlap(answers.c.scopes))
            .exists()
        )
        posted = answers.c.created_at > since, answers.c.outcome != "withdrawn"
        query = sa.select(answers.c.id).select_from(answers, mentioned).where(*posted, ~still)
        found.update(connection.scalars(query))
    return tuple(sorted(found))


def withdraw_answer(connection: sa.Connection, answer_id: str) -> None:
    """Take an answer's text away for good; needs a transaction that writes."""
    gone = {"outcome": "withdrawn", "text": "", "citations": []}
    connection.execute(sa.update(answers).where(answers.c.id == answer_id).values(gone))


_ENTRY = (
    documents.c.id.label("document_id"),
    documents.c.source,
    documents.c.external_id,
    documents.c.title,
    documents.c.url,
    documents.c.content_hash,
)


def _file(path: str) -> str:
    """The last part of a path or link, without what tells the format: it would make any two files a bit alike."""
    return re.sub(r"\.\w{1,5}$", "", path.strip().rstrip("/").rpartition("/")[2])


def _entry(row: Any) -> Entry:
    return Entry(**row._mapping)


def _state(connection: sa.Connection, row: Any, scopes: Scopes) -> SourceState:
    outcome = row.outcome or {}
    failed = [(str(each["document"]), str(each["reason"])) for each in outcome.get("failed") or ()]
    known = failures(connection, row.name, failed, scopes)
    return SourceState(
        row.name, row.kind, row[2], row.succeeded_at, outcome.get("error") or outcome.get("outdated", ""), known
    )
