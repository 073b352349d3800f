"""Which model's vectors serve: one active generation at a time; vectors of two models are never compared.

A new model's generation is built beside the serving one, by full syncs that go on where an interrupted one ended, and
serves once it is whole and has stood its trial (`trial`). The one before is kept for a while, so that going back is
quick, and then dropped; one that was given up for another model is dropped at once.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from knowledge.errors import ModelUnavailable, SyncOver
from knowledge.tables import acls, chunk_vectors, chunks, documents, generations


@dataclass(frozen=True)
class Generation:
    id: int
    model: str
    revision: str
    dimension: int


@dataclass(frozen=True)
class Building:
    """A generation that does not serve yet: the share of the chunks that have its vectors already.

    `held`: it is whole, but did not stand its trial.
    """

    model: str
    share: float
    held: bool = False


_UNSERVED = generations.c.state.in_(("building", "held"))


class Model(Protocol):
    """What a generation remembers of an embedder; see `encoders.Embedder`."""

    @property
    def name(self) -> str: ...
    @property
    def revision(self) -> str: ...
    @property
    def dimension(self) -> int: ...


def active(connection: sa.Connection, model: Model) -> Generation:
    """The generation that serves, made on first use.

    Raises `ModelUnavailable` when the index was built with another model, revision or backend than `model`.
    """
    found = serving(connection)
    if found is None:
        connection.execute(
            insert(generations)
            .values(
                model=model.name,
                revision=model.revision,
                dimension=model.dimension,
                state="active",
                activated_at=sa.func.now(),
            )
            .on_conflict_do_nothing()
        )
        found = serving(connection)
        assert found is not None
    check(found, model)
    return found


def next_to(connection: sa.Connection, model: Model) -> Generation:
    """The generation that a full sync writes: the serving one when it is `model`'s, else one built beside it.

    What was being built for yet another model is dropped with its vectors.
    """
    abandoned = (generations.c.model != model.name) | (generations.c.revision != model.revision)
    connection.execute(sa.delete(generations).where(_UNSERVED, abandoned))
    found = serving(connection)
    if found is None or (found.model, found.revision) == (model.name, model.revision):
        return active(connection, model)
    values = {"model": model.name, "revision": model.revision, "dimension": model.dimension, "state": "building"}
    statement = insert(generations).values(values)
    built = connection.execute(
        statement.on_conflict_do_update(index_elements=["model", "revision"], set_={"state": "building"}).returning(
            generations.c.id
        )
    ).scalar_one()
    return Generation(built, model.name, model.revision, model.dimension)


def keep(connection: sa.Connection, generation: Generation) -> None:
    """Keep it from being dropped before this transaction ends. Raises `SyncOver` when it was given up for another model."""
    same = sa.select(generations.c.id).where(generations.c.id == generation.id)
    if connection.scalar(same.with_for_update(read=True, key_share=True)) is None:
        raise SyncOver(
            f"the index of {generation.model} was given up, because another process began one with another model; let "
            "all of them use the same models.embedder, and start again"
        )


def is_whole(connection: sa.Connection, generation: Generation) -> bool:
    """Whether every chunk has its vector; in a transaction that writes, where all are seen.

    Chunks for which its model gives none anyway are not waited for: they have none in the serving generation either.
    """
    new, old = sa.alias(chunk_vectors), sa.alias(chunk_vectors)
    has_new = sa.exists().where(new.c.chunk_id == old.c.chunk_id, new.c.generation_id == generation.id)
    return not connection.scalar(sa.select(sa.exists().where(old.c.generation_id != generation.id, ~has_new)))


def has_served(connection: sa.Connection, generation: Generation) -> bool:
    """Whether it serves, or did before."""
    return connection.scalar(sa.select(generations.c.activated_at).where(generations.c.id == generation.id)) is not None


def hold(connection: sa.Connection, generation: Generation) -> None:
    """Keep a whole generation from serving. The next full sync with its model tries it again."""
    waiting = generations.c.id == generation.id, _UNSERVED  # another process may have let it serve meanwhile
    connection.execute(sa.update(generations).where(*waiting).values(state="held"))


def switch(connection: sa.Connection, generation: Generation) -> bool:
    """Let `generation` serve if it is whole; False if not."""
    if not is_whole(connection, generation):
        return False
    others = generations.c.id != generation.id
    connection.execute(sa.update(generations).where(others).values(state="retired"))
    connection.execute(
        sa.update(generations)
        .where(generations.c.id == generation.id)
        .values(state="active", activated_at=sa.func.now())
    )
    return True


def whole_documents(connection: sa.Connection, generation: Generation, source: str) -> frozenset[int]:
    """Documents of the source that need nothing more: each of their chunks has a vector of the generation."""
    of_it = (chunk_vectors.c.chunk_id == chunks.c.id) & (chunk_vectors.c.generation_id == generation.id)
    query = (
        sa.select(documents.c.id)
        .join(chunks, chunks.c.document_id == documents.c.id)
        .join(chunk_vectors, of_it, isouter=True)
        .where(documents.c.source == source, documents.c.state == "ok")
        .group_by(documents.c.id)
        .having(sa.func.count() == sa.func.count(chunk_vectors.c.chunk_id))
    )
    return frozenset(connection.scalars(query))


def building(connection: sa.Connection) -> Building | None:
    """The newest generation that is being built, None when there is none. Needs a transaction that writes, to count."""
    newest = sa.select(generations.c.id, generations.c.model, generations.c.state).where(_UNSERVED)
    row = connection.execute(newest.order_by(generations.c.id.desc()).limit(1)).one_or_none()
    if row is None:
        return None
    done = sa.select(sa.func.count()).where(chunk_vectors.c.generation_id == row.id).scalar_subquery()
    total = sa.select(sa.func.sum(acls.c.chunk_count)).scalar_subquery()
    share = connection.scalar(sa.select(done * 1.0 / sa.func.nullif(total, 0)))
    return Building(row.model, float(share or 0), row.state == "held")


def drop_retired(connection: sa.Connection, before: datetime) -> int:
    """Delete generations that stopped serving before that moment, with their vectors; how many."""
    serves_since = sa.select(generations.c.activated_at).where(generations.c.state == "active").scalar_subquery()
    retired = sa.delete(generations).where(generations.c.state == "retired", serves_since < before)
    return connection.execute(retired).rowcount


def serving(connection: sa.Connection) -> Generation | None:
    """The active generation as recorded, or None before the first sync."""
    row = connection.execute(
        sa.select(generations.c.id, generations.c.model, generations.c.revision, generations.c.dimension).where(
            generations.c.state == "active"
        )
    ).one_or_none()
    return None if row is None else Generation(*row)


def check(generation: Generation, model: Model) -> None:
    """Raises `ModelUnavailable` when `model` is not the one the generation was built with."""
    if (generation.model, generation.revision) != (model.name, model.revision):
        raise ModelUnavailable(
            f"the index was built with {generation.model} ({generation.revision}), the settings name {model.name} "
            f"({model.revision}); run `footnote sync --full` to build it anew, or set models.embedder back"
        )
