"""Markdown as models and documents write it → pieces that Slack shows as meant and that notify nobody. Pure.

1. Parse with a CommonMark parser (tables and strike-through too). Links in Slack's own notation become Markdown links.
2. Write each top-level block again, twice: as Markdown for a `markdown` block, and in Slack's older notation for the
   notification text. Only http(s) links the caller vouches for stay links; raw HTML, mentions and images become text.
3. A table becomes a native table where it fits Slack's limits, else aligned text in a code block.
4. Pieces longer than a limit are cut at lines, then sentences, then words; a code block is closed and opened again.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from bot import table
from bot.mrkdwn import defused, escape, link, safe_url
from bot.parts import cut
from bot.table import Vouched, plain_text

TEXT_COLUMNS = 40
"""A wider table as text would wrap in the middle of its rows where replies are mostly read, in a thread's pane; it becomes
a list of them."""

SLACK_LINK = re.compile(r"<(https?://[^|>\s]+)\|([^>\n]*)>")
EMPHASIS = re.compile(r"\\|`|(?<!\s)\*|\*(?!\s)|(?<!\w)_|_(?!\w)|~(?=~)|(?<=~)~|\[(?!\d+\](?![(:]))")
"""A source's mark, such as [1], is left alone unless it would become a link or say where one leads."""
LINE_START = re.compile(r"(?m)^(\s*)(?=#{1,6}(?:\s|$)|[-+](?:\s|$)|={3,}|-{3,}|>)|^(\s*\d+)(?=[.)](?:\s|$))")
LANGUAGE = re.compile(r"^[\w+#.-]+")
AMBIGUOUS = re.compile(r"&(?=#?\w+;)|<")
BARE_URL = re.compile(r"(https?://[^\s<>`*|\\]+)")
"""Written without a backslash: readers that turn addresses into links would take it for a part of them."""

_parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])


@dataclass(frozen=True)
class Piece:
    """One block. `markdown` and `plain` (Slack's older notation) say the same; `table` is its native block, if any."""

    markdown: str
    plain: str
    table: dict[str, Any] | None = None

    @property
    def size(self) -> int:
        return table.chars(self.table) if self.table else len(self.markdown)


