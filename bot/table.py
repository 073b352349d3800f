"""A table of a Markdown document as Slack's native table, or as text for where that does not fit. Pure."""

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from markdown_it.tree import SyntaxTreeNode

from bot.mrkdwn import safe_url

Vouched = Callable[[str], bool]

ROWS, COLUMNS = 100, 20
"""https://docs.slack.dev/reference/block-kit/blocks/table-block"""
CHARS = 9_000
"""Leaves room beside the table in a message; larger tables become text."""
MARKS = re.compile(r"(?:\[\d+\]\s*)+")
"""Of sources, and nothing else."""


def native(table: SyntaxTreeNode, vouched: Vouched) -> dict[str, Any] | None:
    cells = rows(table)
    if len(cells) > ROWS or len(cells[0]) > COLUMNS:
        return None
    header = table.children[0].children[0].children
    aligns = [str(cell.attrs.get("style", "")).removeprefix("text-align:") or "left" for cell in header]
    block = {
        "type": "table",
        "rows": [[_cell(inline, vouched) for inline in row] for row in cells],
        "column_settings": [{"align": align, "is_wrapped": True} for align in aligns],
    }
    return block if chars(block) <= CHARS else None


def chars(table: dict[str, Any]) -> int:
    """Characters a reader sees in a native table."""
    spans = [span for row in table["rows"] for cell in row for span in _cell_spans(cell)]
    return sum(len(span.get("text") or span.get("url") or "") for span in spans)


def aligned(table: SyntaxTreeNode) -> str:
    """A table as text, its columns lined up."""
    texts = [[plain_text(cell) for cell in row] for row in rows(table)]
    wide = [max(map(columns, column)) for column in zip(*texts, strict=True)]
    lines = [
        "  ".join(text + " " * (width - columns(text)) for text, width in zip(row, wide, strict=True)).rstrip()
        for row in texts
    ]
    return "\n".join([lines[0], "  ".join("-" * width for width in wide), *lines[1:]])


def columns(text: str) -> int:
    """How many columns of a fixed-width font it fills: two for a Chinese, Japanese or Korean character and for emoji."""
    shown = (c for c in text if not unicodedata.combining(c) and unicodedata.category(c) not in ("Cf", "Mn", "Me"))
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in shown)


def rows(table: SyntaxTreeNode) -> list[list[SyntaxTreeNode]]:
    """The cells' inline nodes, header first."""
    return [[cell.children[0] for cell in row.children] for section in table.children for row in section.children]


def marks_behind_text(row: Sequence[str]) -> list[str]:
    """The cells of a row, with the marks that stand alone at its end moved behind its last text, if there is any."""
    last = max((n for n, cell in enumerate(row) if cell and not MARKS.fullmatch(cell)), default=len(row))
    marks = [cell for cell in row[last + 1 :] if cell]
    return [*row[:last], *(" ".join([cell, *marks]) for cell in row[last : last + 1]), *("" for _ in row[last + 1 :])]


def plain_text(node: SyntaxTreeNode) -> str:
    """The characters of a node without any markup."""
    if not node.children:
        return " " if node.type in ("softbreak", "hardbreak") else node.content
    return "".join(map(plain_text, node.children))


def _cell(inline: SyntaxTreeNode, vouched: Vouched) -> dict[str, Any]:
    spans = [span for node in inline.children for span in _spans(node, vouched, {})]
    if all(span["type"] == "text" and "style" not in span for span in spans):
        return {"type": "raw_text", "text": "".join(span["text"] for span in spans) or " "}
    return {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": spans}]}


def _spans(node: SyntaxTreeNode, vouched: Vouched, style: dict[str, bool]) -> Iterator[dict[str, Any]]:
    styles = {"strong": "bold", "em": "italic", "s": "strike", "code_inline": "code"}
    style = {**style, styles[node.type]: True} if node.type in styles else style
    url = str(node.attrs.get("href", "")) if node.type == "link" else ""
    if url and vouched(url) and safe_url(url):
        yield {"type": "link", "url": safe_url(url).replace("&amp;", "&"), "text": plain_text(node) or url}
    elif node.children:
        for child in node.children:
            yield from _spans(child, vouched, style)
    elif text := plain_text(node):
        yield {"type": "text", "text": text, **({"style": style} if style else {})}


def _cell_spans(cell: dict[str, Any]) -> list[dict[str, Any]]:
    return [cell] if cell["type"] == "raw_text" else list(cell["elements"][0]["elements"])
