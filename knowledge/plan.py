"""What a sync has to do, decided from the listing and the index alone: no reading, no writing.

Texts count as unchanged by the listing's revision marks and the settings they were indexed with; readers are compared
by themselves, so that a change of rights never waits for a text to be read or encoded.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime

from knowledge.errors import SourceFailed
from knowledge.permissions import NOTHING, Scopes
from knowledge.sources.source import Listed
from knowledge.staleness import is_left_out


@dataclass(frozen=True)
class Known:
    """A document as the index has it. `scopes`: its readers now. `own_scopes`: what its text narrows them to, None = nothing."""

    document_id: int
    external_id: str
    revision: str
    content_hash: str
    settings_hash: str
    url: str
    scopes: Scopes
    own_scopes: Scopes | None = None
    state: str = "ok"
    reason: str = ""
    updated_at: datetime | None = None


@dataclass(frozen=True)
class Readers:
    """New readers of a known document."""

    known: Known
    scopes: Scopes

    @property
    def narrower(self) -> bool:
        return not self.known.scopes <= self.scopes


@dataclass(frozen=True)
class Plan:
    """`change` must be read again (its text may prove equal). `readers` and `relink` touch no text; a document can be
    in one of them and in `change` or `same` as well. All are in order of their names."""

    add: tuple[Listed, ...] = ()
    change: tuple[tuple[Known, Listed], ...] = ()
    readers: tuple[Readers, ...] = ()
    relink: tuple[tuple[Known, Listed], ...] = ()
    delete: tuple[Known, ...] = ()
    same: tuple[Known, ...] = ()


def readers(source: Scopes, listed: Scopes | None, own: Scopes | None) -> Scopes:
    """Who may read a document: each of the three can only narrow. None = does not."""
    base = source if listed is None else source & listed
    return base if own is None else base & own


def why_nobodys(source: Scopes, own: Scopes | None) -> str:
    """Why nobody may read a document that gives itself to none of its source's readers; empty where somebody may."""
    if not source or not own or source & own:
        return ""
    return (
        f"its front matter gives it to {', '.join(sorted(own))}, which is not among the scopes of its source "
        f"({', '.join(sorted(source))}), so nobody may read it; add that scope to the source or change the front matter"
    )


def narrowed_by_source(known: Iterable[Known], source_scopes: Scopes) -> tuple[Readers, ...]:
    """Documents that have readers the source no longer grants; true whatever the source lists, or when it cannot."""
    return tuple(Readers(k, k.scopes & source_scopes) for k in known if not k.scopes <= source_scopes)


def plan(
    listed: Iterable[Listed],
    known: Iterable[Known],
    source_scopes: Scopes,
    settings_hash: str,
    *,
    max_deleted_share: float = 1.0,
    full: bool = False,
    whole: Collection[int] = (),
    left_out_before: datetime | None = None,
    source: str = "SOURCE",
) -> Plan:
    """The steps from `known` to `listed`.

    `max_deleted_share`: of the documents that could be read, the most that may be gone at once; 1 believes any listing.
    A single one's deletion is always believed. `full`: everything is read again, but for the documents with the ids
    `whole` that did not change. `source`: its name, for the remedy. `left_out_before`: documents that changed last before
    this moment get no reader.
    Raises `SourceFailed` for a listing that is empty, too short to be believed, or names a document twice.
    """
    there: dict[str, Listed] = {}
    for item in listed:
        if there.setdefault(item.external_id, item) is not item:
            raise SourceFailed(f"{item.external_id!r} is listed twice; nothing was changed")
    before = {k.external_id: k for k in known}
    gone = tuple(before[name] for name in sorted(before.keys() - there.keys()))
    with_text = [k for k in before.values() if k.state == "ok"]
    gone_with_text = sum(k.external_id not in there for k in with_text)
    _refuse_suspicious(gone_with_text, len(with_text), len(there), max_deleted_share, source)
    both = [(before[name], there[name]) for name in sorted(before.keys() & there.keys())]
    unchanged = {
        k.external_id
        for k, item in both
        if _is_same_text(k, item) and (k.document_id in whole if full else k.settings_hash == settings_hash)
    }
    wanted = [(k, readers_of(k, item, source_scopes, left_out_before)) for k, item in both]
    # A text that is to be read again loses readers now and gains them with its new version, which may narrow itself.
    wanted = [(k, scopes if k.external_id in unchanged else k.scopes & scopes) for k, scopes in wanted]
    return Plan(
        add=tuple(there[name] for name in sorted(there.keys() - before.keys())),
        change=tuple((k, item) for k, item in both if k.external_id not in unchanged),
        readers=tuple(Readers(k, scopes) for k, scopes in wanted if scopes != k.scopes),
        relink=tuple((k, item) for k, item in both if item.url != k.url),
        delete=gone,
        same=tuple(k for k, _ in both if k.external_id in unchanged),
    )


def readers_of(known: Known, listed: Listed, source_scopes: Scopes, left_out_before: datetime | None) -> Scopes:
    """Who may read a document whose text is the indexed one."""
    updated_at = listed.updated_at if listed.dated else known.updated_at
    if is_left_out(updated_at, left_out_before):
        return NOTHING
    return readers(source_scopes, listed.scopes, known.own_scopes)


def _is_same_text(known: Known, listed: Listed) -> bool:
    return bool(listed.revision) and listed.revision == known.revision


def _refuse_suspicious(gone: int, before: int, there: int, max_share: float, source: str) -> None:
    if gone <= 1 or gone <= before * max_share:
        return
    remedy = f"if they are meant to go: `footnote sync {source} --allow-deletions`"
    if there == 0:
        raise SourceFailed(f"the source is empty, but had {before} documents; nothing was deleted; {remedy}")
    raise SourceFailed(
        f"{gone} of {before} documents are gone, more than sources[].max_deleted_share = {max_share:g} allows; "
        f"nothing was deleted; {remedy}"
    )
