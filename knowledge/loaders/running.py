"""Running heads and feet of a PDF: which they are, and its pages without them.

1. They are looked for from each page's edge inward, three lines at most, as long as each is one.
2. A line is one that says the same at the same height on most pages, or on most left or right ones. It stays where it
   is first, so none of its words is lost.
3. A line is one that begins or ends with the page's own number, which counts up on most pages. Words beside the number
   may differ from page to page; then it must be the outermost line, no larger than the text and set apart from it.

Figures alone make no line a running one: "Permit 4 costs 159 crowns" is text, on however many pages it is first.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from knowledge.loaders.printed import Line, Measure, Page, measure

DEPTH = 3
"""Lines at each edge of a page that may be running ones; a letterhead has as many."""

SAME_HEIGHT = 3.0
"""Points between where a head stands on two pages."""

APART = 2.2
"""Times the usual distance of lines. A line above a blank one, which may be the title of what the page is about, is
twice as far from its neighbour as others; running heads are 2.6 to 3.7 times as far in templates of Word and LaTeX."""

_OF_ALL = r"(?:\s*(?:of|/|von|van|de|sur)\s*\d{1,4})?"
_PURE = re.compile(rf"\W*(?:page|seite|pagina|página|p\.)?\s*\d{{1,4}}{_OF_ALL}\W*", re.I)
_FIRST = re.compile(r"\W*(\d{1,4})(?=$|[\s|)\]–—-])")
_LAST = re.compile(rf"(?:^|[\s|(\[–—-])(\d{{1,4}}){_OF_ALL}[\s|)\]–—-]*$", re.I)

_MARKS = frozenset("#*_`\\")
_LINK = re.compile(r"\[([^\[\]]*)\]\([^()\s]*\)")

Offset = int | None
"""A number less the page's position in the file; None for one that is the page's label."""


@dataclass(frozen=True)
class Edge:
    """A line at an edge of a page. `height`: from that edge. `inner`: its neighbour towards the page's middle."""

    page: int
    at_top: bool
    depth: int
    line: Line
    height: float
    inner: Line | None


@dataclass(frozen=True)
class Going:
    """A line to take out. `is_equal`: not for its number; then it goes as a heading, too. `may_be_cut`: also where the
    parser made a paragraph of it and the lines around it."""

    edge: Edge
    is_equal: bool
    may_be_cut: bool


def without_running_lines(texts: Sequence[str], pages: Sequence[Page]) -> list[str]:
    """The Markdown of each page without its running heads and feet."""
    going = _going([edge for number, page in enumerate(pages) for edge in _edges(number, page)], pages)
    return [_without(text, going[number]) for number, text in enumerate(texts)]


def _edges(number: int, page: Page) -> Iterator[Edge]:
    for at_top in (True, False):
        lines = page.lines if at_top else page.lines[::-1]
        for depth, line in enumerate(lines[:DEPTH]):
            height = line.foot if at_top else page.height - line.foot
            yield Edge(number, at_top, depth, line, height, next(iter(lines[depth + 1 :]), None))


def _going(edges: Sequence[Edge], pages: Sequence[Page]) -> dict[int, list[Going]]:
    """Lines to take out, by page, the outer ones first."""
    usual = measure(pages)
    equal = _equal(edges, len(pages), usual)
    running = equal | _numbered([edge for edge in edges if edge not in equal], equal, pages, usual)
    blocks: dict[tuple[int, bool], list[Edge]] = defaultdict(list)
    for edge in edges:
        if edge in running and len(blocks[edge.page, edge.at_top]) == edge.depth:
            blocks[edge.page, edge.at_top].append(edge)
    said: set[tuple[bool, str]] = set()
    going: dict[int, list[Going]] = defaultdict(list)
    for block in filter(None, blocks.values()):
        is_apart = _is_apart(block[-1], usual)
        for edge in block:
            words = (edge.at_top, edge.line.text)
            if edge not in equal or words in said:
                going[edge.page].append(Going(edge, edge in equal, edge not in equal or is_apart))
            said.add(words)
    return going


def _equal(edges: Iterable[Edge], count: int, usual: Measure) -> set[Edge]:
    alike: dict[tuple[bool, str], list[Edge]] = defaultdict(list)
    for edge in edges:
        alike[edge.at_top, edge.line.text].append(edge)
    return {edge for group in alike.values() for edge in _on_most(_level(group), count, usual)}


