"""Markdown -> chunks: passages that make sense alone, small enough for the embedding model to read whole.

1. A chunk lies within one section; its heading path says where it is from. Heading lines are not repeated in its text.
2. Blocks (paragraphs, lists, tables, fences) stay whole when they fit; neighbours in a section share a chunk while they fit.
3. A table that is cut repeats its header, a fence its first line, also in a list or quote, as `prefix`: outside the span,
   part of what is read.
4. A short lead-in ("The limits are:") stays with what it introduces. Each question of a list of questions starts a chunk.
5. A chunk begins anew with each page or slide, so that its page is that of all its text.
6. Nothing but a single character is over `max_tokens`, counted on what is embedded (title, path and prefix included).
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from knowledge.loaders.loaded import Loaded
from knowledge.outline import Block, Head, Section, outline, paragraphs
from knowledge.settings import Chunking
from knowledge.splitting import CODE, PROSE, Span, Splitter, at_offsets, overlapped

VERSION = "6"
"""Part of every document's settings hash: raise it when the same text would be cut otherwise."""

SEPARATOR = " › "

MAX_CHARACTERS_PER_TOKEN = 8
"""A tokenizer may count a word of 3,000 letters as one unknown token; English has about 4.5 characters a token."""

_QUESTION = re.compile(
    r"\s*(?:(?:\*\*|__)?(?:Q\s?\d*|Question(?: \d+)?)\s?[:.)]|(?:\*\*|__)[^\n]{3,300}?\?\s*(?:\*\*|__))",
    re.I,
)


@dataclass(frozen=True)
class Chunk:
    """`text` is `markdown[start:end]`. `page` counts from 1, None without pages. `tokens`: of the embedded text."""

    heading_path: tuple[str, ...]
    text: str
    prefix: str
    start: int
    end: int
    page: int | None
    tokens: int


def embedded_text(title: str, heading_path: Sequence[str], prefix: str, text: str) -> str:
    """What is encoded and indexed for a chunk: `Title › Path` on a line, then its text. Nothing is in it twice."""
    same = bool(heading_path) and title.casefold() == heading_path[0].casefold()
    names = [name for name in ((() if same else (title,)) + tuple(heading_path)) if name]
    line = SEPARATOR.join(names)
    body = prefix + text
    if heading_path and not prefix and _is_heading_line(text, heading_path[-1]):
        return line
    return f"{line}\n{body}" if line else body


_LEADS = re.compile(r"[:：]$|^(\*\*|__)(?:(?!\1)[^\n])+\1(?: \([^()\n]*\))?$")
"""What introduces the block below it: it ends in a colon, or is a bold line, which stands for a heading, also with a
remark in parentheses behind it."""


def chunk(
    markdown: str,
    count_tokens: Callable[[str], int],
    settings: Chunking,
    *,
    title: str = "",
    path: tuple[str, ...] = (),
    pages: Sequence[int] = (),
    plain: bool = False,
) -> tuple[Chunk, ...]:
    """Chunks in order of the text.

    `path`: names above the whole text, such as the title of its front matter; left out where the first heading repeats it.
    `pages`: start offset of each page. `plain`: nothing in the text is markup.
    """
    sections = paragraphs(markdown) if plain else outline(markdown)
    chunker = _Chunker(markdown, count_tokens, settings, title, pages)
    result: list[Chunk] = []
    for section, following in zip_longest(sections, sections[1:]):
        named = path if section.path[: len(path)] != path else ()
        placed = replace(section, path=named + section.path)
        if section.blocks:
            result.extend(chunker.section(placed))
        elif following is None or following.level <= section.level:
            result.extend(chunker.bare_heading(placed))
    return tuple(result)


def chunk_document(loaded: Loaded, count_tokens: Callable[[str], int], settings: Chunking) -> tuple[Chunk, ...]:
    """Chunks of a loaded document, under its own title, path and pages."""
    return chunk(
        loaded.markdown,
        count_tokens,
        settings,
        title=loaded.title,
        path=loaded.path,
        pages=loaded.pages,
        plain=loaded.plain,
    )


