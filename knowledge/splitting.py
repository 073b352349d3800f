"""Cutting a stretch of text that is too long, at the best places there are.

1. Ways to cut are tried from the coarsest (nested blocks, sentences) to the finest (words, then anywhere).
2. At the first way that cuts at all, neighbouring parts are joined as long as they fit; a part too long by itself is
   cut again by the finer ways, together with what waits before it when that is below the minimum.
3. A last piece below the minimum borrows parts from the piece before it.
4. A short part that ends in a colon goes with what it introduces.
"""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

Span = tuple[int, int]
Way = Callable[[str, int, int], Sequence[int]]
"""(text, start, end) -> offsets strictly inside where it may be cut, ascending."""

Size = Callable[[int, int], int]
"""(start, end) -> size of that stretch, in the unit of the room."""


def at_pattern(pattern: str) -> Way:
    """Cut behind every match."""
    compiled = re.compile(pattern)

    def way(text: str, start: int, end: int) -> list[int]:
        return [m.end() for m in compiled.finditer(text, start, end) if start < m.end() < end]

    return way


def at_offsets(offsets: Sequence[int]) -> Way:
    """Cut at given offsets, ascending."""

    def way(text: str, start: int, end: int) -> Sequence[int]:
        return offsets[bisect_right(offsets, start) : bisect_left(offsets, end)]

    return way


_SENTENCES = at_pattern(r"""[.!?؟]["'”’»)\]*_]*\s+(?=[^\sa-z])|[。！？]["'”’」』）]*|\n[ \t]*\n\s*""")
_LINES = at_pattern(r"\n")
_CLAUSES = at_pattern(r"[,;]\s+|[、，；،؛]")
_COLONS = at_pattern(r":\s+|：")  # after the others, for what stands behind one belongs to what is before it
_WORDS = at_pattern(r"\s+")

_INTRODUCES = re.compile(r"[:：]\s*\Z")

PROSE: tuple[Way, ...] = (_SENTENCES, _LINES, _CLAUSES, _COLONS, _WORDS)
CODE: tuple[Way, ...] = (at_pattern(r"\n\s*\n(?=\S)"), at_pattern(r"\n[ \t]*\n"), _LINES, _WORDS)


@dataclass(frozen=True)
class Splitter:
    """`room`: the most a piece may measure by `size`. `least`: pieces below it are avoided where neighbours can help."""

    text: str
    size: Size
    room: int
    least: int = 0

    def split(self, start: int, end: int, ways: Sequence[Way]) -> list[Span]:
        """Consecutive spans that cover [start, end), each within the room unless it is a single character."""
        if self.size(start, end) <= self.room:
            return [(start, end)]
        for index, way in enumerate(ways):
            if inside := way(self.text, start, end):
                parts = list(zip([start, *inside], [*inside, end], strict=True))
                return self._join(parts, ways[index + 1 :])
        middle = _between_characters(self.text, (start + end) // 2, end)
        if not start < middle < end:
            return [(start, end)]
        return self.split(start, middle, ways) + self.split(middle, end, ways)

    def _join(self, parts: Sequence[Span], finer: Sequence[Way]) -> list[Span]:
        groups: list[list[tuple[Span, int]]] = []
        total = self.room + 1
        for part in parts:
            size = self.size(*part)
            pieces = [(part, size)]
            if size > self.room:
                start = part[0]
                if groups and total < self.least:
                    start, total = groups.pop()[0][0][0], self.room + 1
                elif lead := self._lead_in(groups, self.room):
                    start, total = lead[0][0][0], self.room + 1
                pieces = [(span, self.size(*span)) for span in self.split(start, part[1], finer)]
            for piece in pieces:
                if total + piece[1] > self.room:
                    groups.append(self._lead_in(groups, self.room - piece[1]))
                    total = sum(size for _, size in groups[-1])
                groups[-1].append(piece)
                total += piece[1]
        self._lend(groups)
        return [(group[0][0][0], group[-1][0][1]) for group in groups]

    def _lead_in(self, groups: list[list[tuple[Span, int]]], most: int) -> list[tuple[Span, int]]:
        """Takes a short last part that introduces what follows out of the last group; empty when it is none or alone."""
        if not groups or len(groups[-1]) < 2:
            return []
        (start, end), size = groups[-1][-1]
        is_lead = size <= min(self.least, most) and _INTRODUCES.search(self.text, start, end)
        return [groups[-1].pop()] if is_lead else []

    def _lend(self, groups: list[list[tuple[Span, int]]]) -> None:
        if len(groups) < 2:
            return
        giver, taker = groups[-2:]
        size = sum(n for _, n in taker)
        while size < self.least and len(giver) > 1 and size + giver[-1][1] <= self.room:
            size += giver[-1][1]
            taker.insert(0, giver.pop())


def _between_characters(text: str, offset: int, end: int) -> int:
    """The first offset from here that does not part a letter from its marks or an emoji from its joiners."""
    while offset < end and (
        unicodedata.combining(text[offset]) or {text[offset], text[offset - 1]} & {"\u200d", "\ufe0f"}
    ):
        offset += 1
    return offset


def overlapped(text: str, spans: Sequence[Span], size: Size, share: int) -> list[Span]:
    """The spans, each but the first reaching back over whole sentences (else words) of the one before, `share` at most."""
    if not share:
        return list(spans)
    result = list(spans[:1])
    for before, (start, end) in pairwise(spans):
        reach = (p for way in (_SENTENCES, _WORDS) for p in way(text, *before) if size(p, start) <= share)
        result.append((next(reach, start), end))
    return result
