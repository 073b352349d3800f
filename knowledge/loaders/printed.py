"""The lines of a PDF as they are printed: their words, where they stand and how large they are."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any

from knowledge.loaders.decoding import clean

_MARKS = re.compile(r"[\s*_`\\]")

SAME_LINE = 2.0
"""Points between the feet of words of one line: less than any line distance, more than the rounding of fonts."""


@dataclass(frozen=True)
class Line:
    """All in points from the page's upper left corner. `size`: of its largest letters."""

    text: str
    left: float
    right: float
    foot: float
    size: float


@dataclass(frozen=True)
class Page:
    """`label`: the number a reader shows for it ("iv"); empty when the file has none. `lines`: from top to bottom."""

    height: float
    label: str
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Measure:
    """Of most text of a document: size of its letters and distance of its lines, in points."""

    size: float
    distance: float


def bare(text: str) -> str:
    """A text without white space and the marks of Markdown, in which what is printed and what the parser made are alike."""
    return _MARKS.sub("", text)


def printed(page: Any) -> Page:
    """A page of the parser. Words that run up or down are left out."""
    words = [_line(item) for item in page.text_items if item.text.strip() and not item.rotation]
    return Page(page.height, page.page_label or "", tuple(_rows(words)))


def measure(pages: Sequence[Page]) -> Measure:
    letters: Counter[float] = Counter()
    for page in pages:
        for line in page.lines:
            letters[line.size] += len(line.text)
    size = letters.most_common(1)[0][0] if letters else 0.0
    distances = [below.foot - above.foot for page in pages for above, below in pairwise(page.lines)]
    return Measure(size, min(median(distances or [0]), 1.5 * size))


def _line(item: Any) -> Line:
    text = " ".join(clean(item.text).split())
    return Line(text, item.x, item.x + item.width, item.y + item.height, round(item.font_size or item.height, 1))


def _rows(words: list[Line]) -> Iterator[Line]:
    row: list[Line] = []
    for word in sorted(words, key=lambda word: word.foot):
        if row and word.foot - row[-1].foot > SAME_LINE:
            yield _joined(row)
            row = []
        row.append(word)
    if row:
        yield _joined(row)


def _joined(row: list[Line]) -> Line:
    row = sorted(row, key=lambda word: word.left)
    return Line(
        " ".join(word.text for word in row),
        row[0].left,
        max(word.right for word in row),
        max(word.foot for word in row),
        max(word.size for word in row),
    )
