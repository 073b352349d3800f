"""Lines that only name what follows: the headings of texts in which no markup says so. Pure.

A caption is a line of its own with few words, no figure and nothing at its end, before a list, a table or a sentence that
ends as one. A line in front of a list may end in a colon. The first caption of a passage stands above all of it, any other
one above what follows it up to the next.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from knowledge.citable import Piece

MOST_WORDS = 10

_RULE = re.compile(r"^[-=~_*#]{3,}\s*$", re.MULTILINE)
"""The line under a heading of plain text."""
_ENDS = re.compile(r"[.!?…。！？:：)\"”»*_]\s*$")


@dataclass(frozen=True)
class Place:
    """Where a piece stands. `above`: the captions and the line with a colon over it, joined; empty when there are none."""

    is_caption: bool
    above: str


def places(pieces: Sequence[Piece]) -> tuple[Place, ...]:
    """Of each piece."""
    found: list[Place] = []
    first = ""
    open_ones: list[str] = []
    goes_on = False
    around = zip([None, *pieces[:-1]], pieces, [*pieces[1:], None], strict=True)
    for number, (before, piece, after) in enumerate(around):
        is_caption = _is_caption(before, piece, after)
        found.append(Place(is_caption, " ".join(filter(None, [first, *open_ones]))))
        names = is_caption or _leads(piece, after)
        if is_caption and number == 0:
            first = bare(piece.text)
        elif names:
            open_ones = [*(open_ones if goes_on or not is_caption else ()), bare(piece.text)]
        goes_on = names
    return tuple(found)


def ends_in_colon(text: str) -> bool:
    """Whether it leads to what follows."""
    return text.rstrip(" \n*_").endswith((":", "："))


def bare(text: str) -> str:
    """The words of a caption."""
    return _RULE.sub("", text).strip().strip("*_").strip()


def _is_caption(before: Piece | None, piece: Piece, after: Piece | None) -> bool:
    words = bare(piece.text)
    return (
        piece.kind == "sentence"
        and after is not None
        and (before is None or before.text.endswith("\n"))
        and piece.text.endswith("\n")
        and "\n" not in words
        and 0 < len(words.split()) <= MOST_WORDS
        and words[0].isupper()
        and not any(sign.isdigit() for sign in words)
        and not _ENDS.search(words)
        and (after.kind != "sentence" or _ENDS.search(after.text) is not None)
    )


def _leads(piece: Piece, after: Piece | None) -> bool:
    """Whether a sentence leads to a list."""
    return piece.kind == "sentence" and ends_in_colon(piece.text) and after is not None and after.kind == "item"