class _Chunker:
    def __init__(
        self, markdown: str, count: Callable[[str], int], settings: Chunking, title: str, pages: Sequence[int]
    ) -> None:
        self._text = markdown
        self._count = count
        self._settings = settings
        self._title = title
        self._pages = pages
        self._sizes: dict[Span, int] = {}
        self._path_tokens: dict[tuple[str, ...], int] = {}

    def section(self, section: Section) -> Iterator[Chunk]:
        path = self._shortened(section.path)
        room = self._room(path)
        questions = sum(self._is_question(block) for block in section.blocks) > 1
        waiting: list[Span] = []
        for block in section.blocks:
            new_page = bool(waiting) and self._page(block.start) != self._page(waiting[0][0])
            if new_page or (questions and self._is_question(block)):
                yield from self._flush(path, waiting)
            if self._size(block.start, block.end) > room:
                if waiting and self._total(waiting) > self._little(room):
                    yield from self._flush_before(path, waiting, block, room)
                lead = waiting[0][0] if waiting else block.start
                waiting.clear()
                *cut, (last, prefix) = self._cut(block, lead, room)
                for span, head in cut:
                    yield from self._chunks(path, span, head)
                if prefix:
                    yield from self._chunks(path, last, prefix)
                else:
                    waiting.append(last)
                continue
            if waiting and self._total(waiting) + self._size(block.start, block.end) > room:
                yield from self._flush_before(path, waiting, block, room)
            waiting.append((block.start, block.end))
        yield from self._flush(path, waiting)

    def bare_heading(self, section: Section) -> Iterator[Chunk]:
        """A heading with nothing below it is still a fact ("Not supported on Windows")."""
        if section.path:
            yield from self._chunks(self._shortened(section.path), (section.start, section.end), "")

    def _flush(self, path: tuple[str, ...], waiting: list[Span]) -> Iterator[Chunk]:
        if waiting:
            yield from self._chunks(path, (waiting[0][0], waiting[-1][1]), "")
            waiting.clear()

    def _flush_before(self, path: tuple[str, ...], waiting: list[Span], block: Block, room: int) -> Iterator[Chunk]:
        """Send what waits, but keep back a lead-in that fits with the block it introduces, or is short."""
        lead = waiting[-1]
        left = room - self._size(block.start, block.end)  # below 0 for a block that is going to be cut
        most = left if left >= 0 else self._little(room)
        if _LEADS.search(self._text[lead[0] : lead[1]].strip()) and self._size(*lead) <= most:
            yield from self._flush(path, waiting[:-1])
            del waiting[:-1]
        else:
            yield from self._flush(path, waiting)

    def _little(self, room: int) -> int:
        return min(self._settings.min_tokens, room // 4)

    def _cut(self, block: Block, lead: int, room: int) -> list[tuple[Span, str]]:
        """The block in pieces with what each repeats. `lead` is its start, or that of the lead-in before it."""
        lines = [(head, self._text[head.start : head.end]) for head in block.heads]
        heads: dict[Head | None, str] = {head: text for head, text in lines if self._count(text) <= room // 2}
        room -= max(map(self._count, heads.values()), default=0)
        splitter = Splitter(self._text, self._size, room, self._settings.min_tokens)
        finest = CODE if block.kind in ("fence", "code_block") else PROSE
        ways = (*map(at_offsets, block.cuts), *finest)
        spans = splitter.split(lead, block.end, ways)
        top = block.heads[0].end if block.kind == "table" and block.heads[0] in heads else block.start
        if any(block.start < start <= top for start, _ in spans):  # the first row did not fit below its header
            (_, end), *rest = splitter.split(top, block.end, ways)
            spans = [(lead, block.start), (block.start, end), *rest]
        if block.kind in ("paragraph", "html_block") and (share := int(self._settings.overlap * room)):
            spans = replace(splitter, room=room - share).split(lead, block.end, ways)
            spans = overlapped(self._text, spans, self._size, share)
        return [(span, heads.get(block.head(span[0]), "")) for span in spans]

    def _chunks(self, path: tuple[str, ...], span: Span, prefix: str) -> Iterator[Chunk]:
        """One chunk; more when the tokenizer counts the whole as longer than its parts."""
        start, end = self._trimmed(*span)
        if start == end:
            return
        text = self._text[start:end]
        tokens = self._count(embedded_text(self._title, path, prefix, text))
        pieces = self._halves(start, end) if tokens > self._settings.max_tokens else []
        if len(pieces) > 1:
            for piece in pieces:
                yield from self._chunks(path, piece, prefix)
        else:
            yield Chunk(path, text, prefix, start, end, self._page(start), tokens)

    def _halves(self, start: int, end: int) -> list[Span]:
        """At least two pieces, or the stretch itself when it is a single character with its marks."""
        room, pieces = self._size(start, end), [(start, end)]
        while room and len(pieces) == 1:
            room //= 2
            pieces = Splitter(self._text, self._size, room).split(start, end, PROSE)
        return pieces

    def _page(self, offset: int) -> int | None:
        return bisect_right(self._pages, offset) if self._pages else None

    def _trimmed(self, start: int, end: int) -> Span:
        """Without blank lines at its ends; the indentation of a first line is part of it."""
        text = self._text[start:end]
        first = start + len(text) - len(text.lstrip())
        line = self._text.rfind("\n", 0, first) + 1
        return max(start, line) if first < start + len(text) else start, start + len(text.rstrip())

    def _shortened(self, path: tuple[str, ...]) -> tuple[str, ...]:
        """The path, with its longest names cut when it would take more than half of a chunk."""
        while path and self._tokens_of(path) > self._settings.max_tokens // 2:
            longest = max(range(len(path)), key=lambda i: len(path[i]))
            if len(path[longest]) <= 12:
                path = path[:1] + path[2:] if len(path) > 2 else path[1:]
            else:
                name = path[longest][: len(path[longest]) // 2].rstrip() + "…"
                path = (*path[:longest], name, *path[longest + 1 :])
        return path

    def _room(self, path: tuple[str, ...]) -> int:
        return max(8, self._settings.max_tokens - self._tokens_of(path) - 2)

    def _tokens_of(self, path: tuple[str, ...]) -> int:
        if path not in self._path_tokens:
            self._path_tokens[path] = self._count(embedded_text(self._title, path, "", ""))
        return self._path_tokens[path]

    def _size(self, start: int, end: int) -> int:
        """Tokens, or characters by eight where those are more. Remembered: counting is most of the work here."""
        if (start, end) not in self._sizes:
            text = self._text[start:end].strip()
            self._sizes[start, end] = max(self._count(text), -(-len(text) // MAX_CHARACTERS_PER_TOKEN))
        return self._sizes[start, end]

    def _total(self, spans: Sequence[Span]) -> int:
        return sum(self._size(*span) for span in spans)

    def _is_question(self, block: Block) -> bool:
        return _QUESTION.match(self._text, block.start, block.end) is not None


def _is_heading_line(text: str, name: str) -> bool:
    first, _, rest = text.partition("\n")
    return first.strip().strip("#").strip() == name and not rest.strip("=- ")
