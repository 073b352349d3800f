"""Which settings of a source others go by while the newest could not be listed yet. Pure.

1. Newest settings of the same place count at once: what worked is no other place to fall back to.
2. Those of another place count as soon as its listing could be believed. Until then the source is read where that worked,
   and for no more than both allow: readers whom both name, without what either leaves out.
"""

from typing import Any

from knowledge.settings import Source

EVERYTHING = "**/*"


def until_listed(worked: Source | None, newest: Source) -> Source:
    """`worked`: the settings that the documents of the index are from; None when there are none."""
    if worked is None or _place(worked) == _place(newest):
        return newest
    return worked.model_copy(
        update={
            "scopes": tuple(scope for scope in worked.scopes if scope in newest.scopes),
            "include": _in_both(worked.include, newest.include),
            "exclude": (*worked.exclude, *(pattern for pattern in newest.exclude if pattern not in worked.exclude)),
            "allow_private_addresses": worked.allow_private_addresses and newest.allow_private_addresses,
            **_drops(worked, newest),
        }
    )


def _place(source: Source) -> tuple[object, ...]:
    return source.kind, source.location, source.branch, source.path


def _in_both(these: tuple[str, ...], those: tuple[str, ...]) -> tuple[str, ...]:
    """Patterns of nothing that one of the two does not have; there may be more that both have."""
    if EVERYTHING in these:
        return those
    return these if EVERYTHING in those else tuple(pattern for pattern in these if pattern in those)


def _drops(*sources: Source) -> dict[str, Any]:
    """The shortest time after which one of them drops a document."""
    days = [s.stale_after_days for s in sources if s.drop_stale and s.stale_after_days is not None]
    return {"drop_stale": True, "stale_after_days": min(days)} if days else {}
