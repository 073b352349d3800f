"""Words of a PDF that were parted at the end of a line: the parser joins them without the hyphen, also where it belongs
to the word."""

import re
from collections.abc import Sequence

from knowledge.loaders.printed import Page

_PARTED = re.compile(r"(?<![\w-])(\w[\w-]*)-(?=$| )")
_WORD = re.compile(r"\w[\w-]*")


def with_hyphens(texts: Sequence[str], pages: Sequence[Page]) -> list[str]:
    """The Markdown of each page with the hyphen back in a joined word that the document never writes so, when it writes
    it with the hyphen elsewhere or the part before the line's end has one already ("state-of-the-" / "art")."""
    words = {word.lower() for page in pages for line in page.lines for word in _WORD.findall(line.text)}
    return [_mended(text, page, words) for text, page in zip(texts, pages, strict=True)]


def _mended(text: str, page: Page, words: set[str]) -> str:
    def mended(found: re.Match[str]) -> str:
        first, rest = found[1], found[2]
        if (first + rest).lower() in words:
            return found[0]
        last = first.rpartition("-")[2]
        is_compound = last != first and (last + rest).lower() not in words
        return f"{first}-{rest}" if is_compound or f"{first}-{rest}".lower() in words else found[0]

    parted = {part for line in page.lines for part in _PARTED.findall(line.text)}
    if not parted:
        return text
    either = "|".join(map(re.escape, sorted(parted, key=len, reverse=True)))
    return re.sub(rf"(?<![\w-])({either})(\w[\w-]*)", mended, text)
