"""Spreadsheets (XLSX, XLS, ODS): a section for each visible sheet, a table for each stretch between blank rows."""

import io
import re
import zipfile
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from typing import Any

from knowledge.errors import DocumentUnreadable
from knowledge.loaders import archives
from knowledge.loaders.decoding import clean
from knowledge.loaders.loaded import Loaded, titled
from knowledge.loaders.tables import table

Row = list[str]

MAX_CELLS = 5_000_000
"""Of the grid from A1 to the last cell, which the parser lays out in full: 32 bytes each. One stray cell in the last row
of a sheet makes 1,048,576 rows."""

_CELL = re.compile(rb'<c r="([A-Z]{1,3})(\d{1,7})"')


def load(name: str, content: bytes) -> Loaded:
    if content.startswith(b"PK"):
        archives.check(content)
        _check_grids(content)
    import python_calamine as calamine

    try:
        book = calamine.CalamineWorkbook.from_filelike(io.BytesIO(content))
        shown = [
            s.name
            for s in book.sheets_metadata
            if s.visible == calamine.SheetVisibleEnum.Visible and s.typ == calamine.SheetTypeEnum.WorkSheet
        ]
        sheets = [(sheet, _sheet(book.get_sheet_by_name(sheet))) for sheet in shown]
    except calamine.PasswordError as error:
        raise DocumentUnreadable("encrypted", "encrypted: it needs a password; save it without one") from error
    except calamine.CalamineError as error:
        raise DocumentUnreadable("failed", f"a damaged spreadsheet: {error}") from error
    sections = [f"# {clean(sheet)}\n\n{body}" for sheet, body in sheets if body]
    if not sections:
        raise DocumentUnreadable("empty", "no sheet has any cells")
    return Loaded(title=titled(name), markdown="\n\n".join(sections) + "\n")


def _check_grids(content: bytes) -> None:
    """Raises `DocumentUnreadable` for an XLSX sheet whose last cell lies far out."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for member in archive.namelist():
            if not member.startswith("xl/worksheets/") or not member.endswith(".xml"):
                continue
            rows = columns = 0
            for cell in _CELL.finditer(archive.read(member)):
                rows, columns = max(rows, int(cell[2])), max(columns, _column(cell[1]))
            if rows * columns > MAX_CELLS:
                raise DocumentUnreadable(
                    "too_big",
                    f"a sheet reaches to row {rows:,}, column {columns:,}; clear the cells far below its table",
                )


def _column(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + letter - 64
    return number


def _sheet(sheet: Any) -> str:
    rows = ([_text(value) for value in row] for row in sheet.iter_rows())
    return "\n\n".join(part for stretch in _stretches(rows) for part in _parts(stretch))


def _stretches(rows: Iterator[Row]) -> Iterator[list[Row]]:
    stretch: list[Row] = []
    for row in rows:
        if any(row):
            stretch.append(row)
        elif stretch:
            yield stretch
            stretch = []
    if stretch:
        yield stretch


def _parts(rows: list[Row]) -> Iterator[str]:
    """Lines above a table that fill one cell only are its caption, not its header; without a table they are paragraphs."""
    while len(rows) > 1 and sum(map(bool, rows[0])) == 1 and any(sum(map(bool, row)) > 1 for row in rows):
        yield " ".join(filter(None, rows[0]))
        rows = rows[1:]
    if all(sum(map(bool, row)) == 1 for row in rows):
        yield "\n\n".join(" ".join("".join(row).split()) for row in rows)
    else:
        yield table(rows)


def _text(value: object) -> str:
    """A cell as people read it: whole numbers without `.0`, dates without a midnight."""
    match value:
        case bool():
            return "yes" if value else "no"
        case float() if value.is_integer() and abs(value) < 1e15:
            return str(int(value))
        case float():
            return f"{value:.12g}"
        case datetime() if value.time() == time():
            return value.date().isoformat()
        case datetime():
            return value.isoformat(sep=" ", timespec="minutes")
        case date() | time() | timedelta():
            return str(value)
        case _:
            return clean(str(value)).strip()
