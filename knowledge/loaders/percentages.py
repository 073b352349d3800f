"""Which cells of an XLSX workbook show a percentage: its parser hands over 0.25 where people read 25%."""

import posixpath
import re
import zipfile
from collections.abc import Iterator
from xml.etree import ElementTree

BUILT_IN = frozenset({"9", "10"})
"""Number formats that every workbook has: `0%` and `0.00%`."""

Places = frozenset[tuple[int, int]]
"""(row, column) of cells, both from 0."""

_QUOTED = re.compile(r"\"[^\"]*\"|\\.|\[[^\]]*\]")


def percentages(book: zipfile.ZipFile) -> dict[str, Places]:
    """Cells by the name of their sheet; nothing for a workbook without such a format."""
    there = set(book.namelist())
    if not {"xl/styles.xml", "xl/workbook.xml", "xl/_rels/workbook.xml.rels"} <= there:
        return {}
    styles = sorted(_styles(ElementTree.fromstring(book.read("xl/styles.xml"))))
    if not styles:
        return {}
    cell = re.compile(rb"<c\b(?=[^>]*\ss=\"(?:%s)\")[^>]*\sr=\"([A-Z]{1,3})(\d{1,7})\"" % b"|".join(styles))
    return {
        name: frozenset((int(m[2]) - 1, column(m[1]) - 1) for m in cell.finditer(book.read(member)))
        for name, member in _sheets(book)
        if member in there
    }


def column(letters: bytes) -> int:
    """`A` is 1."""
    number = 0
    for letter in letters:
        number = number * 26 + letter - 64
    return number


def _styles(sheet: ElementTree.Element) -> Iterator[bytes]:
    """Numbers of the styles whose format has a percent sign that is no text."""
    formats = BUILT_IN | {
        e.get("numFmtId", "")
        for e in sheet.iter()
        if e.tag.endswith("}numFmt") and _is_percent(e.get("formatCode", ""))
    }
    for table in sheet.iter():
        if table.tag.endswith("}cellXfs"):
            yield from (str(i).encode() for i, style in enumerate(table) if style.get("numFmtId") in formats)


def _is_percent(code: str) -> bool:
    return "%" in _QUOTED.sub("", code)


def _sheets(book: zipfile.ZipFile) -> Iterator[tuple[str, str]]:
    """Name and file of each sheet."""
    relations = ElementTree.fromstring(book.read("xl/_rels/workbook.xml.rels"))
    files = {e.get("Id"): e.get("Target", "") for e in relations}
    for sheet in ElementTree.fromstring(book.read("xl/workbook.xml")).iter():
        if sheet.tag.endswith("}sheet"):
            target = files.get(next((value for key, value in sheet.attrib.items() if key.endswith("}id")), ""), "")
            yield sheet.get("name", ""), posixpath.normpath(posixpath.join("/xl", target)).lstrip("/")
