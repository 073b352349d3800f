"""Rows of cells -> a Markdown table."""

from collections.abc import Iterable, Sequence


def table(rows: Iterable[Sequence[str]]) -> str:
    """The first row is the header. Blank rows and columns are left out; short rows are filled. Empty without cells."""
    cells = [[_cell(value) for value in row] for row in rows]
    cells = [row for row in cells if any(row)]
    if not cells:
        return ""
    width = max(len(row) for row in cells)
    filled = [row + [""] * (width - len(row)) for row in cells]
    used = [i for i in range(width) if any(row[i] for row in filled)]
    lines = ["| " + " | ".join(row[i] for i in used) + " |" for row in filled]
    return "\n".join([lines[0], "|" + " --- |" * len(used), *lines[1:]])


def _cell(value: str) -> str:
    return " ".join(value.split()).replace("|", "\\|")
