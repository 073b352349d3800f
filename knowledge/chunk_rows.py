"""The chunks of documents in the database, exchanged for others in the caller's transaction.

A chunk is known by its document, path and text, not by its place: what is inserted above it changes neither its id nor
anything that was made of it. Vectors are carried over by the hash of exactly the text that was encoded.
"""

import hashlib
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import distinct_on, insert

from knowledge import documents, embeddings, keywords
from knowledge.chunking import Chunk, embedded_text
from knowledge.documents import Record
from knowledge.embeddings import ChunkKey
from knowledge.encoders import Encoded, Floats
from knowledge.generations import Generation
from knowledge.tables import chunk_tokens, chunk_vectors, chunks
from knowledge.tables import documents as documents_table

_BIGINTS = sa.ARRAY(sa.BigInteger)
_TEXTS = sa.ARRAY(sa.Text)

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


def encoded_before(connection: sa.Connection, generation: Generation, records: Sequence[Record]) -> Vectors:
    """What these documents and those of their sources with the same bytes as one of them were encoded to.

    The latter find a document that was renamed. Other sources are left alone: what is in them stays theirs.
    """
    d, v, t = documents_table.c, chunk_vectors.c, chunk_tokens.c
    found: dict[str, tuple[Floats, bytes]] = {}
    for source in {record.source for record in records}:
        of_source = [record for record in records if record.source == source]
        names, contents = [r.external_id for r in of_source], [r.content_hash for r in of_source]
        rows = connection.execute(
            sa.select(chunks.c.embedded_hash, v.embedding, t.bits)
            .ext(distinct_on(chunks.c.embedded_hash))
            .join(documents_table, d.id == chunks.c.document_id)
            .join(chunk_vectors, (v.chunk_id == chunks.c.id) & (v.generation_id == generation.id))
            .outerjoin(chunk_tokens, (t.chunk_id == chunks.c.id) & (t.generation_id == generation.id))
            .where(
                d.source == source,
                (d.external_id == sa.any_(sa.cast(names, _TEXTS)))
                | (d.content_hash == sa.any_(sa.cast(contents, _TEXTS))),
            )
        )
        found |= {text_hash: (np.array(vector, np.float32), bits or b"") for text_hash, vector, bits in rows}
    return found


def replace(
    connection: sa.Connection,
    generation: Generation,
    drafts: Mapping[int, Sequence[Draft]],
    *,
    encoded: Vectors,
    reusable: Vectors,
) -> dict[int, Replaced]:
    """Make `drafts` (by document) the chunks of these documents; what became of each document.

    Every hash is in `encoded`, which is taken first, or in `reusable` (`encoded_before`). When nothing differs no row is
    touched. Rows that other transactions change too, of access lists and term counts, come last.
    """
    rows, draft_of = _rows(documents.access_lists(connection, drafts), drafts)
    of_them = chunks.c.document_id == sa.any_(sa.cast(list(drafts), _BIGINTS))
    stored = {int(r.id): r for r in connection.execute(sa.select(chunks.c.id, *_KEYS, *_COLUMNS).where(of_them))}
    gone = stored.keys() - rows.keys()
    fresh = {i for i in rows if i not in stored or _is_fresh(draft_of[i], stored[i], encoded)}
    moved = {i for i in rows.keys() - fresh if any(rows[i][c.name] != getattr(stored[i], c.name) for c in _COLUMNS)}
    changed = {stored[i].document_id for i in gone} | {rows[i]["document_id"] for i in fresh | moved}
    if not changed:
        return dict.fromkeys(drafts, Replaced(changed=False, without_vector=0))
    if stored:
        _clear_ordinals(connection, changed)
    _store(connection, [row for row in rows.values() if row["document_id"] in changed])
    keys = {i: ChunkKey(i, rows[i]["document_id"], rows[i]["acl_id"]) for i in sorted(fresh)}
    vectors = {i: encoded.get(draft_of[i].hash) or reusable[draft_of[i].hash] for i in keys}
    _write_vectors(connection, generation, keys, vectors, stale=fresh & stored.keys())
    growth = Counter(row["acl_id"] for row in rows.values())
    growth.subtract(row.acl_id for row in stored.values())
    documents.count_chunks(connection, growth)
    texts = [draft_of[i].embedded for i in keys]
    keywords.write(connection, list(keys.values()), texts, gone=gone | fresh & stored.keys())
    if gone:
        connection.execute(sa.delete(chunks).where(chunks.c.id == sa.any_(sa.cast(sorted(gone), _BIGINTS))))
    without = _without_vector(connection, generation, changed)
    return {i: Replaced(changed=i in changed, without_vector=without.get(i, 0)) for i in drafts}


