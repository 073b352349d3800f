"""Presentations: a section for each slide, with the text of all its shapes, its tables and its notes."""

import io
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

from knowledge.errors import DocumentUnreadable
from knowledge.loaders import archives, dated
from knowledge.loaders.decoding import clean
from knowledge.loaders.loaded import Loaded, paged, titled
from knowledge.loaders.prose import one_line
from knowledge.loaders.tables import table


def load(name: str, content: bytes) -> Loaded:
    archives.check(content)
    import pptx

    deck = pptx.Presentation(io.BytesIO(content))
    slides = [_slide(slide, number) for number, slide in enumerate(deck.slides, start=1)]
    if not any(body for _, body in slides):
        raise DocumentUnreadable("empty", "no slide has any text")
    markdown, pages = paged([f"# {title}\n\n{body}".rstrip() for title, body in slides])
    return Loaded(
        title=titled(name, clean(deck.core_properties.title or ""), slides[0][0]),
        markdown=markdown,
        pages=pages,
        updated_at=dated.of_archive(content, datetime.now(UTC)),
    )


def _slide(slide: Any, number: int) -> tuple[str, str]:
    title = slide.shapes.title
    name = " ".join(clean(title.text_frame.text).split()) if title is not None and title.has_text_frame else ""
    parts = [
        part
        for shape in _flat(slide.shapes)
        if title is None or shape.shape_id != title.shape_id
        for part in _parts(shape)
    ]
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        notes = clean(slide.notes_slide.notes_text_frame.text).strip()
        parts += [f"Notes: {notes}"] if notes else []
    return name or f"Slide {number}", "\n\n".join(filter(None, parts))


def _flat(shapes: Iterable[Any]) -> Iterator[Any]:
    for shape in shapes:
        if hasattr(shape, "shapes"):
            yield from _flat(shape.shapes)
        else:
            yield shape


def _parts(shape: Any) -> Iterator[str]:
    if getattr(shape, "has_table", False):
        yield table(_rows(shape.table))
    elif shape.has_text_frame:
        lines = [(p.level, one_line(_words(p))) for p in shape.text_frame.paragraphs]
        lines = [(level, line) for level, line in lines if line]
        if len(lines) == 1:
            yield lines[0][1]
        elif lines:
            yield "\n".join(f"{'  ' * level}- {line}" for level, line in lines)
    elif getattr(shape, "has_chart", False):
        yield from _chart(shape.chart)


def _words(paragraph: Any) -> str:
    text: str = paragraph.text
    for run in paragraph.runs:
        address = run.hyperlink.address or ""
        if address.startswith(("https://", "http://")) and run.text.strip():
            text = text.replace(run.text, f"[{run.text}]({address})", 1)
    return clean(text)


def _rows(grid: Any) -> list[list[str]]:
    """A cell that reaches over rows is said in each of them."""
    rows: list[list[str]] = []
    for row in grid.rows:
        above = rows[-1] if rows else []
        cells = [clean(cell.text) for cell in row.cells]
        for i, cell in enumerate(row.cells):
            if cell.is_spanned and cell._tc.vMerge and not cell._tc.hMerge and above:
                cells[i] = above[i]
        rows.append(cells)
    return rows


def _chart(chart: Any) -> Iterator[str]:
    """The figures behind the picture: a row for each category, a column for each series."""
    if chart.has_title and chart.chart_title.has_text_frame:
        yield f"Chart: {' '.join(clean(chart.chart_title.text_frame.text).split())}"
    for plot in chart.plots:
        series = [(str(one.name or ""), tuple(one.values)) for one in plot.series]
        rows = [
            [
                str(category),
                *(f"{values[i]:.12g}" if i < len(values) and values[i] is not None else "" for _, values in series),
            ]
            for i, category in enumerate(plot.categories)
        ]
        yield table([["", *(name for name, _ in series)], *rows])
