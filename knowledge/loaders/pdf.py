"""PDF: text in reading order, page by page, without running headers and footers. Pictures of text are not read."""

import re
from datetime import UTC, datetime
from typing import Any

from knowledge.errors import DocumentUnreadable
from knowledge.loaders import dated
from knowledge.loaders.decoding import clean
from knowledge.loaders.headings import with_true_headings
from knowledge.loaders.hyphens import with_hyphens
from knowledge.loaders.loaded import Loaded, paged, titled
from knowledge.loaders.markdown import first_heading
from knowledge.loaders.paragraphs import with_whole_paragraphs
from knowledge.loaders.printed import printed
from knowledge.loaders.running import without_running_lines

_EMPTY_FENCE = re.compile(r"^```\w*\s*```\s*$", re.M)
_RULE = re.compile(r"^-{3,}[ \t]*$", re.M)
_LEADER = re.compile(r"(?:[ \t]?[.·…_]){5,}")
"""The dots between a heading and its page in a table of contents: most of the word pieces of such a page."""

_OF_A_PART = re.compile(r"\d+(\.\d+)*\.?\s|(table of )?contents$|inhalt(sverzeichnis)?$", re.I)
"""Begins a heading that names a part of the document, not the whole."""


def load(name: str, content: bytes) -> Loaded:
    found = _parse(content)
    texts = _texts(found)
    blank = [number for number, text in enumerate(texts, start=1) if not text]
    if len(blank) == len(texts):
        reasons = {reason for page in found.pages for reason in (page.complexity.reasons if page.complexity else ())}
        if "scanned" in reasons:
            raise DocumentUnreadable("scanned", "scanned pages without text; run it through text recognition first")
        raise DocumentUnreadable("empty", "no page has any text")
    markdown, pages = paged(texts)
    remark = f"no text on page {', '.join(map(str, blank[:10]))}: a picture, or blank"
    return Loaded(
        title=titled(name, headline(texts)),
        markdown=markdown,
        pages=pages,
        updated_at=_updated_at(found.doc_meta),
        remarks=(remark,) if blank else (),
    )


def headline(texts: list[str]) -> str:
    """The heading of the first page with text; empty when it has none, or only of a part."""
    heading = first_heading(next(filter(None, texts)))
    return "" if _OF_A_PART.match(heading) else heading


def _parse(content: bytes) -> Any:
    import liteparse

    parser = liteparse.LiteParse(
        ocr_enabled=False,
        quiet=True,
        output_format="markdown",
        keep_headers_footers=True,
        include_complexity=True,
        extract_document_metadata=True,
    )
    try:
        return parser.parse(content)
    except liteparse.ParseError as error:
        if "password" in str(error):
            raise DocumentUnreadable("encrypted", "encrypted: it needs a password; save it without one") from error
        raise DocumentUnreadable("failed", f"a damaged PDF: {error}") from error


def _updated_at(said: Any) -> datetime | None:
    """`said`: what the PDF says of itself, None when it could not be read."""
    return said and dated.of_pdf(said.mod_date, said.creation_date, datetime.now(UTC))


def _texts(found: Any) -> list[str]:
    """Its pages, put right by what is printed on them."""
    pages = [printed(page) for page in found.pages]
    texts = with_hyphens([clean(page.markdown) for page in found.pages], pages)
    texts = without_running_lines(texts, pages)
    return [
        _tidied(with_whole_paragraphs(with_true_headings(text, page), page))
        for text, page in zip(texts, pages, strict=True)
    ]


def _tidied(markdown: str) -> str:
    return _RULE.sub("", _EMPTY_FENCE.sub("", _LEADER.sub(" …", markdown))).strip()
