"""Documents in the database: their rows, their readers, and the exchange of one document's chunks for others.

Every function works inside the caller's transaction, a `Database.writing()` one. Two transactions at once lock rows in
the same order: access lists by id, then term counts (`keywords`).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from knowledge import acls, keywords
from knowledge.permissions import Scopes
from knowledge.plan import Known
from knowledge.tables import acls as acls_table
from knowledge.tables import chunk_terms, chunk_tokens, chunk_vectors, chunks, documents

_BIGINTS = sa.ARRAY(sa.BigInteger)
_TEXTS = sa.ARRAY(sa.Text)


@dataclass(frozen=True)
class Record:
    """What is kept about a document besides its chunks. `state` and `reason` as in `tables.documents`."""

    source: str
    external_id: str
    scopes: Scopes
    own_scopes: Scopes | None
    title: str
    url: str
    revision: str
    content_hash: str
    settings_hash: str
    state: str
    reason: str
    updated_at: datetime | None


def known(connection: sa.Connection, source: str, names: Collection[str] | None = None) -> tuple[Known, ...]:
    """The source's documents of these names, every one for None, with their readers."""
    named = sa.true() if names is None else documents.c.external_id == sa.any_(sa.cast(list(names), _TEXTS))
    columns = ("external_id", "revision", "content_hash", "settings_hash", "url", "state", "reason", "updated_at")
    rows = connection.execute(
        sa.select(documents.c.id, acls_table.c.scopes, documents.c.own_scopes, *(documents.c[name] for name in columns))
        .join(acls_table, acls_table.c.id == documents.c.acl_id)
        .where(documents.c.source == source, named)
    )
    return tuple(
        Known(
            document_id=row.id,
            scopes=frozenset(row.scopes),
            own_scopes=None if row.own_scopes is None else frozenset(row.own_scopes),
            **{name: getattr(row, name) for name in columns},
        )
        for row in rows
    )


def save(connection: sa.Connection, record: Record) -> int:
    """Write the document's row and give its chunks the same readers; returns its id."""
    acl_id = acls.intern(connection, record.scopes)
    values = {
        "source": record.source,
        "external_id": record.external_id,
        "acl_id": acl_id,
        "own_scopes": None if record.own_scopes is None else sorted(record.own_scopes),
        "title": record.title,
        "url": record.url,
        "revision": record.revision,
        "content_hash": record.content_hash,
        "settings_hash": record.settings_hash,
        "state": record.state,
        "reason": record.reason,
        "updated_at": record.updated_at,
    }
    statement = insert(documents).values(values)
    document_id, is_new = connection.execute(
        statement.on_conflict_do_update(
            index_elements=["source", "external_id"], set_=values | {"synced_at": sa.func.now()}
        ).returning(documents.c.id, sa.literal_column("xmax = 0", sa.Boolean))  # no row version before this one
    ).one()
    if not is_new:
        set_readers(connection, {document_id: record.scopes})
    return int(document_id)


def unchanged(connection: sa.Connection, document_id: int, revision: str, updated_at: datetime | None) -> None:
    """Note that the text under a new revision mark is the one already indexed. `updated_at`: None = as it was."""
    values = {"revision": revision, "synced_at": sa.func.now()} | ({"updated_at": updated_at} if updated_at else {})
    connection.execute(sa.update(documents).where(documents.c.id == document_id).values(values))


def relink(connection: sa.Connection, document_id: int, url: str) -> None:
    connection.execute(sa.update(documents).where(documents.c.id == document_id).values(url=url))


def set_readers(connection: sa.Connection, readers: Mapping[int, Scopes]) -> None:
    """Give documents, with everything indexed of them, to other readers: document id -> scopes."""
    by_scopes: dict[Scopes, list[int]] = {}
    for document_id, scopes in readers.items():
        by_scopes.setdefault(scopes, []).append(document_id)
    moved: dict[int, int] = {}
    for scopes in sorted(by_scopes, key=sorted):
        acl_id = acls.intern(connection, scopes)
        ids = sa.any_(sa.cast(by_scopes[scopes], _BIGINTS))
        connection.execute(sa.update(documents).where(documents.c.id == ids).values(acl_id=acl_id))
        others = sa.and_(chunks.c.document_id == ids, chunks.c.acl_id != acl_id)
        counted = sa.select(chunks.c.acl_id, sa.func.count()).where(others).group_by(chunks.c.acl_id)
        if not (counts := connection.execute(counted).all()):
            continue
        for old, count in counts:
            moved[old] = moved.get(old, 0) - count
            moved[acl_id] = moved.get(acl_id, 0) + count
        moving = sa.select(chunks.c.id).where(others).scalar_subquery()
        for table in (chunk_vectors, chunk_tokens, chunk_terms):
            connection.execute(sa.update(table).where(table.c.chunk_id.in_(moving)).values(acl_id=acl_id))
        connection.execute(sa.update(chunks).where(others).values(acl_id=acl_id))
    _count(connection, moved)


def delete(connection: sa.Connection, document_ids: Sequence[int]) -> None:
    """Take documents out of the index with all that was made of them."""
    if not document_ids:
        return
    ids = sa.any_(sa.cast(list(document_ids), _BIGINTS))
    of_them = chunks.c.document_id == ids
    counts = connection.execute(
        sa.select(chunks.c.acl_id, sa.func.count()).where(of_them).group_by(chunks.c.acl_id)
    ).all()
    _count(connection, {acl_id: -count for acl_id, count in counts})
    keywords.forget(connection, connection.scalars(sa.select(chunks.c.id).where(of_them)).all())
    connection.execute(sa.delete(documents).where(documents.c.id == ids))


def count_chunks(connection: sa.Connection, document_id: int, change: int) -> int:
    """The document's access list, its number of chunks changed by `change`."""
    acl_id = connection.scalar(sa.select(documents.c.acl_id).where(documents.c.id == document_id))
    assert acl_id is not None
    _count(connection, {acl_id: change})
    return int(acl_id)


def _count(connection: sa.Connection, changes: Mapping[int, int]) -> None:
    for acl_id in sorted(acl_id for acl_id, change in changes.items() if change):
        connection.execute(
            sa.update(acls_table)
            .where(acls_table.c.id == acl_id)
            .values(chunk_count=acls_table.c.chunk_count + changes[acl_id])
        )
