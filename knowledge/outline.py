"""Markdown -> sections: a heading path and the blocks below it, each with its exact span and where it may be cut.

CommonMark decides what is a heading: nothing inside fences, indented code, quotes, lists or HTML is one. Only blocks
of the outermost level are looked at; what is nested in them gives the places where a block that is too long is cut.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

Cuts = tuple[int, ...]

_parser = MarkdownIt("commonmark").enable(["table", "strikethrough"]).disable("inline")
"""Finds blocks; only headings are parsed further, which saves most of the time."""

_inline = MarkdownIt("commonmark").enable("strikethrough")
_CLOSING = re.compile(r"\s+#+\s*$")
_LINE_END = re.compile(r"\r\n|\n|\r")
_ATTRIBUTES = re.compile(r"\s*(?:\{[:#.][^{}]*\}|\{/.*?/\})\s*$")
_FOOTNOTE = re.compile(r"\[\^[^\]\s]+\]")
_HTML_HEADING = re.compile(r"\s*<h([1-6])\b[^>]*>(.*?)</h\1\s*>\s*", re.S | re.I)
_TAG = re.compile(r"<[^<>]*>")
_INLINE_TAG = re.compile(
    r"</?(?:a|abbr|b|big|br|center|cite|code|del|em|font|i|img|ins|kbd|mark|q|s|samp|small|span|strong|sub|sup|tt|u|var)\b|<!"
)
_BLANK_LINES = re.compile(r"\n[ \t]*\n\s*")


class Head(NamedTuple):
    """Lines that what is cut out of `[end, until)` begins with again: a table's header, a fence's first line."""

    start: int
    end: int
    until: int


@dataclass(frozen=True)
class Block:
    """`cuts`: offsets of nested blocks, outermost level first. `heads`: its own and those of what is nested in it."""

    start: int
    end: int
    kind: str
    cuts: tuple[Cuts, ...] = ()
    heads: tuple[Head, ...] = ()

    def head(self, offset: int) -> Head | None:
        """Of the innermost table or fence whose body begins before `offset` and ends behind it."""
        return next((head for head in reversed(self.heads) if head.end <= offset < head.until), None)


@dataclass(frozen=True)
class Section:
    """`path`: names of the headings above. `level`: 1-6, 0 before the first heading. `start`, `end`: the heading's own lines."""

    path: tuple[str, ...]
    level: int
    start: int
    end: int
    blocks: tuple[Block, ...]


def outline(markdown: str) -> tuple[Section, ...]:
    """Sections in order of the text. Every character that is not blank is in a heading's lines, in one block, or in a
    rule (`---`) at the edge of a section."""
    return tuple(_sections(_blocks(markdown)))


def paragraphs(text: str) -> tuple[Section, ...]:
    """Plain text as one section without a name: blank lines part its blocks, and nothing in it is markup."""
    ends = [m.end() for m in _BLANK_LINES.finditer(text)]
    spans = zip([0, *ends], [*ends, len(text)], strict=True)
    blocks = tuple(Block(start, end, "paragraph") for start, end in spans if text[start:end].strip())
    return (Section((), 0, 0, 0, blocks),) if blocks else ()


@dataclass(frozen=True)
class _Heading:
    level: int
    name: str
    start: int
    end: int


def _sections(items: Iterator[Block | _Heading]) -> Iterator[Section]:
    above: list[_Heading] = []
    heading = _Heading(0, "", 0, 0)
    blocks: list[Block] = []

    def section() -> Section:
        path = tuple(h.name for h in above if h.name)
        return Section(path, heading.level, heading.start, heading.end, _without_outer_rules(blocks))

    for item in items:
        if isinstance(item, Block):
            blocks.append(item)
            continue
        if heading.level or blocks:
            yield section()
        above = [h for h in above if h.level < item.level] + [item]
        heading, blocks = item, []
    if heading.level or blocks:
        yield section()


