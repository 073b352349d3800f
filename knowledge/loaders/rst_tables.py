"""Grid and simple tables of reStructuredText as tables of Markdown.

1. A grid's lines begin with `+` or `|`; a simple table ends with a line of `===  ===` before an empty one.
2. Columns are where the lines say. A cell over several columns stands in the first of them, one over several rows is said
   in each of them, as in tables of pages.
3. Rows above a line of `=` are one header; without such a line the first row is.
4. A table that cannot be read so without losing a word stays as it is.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from textwrap import dedent, indent

from knowledge.loaders.tables import table

_BORDER = r"=+(?: +=+)+ *"
_GRID = re.compile(r"^( *)\+(?:[-=]+\+)+ *(?:\n\1[+|][^\n]*)+", re.M)
_SIMPLE = re.compile(rf"^( *){_BORDER}(?:\n[^\n]*){{1,500}}?\n\1{_BORDER}(?=\n *\n|\n*\Z)", re.M)
_WORD = re.compile(r"[^\W_]+")

Rows = list[list[str]]


def tabled(prose: str) -> str:
    """The same text with its tables as those of Markdown."""
    grids = _GRID.sub(lambda m: _written(m, _grid), prose)
    return _SIMPLE.sub(lambda m: _written(m, _simple), grids)


def _written(found: re.Match[str], read: Callable[[Sequence[str]], Rows]) -> str:
    """With room around it, and not so far in that Markdown would take it for code."""
    markdown = table(read([line.rstrip() for line in dedent(found[0]).split("\n")]))
    if not markdown or Counter(_WORD.findall(found[0])) - Counter(_WORD.findall(markdown)):
        return found[0]
    return f"\n{indent(markdown, found[1][:3])}\n"


def _grid(found: Sequence[str]) -> Rows:
    width = max(map(len, found))
    lines = [line.ljust(width) for line in found]
    borders = [n for n, line in enumerate(lines) if re.search(r"\+[-=]+\+", line)]
    edges = sorted({m.start() for n in borders for m in re.finditer(r"\+(?=[-=])|(?<=[-=])\+", lines[n])})
    if borders[-1] < len(lines) - 1 or not all(line[edges[-1]] in "|+" for line in lines):
        return []
    rows = [[""] * (len(edges) - 1) for _ in borders[1:]]

    def is_wall(row: int, at: int) -> bool:
        return all(line[at] in "|+" for line in lines[borders[row] + 1 : borders[row + 1]])

    def is_border(row: int, left: int, right: int) -> bool:
        return re.fullmatch(r"[-=+]+", lines[borders[row]][left + 1 : right]) is not None

    for row in range(len(rows)):
        for column, left in enumerate(edges[:-1]):
            if not (is_wall(row, left) and is_border(row, left, edges[column + 1])):
                continue
            right = next(at for at in edges[column + 1 :] if is_wall(row, at))
            end = next((n for n in range(row + 1, len(rows)) if is_border(n, left, right)), len(rows))
            said = " ".join(line[left + 1 : right].strip() for line in lines[borders[row] + 1 : borders[end]])
            for reached in rows[row:end]:
                reached[column] = said
    return _headed(rows, next((row for row, n in enumerate(borders) if row and set(lines[n].strip()) == {"+", "="}), 1))


def _simple(lines: Sequence[str]) -> Rows:
    starts = [m.start() for m in re.finditer("=+", lines[0])]
    rows: Rows = []
    head = 1
    for line in lines[1:-1]:
        if re.fullmatch(_BORDER, line):
            head = len(rows)
        elif line and not re.fullmatch(r"-[- ]*", line):
            cells = [line[start:end] for start, end in zip(starts, [*starts[1:], None], strict=True)]
            for n in reversed(range(len(cells) - 1)):
                if cells[n][-1:].strip() and cells[n + 1]:  # it runs on into the next column
                    cells[n : n + 2] = cells[n] + cells[n + 1], ""
            if cells[0].strip() or not rows:
                rows.append(cells)
            else:
                rows[-1] = [f"{said} {more}" for said, more in zip(rows[-1], cells, strict=True)]
    return _headed(rows, head)


def _headed(rows: Rows, head: int) -> Rows:
    """The first `head` rows as one."""
    columns = zip(*rows[:head], strict=True)
    return [[" ".join(dict.fromkeys(cell.strip() for cell in column)) for column in columns], *rows[head:]]
