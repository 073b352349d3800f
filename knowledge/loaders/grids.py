"""Tables of a page made ready to become Markdown, whose tables are plain grids.

1. A cell that reaches over rows is said in each of them: a row must make sense without the one above.
2. Columns of line numbers beside code go.
3. A table that only places things on the page is opened: what is in its cells stays as it is.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

MAX_REPEATED = 500
"""Characters of a cell that is said again in each row; a longer one is a text beside a list."""

_GROUPS = frozenset({"thead", "tbody", "tfoot"})
_CELLS = frozenset({"td", "th"})
_PARTS = _GROUPS | _CELLS | {"table", "tr", "caption"}
_ENDED = {
    **dict.fromkeys(_CELLS, _CELLS | {"caption"}),
    "tr": _CELLS | {"tr", "caption"},
    **dict.fromkeys(_GROUPS, _GROUPS | _CELLS | {"tr", "caption"}),
}
"""Part -> parts that end where it starts, though their end tags are left out."""

_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_BLOCKS = frozenset({"table", "pre", "ul", "ol", "dl", "blockquote"})
_NUMBERS = re.compile(r"\b(?:linenos?|linenumbers?|line-numbers?|gutter|lineno)\b", re.I)
_ROWSPAN = re.compile(r"\srowspan\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s>]+)", re.I)


@dataclass
class _Part:
    """`start`: its tag as written. `tags`: of the elements in it that are no parts of tables."""

    tag: str
    start: str = ""
    attributes: dict[str, str] = field(default_factory=dict)
    children: "list[str | _Part]" = field(default_factory=list)
    tags: list[str] = field(default_factory=list)

    def parts(self, *tags: str) -> "list[_Part]":
        return [child for child in self.children if isinstance(child, _Part) and child.tag in tags]

    def span(self, name: str) -> int:
        value = self.attributes.get(name, "")
        return int(value) if value.isascii() and value.isdigit() and 0 < int(value) <= 1000 else 1


class _Reader(HTMLParser):
    """Keeps everything as it is written, and the parts of tables as a tree."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.page = _Part("")
        self._open = [self.page]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _PARTS:
            self._open[-1].tags.append(tag)
            self._keep(self.get_starttag_text() or "")
            return
        while self._open[-1].tag in _ENDED.get(tag, ()):
            self._open.pop()
        part = _Part(tag, self.get_starttag_text() or "", {name: value or "" for name, value in attrs})
        self._open[-1].children.append(part)
        self._open[-1].tags.append(tag)
        self._open.append(part)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag in _PARTS:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in _PARTS:
            self._keep(f"</{tag}>")
            return
        for depth in range(len(self._open) - 1, 0, -1):
            if self._open[depth].tag == tag:
                del self._open[depth:]
                return
            if self._open[depth].tag == "table":
                return

    def handle_data(self, data: str) -> None:
        self._keep(data)

    def handle_entityref(self, name: str) -> None:
        self._keep(f"&{name};")

    def handle_charref(self, name: str) -> None:
        self._keep(f"&#{name};")

    def handle_decl(self, decl: str) -> None:
        self._keep(f"<!{decl}>")

    def _keep(self, text: str) -> None:
        self._open[-1].children.append(text)


def arranged(html: str) -> str:
    """The page with its tables as grids. Comments go; a page that cannot be parsed stays as it is."""
    if "<table" not in html.lower():
        return html
    reader = _Reader()
    try:
        reader.feed(html)
        reader.close()
        return _inner(reader.page)
    except (AssertionError, RecursionError):  # a declaration unknown to Python's parser; tables in tables in tables
        return html


def _inner(part: _Part) -> str:
    return "".join(child if isinstance(child, str) else _written(child) for child in part.children)


def _written(part: _Part) -> str:
    if part.tag != "table":
        return f"{part.start}{_inner(part)}</{part.tag}>"
    groups = [part, *part.parts(*_GROUPS)]
    rows = [row for group in groups for row in group.parts("tr")]
    for row in rows:
        row.children = [child for child in row.children if not _is_line_numbers(child)]
    if _is_layout(part, rows):
        return "".join(_opened(part))
    for group in groups:
        _fill(group.parts("tr"))
    return f"{part.start}{_inner(part)}</table>"


def _is_line_numbers(child: "str | _Part") -> bool:
    return isinstance(child, _Part) and child.tag == "td" and bool(_NUMBERS.search(child.attributes.get("class", "")))


def _is_layout(table: _Part, rows: list[_Part]) -> bool:
    """It says so, has headings of the page in it, or is one row or one column of whole blocks without a header."""
    if table.attributes.get("role") in ("presentation", "none"):
        return True
    cells = [cell for row in rows for cell in row.parts(*_CELLS)]
    if any(_HEADINGS & set(cell.tags) for cell in cells if cell.tag == "td"):
        return True
    if any(cell.tag == "th" for cell in cells) or (len(rows) > 1 and len(cells) > len(rows)):
        return False
    return any(_BLOCKS & set(cell.tags) or cell.tags.count("p") > 1 for cell in cells)


def _opened(part: _Part) -> Iterator[str]:
    for child in part.children:
        if isinstance(child, str):
            yield child
        elif child.tag in _CELLS or child.tag == "caption":
            yield f"<div>{_inner(child)}</div>"
        elif child.tag == "table":
            yield _written(child)
        else:
            yield from _opened(child)


def _fill(rows: list[_Part]) -> None:
    """Cells that reach down are put into each row they reach."""
    reaching: dict[int, tuple[int, _Part]] = {}
    for row in rows:
        own = row.parts(*_CELLS)
        cells: list[str | _Part] = []
        further: dict[int, tuple[int, _Part]] = {}
        column = 0
        while own or any(at >= column for at in reaching):
            if column in reaching:
                rows_left, cell = reaching[column]
            elif own:
                cell = own.pop(0)
                rows_left = cell.span("rowspan")
                cell.start = _ROWSPAN.sub("", cell.start)
            else:
                cell, rows_left = _Part("td", "<td>"), 1
            cells.append(cell)
            if rows_left > 1:
                further[column] = (rows_left - 1, cell if len(_inner(cell)) <= MAX_REPEATED else _Part("td", "<td>"))
            column += cell.span("colspan")
        row.children, reaching = cells, further
