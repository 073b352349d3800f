"""Vectors of chunks, and the sign bits of their tokens, in the index: one row of each per chunk and generation."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import sqlalchemy as sa

from knowledge.encoders import Encoded
from knowledge.generations import Generation
from knowledge.tables import chunk_tokens, chunk_vectors

_BIGINTS = sa.ARRAY(sa.BigInteger)


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


def forget(connection: sa.Connection, generation: Generation, chunk_ids: Iterable[int]) -> None:
    ids = sa.cast(list(chunk_ids), _BIGINTS)
    for table in (chunk_vectors, chunk_tokens):
        of_them = (table.c.generation_id == generation.id) & (table.c.chunk_id == sa.any_(ids))
        connection.execute(sa.delete(table).where(of_them))
