"""Which model's vectors serve: one active generation at a time; vectors of two models are never compared."""

from dataclasses import dataclass
from typing import Protocol

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from knowledge.errors import ModelUnavailable
from knowledge.tables import generations


@dataclass(frozen=True)
class Generation:
    id: int
    model: str
    revision: str
    dimension: int


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
