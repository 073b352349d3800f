"""Names that are nearly what somebody typed. Pure.

1. Those that are nearly it as a whole, the nearest first.
2. Those that hold, nearly, more than half of its words; the most words first, then the shortest name.
"""

from collections.abc import Collection
from difflib import get_close_matches

ALIKE = 0.75
"""Of a word's letters; a whole name needs difflib's own share, 0.6."""


def nearest(typed: str, names: Collection[str], limit: int) -> list[str]:
    """At most `limit` of the names, without regard to case; none when nothing is near."""
    folded = {name.casefold(): name for name in names}
    whole = get_close_matches(typed.casefold(), folded, limit)
    vocabulary = {word for name in folded for word in name.split()}
    words = [set(get_close_matches(word, vocabulary, limit, ALIKE)) for word in typed.casefold().split()]
    held = {name: sum(not alike.isdisjoint(name.split()) for alike in words) for name in folded}
    mostly = [name for name, count in held.items() if 2 * count > len(words)]
    mostly.sort(key=lambda name: (-held[name], len(name)))
    return [folded[name] for name in dict.fromkeys([*whole, *mostly])][:limit]


def hint(typed: str, names: Collection[str], otherwise: str) -> str:
    """Which of the names may be meant; `otherwise` where none is near."""
    near = nearest(typed, names, 1)
    return f"did you mean {near[0]}?" if near else otherwise
