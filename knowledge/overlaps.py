"""Documents that two sources have, by which more people read them than the narrower source says.

1. A source lies in another when its folder is the other's or below it.
2. A document that both have is told when its copy in the outer one has readers whom the copy in the inner one does not
   name, unless that is for the whole workspace already. So what is left out of the outer source, or narrows its own
   readers, is not told. What the next sync will bring of it is told by `foreseen`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import PurePosixPath

import sqlalchemy as sa

from knowledge.db import Database
from knowledge.permissions import WORKSPACE
from knowledge.settings import Source
from knowledge.tables import acls, documents


@dataclass(frozen=True)
class Overlap:
    """`documents`: how many of `inner` have more readers through `outer`. `below`: its folder there; empty: the same one."""

    outer: str
    inner: str
    below: str
    documents: int

    @property
    def says(self) -> str:
        many = f"{self.documents} documents are" if self.documents != 1 else "1 document is"
        return f"{many} in both, and {self.outer} shows them to people for whom {self.inner} does not"

    @property
    def remedy(self) -> str:
        if not self.below:
            return "take one of the two out of the settings, then out of the index with `footnote sync --remove`"
        return f'write exclude = ["{self.below}/**"] in {self.outer}, and run `footnote sync {self.outer}`'

    def __str__(self) -> str:
        return f"{self.outer} and {self.inner}: {self.says}; {self.remedy}"


def overlaps(database: Database, sources: Sequence[Source]) -> tuple[Overlap, ...]:
    """By the index as it is, each two sources once."""
    found: dict[frozenset[str], Overlap] = {}
    with database.writing() as connection:
        for outer, inner in permutations(sources, 2):
            below = lies_below(outer, inner)
            if below is not None and (count := _shared(connection, outer.name, inner.name, below)):
                pair = frozenset({outer.name, inner.name})
                found.setdefault(pair, Overlap(outer.name, inner.name, below, count))
    return tuple(found.values())


def lies_below(outer: Source, inner: Source) -> str | None:
    """Where in `outer` the whole of `inner` lies: empty for the same place, None for another."""
    if outer.kind != inner.kind:
        return None
    root, leaf = PurePosixPath(outer.location), PurePosixPath(inner.location)
    if outer.kind != "folder":
        if (outer.location, outer.branch) != (inner.location, inner.branch):
            return None
        root, leaf = PurePosixPath(outer.path.strip("/")), PurePosixPath(inner.path.strip("/"))
    if not leaf.is_relative_to(root):
        return None
    return "" if leaf == root else leaf.relative_to(root).as_posix()


def _shared(connection: sa.Connection, outer: str, inner: str, below: str) -> int:
    there, here = documents.alias(), documents.alias()
    wide, narrow = acls.alias(), acls.alias()
    prefix = f"{below}/" if below else ""
    query = (
        sa.select(sa.func.count())
        .select_from(there)
        .join(here, there.c.external_id == sa.literal(prefix) + here.c.external_id)
        .join(wide, wide.c.id == there.c.acl_id)
        .join(narrow, narrow.c.id == here.c.acl_id)
        .where(there.c.source == outer, here.c.source == inner, there.c.state == "ok")
        .where(~wide.c.scopes.contained_by(narrow.c.scopes), ~narrow.c.scopes.contains([WORKSPACE]))
    )
    return int(connection.execute(query).scalar_one())
