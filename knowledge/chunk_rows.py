"""One document's chunks in the database, exchanged for others in the caller's transaction.

A chunk is known by its document, path and text, not by its place: what is inserted above it changes neither its id nor
anything that was made of it. Vectors are carried over by the hash of exactly the text that was encoded.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

import numpy as np
import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from knowledge import documents, embeddings, keywords
from knowledge.chunking import Chunk, embedded_text
from knowledge.embeddings import ChunkKey
from knowledge.encoders import Encoded, Floats
from knowledge.generations import Generation
from knowledge.tables import chunk_tokens, chunk_vectors, chunks
from knowledge.tables import documents as documents_table

_BIGINTS = sa.ARRAY(sa.BigInteger)

Vectors = Mapping[str, tuple[Floats, bytes]]
"""By hash of the encoded text: its vector, and its tokens' bits (empty when the model gives none)."""


@dataclass(frozen=True)
class Draft:
    """A chunk that is to be stored. `embedded`: the text that is encoded and indexed; `hash`: of that text."""

    chunk: Chunk
    embedded: str
    hash: str


@dataclass(frozen=True)
class Replaced:
    """`changed`: whether any row had to change. `without_vector`: chunks that the model gave no usable vector for."""

    changed: bool
    without_vector: int


def draft(title: str, chunk: Chunk) -> Draft:
    text = embedded_text(title, chunk.heading_path, chunk.prefix, chunk.text)
    return Draft(chunk, text, hashlib.sha256(text.encode()).hexdigest())


def encoded_before(
    connection: sa.Connection, generation: Generation, source: str, document: str, content_hash: str
) -> dict[str, int]:
    """Hash of an encoded text -> a chunk that has its vector, from this document and those of the source with the same bytes.

    The second finds a document that was renamed. Other sources are left alone: their chunks may go at any moment.
    """
    rows = connection.execute(
        sa.select(chunks.c.embedded_hash, sa.func.min(chunks.c.id))
        .join(documents_table, documents_table.c.id == chunks.c.document_id)
        .join(chunk_vectors, chunk_vectors.c.chunk_id == chunks.c.id)
        .where(
            chunk_vectors.c.generation_id == generation.id,
            documents_table.c.source == source,
            (documents_table.c.external_id == document) | (documents_table.c.content_hash == content_hash),
        )
        .group_by(chunks.c.embedded_hash)
    )
    return {text_hash: int(chunk_id) for text_hash, chunk_id in rows}


def replace(
    connection: sa.Connection,
    generation: Generation,
    document_id: int,
    drafts: Sequence[Draft],
    *,
    encoded: Vectors,
    reusable: Mapping[str, int],
) -> Replaced:
    """Make `drafts` the document's chunks.

    Every hash is in `encoded`, which is taken first, or in `reusable` (`encoded_before`). When nothing differs no row is
    touched.
    """
    stored = {
        int(row.id): row
        for row in connection.execute(sa.select(*_COLUMNS, chunks.c.id).where(chunks.c.document_id == document_id))
    }
    acl_id = documents.count_chunks(connection, document_id, len(drafts) - len(stored))
    rows = _rows(document_id, acl_id, drafts)
    gone = stored.keys() - rows.keys()
    fresh = {
        i
        for i, row in rows.items()
        if i not in stored or row["embedded_hash"] != stored[i].embedded_hash or row["embedded_hash"] in encoded
    }
    moved = {i for i in rows.keys() - fresh if any(rows[i][c.name] != getattr(stored[i], c.name) for c in _COLUMNS)}
    if not (gone or fresh or moved):
        return Replaced(changed=False, without_vector=0)
    if stored:
        keywords.forget(connection, sorted(gone | (fresh & stored.keys())))
        _clear_ordinals(connection, document_id)
    _store(connection, list(rows.values()))
    keys = {i: ChunkKey(i, document_id, acl_id) for i in sorted(fresh)}
    by_id = dict(zip(rows, drafts, strict=True))
    keywords.write(connection, list(keys.values()), [by_id[i].embedded for i in keys])
    hashes = {i: by_id[i].hash for i in keys}
    _write_vectors(connection, generation, keys, hashes, stored.keys(), encoded=encoded, reusable=reusable)
    if gone:
        connection.execute(sa.delete(chunks).where(chunks.c.id == sa.any_(sa.cast(sorted(gone), _BIGINTS))))
    return Replaced(changed=True, without_vector=_without_vector(connection, generation, document_id))


