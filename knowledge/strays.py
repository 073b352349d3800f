"""Sources that the index has and the settings do not: nobody syncs them, and their documents stay until told otherwise.

A source may be missing from the settings by a typing error, or because another settings file was read. So only a person
who names it takes it out of the index; until then its documents keep the readers that were recorded last.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from knowledge import documents
from knowledge.db import Database
from knowledge.errors import SourceFailed
from knowledge.tables import documents as documents_table
from knowledge.tables import removed_sources, sources


@dataclass(frozen=True)
class Stray:
    """A source that is in the index only. `documents`: how many it has there; one without any concerns no reader."""

    name: str
    documents: int

    @property
    def counted(self) -> str:
        return f"{self.documents} document{'s' if self.documents != 1 else ''}"

    @property
    def says(self) -> str:
        if not self.documents:
            return "not in the settings any more, and without documents; monitoring still counts it"
        return f"not in the settings any more; its {self.counted} stay{'s' if self.documents == 1 else ''}"

    @property
    def removal(self) -> str:
        """The command that takes it out."""
        return f"`footnote sync --remove {self.name}`"

    def __str__(self) -> str:
        return f"{self.name}: {self.says} until {self.removal}"


def strays(database: Database, names: Iterable[str]) -> tuple[Stray, ...]:
    """The sources of the index that are not among `names`, which are those of the settings; by name."""
    count = sa.func.count(documents_table.c.id)
    query = (
        sa.select(sources.c.name, count)
        .join(documents_table, documents_table.c.source == sources.c.name, isouter=True)
        .where(sources.c.name.not_in(list(names)))
        .group_by(sources.c.name)
        .order_by(sources.c.name)
    )
    with database.writing() as connection:
        return tuple(Stray(name, total) for name, total in connection.execute(query))


def remove(database: Database, stray: Stray) -> None:
    """Take the source and its documents out of the index; a process that began before does not bring them back. Raises `SourceFailed` while another process syncs it."""
    with database.lock(f"sync of {stray.name}") as got:
        if not got:
            raise SourceFailed(f"{stray.name} is being synced by another process; stop that one, and try again")
        with database.writing() as connection:
            documents.delete(connection, [k.document_id for k in documents.known(connection, stray.name)])
            connection.execute(sa.delete(sources).where(sources.c.name == stray.name))
            mark = insert(removed_sources).values(name=stray.name)
            again = mark.on_conflict_do_update(index_elements=["name"], set_={"removed_at": sa.func.now()})
            connection.execute(again)
