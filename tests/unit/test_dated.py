"""A file says itself when it was last changed; what it cannot mean is no date, and never a reason not to read it."""

import io
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from xml.etree import ElementTree

import pytest

from knowledge.loaders import dated, load
from tests.office_files import RELS, archive, docx, epub, ods, pdf, pptx, rtf, xlsx

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
CHANGED = datetime(2026, 1, 20, 9, 15, tzinfo=UTC)


def core(modified: str) -> str:
    return (
        '<?xml version="1.0" encoding="UTF-8" standalone="yes"?><cp:coreProperties '
        'xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" '
        'xmlns:dcterms="http://purl.org/dc/terms/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">'
        '<dcterms:created xsi:type="dcterms:W3CDTF">2019-01-01T00:00:00Z</dcterms:created>'
        f'<dcterms:modified xsi:type="dcterms:W3CDTF">{modified}</dcterms:modified></cp:coreProperties>'
    )


def meta(date: str) -> str:
    return (
        '<office:document-meta xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
        'xmlns:meta="urn:oasis:names:tc:opendocument:xmlns:meta:1.0" xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"<office:meta><meta:creation-date>2019-01-01T00:00:00</meta:creation-date><dc:date>{date}</dc:date>"
        "</office:meta></office:document-meta>"
    )


def with_part(content: bytes, name: str, change: Callable[[str], str]) -> bytes:
    """The same archive with a part that is `change` of the one it has there, or of nothing."""
    with zipfile.ZipFile(io.BytesIO(content)) as opened:
        members: dict[str, str | bytes] = {member: opened.read(member) for member in opened.namelist()}
    before = members.get(name, b"")
    return archive(members | {name: change(before if isinstance(before, str) else before.decode())})


def opf(metadata: str) -> str:
    """A package of an EPUB."""
    spaces = (
        'xmlns="http://www.idpf.org/2007/opf" xmlns:opf="http://www.idpf.org/2007/opf" '
        'xmlns:dc="http://purl.org/dc/elements/1.1/"'
    )
    return f"<package {spaces}><metadata>{metadata}</metadata></package>"


def in_core(modified: str) -> datetime | None:
    return dated.of_archive(archive({"docProps/core.xml": core(modified)}), NOW)


BOOK_CHANGED = '<meta property="dcterms:modified">2026-01-20T09:15:00Z</meta><dc:title>'
FILES = {
    "x.docx": with_part(docx(), "docProps/core.xml", lambda _: core("2026-01-20T09:15:00Z")),
    "x.pptx": with_part(pptx(), "docProps/core.xml", lambda _: core("2026-01-20T10:15:00+01:00")),
    "x.xlsx": with_part(xlsx(), "docProps/core.xml", lambda _: core("2026-01-20T09:15:00Z")),
    "x.ods": with_part(ods(), "meta.xml", lambda _: meta("2026-01-20T09:15:00.000000000")),
    "x.epub": with_part(epub(), "book/package.opf", lambda package: package.replace("<dc:title>", BOOK_CHANGED)),
    "x.pdf": pdf("Valve four is red.", says="/ModDate (D:20260120101500+01'00') /CreationDate (D:20190101000000Z)"),
    "x.rtf": rtf().replace(b"\\f0 Keys", rb"{\info{\revtim\yr2026\mo1\dy20\hr9\min15}}\f0 Keys"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_each_format_has_the_date_of_its_last_change(name: str) -> None:
    assert load(name, FILES[name]).updated_at == CHANGED


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.docx", docx()), ("x.pptx", pptx()), ("x.xlsx", xlsx()), ("x.ods", ods()), ("x.epub", epub()),
        ("x.pdf", pdf("Valve four is red.")), ("x.rtf", rtf()),
    ],
)  # fmt: skip
def test_a_file_that_does_not_say_it_has_no_date(name: str, content: bytes) -> None:
    """That of the PPTX is made by python-pptx, and has the stamp of its template."""
    assert load(name, content).updated_at is None


@pytest.mark.parametrize("name", ["x.docx", "x.xlsx"])
@pytest.mark.parametrize("damaged", ["", "<cp:coreProperties", "\x00", core("soon"), core("")])
def test_a_file_whose_date_is_damaged_is_read_without_it(name: str, damaged: str) -> None:
    loaded = load(name, with_part(FILES[name], "docProps/core.xml", lambda _: damaged))
    assert (loaded.updated_at, loaded.markdown) == (None, load(name, FILES[name]).markdown)


@pytest.mark.parametrize(
    ("written", "moment"),
    [
        ("2026-01-20T09:15:00Z", CHANGED),
        (" 2026-01-20T09:15:00.5Z\n", CHANGED + timedelta(seconds=0.5)),
        ("2026-01-20T04:15:00-05:00", CHANGED),
        ("2026-01-20T09:15:00", CHANGED),
        ("2026-01-20", datetime(2026, 1, 20, tzinfo=UTC)),
        ("1990-01-01T00:00:00Z", datetime(1990, 1, 1, tzinfo=UTC)),
        ("1989-12-31T23:59:59Z", None),
        ("1601-01-01T00:00:00Z", None),
        ("0001-01-01T00:00:00+14:00", None),
        ("2026-03-02T12:00:00Z", NOW + timedelta(days=1)),
        ("2026-03-02T12:00:01Z", None),
        ("9999-12-31T23:59:59-14:00", None),
        ("2026-02-30T00:00:00Z", None),
        ("20 January 2026", None),
        ("", None),
    ],
)
def test_a_date_is_believed_between_1990_and_tomorrow_and_is_in_utc_without_a_zone(
    written: str, moment: datetime | None
) -> None:
    found = in_core(written)
    assert found == moment
    assert found is None or found.tzinfo is UTC


