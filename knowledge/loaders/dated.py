"""When a file was last changed, by its own word: a copy has the file time of the copying, and this in its content.

1. Read what the format says: Office and OpenDocument in a part of their archive, EPUB in its package, PDF in its
   information dictionary, RTF in its head.
2. Without a time zone it is in UTC; without a time it is midnight.
3. None for what is missing or is no date, and for what is not believed: a moment before `EARLIEST`, one more than `AHEAD`
   after `now`, and one of the `STAMPS`. It is never a reason not to read the file.
"""

import io
import posixpath
import re
import zipfile
from datetime import UTC, datetime, timedelta
from xml.etree import ElementTree

EARLIEST = datetime(1990, 1, 1, tzinfo=UTC)
"""None of these formats is much older. What stands for "no date" is: 1601, 1970, 1980."""

AHEAD = timedelta(days=1)
"""A local time read as UTC is up to 14 hours ahead; a clock may be wrong too."""

STAMPS = frozenset(
    {
        datetime(2013, 12, 23, 23, 15, tzinfo=UTC),  # python-docx
        datetime(2013, 1, 27, 9, 15, 58, tzinfo=UTC),  # python-pptx
        datetime(2006, 9, 16, tzinfo=UTC),  # Excel's blank workbook, and what excelize makes of it
        datetime(2000, 1, 1, tzinfo=UTC),  # ReportLab, when it is told to be reproducible
    }
)
"""What libraries leave in every file that they make, as their templates have it."""

MAX_PART_BYTES = 1_000_000
"""Of the part with the date, unpacked. One that Office writes has less than two thousand."""

_CORE = "docProps/core.xml"
_CORE_RELATION = "/metadata/core-properties"
_MODIFIED = "{http://purl.org/dc/terms/}modified"
_DATE = "{http://purl.org/dc/elements/1.1/}date"
_EVENT = "{http://www.idpf.org/2007/opf}event"
_PDF = re.compile(r"\s*(?:D:)?(\d{4})(\d\d)(\d\d)(?:(\d\d)(?:(\d\d)(\d\d)?)?)?(?:([+-]\d\d)(?:'?(\d\d))?)?", re.ASCII)
_RTF = re.compile(r"\{\\revtim((?:\s*\\(?:yr|mo|dy|hr|min|sec)\d{1,4})+)", re.ASCII)
_RTF_FIELD = re.compile(r"\\([a-z]+)(\d+)", re.ASCII)


def of_archive(content: bytes, now: datetime) -> datetime | None:
    """Of an Office file since 2007 or an OpenDocument file."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if "meta.xml" in archive.namelist():
                return _believed(_part(archive, "meta.xml").findtext(f".//{_DATE}"), now)
            return _believed(_part(archive, _core(archive)).findtext(f".//{_MODIFIED}"), now)
    except Exception:  # noqa: BLE001  a damaged archive raises many unrelated kinds, and its text may be whole
        return None


def of_package(package: ElementTree.Element, now: datetime) -> datetime | None:
    """Of an EPUB: version 3's `dcterms:modified` of the whole book, or version 2's date of its last modification."""
    moments = (
        element.text
        for element in package.iter()
        if (element.get("property") == "dcterms:modified" and element.get("refines") is None)
        or (element.tag == _DATE and element.get(_EVENT) == "modification")
    )
    return _believed(next(moments, None), now)


def of_pdf(changed: str | None, made: str | None, now: datetime) -> datetime | None:
    """Of a PDF, by its ModDate; one without was not changed since its CreationDate."""
    found = _PDF.match(changed or made or "")
    if not found:
        return None
    year, month, day, hour, minute, second, zone, zone_minute = found.groups()
    offset = f"{zone}:{zone_minute or '00'}" if zone else ""
    return _believed(f"{year}-{month}-{day}T{hour or '00'}:{minute or '00'}:{second or '00'}{offset}", now)


def of_rtf(rtf: str, now: datetime) -> datetime | None:
    """Of an RTF file. Its time is that of the writer's clock."""
    found = _RTF.search(rtf)
    if not found:
        return None
    fields = {name: int(value) for name, value in _RTF_FIELD.findall(found[1])}
    year, month, day, hour, minute, second = (fields.get(name, 0) for name in ("yr", "mo", "dy", "hr", "min", "sec"))
    return _believed(f"{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}", now)


def _believed(text: str | None, now: datetime) -> datetime | None:
    try:
        moment = datetime.fromisoformat((text or "").strip())
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return moment.astimezone(UTC) if EARLIEST <= moment <= now + AHEAD and moment not in STAMPS else None


def _core(archive: zipfile.ZipFile) -> str:
    """Where the properties are: some libraries give the part a name of their own."""
    if _CORE in archive.namelist():
        return _CORE
    relations = _part(archive, "_rels/.rels")
    target = next(e.get("Target", "") for e in relations if e.get("Type", "").endswith(_CORE_RELATION))
    return posixpath.normpath(target).lstrip("/")


def _part(archive: zipfile.ZipFile, member: str) -> ElementTree.Element:
    with archive.open(member) as file:
        xml = file.read(MAX_PART_BYTES + 1)
    if len(xml) > MAX_PART_BYTES:
        raise ValueError(f"{member} has more than {MAX_PART_BYTES:,} bytes")
    return ElementTree.fromstring(xml, ElementTree.XMLParser(target=_WithoutEntities()))


class _WithoutEntities(ElementTree.TreeBuilder):
    """Only a document type can define entities, and none of these parts may have one."""

    def doctype(self, name: str, _pubid: str | None, _system: str | None) -> None:
        raise ValueError(f"document type {name}")