_KEYS = (chunks.c.document_id, chunks.c.acl_id)

_COLUMNS = tuple(
    chunks.c[name]
    for name in ("ordinal", "heading_path", "text", "prefix", "start", "end", "page", "tokens", "embedded_hash")
)


def _is_fresh(item: Draft, stored: sa.Row[Any], encoded: Vectors) -> bool:
    return item.hash != stored.embedded_hash or item.hash in encoded


def _rows(
    lists: Mapping[int, int], drafts: Mapping[int, Sequence[Draft]]
) -> tuple[dict[int, dict[str, Any]], dict[int, Draft]]:
    """Table rows and drafts by chunk id, in the order of the drafts. `lists`: the access list of each document."""
    seen: Counter[tuple[object, ...]] = Counter()
    rows: dict[int, dict[str, Any]] = {}
    draft_of: dict[int, Draft] = {}
    for document_id, items in drafts.items():
        for ordinal, item in enumerate(items):
            chunk = item.chunk
            identity = (document_id, chunk.heading_path, chunk.prefix, chunk.text)
            chunk_id = _stable_id((*identity, seen[identity]))
            seen[identity] += 1
            draft_of[chunk_id] = item
            rows[chunk_id] = {
                "id": chunk_id,
                "document_id": document_id,
                "acl_id": lists[document_id],
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
    return rows, draft_of


def _stable_id(identity: tuple[object, ...]) -> int:
    """63 bits: a billion chunks meet one collision in eighteen."""
    digest = hashlib.blake2b(repr(identity).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1


def _clear_ordinals(connection: sa.Connection, document_ids: Collection[int]) -> None:
    """Out of the way of the new ones, which are unique in a document from the first row on."""
    of_them = chunks.c.document_id == sa.any_(sa.cast(list(document_ids), _BIGINTS))
    connection.execute(sa.update(chunks).where(of_them).values(ordinal=-1 - chunks.c.ordinal))


def _store(connection: sa.Connection, rows: list[dict[str, Any]]) -> None:
    if not rows:
        return
    statement = insert(chunks)
    new = {c.name: statement.excluded[c.name] for c in (*_COLUMNS, chunks.c.acl_id)}
    connection.execute(statement.on_conflict_do_update(index_elements=["id"], set_=new), rows)


def _write_vectors(
    connection: sa.Connection,
    generation: Generation,
    keys: Mapping[int, ChunkKey],
    vectors: Mapping[int, tuple[Floats, bytes]],
    stale: Collection[int],
) -> None:
    """`stale`: those of the chunks that have vectors of another text."""
    if stale:
        embeddings.forget(connection, generation, stale)
    if keys:
        tokens = tuple(vectors[i][1] for i in keys)
        encoded = Encoded(np.stack([vectors[i][0] for i in keys]), tokens if any(tokens) else ())
        embeddings.write(connection, generation, list(keys.values()), encoded)


def _without_vector(connection: sa.Connection, generation: Generation, document_ids: Collection[int]) -> dict[int, int]:
    """Document id -> how many of its chunks have no vector; documents where all have one are left out."""
    has = sa.exists().where(chunk_vectors.c.chunk_id == chunks.c.id, chunk_vectors.c.generation_id == generation.id)
    of_them = chunks.c.document_id == sa.any_(sa.cast(list(document_ids), _BIGINTS))
    rows = connection.execute(
        sa.select(chunks.c.document_id, sa.func.count()).where(of_them, ~has).group_by(chunks.c.document_id)
    )
    return {int(document_id): int(count) for document_id, count in rows}
