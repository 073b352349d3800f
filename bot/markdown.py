"""Markdown as models and documents write it → pieces that Slack shows as meant and that notify nobody. Pure.

1. Parse with a CommonMark parser (tables and strike-through too). Links in Slack's own notation become Markdown links.
2. Write each top-level block again, twice: as Markdown for a `markdown` block, and in Slack's older notation for the
   notification text. Only http(s) links the caller vouches for stay links; raw HTML, mentions and images become text.
3. A table becomes a native table where it fits Slack's limits, else aligned text in a code block.
4. Pieces longer than a limit are cut at lines, then sentences, then words; a code block is closed and opened again.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from bot.mrkdwn import defused, escape, link, safe_url

Vouched = Callable[[str], bool]

TABLE_ROWS, TABLE_COLUMNS = 100, 20
TABLE_CHARS = 9_000
"""Leaves room beside the table in a message; wider tables become text."""

SLACK_LINK = re.compile(r"<(https?://[^|>\s]+)\|([^>\n]*)>")
EMPHASIS = re.compile(r"\\|`|(?<!\s)\*|\*(?!\s)|(?<!\w)_|_(?!\w)|~(?=~)|(?<=~)~|\[(?!\d+\])")
LINE_START = re.compile(r"(?m)^(\s*)(?=#{1,6}\s|[-+]\s|={3,}|-{3,})|^(\s*\d+)(?=[.)]\s)")

_parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])


@dataclass(frozen=True)
class Piece:
    """One block. `markdown` and `plain` (Slack's older notation) say the same; `table` is its native block, if any."""

    markdown: str
    plain: str
    table: dict[str, Any] | None = None

    @property
    def size(self) -> int:
        return table_chars(self.table) if self.table else len(self.markdown)


def pieces(text: str, vouched: Vouched, limit: int) -> tuple[Piece, ...]:
    """The blocks of `text` in order, none longer than `limit` characters. `vouched` says which addresses may be links."""
    root = SyntaxTreeNode(_parser.parse(_with_markdown_links(text)))
    found: list[Piece] = []
    for node in root.children:
        native = _native_table(node, vouched) if node.type == "table" else None
        written = [style.block(node) for style in (Markdown(vouched), Mrkdwn(vouched))]
        if not written[0].strip():
            continue
        if native:
            found.append(Piece(written[0], written[1], native))
        else:
            parts = zip_longest(cut(written[0], limit), cut(written[1], limit))
            found += [Piece(markdown, plain) for markdown, plain in parts]
    return tuple(found)


def zip_longest(first: Sequence[str], second: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Pairs; the two writings of one block may be cut differently, what is left over joins the last pair's second half."""
    for number, markdown in enumerate(first):
        last = number == len(first) - 1
        yield markdown, "\n".join(second[number:]) if last else "".join(second[number : number + 1])


class Markdown:
    """Writes a parsed block as Markdown."""

    bullet, quote, rule = "-", "> ", "---"

    def __init__(self, vouched: Vouched) -> None:
        self.vouched = vouched

    def block(self, node: SyntaxTreeNode) -> str:
        match node.type:
            case "heading":
                return self.heading(int(node.tag[1:]), self.inline(node.children[0]))
            case "paragraph":
                return self.line_starts(self.inline(node.children[0]))
            case "bullet_list" | "ordered_list":
                return self.items(node)
            case "blockquote":
                return "\n".join(self.quote + line for line in self.blocks(node).split("\n"))
            case "fence" | "code_block":
                return self.fence(node.content, node.info.split()[0] if node.info.split() else "")
            case "table":
                return self.fence(aligned(node), "")
            case "hr":
                return self.rule
            case _:
                return self.text(node.content.strip())

    def blocks(self, node: SyntaxTreeNode, gap: str = "\n\n") -> str:
        return gap.join(self.block(child) for child in node.children)

    def items(self, node: SyntaxTreeNode) -> str:
        lines = []
        number = int(node.attrs.get("start", 1) or 1)
        for index, item in enumerate(node.children):
            marker = f"{number + index}." if node.type == "ordered_list" else self.bullet
            tight = all(child.type != "paragraph" or child.hidden for child in item.children)
            body = self.blocks(item, "\n" if tight else "\n\n").split("\n")
            indent = " " * (len(marker) + 1)
            lines += [f"{marker} {body[0]}", *(indent + line if line else "" for line in body[1:])]
        return "\n".join(lines)

    def inline(self, node: SyntaxTreeNode) -> str:
        return "".join(map(self.span, node.children))

    def span(self, node: SyntaxTreeNode) -> str:
        match node.type:
            case "strong":
                return self.strong(self.inline(node))
            case "em":
                return f"_{self.inline(node)}_"
            case "s":
                return self.strike(self.inline(node))
            case "code_inline":
                return self.code(node.content)
            case "link":
                url = str(node.attrs.get("href", ""))
                return self.link(url, plain_text(node)) if self.vouched(url) and safe_url(url) else self.inline(node)
            case "image":
                return self.text(node.content)
            case "softbreak" | "hardbreak":
                return "\n"
            case _:
                return self.text(node.content)

    def heading(self, level: int, text: str) -> str:
        return f"{'#' * level} {text}"

    def line_starts(self, text: str) -> str:
        return LINE_START.sub(lambda m: (m[1] if m[1] is not None else m[2]) + "\\", text)

    def strong(self, text: str) -> str:
        return f"**{text}**"

    def strike(self, text: str) -> str:
        return f"~~{text}~~"

    def code(self, text: str) -> str:
        return f"`` {defused(text)} ``" if "`" in text else f"`{defused(text)}`"

    def fence(self, text: str, language: str) -> str:
        return f"```{language}\n{defused(_unfenced(text))}\n```"

    def link(self, url: str, label: str) -> str:
        target = safe_url(url).replace("&amp;", "&").replace("(", "%28").replace(")", "%29")
        return f"[{self.text(label)}]({target})"

    def text(self, text: str) -> str:
        return escape(EMPHASIS.sub(lambda m: "\\" + m[0], text))


class Mrkdwn(Markdown):
    """Writes a parsed block in Slack's older notation, for notifications, screen readers and thread history."""

    bullet, quote, rule = "•", "> ", "———"

    def heading(self, level: int, text: str) -> str:
        return f"*{text}*"

    def line_starts(self, text: str) -> str:
        return text

    def strong(self, text: str) -> str:
        return f"*{text}*"

    def strike(self, text: str) -> str:
        return f"~{text}~"

    def code(self, text: str) -> str:
        return f"`{escape(text.replace('`', 'ˋ'))}`"

    def fence(self, text: str, language: str) -> str:
        return f"```\n{escape(_unfenced(text))}\n```"

    def link(self, url: str, label: str) -> str:
        return link(url, label)

    def text(self, text: str) -> str:
        return escape(text)


def plain_text(node: SyntaxTreeNode) -> str:
    """The characters of a node without any markup."""
    if not node.children:
        return " " if node.type in ("softbreak", "hardbreak") else node.content
    return "".join(map(plain_text, node.children))


def aligned(table: SyntaxTreeNode) -> str:
    """A table as text, its columns lined up."""
    rows = [[plain_text(cell) for cell in row] for row in _rows(table)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([lines[0], "  ".join("-" * width for width in widths), *lines[1:]])


def table_chars(table: dict[str, Any]) -> int:
    """Characters a reader sees in a native table."""
    spans = [span for row in table["rows"] for cell in row for span in _cell_spans(cell)]
    return sum(len(span.get("text") or span.get("url") or "") for span in spans)


def cut(text: str, limit: int) -> list[str]:
    """`text` in parts of at most `limit` characters. A part that ends inside a code block closes it; the next opens it."""
    if len(text) <= limit:
        return [text]
    if text.startswith("```"):
        opening, _, body = text.partition("\n")
        room = limit - len(opening) - len("\n\n```")
        return [f"{opening}\n{part}\n```" for part in _cut_plain(body.removesuffix("\n```"), room, ("\n",))]
    return _cut_plain(text, limit, ("\n\n", "\n", ". ", " "))


def _cut_plain(text: str, limit: int, breaks: Sequence[str]) -> list[str]:
    parts = []
    while len(text) > limit:
        # A break in the first third would leave a stub; the next finer kind of break is better then.
        ends = (text.rfind(each, limit // 3, limit - len(each) + 1) + len(each) for each in breaks)
        end = next((end for end, each in zip(ends, breaks, strict=True) if end >= limit // 3 + len(each)), limit)
        parts.append(text[:end].rstrip())
        text = text[end:].lstrip("\n")
    return [*parts, text] if text else parts


def _with_markdown_links(text: str) -> str:
    """Links in Slack's notation as Markdown links, outside code blocks."""
    lines, fenced = [], False
    for line in text.split("\n"):
        fenced ^= line.lstrip().startswith("```")
        lines.append(line if fenced else SLACK_LINK.sub(lambda m: f"[{re.sub(r'[][]', ' ', m[2])}]({m[1]})", line))
    return "\n".join(lines)


def _unfenced(text: str) -> str:
    return text.rstrip("\n").replace("```", "`\u200b``")


def _rows(table: SyntaxTreeNode) -> list[list[SyntaxTreeNode]]:
    """The cells' inline nodes, header first."""
    return [[cell.children[0] for cell in row.children] for section in table.children for row in section.children]


def _native_table(table: SyntaxTreeNode, vouched: Vouched) -> dict[str, Any] | None:
    rows = _rows(table)
    if len(rows) > TABLE_ROWS or len(rows[0]) > TABLE_COLUMNS:
        return None
    header = table.children[0].children[0].children
    aligns = [str(cell.attrs.get("style", "")).removeprefix("text-align:") or "left" for cell in header]
    block = {
        "type": "table",
        "rows": [[_cell(inline, vouched) for inline in row] for row in rows],
        "column_settings": [{"align": align, "is_wrapped": True} for align in aligns],
    }
    return block if table_chars(block) <= TABLE_CHARS else None


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
