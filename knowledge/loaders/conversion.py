"""HTML -> Markdown, without what a reader of the page does not see or does not come for."""

import re
from typing import Literal

from knowledge.errors import DocumentUnreadable
from knowledge.loaders.comments import without_comments
from knowledge.loaders.decoding import clean
from knowledge.loaders.grids import arranged
from knowledge.loaders.notes import noted
from knowledge.loaders.prose import substitute
from knowledge.loaders.references import with_notes_below

Extent = Literal["article", "page", "book"]
"""What is kept. Article: nothing that stands around it, by its element, its role or its name. Page: banners known by
their names alone stay, and forms. Book: what stands aside or below is a note, not a banner."""

_UNSEEN = (
    "[aria-hidden=true]", "[hidden]", "script", "style", "template", "noscript", "button", "svg", "iframe", "select",
    "textarea",
)  # fmt: skip
_NAVIGATION = ("nav", "[role=navigation]", "[role=banner]", "[role=search]", "[role=dialog]")
_MARGINS = ("aside", "footer", "[role=contentinfo]")
_NAMED = ("form", "[class*=cookie]", "[id*=cookie]", "[class*=consent]", "[id*=consent]", "[class*=breadcrumb]")
_LEFT_OUT: dict[Extent, tuple[str, ...]] = {
    "article": (*_UNSEEN, *_NAVIGATION, *_MARGINS, *_NAMED),
    "page": (*_UNSEEN, *_NAVIGATION, *_MARGINS),
    "book": (*_UNSEEN, *_NAVIGATION, *_NAMED),
}

_POWER = re.compile(r"(?<=[\w)])<sup\b[^<>]*>\s*([-+−]?\d{1,4})\s*</sup\s*>", re.I)
"""10<sup>6</sup> is not 106."""

_ROOT = re.compile(r"<(html|body)\b[^<>]*>", re.I)
"""Its classes tell of the whole site (`cookies-not-set`), not that all of it is a banner."""

_PLACE_MARK = re.compile(
    r"<a\b[^<>]*\bhref\s*=\s*[\"']?#[^<>]*>(?:\s*(?:skip|jump) to [^<>]{1,40}|(?:&(?:#\w+|nbsp|para|sect|larr|uarr);|<svg\b(?:(?!<svg\b).)*?</svg\s*>|[^\w<>&])*)</a\s*>",
    re.I | re.S,
)
"""A link without a word to a place on its own page, as stands behind headings and footnotes, and a way past the menu."""

_TAB = re.compile(r"<([a-z]+)\b(?=[^<>]*\brole\s*=\s*[\"']?tabpanel)[^<>]*>", re.I)
"""All but one are hidden until their tab is clicked."""

_SUMMARY_HEADING = re.compile(
    r"(<summary\b[^<>]*>\s*)<h([1-6])\b[^<>]*>((?:(?!<h[1-6]\b).)*?)</h\2\s*>(?=\s*</summary)", re.I | re.S
)
_PREFORMATTED = re.compile(r"<pre\b[^<>]*>(?:(?!<pre\b).)*?</pre\s*>", re.I | re.S)
_LINK_TAG = re.compile(r"</?a\b[^<>]*>", re.I)
"""Code shows the words of its links, not their Markdown."""

_HEADING = re.compile(r"<h([1-6])\b[^<>]*>(?:(?!<h[1-6]\b).)*?</h\1\s*>", re.I | re.S)
_LESS = "\ue0fe"


def to_markdown(html: str, base_url: str | None = None, *, extent: Extent = "article") -> str:
    """Markdown of a page or a part of one. `base_url`: where its links start from; None leaves them as they are.

    Raises `DocumentUnreadable` when it cannot be parsed.
    """
    import html_to_markdown as converter

    options = converter.ConversionOptions(
        extract_metadata=False,
        bullets="-",
        compact_tables=True,
        exclude_selectors=list(_LEFT_OUT[extent]),
        preprocessing=converter.PreprocessingOptions(
            enabled=True,
            preset="aggressive" if extent == "article" else "minimal",
            remove_navigation=extent != "book",
            remove_forms=extent != "page",
        ),
        strip_tags=["mark"],
        base_url=base_url,
    )
    try:
        markdown = converter.convert(_prepared(html), options).content or ""
    except converter.ConversionError as error:
        raise DocumentUnreadable("failed", f"the page cannot be parsed: {error}") from error
    return _finished(without_comments(clean(markdown)))


def _prepared(html: str) -> str:
    html = noted(_TAB.sub(r"<\1>", _PLACE_MARK.sub("", _ROOT.sub(r"<\1>", html))))
    html = _PREFORMATTED.sub(lambda m: _LINK_TAG.sub("", m[0]), _SUMMARY_HEADING.sub(r"\1\3", html))
    html = _HEADING.sub(lambda m: re.sub("&lt;|&#60;|&#x3c;", _LESS, m[0], flags=re.I), html)
    return arranged(_POWER.sub(r"^\1", html))


def _finished(markdown: str) -> str:
    """Footnotes below their words; a `<` in a heading stays one to whoever reads the Markdown."""
    if _LESS in markdown:
        markdown = substitute(markdown, _LESS, lambda _: "&lt;").replace(_LESS, "<")
    return with_notes_below(markdown)
