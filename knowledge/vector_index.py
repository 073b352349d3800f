"""The HNSW index over one generation's vectors: built beside readers and writers once it pays, rebuilt when it broke.

1. Whoever tends holds one lock, on the connection that builds: a build whose process was killed still holds it.
2. Indexes that a crash left unfinished, and those of retired generations, are dropped.
3. When there are enough chunks, a generation without an index gets one, `concurrently`.

Until the index is ready, and for readers of few chunks always, vectors are scanned exactly (`candidates.route`).
"""

from dataclasses import dataclass

import sqlalchemy as sa

from knowledge.db import Database
from knowledge.generations import Generation
from knowledge.tables import acls, chunk_vectors, generations

M = 16
EF_CONSTRUCTION = 128
"""With pgvector's default of 64 some tight clusters cannot be reached at all; 128 reaches them."""

GRAPH_BYTES = 900
"""Memory a vector takes while the graph is built, besides the vector: 1.4 KB at 384 dimensions were measured."""
MEMORY_MB = (64, 1024)
"""Bounds of a build's memory. A graph that outgrows it is built on disk, four times slower."""

_PREFIX = "ix_chunk_vectors_hnsw_"


@dataclass(frozen=True)
class VectorIndex:
    """`chunks`: how many there are to search. `size_mb`: of a finished index, None while there is none."""

    chunks: int
    size_mb: float | None


def name(generation: Generation) -> str:
    return f"{_PREFIX}{generation.id}"


def is_ready(connection: sa.Connection, generation: Generation) -> bool:
    """Whether searches may go through it. One that is being built, or never was finished, exists too but is not."""
    return bool(connection.scalar(_READY, {"name": name(generation)}))


def look(connection: sa.Connection, generation: Generation) -> VectorIndex:
    size = connection.scalar(sa.text("select pg_relation_size(to_regclass(:name))"), {"name": name(generation)})
    return VectorIndex(_chunks(connection), size / 1e6 if is_ready(connection, generation) else None)


def tend(database: Database, generation: Generation, above: int) -> bool:
    """Make the generation's index if there are more than `above` chunks; True when it was built just now.

    Call it outside of any transaction: the build waits for all that are open. One that another process is at is not
    waited for.
    """
    with database.lock("vector index") as lock:
        if not lock:
            return False
        connection = lock.connection
        for broken in connection.scalars(_NEEDLESS).all():
            connection.execute(sa.text(f'drop index concurrently if exists "{broken}"'))
        if is_ready(connection, generation) or (chunks := _chunks(connection)) <= above:
            return False
        memory_mb = round(chunks * (2 * generation.dimension + GRAPH_BYTES) / 1e6)
        memory_mb = max(MEMORY_MB[0], min(MEMORY_MB[1], memory_mb))
        connection.execute(sa.text(f"set maintenance_work_mem = '{memory_mb}MB'"))
        # One core is enough for a build and leaves the others to those who ask; it needs no shared memory either.
        connection.execute(sa.text("set max_parallel_maintenance_workers = 0"))
        connection.execute(
            sa.text(
                f"create index concurrently {name(generation)} on chunk_vectors using hnsw "
                f"((embedding::halfvec({int(generation.dimension)})) halfvec_ip_ops) "
                f"with (m = {M}, ef_construction = {EF_CONSTRUCTION}) where generation_id = {int(generation.id)}"
            )
        )
        return True


def _chunks(connection: sa.Connection) -> int:
    return connection.scalar(sa.select(sa.func.sum(acls.c.chunk_count))) or 0


_READY = sa.text("select exists (select from pg_index where indexrelid = to_regclass(:name) and indisvalid)")

_NEEDLESS = sa.text(
    f"""
    select relname from pg_index join pg_class on pg_class.oid = indexrelid
    where indrelid = '{chunk_vectors.name}'::regclass and starts_with(relname, '{_PREFIX}') and not (
        indisvalid and exists (
            select from {generations.name} where state <> 'retired' and relname = '{_PREFIX}' || id
        )
    )
    """
)
