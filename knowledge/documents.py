"""Documents in the database: their rows, their readers, and how many chunks each access list has.

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


def save(connection: sa.Connection, records: Sequence[Record]) -> list[int]:
    """Write the documents' rows and give their chunks the same readers; returns their ids, in order.

    No two records are about the same document.
    """
    lists = {scopes: acls.intern(connection, scopes) for scopes in sorted({r.scopes for r in records}, key=sorted)}
    statement = insert(documents)
    changing = ("acl_id", "own_scopes", *_AS_RECORDED)
    new = {name: statement.excluded[name] for name in changing} | {"synced_at": sa.func.now()}
    rows = connection.execute(
        statement.on_conflict_do_update(index_elements=["source", "external_id"], set_=new).returning(
            documents.c.id,
            documents.c.source,
            documents.c.external_id,
            sa.literal_column("xmax = 0", sa.Boolean),  # no row version before this one
        ),
        [_row(record, lists[record.scopes]) for record in records],
    ).all()
    ids = {(source, external_id): int(document_id) for document_id, source, external_id, _ in rows}
    in_order = [ids[record.source, record.external_id] for record in records]
    known_before = {document_id for document_id, _, _, is_new in rows if not is_new}
    set_readers(connection, {i: r.scopes for i, r in zip(in_order, records, strict=True) if i in known_before})
    return in_order


_AS_RECORDED = ("title", "url", "revision", "content_hash", "settings_hash", "state", "reason", "updated_at")


def _row(record: Record, acl_id: int) -> dict[str, object]:
    own_scopes = None if record.own_scopes is None else sorted(record.own_scopes)
    row = {name: getattr(record, name) for name in ("source", "external_id", *_AS_RECORDED)}
    return row | {"acl_id": acl_id, "own_scopes": own_scopes}


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
    count_chunks(connection, moved)


def delete(connection: sa.Connection, document_ids: Sequence[int]) -> None:
    """Take documents out of the index with all that was made of them."""
    if not document_ids:
        return
    ids = sa.any_(sa.cast(list(document_ids), _BIGINTS))
    of_them = chunks.c.document_id == ids
    counts = connection.execute(
        sa.select(chunks.c.acl_id, sa.func.count()).where(of_them).group_by(chunks.c.acl_id)
    ).all()
    count_chunks(connection, {acl_id: -count for acl_id, count in counts})
    keywords.forget(connection, connection.scalars(sa.select(chunks.c.id).where(of_them)).all())
    connection.execute(sa.delete(documents).where(documents.c.id == ids))


def access_lists(connection: sa.Connection, document_ids: Collection[int]) -> dict[int, int]:
    """Document id -> access list."""
    of_them = documents.c.id == sa.any_(sa.cast(list(document_ids), _BIGINTS))
    rows = connection.execute(sa.select(documents.c.id, documents.c.acl_id).where(of_them))
    return {int(document_id): int(acl_id) for document_id, acl_id in rows}


def count_chunks(connection: sa.Connection, changes: Mapping[int, int]) -> None:
    """Access list -> by how many its chunks grow."""
    for acl_id in sorted(acl_id for acl_id, change in changes.items() if change):
        connection.execute(
            sa.update(acls_table)
            .where(acls_table.c.id == acl_id)
            .values(chunk_count=acls_table.c.chunk_count + changes[acl_id])
        )
