"""Lines that only name what follows: the headings of texts in which no markup says so. Pure.

A caption is a line of its own with few words, no figure and nothing at its end, before a list, a table or a sentence that
ends as one. A line in front of a list may end in a colon. The first caption of a passage stands above all of it, any other
one above what follows it up to the next.
"""

import re
from collections.abc import Sequence

from knowledge.citable import Piece

MOST_WORDS = 10

_RULE = re.compile(r"^[-=~_*#]{3,}\s*$", re.MULTILINE)
"""The line under a heading of plain text."""
_ENDS = re.compile(r"[.!?…。！？:：)\"”»*_]\s*$")


def captions(pieces: Sequence[Piece]) -> tuple[bool, ...]:
    """Which of the pieces are captions."""
    ahead = [*pieces[1:], None]
    behind = [None, *pieces[:-1]]
    return tuple(_is_caption(*each) for each in zip(behind, pieces, ahead, strict=True))


def above(pieces: Sequence[Piece]) -> tuple[str, ...]:
    """For each piece the captions and the line with a colon that it stands under, joined; empty when there are none."""
    found, first = [], ""
    open_ones: list[str] = []
    goes_on = False
    for number, (piece, is_caption) in enumerate(zip(pieces, captions(pieces), strict=True)):
        found.append(" ".join(filter(None, [first, *open_ones])))
        names = is_caption or leads(piece, pieces[number + 1] if number + 1 < len(pieces) else None)
        if is_caption and number == 0:
            first = bare(piece.text)
        elif names:
            open_ones = [*(open_ones if goes_on or not is_caption else ()), bare(piece.text)]
        goes_on = names
    return tuple(found)


def leads(piece: Piece, after: Piece | None) -> bool:
    """Whether a sentence with a colon at its end leads to a list."""
    return piece.kind == "sentence" and piece.text.rstrip(" \n*_").endswith((":", "：")) and _is(after, "item")


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


def _is(piece: Piece | None, kind: str) -> bool:
    return piece is not None and piece.kind == kind
