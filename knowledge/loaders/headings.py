"""Headings of a PDF that its parser made of other lines, put right by the lines as they are printed."""

import re
from collections.abc import Sequence
from itertools import pairwise

from knowledge.loaders.printed import Line, Page, bare
from knowledge.loaders.prose import changed_prose

APART = 1.45
"""Times the size of letters: headings set differently and further apart than that are two. Lines of one heading are
1.2 apart in most templates, 1.4 in Word's widest."""

FAR_APART = 2.0
"""Times the size of letters: lines further apart are two headings however they are set."""

ALIGNED = 5.0
"""Points between edges, or middles, of lines that are set alike."""

_HEADING = re.compile(r"(#{1,6}) (.+)")
_ITEM = re.compile(r"(?:(\d{1,3})[.)]?|[•▪◦‣·–-])\s+(?=\S)")


def with_true_headings(text: str, page: Page) -> str:
    """The Markdown of a page in which a line of code that begins with `#` is text, a list is a list, and headings below
    one another that are set differently are several. A heading that is not found among the printed lines stays."""
    return changed_prose(text, lambda prose: "\n".join(_line(line, page.lines) for line in prose.split("\n")))


def _line(line: str, printed: Sequence[Line]) -> str:
    heading = _HEADING.fullmatch(line)
    if not heading:
        return line
    if _found(line, printed):
        return f"\\{line}"
    lines = _found(heading[2], printed)
    if len(lines) < 2:
        return line
    return _as_list(lines) or "\n\n".join(f"{heading[1]} {part}" for part in _parts(lines))


def _found(words: str, printed: Sequence[Line]) -> Sequence[Line]:
    """The printed lines that say these words; empty when none do."""
    wanted = bare(words)
    for start in range(len(printed)):
        said = ""
        for end, line in enumerate(printed[start:], start + 1):
            said += bare(line.text)
            if not wanted.startswith(said):
                break
            if said == wanted:
                return printed[start:end]
    return ()


def _as_list(lines: Sequence[Line]) -> str:
    """A list when the lines begin like items that count up from 1, or with bullets; else empty."""
    items: list[str] = []
    for line in lines:
        mark = _ITEM.match(line.text)
        if mark and (not mark[1] or int(mark[1]) == len(items) + 1):
            items.append((f"{mark[1]}. " if mark[1] else "- ") + line.text[mark.end() :])
        elif items:
            items[-1] += f" {line.text}"
        else:
            return ""
    return "\n".join(items) if len(items) > 1 else ""


def _parts(lines: Sequence[Line]) -> list[str]:
    parts = [lines[0].text]
    for above, below in pairwise(lines):
        if _is_other(above, below):
            parts.append(below.text)
        else:
            parts[-1] += f" {below.text}"
    return parts


def _is_other(above: Line, below: Line) -> bool:
    distance = (below.foot - above.foot) / max(above.size, below.size)
    edges = (
        above.left - below.left,
        above.right - below.right,
        (above.left + above.right - below.left - below.right) / 2,
    )
    return distance > FAR_APART or (distance > APART and min(map(abs, edges)) > ALIGNED)