def pieces(text: str, vouched: Vouched, limit: int) -> tuple[Piece, ...]:
    """The blocks of `text` in order, none longer than `limit` characters. `vouched` says which addresses may be links."""
    root = SyntaxTreeNode(_parser.parse(_with_markdown_links(text)))
    found: list[Piece] = []
    for node in root.children:
        native = table.native(node, vouched) if node.type == "table" else None
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
                return self.heading(int(node.tag[1:]), self.inline(node.children[0]).replace("\n", " "))
            case "paragraph":
                return self.line_starts(self.inline(node.children[0]))
            case "bullet_list" | "ordered_list":
                return self.items(node)
            case "blockquote":
                return "\n".join(self.quote + line for line in self.blocks(node).split("\n"))
            case "fence" | "code_block":
                return self.fence(node.content, next(iter(LANGUAGE.findall(node.info)), ""))
            case "table":
                return self.table(node)
            case "hr":
                return self.rule
            case _:
                return self.line_starts(self.text(node.content.strip()))

    def blocks(self, node: SyntaxTreeNode, gap: str = "\n\n") -> str:
        return gap.join(self.block(child) for child in node.children)

    def table(self, node: SyntaxTreeNode) -> str:
        text = table.aligned(node)
        rule = text.split("\n")[1]  # as wide as the widest row
        if len(rule) <= TEXT_COLUMNS:
            return self.fence(text, "")
        header, *rows = ([self.inline(cell).replace("\n", " ") for cell in row] for row in table.rows(node))
        named = (
            [f"{self.strong(name)}: {cell}" if name else cell for name, cell in zip(header, row, strict=True) if cell]
            for row in map(table.marks_behind_text, rows)
        )
        return "\n".join(f"{self.bullet} {' · '.join(row)}" for row in named if row)

    def items(self, node: SyntaxTreeNode) -> str:
        lines = []
        number = int(node.attrs.get("start", 1) or 1)
        for index, item in enumerate(node.children):
            marker = f"{number + index}." if node.type == "ordered_list" else self.bullet
            body = self.item(item).split("\n")
            indent = " " * (len(marker) + 1)
            lines += [f"{marker} {body[0]}", *(indent + line if line else "" for line in body[1:])]
        return "\n".join(lines)

    def item(self, node: SyntaxTreeNode) -> str:
        """Paragraphs of a loose item stay apart. A list in it needs no gap, and some readers would take it out of the item."""
        tight = all(child.type != "paragraph" or child.hidden for child in node.children)
        text = ""
        for number, child in enumerate(node.children):
            text += ("\n" if tight or _may_follow_at_once(child) else "\n\n") * bool(number) + self.block(child)
        return text

    def inline(self, node: SyntaxTreeNode) -> str:
        return "".join(map(self.span, node.children))

    def span(self, node: SyntaxTreeNode) -> str:
        match node.type:
            case "strong":
                return self.strong(self.inline(node))
            case "em":
                return self.emphasis(self.inline(node))
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

    def emphasis(self, text: str) -> str:
        return f"*{text}*"  # underscores would not do so within a word, nor beside a Chinese or Japanese one

    def strike(self, text: str) -> str:
        return f"~~{text}~~"

    def code(self, text: str) -> str:
        ticks = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
        return f"{ticks} {defused(text)} {ticks}" if "`" in text else f"`{defused(text)}`"

    def fence(self, text: str, language: str) -> str:
        return f"```{language}\n{defused(_unfenced(text))}\n```"

    def link(self, url: str, label: str) -> str:
        target = safe_url(url).replace("&amp;", "&").replace("(", "%28").replace(")", "%29")
        return f"[{self.literal(label)}]({target})"

    def text(self, text: str) -> str:
        return "".join(
            self.address(part) if n % 2 else self.literal(part) for n, part in enumerate(BARE_URL.split(text))
        )

    def address(self, text: str) -> str:
        ends = (text, text.rstrip(".,;:!?'\""), text.rstrip(".,;:!?'\")]"))
        url = next(filter(self.vouched, ends), None)
        if url:
            return self.link(url, url) + self.literal(text[len(url) :])
        shown, bracket, rest = text.partition("[")  # in it would begin a link to anywhere
        return shown + self.literal(bracket + rest)

    def literal(self, text: str) -> str:
        return AMBIGUOUS.sub(lambda m: escape(m[0]), EMPHASIS.sub(lambda m: "\\" + m[0], text))


class Mrkdwn(Markdown):
    """Writes a parsed block in Slack's older notation, for notifications, screen readers and thread history."""

    bullet, quote, rule = "•", "> ", "———"

    def heading(self, level: int, text: str) -> str:
        return f"*{text}*"

    def line_starts(self, text: str) -> str:
        return text

    def strong(self, text: str) -> str:
        return f"*{text}*"

    def emphasis(self, text: str) -> str:
        return f"_{text}_"

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


def _may_follow_at_once(node: SyntaxTreeNode) -> bool:
    """A list that begins with another number than 1 does not end a paragraph: https://spec.commonmark.org/0.31.2/#list-items"""
    return node.type == "bullet_list" or (node.type == "ordered_list" and int(node.attrs.get("start", 1) or 1) == 1)


def _with_markdown_links(text: str) -> str:
    """Links in Slack's notation as Markdown links, outside code blocks."""
    lines, fenced = [], False
    for line in text.split("\n"):
        fenced ^= line.lstrip().startswith(("```", "~~~"))
        lines.append(line if fenced else SLACK_LINK.sub(lambda m: f"[{re.sub(r'[][]', ' ', m[2])}]({m[1]})", line))
    return "\n".join(lines)


def _unfenced(text: str) -> str:
    return text.rstrip("\n").replace("```", "`\u200b``")