def _without_outer_rules(blocks: list[Block]) -> tuple[Block, ...]:
    """Lines that part sections say nothing inside of one."""
    inner = [index for index, block in enumerate(blocks) if block.kind != "hr"]
    return tuple(blocks[inner[0] : inner[-1] + 1]) if inner else ()


def _blocks(markdown: str) -> Iterator[Block | _Heading]:
    """Blocks and headings of the outermost level; lines the parser keeps for itself (link definitions) are blocks too."""
    offsets = [0, *(m.end() for m in _LINE_END.finditer(markdown)), len(markdown)]
    environment: dict[str, object] = {}
    tokens = _parser.parse(markdown, environment)
    done = 0
    for index, token in enumerate(tokens):
        if token.level or not token.map:
            continue
        first, last = token.map
        yield from _kept_lines(markdown, offsets[done], offsets[first])
        start, end = offsets[first], offsets[min(last, len(offsets) - 1)]
        done = last
        heading = _heading(token, tokens[index + 1 : index + 2], environment, start, end)
        yield heading or Block(start, end, token.type.removesuffix("_open"), *_inside(token, tokens, index, offsets))
    yield from _kept_lines(markdown, offsets[min(done, len(offsets) - 1)], len(markdown))


def _kept_lines(markdown: str, start: int, end: int) -> Iterator[Block]:
    if markdown[start:end].strip():
        yield Block(start, end, "definition")


def _heading(
    token: Token, following: list[Token], environment: dict[str, object], start: int, end: int
) -> _Heading | None:
    if token.type == "heading_open":
        return _Heading(int(token.tag[1]), heading_name(following[0].content, environment), start, end)
    if token.type == "html_block" and (found := _HTML_HEADING.fullmatch(token.content)):
        return _Heading(int(found[1]), " ".join(_TAG.sub("", found[2]).split()), start, end)
    return None


def heading_name(heading: str, environment: dict[str, object]) -> str:
    """A heading as people read it: no emphasis marks, addresses, anchors, footnote marks or HTML. `environment`: what
    the parser knows of the whole text, such as its link definitions."""
    inline = _inline.parseInline(_ATTRIBUTES.sub("", heading), environment)[0]
    text = "".join(_spoken(child) for child in inline.children or [])
    return " ".join(_CLOSING.sub("", _FOOTNOTE.sub("", text)).split())


def _spoken(child: Token) -> str:
    match child.type:
        case "softbreak" | "hardbreak":
            return " "
        case "html_inline":  # `<file>` is a word
            return "" if _INLINE_TAG.match(child.content) else child.content
        case _:
            return child.content  # of an image: its alternative text


def _inside(
    token: Token, tokens: list[Token], index: int, offsets: list[int]
) -> tuple[tuple[Cuts, ...], tuple[Head, ...]]:
    """Where the blocks nested in `token` start, by level, but not behind a head, which says nothing alone; and all heads."""
    heads = _head(token, offsets)
    levels: dict[int, list[int]] = {}
    if token.nesting == 1:
        for inner in tokens[index + 1 :]:
            if inner.level == token.level and inner.nesting == -1:
                break
            if inner.map and inner.type != "inline":
                levels.setdefault(inner.level, []).append(offsets[inner.map[0]])
                heads += _head(inner, offsets)
    inside = {offset for starts in levels.values() for offset in starts}
    kept = {offset for offset in inside if not any(head.start < offset <= head.end for head in heads)}
    return tuple(tuple(sorted(kept.intersection(levels[level]))) for level in sorted(levels)), heads


def _head(token: Token, offsets: list[int]) -> tuple[Head, ...]:
    lines = {"table_open": 2, "fence": 1}.get(token.type)
    if not lines or not token.map:
        return ()
    first, last = token.map
    return (Head(offsets[first], offsets[first + lines], offsets[min(last, len(offsets) - 1)]),)
