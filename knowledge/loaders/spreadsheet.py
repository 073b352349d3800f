"""Spreadsheets (XLSX, XLS, ODS): a section for each visible sheet, a table for each stretch between blank rows."""

import io
import re
import zipfile
from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta
from typing import Any

from knowledge.errors import DocumentUnreadable
from knowledge.loaders import archives
from knowledge.loaders.decoding import clean
from knowledge.loaders.loaded import Loaded, titled
from knowledge.loaders.percentages import Places, column, percentages
from knowledge.loaders.tables import captioned

Row = list[str]

MAX_CELLS = 5_000_000
"""Of the grid from A1 to the last cell, which the parser lays out in full: 32 bytes each. One stray cell in the last row
of a sheet makes 1,048,576 rows."""

_CELL = re.compile(rb'<c r="([A-Z]{1,3})(\d{1,7})"')


def load(name: str, content: bytes) -> Loaded:
    shares: dict[str, Places] = {}
    if content.startswith(b"PK"):
        archives.check(content)
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            _check_grids(archive)
            shares = percentages(archive)
    import python_calamine as calamine

    try:
        book = calamine.CalamineWorkbook.from_filelike(io.BytesIO(content))
        shown = [
            s.name
            for s in book.sheets_metadata
            if s.visible == calamine.SheetVisibleEnum.Visible and s.typ == calamine.SheetTypeEnum.WorkSheet
        ]
        sheets = [(sheet, _sheet(book.get_sheet_by_name(sheet), shares.get(sheet, frozenset()))) for sheet in shown]
    except calamine.PasswordError as error:
        raise DocumentUnreadable("encrypted", "encrypted: it needs a password; save it without one") from error
    except calamine.CalamineError as error:
        raise DocumentUnreadable("failed", f"a damaged spreadsheet: {error}") from error
    sections = [f"# {clean(sheet)}\n\n{body}" for sheet, body in sheets if body]
    if not sections:
        raise DocumentUnreadable("empty", "no sheet has any cells")
    return Loaded(title=titled(name), markdown="\n\n".join(sections) + "\n")


def _check_grids(archive: zipfile.ZipFile) -> None:
    """Raises `DocumentUnreadable` for an XLSX sheet whose last cell lies far out."""
    for member in archive.namelist():
        if not member.startswith("xl/worksheets/") or not member.endswith(".xml"):
            continue
        rows = columns = 0
        for cell in _CELL.finditer(archive.read(member)):
            rows, columns = max(rows, int(cell[2])), max(columns, column(cell[1]))
        if rows * columns > MAX_CELLS:
            raise DocumentUnreadable(
                "too_big", f"a sheet reaches to row {rows:,}, column {columns:,}; clear the cells far below its table"
            )


def _sheet(sheet: Any, shares: Places) -> str:
    left = sheet.start[1] if sheet.start else 0
    rows = (
        [_text(value, (number, left + i) in shares) for i, value in enumerate(row)]
        for number, row in enumerate(sheet.iter_rows())
    )
    merged = [
        (top, first - left, bottom) for (top, first), (bottom, _) in sheet.merged_cell_ranges or () if bottom > top
    ]
    return "\n\n".join(part for stretch in _joined(_stretches(_filled(rows, merged))) for part in captioned(stretch))


def _filled(rows: Iterator[Row], merged: Sequence[tuple[int, int, int]]) -> Iterator[Row]:
    """A cell that reaches down over rows is said in each of them that has others."""
    reaching: dict[int, tuple[int, str]] = {}
    for number, row in enumerate(rows):
        reaching = {at: (bottom, text) for at, (bottom, text) in reaching.items() if bottom >= number}
        if any(row):
            for at, (_, text) in reaching.items():
                row[at] = text
        reaching |= {at: (bottom, row[at]) for top, at, bottom in merged if top == number and 0 <= at < len(row)}
        yield row


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


def _joined(stretches: Iterator[list[Row]]) -> Iterator[list[Row]]:
    """A stretch that goes on with the figures of the table above, in its columns, is no table of its own."""
    above: list[Row] = []
    for stretch in stretches:
        header: Row = next((row for row in above if sum(map(bool, row)) > 1), [])
        if (
            header
            and not any(map(_is_figure, header))
            and any(map(_is_figure, stretch[0]))
            and _same_columns(above, stretch)
        ):
            above += stretch
            continue
        if above:
            yield above
        above = stretch
    if above:
        yield above


def _same_columns(above: list[Row], below: list[Row]) -> bool:
    tables = ([row for row in rows if sum(map(bool, row)) > 1] for rows in (above, below))
    first, second = ({i for row in rows for i, cell in enumerate(row) if cell} for rows in tables)
    return first == second


def _is_figure(cell: str) -> bool:
    return cell[:1].isdigit() or cell[1:2].isdigit()


def _text(value: object, is_share: bool) -> str:
    """A cell as people read it: whole numbers without `.0`, dates without a midnight, shares as percentages."""
    match value:
        case bool():
            return "yes" if value else "no"
        case float() if is_share:
            return f"{value * 100:.10g}%"
        case float() if value.is_integer() and abs(value) < 1e15:
            return str(int(value))
        case float():
            return f"{value:.12g}"
        case datetime() if value.time() == time():
            return value.date().isoformat()
        case datetime():
            return value.isoformat(sep=" ", timespec="minutes")
        case timedelta():
            return f"{value // timedelta(hours=1)}:{value // timedelta(minutes=1) % 60:02}"
        case date() | time():
            return str(value)
        case _:
            return clean(str(value)).strip()