_COLUMNS = tuple(
    chunks.c[name]
    for name in ("ordinal", "heading_path", "text", "prefix", "start", "end", "page", "tokens", "embedded_hash")
)


def _rows(document_id: int, acl_id: int, drafts: Sequence[Draft]) -> dict[int, dict[str, object]]:
    """Table rows by chunk id, in the order of the drafts."""
    seen: Counter[tuple[object, ...]] = Counter()
    rows: dict[int, dict[str, object]] = {}
    for ordinal, item in enumerate(drafts):
        chunk = item.chunk
        identity = (document_id, chunk.heading_path, chunk.prefix, chunk.text)
        chunk_id = _stable_id((*identity, seen[identity]))
        seen[identity] += 1
        rows[chunk_id] = {
            "id": chunk_id,
            "document_id": document_id,
            "acl_id": acl_id,
            "ordinal": ordinal,
            "heading_path": list(chunk.heading_path),
            "text": chunk.text,
            "prefix": chunk.prefix,
            "start": chunk.start,
            "end": chunk.end,
            "page": chunk.page,
            "tokens": chunk.tokens,
            "embedded_hash": item.hash,
        }
    return rows


def _stable_id(identity: tuple[object, ...]) -> int:
    """63 bits: a billion chunks meet one collision in eighteen."""
    digest = hashlib.blake2b(repr(identity).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1


def _clear_ordinals(connection: sa.Connection, document_id: int) -> None:
    """Out of the way of the new ones, which are unique in the document from the first row on."""
    connection.execute(
        sa.update(chunks).where(chunks.c.document_id == document_id).values(ordinal=-1 - chunks.c.ordinal)
    )


def _store(connection: sa.Connection, rows: list[dict[str, object]]) -> None:
    if not rows:
        return
    statement = insert(chunks)
    new = {c.name: statement.excluded[c.name] for c in (*_COLUMNS, chunks.c.acl_id)}
    connection.execute(statement.on_conflict_do_update(index_elements=["id"], set_=new), rows)


def _write_vectors(
    connection: sa.Connection,
    generation: Generation,
    keys: Mapping[int, ChunkKey],
    hashes: Mapping[int, str],
    stored: Set[int],
    *,
    encoded: Vectors,
    reusable: Mapping[str, int],
) -> None:
    """Vectors for all of `keys`, new or carried over. `stored`: chunks that were there before, maybe with other vectors."""
    mine = {i for i in keys if hashes[i] in encoded}
    copied = {i: reusable[hashes[i]] for i in keys.keys() - mine if reusable[hashes[i]] != i}
    if stale := sorted((mine | copied.keys()) & stored):
        for table in (chunk_vectors, chunk_tokens):
            ids = sa.any_(sa.cast(stale, _BIGINTS))
            connection.execute(sa.delete(table).where(table.c.chunk_id == ids, table.c.generation_id == generation.id))
    while copied:  # one new chunk for each old one at a time
        pairs = {old: keys[new] for new, old in copied.items()}
        embeddings.copy(connection, generation, pairs)
        copied = {new: old for new, old in copied.items() if pairs[old].chunk_id != new}
    if mine:
        order = sorted(mine)
        vectors = np.stack([encoded[hashes[i]][0] for i in order])
        tokens = tuple(encoded[hashes[i]][1] for i in order)
        embeddings.write(
            connection, generation, [keys[i] for i in order], Encoded(vectors, tokens if any(tokens) else ())
        )


def _without_vector(connection: sa.Connection, generation: Generation, document_id: int) -> int:
    has = sa.exists().where(chunk_vectors.c.chunk_id == chunks.c.id, chunk_vectors.c.generation_id == generation.id)
    return int(
        connection.scalar(
            sa.select(sa.func.count()).select_from(chunks).where(chunks.c.document_id == document_id, ~has)
        )
        or 0
    )
