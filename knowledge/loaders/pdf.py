"""PDF: text in reading order, page by page, without running headers and footers. Pictures of text are not read."""

import re
from collections import Counter
from typing import Any

from knowledge.errors import DocumentUnreadable
from knowledge.loaders.decoding import clean
from knowledge.loaders.loaded import Loaded, paged, titled
from knowledge.loaders.markdown import first_heading

_EMPTY_FENCE = re.compile(r"^```\w*\s*```\s*$", re.M)
_RULE = re.compile(r"^-{3,}[ \t]*$", re.M)
_LEADER = re.compile(r"(?:[ \t]?[.·…_]){5,}")
"""The dots between a heading and its page in a table of contents: most of the word pieces of such a page."""

_PAGE_NUMBER = re.compile(
    r"\W*(?:page|seite|pagina|página|p\.)?\s*\d{1,4}(?:\s*(?:of|/|von|van|de|sur)\s*\d{1,4})?\W*", re.I
)

_OF_A_PART = re.compile(r"\d+(\.\d+)*\.?\s|(table of )?contents$|inhalt(sverzeichnis)?$", re.I)
"""Begins a heading that names a part of the document, not the whole."""

SUSPICIOUS_SHARE = 0.15
"""Of the text lost with headers and footers. Pages that differ in their figures alone lose real lines to the parser's
own rule (measured on a catalogue of 200 such pages); above this share it is not believed."""


def load(name: str, content: bytes) -> Loaded:
    found = _parse(content, keep=False)
    texts, whole = _texts(found), _texts(_parse(content, keep=True))
    if sum(map(len, texts)) < (1 - SUSPICIOUS_SHARE) * sum(map(len, whole)):
        texts = whole
    texts = without_running_lines(texts)
    blank = [number for number, text in enumerate(texts, start=1) if not text]
    if len(blank) == len(texts):
        reasons = {reason for page in found.pages for reason in (page.complexity.reasons if page.complexity else ())}
        if "scanned" in reasons:
            raise DocumentUnreadable("scanned", "scanned pages without text; run it through text recognition first")
        raise DocumentUnreadable("empty", "no page has any text")
    markdown, pages = paged(texts)
    title = getattr(found.doc_meta, "title", None) or ""
    remark = f"no text on page {', '.join(map(str, blank[:10]))}: a picture, or blank"
    return Loaded(
        title=titled(name, headline(texts), clean(title)),
        markdown=markdown,
        pages=pages,
        remarks=(remark,) if blank else (),
    )


def headline(texts: list[str]) -> str:
    """The heading of the first page with text; empty when it has none, or only of a part."""
    heading = first_heading(next(filter(None, texts)))
    return "" if _OF_A_PART.match(heading) else heading


def _parse(content: bytes, keep: bool) -> Any:
    import liteparse

    parser = liteparse.LiteParse(
        ocr_enabled=False, quiet=True, output_format="markdown", keep_headers_footers=keep, include_complexity=True
    )
    try:
        return parser.parse(content)
    except liteparse.ParseError as error:
        if "password" in str(error):
            raise DocumentUnreadable("encrypted", "encrypted: it needs a password; save it without one") from error
        raise DocumentUnreadable("failed", f"a damaged PDF: {error}") from error


def _texts(parsed: Any) -> list[str]:
    return [_tidied(clean(page.markdown)) for page in parsed.pages]


def _tidied(markdown: str) -> str:
    return _RULE.sub("", _EMPTY_FENCE.sub("", _LEADER.sub(" …", markdown))).strip()


def without_running_lines(texts: list[str]) -> list[str]:
    """Pages without the lines at their top and bottom that are equal on most pages, or on most left or right ones, or
    are the page's number on most.

    Headings and rows of tables stay: a table that goes on repeats its header.
    """
    pages = [text.split("\n") for text in texts]
    often = max(2, len(pages) // 2)
    of_a_side = max(2, len(pages) // 3)
    running = _repeated(pages, often) | _repeated(pages[::2], of_a_side) | _repeated(pages[1::2], of_a_side)
    numbered = sum(any(map(_PAGE_NUMBER.fullmatch, {*_edge(page), *_edge(page[::-1])})) for page in pages) > often

    def goes(line: str) -> bool:
        return not line.strip() or line in running or bool(numbered and _PAGE_NUMBER.fullmatch(line))

    def stripped(lines: list[str]) -> list[str]:
        while lines and goes(lines[0]):
            lines = lines[1:]
        return lines

    return ["\n".join(stripped(stripped(page)[::-1])[::-1]) for page in pages]


def _repeated(pages: list[list[str]], often: int) -> set[str]:
    """Lines at the edges of more than that many pages."""
    edges = Counter(line for page in pages for line in {*_edge(page), *_edge(page[::-1])})
    return {line for line, count in edges.items() if count > often and not line.startswith(("#", "|"))}


def _edge(lines: list[str]) -> list[str]:
    return [line for line in lines if line.strip()][:2]