def _on_most(group: list[Edge], count: int, usual: Measure) -> list[Edge]:
    on = {edge.page for edge in group}
    if count == 2:
        return group if len(on) == 2 and all(e.depth == 0 and e.line.size < usual.size for e in group) else []
    sides = (sum(page % 2 == side for page in on) for side in (0, 1))
    return group if len(on) > _often(count) or max(sides) > max(2, count // 3) else []


def _often(count: int) -> int:
    return max(2, count // 2)


def _level(group: list[Edge]) -> list[Edge]:
    """Those that stand where most of them do."""
    height = median(edge.height for edge in group)
    return [edge for edge in group if abs(edge.height - height) <= SAME_HEIGHT]


def _numbered(edges: Iterable[Edge], equal: set[Edge], pages: Sequence[Page], usual: Measure) -> set[Edge]:
    """Of the outermost lines that are not equal ones, those with the number of their page."""
    counting: dict[Offset, list[Edge]] = defaultdict(list)
    equals = {(edge.page, edge.at_top, edge.depth) for edge in equal}
    for edge in edges:
        if edge.depth and (edge.page, edge.at_top, edge.depth - 1) not in equals:
            continue
        for offset in _offsets(edge, pages[edge.page].label, usual):
            counting[offset].append(edge)
    found: set[Edge] = set()
    for offset, group in counting.items():
        on = {edge.page for edge in group}
        if len(on) > _often(len(pages)) or (len(on) == len(pages) == 2 and offset == 0):
            for at_top in (True, False):
                found |= set(_level(side)) if (side := [e for e in group if e.at_top == at_top]) else set()
    return found


def _offsets(edge: Edge, label: str, usual: Measure) -> set[Offset]:
    """By what its numbers may count with the pages. A number larger than the page's position may be a year or the name
    of what the page is about: it must say that it is a page's, or stand like a head and be alone."""
    text, position = edge.line.text, edge.page + 1
    tokens = {token.strip("()[]|–—-.") for token in (text.split()[0], text.split()[-1])}
    is_label = bool(label) and label in tokens
    is_pure = bool(_PURE.fullmatch(text)) or (is_label and len(tokens) == 1)
    is_head = _is_head(edge, usual)
    if not is_pure and not is_head:
        return set()
    may_be_large = is_pure and (is_head or len(re.findall(r"\w+", text)) > 1)
    numbers = {int(found[1]) for found in (_FIRST.match(text), _LAST.search(text)) if found}
    return {number - position for number in numbers if number <= position or may_be_large} | (
        {None} if is_label else set()
    )


def _is_head(edge: Edge, usual: Measure) -> bool:
    """Whether a line with more than a number stands like a running head."""
    return edge.depth == 0 and edge.line.size <= usual.size and edge.inner is not None and _is_apart(edge, usual)


def _is_apart(edge: Edge, usual: Measure) -> bool:
    return edge.inner is None or abs(edge.inner.foot - edge.line.foot) > APART * usual.distance


def _without(text: str, going: Iterable[Going]) -> str:
    lines = text.split("\n")
    for line in going:
        place = _place(lines, line.edge)
        if place is None and line.may_be_cut:
            _cut(lines, line.edge)
        elif place is not None and (line.is_equal or not lines[place].startswith("#")):
            del lines[place]
    return "\n".join(lines).strip()


def _place(lines: list[str], edge: Edge) -> int | None:
    """Where it is a line of its own: the first or last of the page, or the only one with its words."""
    words = _plain(edge.line.text)
    places = [i for i, line in enumerate(lines) if _plain(_LINK.sub(r"\1", line)) == words]
    if len(places) == 1 and not words.isdigit():
        return places[0]
    outer = _outer(lines, edge.at_top)
    return outer if outer in places else None


def _cut(lines: list[str], edge: Edge) -> None:
    """Take it out of the paragraph that the parser made of it and the lines around it. Said only once on the page, it is
    what is printed at the edge; a number alone must be at the edge of the text, too."""
    found = [(place, *span) for place, line in enumerate(lines) for span in _spans(line, edge.line.text)]
    if len(found) != 1 or lines[found[0][0]].startswith(("#", "|")):
        return
    place, start, end = found[0]
    before, after = lines[place][:start], lines[place][end:]
    is_at_edge = place == _outer(lines, edge.at_top) and not _plain(before if edge.at_top else after)
    if edge.line.text.isdigit() and not is_at_edge:
        return
    mark = before[len(before.rstrip("*_")) :]
    if mark and after.startswith(mark):
        before, after = before[: -len(mark)], after[len(mark) :]
    lines[place] = f"{before}{after.lstrip()}" if not before or before == mark else f"{before.rstrip()}{after}"


def _spans(line: str, words: str) -> Iterator[tuple[int, int]]:
    """Where a line has these words."""
    for first in re.finditer(rf"(?<![\w-]){re.escape(words[0])}", line):
        end = _end(line[first.start() :], words)
        if end and not re.match(r"[\w-]", line[first.start() + end :]):
            yield first.start(), first.start() + end


def _outer(lines: list[str], at_top: bool) -> int | None:
    filled = [i for i, line in enumerate(lines) if line.strip()]
    return filled[0 if at_top else -1] if filled else None


def _end(line: str, words: str) -> int | None:
    """Where the words end with which a line begins, whatever marks and spaces are between; None for another line."""
    at = 0
    for letter in "".join(words.split()):
        while at < len(line) and line[at] != letter and (line[at] in _MARKS or line[at].isspace()):
            at += 1
        if line[at : at + 1] != letter:
            return None
        at += 1
    return at


def _plain(line: str) -> str:
    return "".join(letter for letter in line if letter not in _MARKS and not letter.isspace())
