"""Overlaps that the next sync will make (`overlaps`), by the settings and the folders as they are.

Of folders alone, which can be listed without asking anybody. What a file narrows its own readers to is known of files
that were indexed; a new one counts as if it did not.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import permutations

from knowledge import documents
from knowledge.db import Database
from knowledge.overlaps import Overlap, lies_below
from knowledge.permissions import NOTHING, WORKSPACE, Scopes
from knowledge.plan import Known, readers, readers_of
from knowledge.settings import Source
from knowledge.sources import Listed
from knowledge.staleness import is_left_out, left_out_before

Lister = Callable[[Source], Collection[Listed]]
"""What is in a folder; nothing when it cannot be listed."""


@dataclass(frozen=True)
class ToCome(Overlap):
    """An overlap that is not in the index yet."""

    @property
    def says(self) -> str:
        many = f"{self.documents} documents" if self.documents != 1 else "1 document"
        shows = f"{self.outer} will show them to people for whom {self.inner} does not"
        return f"from the next sync on {many} will be in both, and {shows}"

    @property
    def remedy(self) -> str:
        if not self.below:
            return "take one of the two out of the settings before that"
        return f'write exclude = ["{self.below}/**"] in {self.outer} before that'


def foreseen(database: Database, sources: Sequence[Source], lister: Lister) -> tuple[ToCome, ...]:
    """Each two sources once."""
    found: dict[frozenset[str], ToCome] = {}
    for outer, inner in permutations([source for source in sources if source.kind == "folder"], 2):
        below, pair = lies_below(outer, inner), frozenset({outer.name, inner.name})
        if below is None or pair in found or not _is_wider(frozenset(outer.scopes), frozenset(inner.scopes)):
            continue
        prefix = f"{below}/" if below else ""
        there, here = ({item.external_id: item for item in lister(source)} for source in (outer, inner))
        shared = {name: there[prefix + name] for name in here if prefix + name in there}
        known = _known(database, outer.name, inner.name, prefix, shared)
        if count := sum(_is_shown(outer, inner, item, known.get(name)) for name, item in shared.items()):
            found[pair] = ToCome(outer.name, inner.name, below, count)
    return tuple(found.values())


def _known(database: Database, outer: str, inner: str, prefix: str, names: Collection[str]) -> dict[str, Known]:
    """The files of `inner` that one of the two has indexed, by their names there."""
    with database.writing() as connection:
        own = documents.known(connection, inner, names)
        others = documents.known(connection, outer, [prefix + name for name in names])
    return {k.external_id: k for k in own} | {k.external_id.removeprefix(prefix): k for k in others}


def _is_shown(outer: Source, inner: Source, item: Listed, known: Known | None) -> bool:
    """Whether the file gets readers through `outer` whom `inner` does not name. `known`: it, as one of them indexed it."""
    if known is not None and known.state != "ok":
        return False
    wide, narrow = (_readers(source, item, known) for source in (outer, inner))
    return _is_wider(wide, narrow)


def _readers(source: Source, item: Listed, known: Known | None) -> Scopes:
    scopes, before = frozenset(source.scopes), left_out_before(source, datetime.now(UTC))
    if known is not None:
        return readers_of(known, item, scopes, before)
    return NOTHING if is_left_out(item.updated_at, before) else readers(scopes, item.scopes, None)


def _is_wider(outer: Scopes, inner: Scopes) -> bool:
    return not outer <= inner and WORKSPACE not in inner
