"""Vectors of chunks, and the sign bits of their tokens, in the index: one row of each per chunk and generation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import sqlalchemy as sa

from knowledge.encoders import Encoded
from knowledge.generations import Generation
from knowledge.tables import chunk_tokens, chunk_vectors


@dataclass(frozen=True)
class ChunkKey:
    chunk_id: int
    document_id: int
    acl_id: int


def write(
    connection: sa.Connection, generation: Generation, chunks: Sequence[ChunkKey], encoded: Encoded
) -> tuple[int, ...]:
    """Stores one row per chunk, in the order of `encoded`; returns the ids it left out.

    A vector with NaN or infinity would poison every ordering: such a chunk stays findable by its words alone.
    """
    sound: list[bool] = np.isfinite(encoded.vectors.sum(axis=1)).tolist()
    kept = [i for i in range(len(chunks)) if sound[i]]
    keys = [{"chunk_id": chunks[i].chunk_id, "generation_id": generation.id, "acl_id": chunks[i].acl_id} for i in kept]
    if keys:
        vectors = [key | {"embedding": encoded.vectors[i]} for i, key in zip(kept, keys, strict=True)]
        connection.execute(sa.insert(chunk_vectors), vectors)
    if keys and encoded.tokens:
        tokens = [key | {"bits": encoded.tokens[i]} for i, key in zip(kept, keys, strict=True)]
        connection.execute(sa.insert(chunk_tokens), tokens)
    return tuple(chunk.chunk_id for chunk, ok in zip(chunks, sound, strict=True) if not ok)


def copy(connection: sa.Connection, generation: Generation, copies: Mapping[int, ChunkKey]) -> None:
    """Gives each new chunk the rows of the old chunk with the same encoded text: old chunk id -> new key.

    The old rows stay; they go with their chunks.
    """
    for table, column in ((chunk_vectors, chunk_vectors.c.embedding), (chunk_tokens, chunk_tokens.c.bits)):
        old, new, acl = sa.column("old", sa.BigInteger), sa.column("new", sa.BigInteger), sa.column("acl", sa.Integer)
        pairs = sa.values(old, new, acl, name="pairs").data(
            [(key, value.chunk_id, value.acl_id) for key, value in copies.items()]
        )
        if copies:
            rows = (
                sa.select(new, table.c.generation_id, acl, column)
                .select_from(table.join(pairs, table.c.chunk_id == old))
                .where(table.c.generation_id == generation.id)
            )
            names = ["chunk_id", "generation_id", "acl_id", column.name]
            connection.execute(sa.insert(table).from_select(names, rows))
