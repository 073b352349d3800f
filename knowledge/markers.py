"""The text of a model that writes `[n]` itself, for servers that give no citations.

Each mark cites the whole passage n, for the sentence before it. Marks in one place (`[1]; [2]`, `([1] and [2])`,
`**[1]**`) go together, without what joins or encloses them.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from knowledge import markup
from knowledge.citable import cut
from knowledge.claims import Segment
from knowledge.evidence import Cited, Evidence, words

_JOINT = re.compile(r"\s*(?:[,;&–-]|and|und|et|y)?\s*")
_ENCLOSED = (("(", ")"), ("[", "]"), ("**", "**"), ("*", "*"))
_SEE = re.compile(r"(?<=\()(?:see|cf\.|siehe|vgl\.|voir|véase)\s*$", re.IGNORECASE)


@dataclass(frozen=True)
class _Marks:
    """`part[start:end]` is marks in one place."""

    start: int
    end: int
    numbers: tuple[int, ...]


def marked_segments(text: str, evidence: Sequence[Evidence]) -> tuple[Segment, ...]:
    """The text in stretches, each with the passages that the marks behind it cite."""
    segments: list[Segment] = []
    behind = ""
    for part, code in markup.outside_code(markup.readable(text)):
        at = 0
        for marks in () if code else _places(part):
            behind += part[at : marks.start].rstrip(" \t")
            at = marks.end
            if behind.strip() or not segments:
                segments += [Segment(piece.text) for piece in cut(behind)] or [Segment("")]
                behind = ""
            last = segments[-1]
            cited = tuple(_whole(n - 1, last.text, evidence) for n in marks.numbers)
            segments[-1] = replace(last, citations=last.citations + cited)
        behind += part[at:]
    return (*segments, Segment(behind)) if behind else tuple(segments)


def _places(part: str) -> Iterator[_Marks]:
    found: _Marks | None = None
    for mark in markup.MARK.finditer(part):
        if found and _JOINT.fullmatch(part, found.end, mark.start()):
            found = _Marks(found.start, mark.end(), (*found.numbers, *markup.numbers(mark)))
            continue
        if found:
            yield _opened(part, found)
        found = _Marks(mark.start(), mark.end(), markup.numbers(mark))
    if found:
        yield _opened(part, found)


def _opened(part: str, marks: _Marks) -> _Marks:
    """The marks with the brackets or the emphasis around them."""
    see = _SEE.search(part, 0, marks.start)
    start = see.start() if see else marks.start
    for left, right in _ENCLOSED:
        if part.endswith(left, 0, start) and part.startswith(right, marks.end):
            return _Marks(start - len(left), marks.end + len(right), marks.numbers)
    return marks


def _whole(index: int, sentence: str, evidence: Sequence[Evidence]) -> Cited:
    """The whole passage, shown by the piece that has most words of the sentence."""
    if not 0 <= index < len(evidence) or not evidence[index].pieces:
        return Cited(index, 0, 0, "")
    given, said = evidence[index], words(sentence)
    usable = [
        n for n, piece in enumerate(given.pieces) if n not in given.orders and piece.kind not in ("heading", "header")
    ]
    best = max(usable, key=lambda n: len(said & words(given.pieces[n].text)), default=0)
    return Cited(index, best, best + 1, given.pieces[best].text, whole=True)
