"""Rows of cells -> a Markdown table, and tables without padding."""

import re
from collections.abc import Iterable, Iterator, Sequence

from knowledge.loaders.prose import one_line, outside_spans

MAX_HEADER = 300
"""Characters. A longer one leaves a chunk no room for the rows below it: then each row names its values itself."""


def table(rows: Iterable[Sequence[str]]) -> str:
    """The first row is the header. Blank rows and columns are left out; short rows are filled. Empty without cells. Below
    a long header it is a list of rows."""
    cells = [[" ".join(value.split()) for value in row] for row in rows]
    cells = [row for row in cells if any(row)]
    if not cells:
        return ""
    width = max(len(row) for row in cells)
    filled = [row + [""] * (width - len(row)) for row in cells]
    used = [i for i in range(width) if any(row[i] for row in filled)]
    header, *below = ([row[i] for i in used] for row in filled)
    if below and sum(map(len, header)) + 3 * len(header) > MAX_HEADER:
        return "\n".join(_record(header, row) for row in below)
    return "\n".join([_row(header), "|" + " --- |" * len(used), *map(_row, below)])


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _record(header: Sequence[str], cells: Sequence[str]) -> str:
    named = (f"{name}: {cell}" if name else cell for name, cell in zip(header, cells, strict=True) if cell)
    return f"- {'; '.join(named)}"


def captioned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """The table of some rows without blank ones. Lines above it that fill one cell only are its caption, not its header;
    without a table they are paragraphs."""
    filled = [sum(map(bool, row)) for row in rows]
    first = next((i for i, count in enumerate(filled) if count > 1), len(rows))
    yield from (one_line("".join(row)) for row in rows[:first])
    if first < len(rows):
        yield table(rows[first:])


def compacted(prose: str) -> str:
    """Tables without the spaces and dashes that only line their columns up: to a tokenizer each dash is a token."""
    return outside_spans(prose, _PADDING, lambda m: _squeezed(m[0]))


_PADDING = r"^[ \t]*\|[^\n]*\|[ \t]*$"
_DASHES = re.compile(r"-{4,}")
_SPACES = re.compile(r"(?<=\|)[ \t]{2,}|[ \t]{2,}(?=\|)")
_DELIMITERS = re.compile(r"[\s|:-]+")


def _squeezed(row: str) -> str:
    indent = row[: len(row) - len(row.lstrip())]
    row = _SPACES.sub(" ", row.lstrip())
    return indent + (_DASHES.sub("---", row) if _DELIMITERS.fullmatch(row) else row)