@pytest.mark.parametrize("stamp", ["2013-12-23T23:15:00Z", "2013-01-27T09:15:58Z", "2006-09-16T00:00:00Z"])
def test_the_stamp_of_a_librarys_template_is_no_date(stamp: str) -> None:
    assert in_core(stamp) is None
    assert in_core(stamp.replace("Z", "+01:00")) is not None


def test_properties_in_a_part_of_another_name_are_found_by_their_relation() -> None:
    kind = "http://schemas.openxmlformats.org/package/2006/relationships/metadata/core-properties"
    relation = RELS.format(f'<Relationship Id="r2" Type="{kind}" Target="/services/4f.psmdcp"/>')
    named = {"_rels/.rels": relation, "services/4f.psmdcp": core("2026-01-20T09:15:00Z")}
    assert dated.of_archive(archive(named), NOW) == CHANGED
    assert dated.of_archive(archive({"_rels/.rels": relation}), NOW) is None
    assert dated.of_archive(archive({"_rels/.rels": RELS.format("")}), NOW) is None


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_no_part_may_define_entities(encoding: str) -> None:
    xml = core("&day;T09:15:00Z").replace("UTF-8", encoding)
    defined = xml.replace("?>", '?><!DOCTYPE d [<!ENTITY day "2026-01-20">]>', 1)
    assert dated.of_archive(archive({"docProps/core.xml": defined.encode(encoding)}), NOW) is None
    plain = xml.replace("&day;", "2026-01-20")
    assert dated.of_archive(archive({"docProps/core.xml": plain.encode(encoding)}), NOW) == CHANGED


def test_a_part_that_is_far_too_big_is_not_parsed() -> None:
    padded = core("2026-01-20T09:15:00Z").replace("<dcterms:created", " " * dated.MAX_PART_BYTES + "<dcterms:created")
    assert dated.of_archive(archive({"docProps/core.xml": padded}), NOW) is None


def test_what_is_no_archive_has_no_date() -> None:
    whole = archive({"docProps/core.xml": core("2026-01-20T09:15:00Z")})
    for content in (b"", b"PK\x03\x04", whole[:-30], whole[:40] + b"?" * 60 + whole[100:]):
        assert dated.of_archive(content, NOW) is None


@pytest.mark.parametrize(
    ("metadata", "moment"),
    [
        ('<meta property="dcterms:modified">2026-01-20T09:15:00Z</meta>', CHANGED),
        ('<meta property="dcterms:modified" refines="#a">2026-02-20T09:15:00Z</meta>', None),
        ('<dc:date opf:event="publication">2019</dc:date><dc:date opf:event="modification">2026-01-20T09:15</dc:date>', CHANGED),
        ("<dc:date>2026-01-20</dc:date>", None),
        ('<meta property="dcterms:modified"/>', None),
    ],
)  # fmt: skip
def test_a_book_was_changed_when_its_package_says_so_of_the_whole(metadata: str, moment: datetime | None) -> None:
    assert dated.of_package(ElementTree.fromstring(opf(metadata)), NOW) == moment


@pytest.mark.parametrize(
    ("changed", "made", "moment"),
    [
        ("D:20260120091500Z", "D:20190101", CHANGED),
        ("D:20260120101500+01'00'", None, CHANGED),
        ("D:20260120101500+01'00", None, CHANGED),
        ("D:20260120034500-0530", None, CHANGED),
        ("D:20260120091500Z00'00'", None, CHANGED),
        ("D:202601200915", None, CHANGED),
        ("20260120091500", None, CHANGED),
        ("D:20260120", None, datetime(2026, 1, 20, tzinfo=UTC)),
        (None, "D:20260120091500Z", CHANGED),
        ("", "D:20260120091500Z", CHANGED),
        ("yesterday", "D:20260120091500Z", None),
        ("D:202601", None, None),
        ("D:20261320091500Z", None, None),
        ("D:20260120091500+99'00'", None, None),
        ("D:19700101000000Z", None, None),
        ("D:20000101000000+00'00'", None, None),
        (None, None, None),
    ],
)
def test_a_pdf_was_changed_on_its_moddate_and_without_one_when_it_was_made(
    changed: str | None, made: str | None, moment: datetime | None
) -> None:
    assert dated.of_pdf(changed, made, NOW) == moment


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        (r"{\info{\creatim\yr2019\mo1\dy1}{\revtim\yr2026\mo1\dy20\hr9\min15\sec0}}", CHANGED),
        (r"{\revtim \yr2026 \mo1 \dy20}", datetime(2026, 1, 20, tzinfo=UTC)),
        (r"{\revtim\yr0\mo0\dy0\hr0\min0}", None),
        (r"{\revtim\yr2026\mo13\dy20}", None),
        (r"{\revtim}", None),
        (r"\{\\revtim\\yr2026\\mo1\\dy20\}", None),
        ("", None),
    ],
)
def test_an_rtf_file_was_changed_at_its_revision_time(text: str, moment: datetime | None) -> None:
    assert dated.of_rtf(text, NOW) == moment
