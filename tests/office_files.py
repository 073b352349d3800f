"""Small files of each office format, made by hand so that a test shows what is in them."""

import io
import zipfile
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, NamedTuple


def archive(members: Mapping[str, str | bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, content in members.items():
            opened.writestr(name, content)
    return file.getvalue()


TYPES = '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">{}</Types>'
RELS = (
    '<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    "{}</Relationships>"
)
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def docx(footnote: str = "") -> bytes:
    """A heading, a list, a table, a paragraph; with a footnote to the first item when one is given."""

    def paragraph(text: str, style: str = "", extra: str = "") -> str:
        properties = (f'<w:pStyle w:val="{style}"/>' if style else "") + extra
        return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"

    def row(*cells: str) -> str:
        return "<w:tr>" + "".join(f"<w:tc>{paragraph(cell)}</w:tc>" for cell in cells) + "</w:tr>"

    mention = '<w:r><w:footnoteReference w:id="2"/></w:r>' if footnote else ""
    bullet = '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>'
    body = (
        paragraph("Lift checks", "Heading1")
        + paragraph("Look", extra=bullet).replace("</w:p>", mention + "</w:p>")
        + paragraph("Listen", extra=bullet)
        + f"<w:tbl>{row('Lift', 'Limit')}{row('A|1', '900 kg')}</w:tbl>"
        + paragraph("After the table.")
    )
    word = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    numbering = (
        f'<w:numbering {word}><w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/></w:lvl>'
        '</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num></w:numbering>'
    )
    styles = f'<w:styles {word}><w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/></w:style></w:styles>'
    part = "application/vnd.openxmlformats-officedocument.wordprocessingml"
    return archive(
        {
            "[Content_Types].xml": TYPES.format(
                '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
                f'<Override PartName="/word/document.xml" ContentType="{part}.document.main+xml"/>'
            ),
            "_rels/.rels": RELS.format(
                f'<Relationship Id="r1" Type="{OFFICE}/officeDocument" Target="word/document.xml"/>'
            ),
            "word/_rels/document.xml.rels": RELS.format(
                f'<Relationship Id="r1" Type="{OFFICE}/styles" Target="styles.xml"/>'
                f'<Relationship Id="r2" Type="{OFFICE}/numbering" Target="numbering.xml"/>'
                f'<Relationship Id="r3" Type="{OFFICE}/footnotes" Target="footnotes.xml"/>'
            ),
            "word/footnotes.xml": (
                f'<w:footnotes {word}><w:footnote w:id="2">{paragraph(footnote)}</w:footnote></w:footnotes>'
            ),
            "word/document.xml": f"<w:document {word}><w:body>{body}</w:body></w:document>",
            "word/styles.xml": styles,
            "word/numbering.xml": numbering,
        }
    )


def pptx() -> bytes:
    """Two slides: one with a title, a group, a table and notes, one without a title and with a chart, a link, a line that
    begins like a heading, and a table with a cell over two rows."""
    import pptx as library
    from pptx.chart.data import CategoryChartData
    from pptx.enum.chart import XL_CHART_TYPE
    from pptx.util import Inches

    deck = library.Presentation()
    first = deck.slides.add_slide(deck.slide_layouts[5])
    first.shapes.title.text = "Harbour"
    group = first.shapes.add_group_shape()
    group.shapes.add_textbox(Inches(1), Inches(1), Inches(2), Inches(1)).text_frame.text = "Grouped words"
    cells = first.shapes.add_table(2, 2, Inches(1), Inches(3), Inches(4), Inches(1)).table
    for index, text in enumerate(("Berth", "Depth", "Nine", "7.4")):
        cells.cell(index // 2, index % 2).text = text
    first.notes_slide.notes_text_frame.text = "Say hello."
    second = deck.slides.add_slide(deck.slide_layouts[6])
    second.shapes.add_textbox(Inches(1), Inches(1), Inches(2), Inches(1)).text_frame.text = "Words without a title"
    lines = second.shapes.add_textbox(Inches(1), Inches(2), Inches(2), Inches(1)).text_frame
    lines.text = "# of cranes: 5"
    link = lines.add_paragraph().add_run()
    link.text, link.hyperlink.address = "Tide table", "https://tides.example/7"
    cells = second.shapes.add_table(3, 3, Inches(5), Inches(3), Inches(4), Inches(1)).table
    for index, text in enumerate(("Quay", "Berth", "Depth", "East", "Nine", "7.4", "", "Ten", "8.1")):
        cells.cell(index // 3, index % 3).text = text
    cells.cell(1, 0).merge(cells.cell(2, 0))
    figures: Any = CategoryChartData  # it has no annotations
    figures = figures()
    figures.categories = ["May", "June"]
    figures.add_series("Crates", (12, 30.5))
    second.shapes.add_chart(XL_CHART_TYPE.PIE, Inches(1), Inches(3), Inches(3), Inches(3), figures)
    file = io.BytesIO()
    deck.save(file)
    return file.getvalue()


def xlsx(last_cell: str = "") -> bytes:
    """One sheet with a caption and, below a blank row, a text, a number and a date; with a blank cell at `last_cell` when
    it is given."""

    def text(reference: str, value: str) -> str:
        return f'<c r="{reference}" t="inlineStr"><is><t>{value}</t></is></c>'

    rows = (
        f'<row r="1">{text("A1", "Parts in shed 4")}</row>'
        f'<row r="3">{text("A3", "Part")}{text("B3", "Count")}{text("C3", "Since")}</row>'
        f'<row r="4">{text("A4", "K9")}<c r="B4"><v>12</v></c><c r="C4" s="1"><v>46085</v></c></row>'
    )
    if last_cell:
        number = "".join(c for c in last_cell if c.isdigit())
        rows += f'<row r="{number}">{text(last_cell, " ")}</row>'
    return _workbook(rows)


Rows = Sequence[Sequence[str | tuple[float, int]]]


def workbook(rows: Rows, merged: str = "") -> bytes:
    """One sheet of texts and of numbers with their format, from its second column on. `OWN_FORMATS` has what they show."""
    cells = ""
    for number, row in enumerate(rows, start=1):
        cells += f'<row r="{number}">'
        for letter, value in zip("BCDEFG", row, strict=False):
            if isinstance(value, str):
                cells += f'<c r="{letter}{number}" t="inlineStr"><is><t>{value}</t></is></c>' if value else ""
            else:
                cells += f'<c r="{letter}{number}" s="{FORMATS.index(value[1])}"><v>{value[0]}</v></c>'
        cells += "</row>"
    return _workbook(cells, f'<mergeCells count="1"><mergeCell ref="{merged}"/></mergeCells>' if merged else "")


OWN_FORMATS = {170: "0.0%", 171: '#,##0.00 "EUR"', 172: "$#,##0.00", 173: '0.0,,"M"'}
FORMATS = (0, 14, 9, 46, *OWN_FORMATS)


def _workbook(rows: str, more: str = "") -> bytes:
    main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    part = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    formats = "".join(f'<xf numFmtId="{number}"/>' for number in FORMATS)
    own = "".join(
        f'<numFmt numFmtId="{number}" formatCode="{escape(code, quote=True)}"/>' for number, code in OWN_FORMATS.items()
    )
    return archive(
        {
            "[Content_Types].xml": TYPES.format(
                f'<Override PartName="/xl/workbook.xml" ContentType="{part}.sheet.main+xml"/>'
            ),
            "_rels/.rels": RELS.format(
                f'<Relationship Id="r1" Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/>'
            ),
            "xl/workbook.xml": (
                f'<workbook {main} xmlns:r="{OFFICE}"><sheets><sheet name="Stock" sheetId="1" r:id="r1"/></sheets></workbook>'
            ),
            "xl/_rels/workbook.xml.rels": RELS.format(
                f'<Relationship Id="r1" Type="{OFFICE}/worksheet" Target="worksheets/sheet1.xml"/>'
                f'<Relationship Id="r2" Type="{OFFICE}/styles" Target="styles.xml"/>'
            ),
            "xl/styles.xml": (
                f'<styleSheet {main}><numFmts count="{len(OWN_FORMATS)}">{own}</numFmts>'
                f"<cellXfs>{formats}</cellXfs></styleSheet>"
            ),
            "xl/worksheets/sheet1.xml": f"<worksheet {main}><sheetData>{rows}</sheetData>{more}</worksheet>",
        }
    )


def ods() -> bytes:
    """The same sheet as `xlsx`."""
    spaces = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "table", "text")
    )

    def text(value: str) -> str:
        return f'<table:table-cell office:value-type="string"><text:p>{value}</text:p></table:table-cell>'

    number = '<table:table-cell office:value-type="float" office:value="12"><text:p>12</text:p></table:table-cell>'
    day = '<table:table-cell office:value-type="date" office:date-value="2026-03-04"><text:p>4.3.</text:p></table:table-cell>'
    rows = (
        f"<table:table-row>{text('Part')}{text('Count')}{text('Since')}</table:table-row>"
        f"<table:table-row>{text('K9')}{number}{day}</table:table-row>"
    )
    content = (
        f'<office:document-content {spaces}><office:body><office:spreadsheet><table:table table:name="Stock">{rows}'
        "</table:table></office:spreadsheet></office:body></office:document-content>"
    )
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    manifest = "urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"
    return archive(
        {
            "mimetype": kind,
            "META-INF/manifest.xml": (
                f'<manifest:manifest xmlns:manifest="{manifest}"><manifest:file-entry manifest:full-path="/" '
                f'manifest:media-type="{kind}"/></manifest:manifest>'
            ),
            "content.xml": content,
        }
    )


def epub() -> bytes:
    """Two chapters whose files are named in the other order, with a note beside the second."""
    container = "urn:oasis:names:tc:opendocument:xmlns:container"
    return archive(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": (
                f'<container xmlns="{container}"><rootfiles><rootfile full-path="book/package.opf"/></rootfiles></container>'
            ),
            "book/package.opf": (
                '<package xmlns="http://www.idpf.org/2007/opf"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
                '<dc:title>Sea tales</dc:title></metadata><manifest><item id="a" href="a%20b.xhtml"/>'
                '<item id="z" href="z.xhtml"/></manifest><spine><itemref idref="z"/><itemref idref="a"/></spine></package>'
            ),
            "book/a b.xhtml": "<html><body><h1>Second</h1><p>Home.</p><aside><p>A note.</p></aside></body></html>",
            "book/z.xhtml": "<html><body><h1>First</h1><p>Away.</p></body></html>",
        }
    )


