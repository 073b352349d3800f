"""What number formats of an XLSX workbook add to a figure: its parser hands over 0.25 where people read 25%, and 12.5
where they read 12.50 EUR."""

import posixpath
import re
import unicodedata
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from xml.etree import ElementTree


@dataclass(frozen=True)
class Shown:
    """`sign`: what is before the figure, mostly a currency's. `unit`: a currency or another unit after it. Both mostly empty."""

    is_share: bool = False
    sign: str = ""
    unit: str = ""


PLAIN = Shown()

BUILT_IN = {"9": Shown(is_share=True), "10": Shown(is_share=True)}
"""Number formats that every workbook has: `0%` and `0.00%`. Built-in currencies are those of the reader's computer."""

Cells = dict[tuple[int, int], Shown]
"""By row and column, both from 0, without those that show their figure as it is."""

_LITERAL = re.compile(r"\"([^\"]*)\"|\\(.)|\[\$([^\]-]*)[^\]]*\]|([$€£¥])|\[[^\]]*\]|[_*].", re.S)
_SECTION = re.compile(r"(?:\"[^\"]*\"|\\.|[^;])+", re.S)
_CONDITION = re.compile(r"\[[<>=]")
_DIGIT = re.compile(r"[0#?]|General")
_CODE = re.compile(r"\s*[A-Z]{3}\s*")
"""Of a currency: said behind the figure wherever it is shown, so that a cell begins with its figure."""

_SCALE = re.compile(r"[0#?],+(?![0#?,])")
"""Commas behind the last digit: each divides what is shown by a thousand."""


def formats(book: zipfile.ZipFile) -> dict[str, Cells]:
    """Cells by the name of their sheet; nothing for a workbook without such a format."""
    there = set(book.namelist())
    if not {"xl/styles.xml", "xl/workbook.xml", "xl/_rels/workbook.xml.rels"} <= there:
        return {}
    styles = dict(_styles(ElementTree.fromstring(book.read("xl/styles.xml"))))
    if not styles:
        return {}
    cell = re.compile(rb"<c\b(?=[^>]*\ss=\"(%s)\")[^>]*\sr=\"([A-Z]{1,3})(\d{1,7})\"" % b"|".join(styles))
    return {
        name: {(int(m[3]) - 1, column(m[2]) - 1): styles[m[1]] for m in cell.finditer(book.read(member))}
        for name, member in _sheets(book)
        if member in there
    }


def column(letters: bytes) -> int:
    """`A` is 1."""
    number = 0
    for letter in letters:
        number = number * 26 + letter - 64
    return number


def shown(code: str) -> Shown:
    """What a number format adds. No sign and unit when it scales the figure, or has others for other values."""
    bare = _LITERAL.sub("", code)
    sections = [part for part in _SECTION.findall(code) if _DIGIT.search(_LITERAL.sub("", part))]
    added = {_added(part) for part in sections}
    is_same = len(added) == 1 and not _SCALE.search(bare) and not _CONDITION.search(code)
    sign, unit = added.pop() if is_same else ("", "")
    return Shown("%" in bare, sign, unit)


def _added(section: str) -> tuple[str, str]:
    """Sign and unit."""
    before = after = ""
    for literal in _LITERAL.finditer(section):
        words = "".join(filter(None, literal.groups()))
        if not any(map(_says, words)):
            continue
        if _DIGIT.search(_LITERAL.sub("", section[: literal.start()])):
            after += words
        else:
            before += words
    if _CODE.fullmatch(before):
        return "", f"{before.strip()} {after}".strip()
    return before if before.endswith(" ") or not before[-1:].isalpha() else f"{before} ", after.strip()


def _says(letter: str) -> bool:
    return letter.isalpha() or letter in "%‰°" or unicodedata.category(letter) == "Sc"


def _styles(sheet: ElementTree.Element) -> Iterator[tuple[bytes, Shown]]:
    """Numbers of the styles whose format adds something."""
    adding = BUILT_IN | {
        e.get("numFmtId", ""): shown(e.get("formatCode", "")) for e in sheet.iter() if e.tag.endswith("}numFmt")
    }
    for table in sheet.iter():
        if table.tag.endswith("}cellXfs"):
            for number, style in enumerate(table):
                if (found := adding.get(style.get("numFmtId", ""), PLAIN)) != PLAIN:
                    yield str(number).encode(), found


def _sheets(book: zipfile.ZipFile) -> Iterator[tuple[str, str]]:
    """Name and file of each sheet."""
    relations = ElementTree.fromstring(book.read("xl/_rels/workbook.xml.rels"))
    files = {e.get("Id"): e.get("Target", "") for e in relations}
    for sheet in ElementTree.fromstring(book.read("xl/workbook.xml")).iter():
        if sheet.tag.endswith("}sheet"):
            target = files.get(next((value for key, value in sheet.attrib.items() if key.endswith("}id")), ""), "")
            yield sheet.get("name", ""), posixpath.normpath(posixpath.join("/xl", target)).lstrip("/")
