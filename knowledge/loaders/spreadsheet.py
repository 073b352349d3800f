"""Spreadsheets (XLSX, XLS, ODS): a section for each visible sheet, a table for each stretch between blank rows."""

import io
import re
import zipfile
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from typing import Any

from knowledge.errors import DocumentUnreadable
from knowledge.loaders import archives, dated
from knowledge.loaders.decoding import clean
from knowledge.loaders.formats import PLAIN, Cells, Shown, column, formats
from knowledge.loaders.loaded import Loaded, titled
from knowledge.loaders.tables import captioned

Row = list[str]

MAX_CELLS = 5_000_000
"""Of the grid from A1 to the last cell, which the parser lays out in full: 32 bytes each. One stray cell in the last row
of a sheet makes 1,048,576 rows."""

_CELL = re.compile(rb'<c r="([A-Z]{1,3})(\d{1,7})"')


def load(name: str, content: bytes) -> Loaded:
    shown: dict[str, Cells] = {}
    updated_at: datetime | None = None
    if content.startswith(b"PK"):
        archives.check(content)
        updated_at = dated.of_archive(content, datetime.now(UTC))
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            _check_grids(archive)
            shown = formats(archive)
    import python_calamine as calamine

    try:
        book = calamine.CalamineWorkbook.from_filelike(io.BytesIO(content))
        names = [
            s.name
            for s in book.sheets_metadata
            if s.visible == calamine.SheetVisibleEnum.Visible and s.typ == calamine.SheetTypeEnum.WorkSheet
        ]
        sheets = [(sheet, _sheet(book.get_sheet_by_name(sheet), shown.get(sheet, {}))) for sheet in names]
    except calamine.PasswordError as error:
        raise DocumentUnreadable("encrypted", "encrypted: it needs a password; save it without one") from error
    except calamine.CalamineError as error:
        raise DocumentUnreadable("failed", f"a damaged spreadsheet: {error}") from error
    sections = [f"# {clean(sheet)}\n\n{body}" for sheet, body in sheets if body]
    if not sections:
        raise DocumentUnreadable("empty", "no sheet has any cells")
    return Loaded(title=titled(name), markdown="\n\n".join(sections) + "\n", updated_at=updated_at)


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


def _sheet(sheet: Any, shown: Cells) -> str:
    left = sheet.start[1] if sheet.start else 0
    rows = (
        [_text(value, shown.get((number, left + i), PLAIN)) for i, value in enumerate(row)]
        for number, row in enumerate(sheet.iter_rows())
    )
    merged = [
        (top, first - left, bottom) for (top, first), (bottom, _) in sheet.merged_cell_ranges or () if bottom > top
    ]
    stretches = _joined(_stretches(_filled(rows, merged)))
    tables = (table for stretch in stretches for table in _side_by_side(stretch))
    return "\n\n".join(part for table in tables for part in captioned(table))


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


def _side_by_side(stretch: list[Row]) -> Iterator[list[Row]]:
    """The tables of a stretch that an empty column parts. One that only has a narrow column for looks stays whole: its
    sides end in the same row, or do not all begin with names."""
    used = [any(column) for column in zip(*stretch, strict=True)]
    edges = [i for i, (before, here) in enumerate(pairwise([False, *used, False])) if before != here]
    sides = [[row[start:end] for row in stretch] for start, end in zip(edges[::2], edges[1::2], strict=True)]
    filled = [[row for row in side if any(row)] for side in sides]
    lengths = {len(rows) for rows in filled}
    if len(lengths) > 1 and all(_is_table(side, rows) for side, rows in zip(sides, filled, strict=True)):
        yield from filled
    else:
        yield stretch


def _is_table(side: list[Row], filled: list[Row]) -> bool:
    """Whether it has a header and names below, from the top and without a gap."""
    header, *below = filled
    return (
        side[: len(filled)] == filled
        and len(header) > 1
        and all(header)
        and not any(map(_is_figure, header))
        and bool(below)
        and all(row[0] and not _is_figure(row[0]) for row in below)
    )


def _is_figure(cell: str) -> bool:
    return any(map(str.isdigit, cell[:2])) or any(map(str.isdigit, cell.lstrip("-")[1:2]))


def _text(value: object, shown: Shown) -> str:
    """A cell as people read it: whole numbers without `.0`, dates without a midnight, shares as percentages, amounts
    with their currency."""
    match value:
        case bool():
            return "yes" if value else "no"
        case float():
            share = "%" if shown.is_share else ""
            figure = f"{_figure(abs(value) * 100 if share else abs(value))}{share} {shown.unit}".rstrip()
            return f"{'-' if value < 0 else ''}{shown.sign}{figure}"
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


def _figure(value: float) -> str:
    return str(int(value)) if value.is_integer() and value < 1e15 else f"{value:.12g}"