def rtf() -> bytes:
    """Two paragraphs with an accent and a link, and a table of two rows."""
    link = rb'{\field{\*\fldinst {HYPERLINK "https://keys.example/4"}}{\fldrslt {\ul Ask}}}'
    rows = rb"\trowd Bay\cell Key\cell\row \trowd 4\cell red\cell\row "
    return (
        rb"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 Arial;}}\f0 Keys hang in bay 4.\par "
        + link
        + rb" Zo\'eb first.\par "
        + rows
        + rb"}"
    )


class Print(NamedTuple):
    """A line on a page of 612 x 792 points. `y`: its foot, from the lower edge."""

    text: str
    y: float
    size: float = 12
    x: float = 72


def pdf(*pages: str | Sequence[Print], says: str = "") -> bytes:
    """A page for each text, in Helvetica: one line of 12 points, or lines with their places. `says`: of itself, such as
    `/Title (Tides)`."""
    kids = " ".join(f"{4 + 2 * i} 0 R" for i in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for i, page in enumerate(pages):
        lines = [Print(page, 700)] if isinstance(page, str) else page
        stream = " ".join(f"BT /F1 {line.size} Tf {line.x} {line.y} Td ({line.text}) Tj ET" for line in lines)
        objects += [
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {5 + 2 * i} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>",
            f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream",
        ]
    objects.append(f"<< {says} >>")
    body, offsets = "%PDF-1.4\n", []
    for number, text in enumerate(objects, start=1):
        offsets.append(len(body))
        body += f"{number} 0 obj\n{text}\nendobj\n"
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    size = len(objects) + 1
    trailer = (
        f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n<< /Size {size} /Root 1 0 R /Info {size - 1} 0 R >>\n"
    )
    return (body + trailer + f"startxref\n{len(body)}\n%%EOF\n").encode()
