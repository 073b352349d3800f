"""HTML -> Markdown, without what a reader of the page does not see or does not come for."""

import re

from knowledge.errors import DocumentUnreadable
from knowledge.loaders.comments import without_comments
from knowledge.loaders.decoding import clean

_BANNERS = (
    "[aria-hidden=true]", "[hidden]", "[role=navigation]", "[role=banner]", "[role=contentinfo]", "[role=search]",
    "[role=dialog]", "[class*=cookie]", "[id*=cookie]", "[class*=consent]", "[id*=consent]", "[class*=breadcrumb]",
    "nav", "aside", "footer", "script", "style", "template", "noscript", "form", "button", "svg", "iframe",
)  # fmt: skip

_POWER = re.compile(r"(?<=[\w)])<sup\b[^<>]*>\s*([-+−]?\d{1,4})\s*</sup\s*>", re.I)
"""10<sup>6</sup> is not 106."""


_BOOK = tuple(name for name in _BANNERS if name not in ("aside", "footer", "[role=contentinfo]"))


def to_markdown(html: str, base_url: str | None = None, *, book: bool = False) -> str:
    """Markdown of a page or a part of one. `book`: what stands aside or below is a note, not a banner.

    Raises `DocumentUnreadable` when it cannot be parsed.
    """
    import html_to_markdown as converter

    options = converter.ConversionOptions(
        extract_metadata=False,
        bullets="-",
        compact_tables=True,
        exclude_selectors=list(_BOOK if book else _BANNERS),
        preprocessing=converter.PreprocessingOptions(
            enabled=True, preset="minimal" if book else "aggressive", remove_navigation=not book, remove_forms=True
        ),
        strip_tags=["mark"],
        base_url=base_url,
    )
    try:
        return without_comments(clean(converter.convert(_POWER.sub(r"^\1", html), options).content or ""))
    except converter.ConversionError as error:
        raise DocumentUnreadable("failed", f"the page cannot be parsed: {error}") from error
