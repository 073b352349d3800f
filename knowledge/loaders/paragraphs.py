"""Paragraphs of a PDF that its parser broke within a sentence, as it does where a bold word begins a line, joined again
by the lines as they are printed: one that had no room for the next word did not end on purpose."""

import re
from collections.abc import Sequence
from itertools import pairwise

from knowledge.loaders.headings import APART
from knowledge.loaders.printed import Line, Page, bare
from knowledge.loaders.prose import changed_prose

_BREAK = re.compile(r"\n[ \t]*\n+")
_ITEM = re.compile(r"(?:[-*+]|\d+[.)]) ")
_UNENDED = re.compile(r"[\w,)\]'\"’”]\Z")
_BOLD = re.compile(r"((?:[-*+] |\d+[.)] )?)\*\*([^*\n]+)\*\*")
_NO_PARAGRAPH = re.compile(r"#{1,6} |\||>|[-*+] |\d+[.)] ")


def with_whole_paragraphs(text: str, page: Page) -> str:
    """The Markdown of a page in which what continues a sentence stands in its paragraph or item, and no line is bold
    because its first word is."""
    return changed_prose(text, lambda prose: _whole(prose, page.lines))


def _whole(prose: str, printed: Sequence[Line]) -> str:
    blocks: list[str] = []
    for block in _BREAK.split(prose):
        before, newline, last = blocks[-1].rpartition("\n") if blocks else ("", "", "")
        if _goes_on(last, block, printed):
            first, *more = block.split("\n", 1)
            joined = " ".join(_BOLD.sub(r"\1\2", line) if _BOLD.fullmatch(line) else line for line in (last, first))
            blocks[-1] = "\n".join([f"{before}{newline}{joined}", *more])
        else:
            blocks.append(block)
    return "\n\n".join(blocks)


def _goes_on(last: str, block: str, printed: Sequence[Line]) -> bool:
    """Whether the printed line that ends with `last` was full, and the one below it, with which `block` begins, as near
    as lines of one paragraph are."""
    if not last or not block or _NO_PARAGRAPH.match(block) or _NO_PARAGRAPH.match(_ITEM.sub("", last, count=1)):
        return False
    said, goes_on = bare(_ITEM.sub("", last, count=1)), bare(block)
    if not _UNENDED.search(said):
        return False
    edge = max((line.right for line in printed), default=0.0)
    return any(
        _ends(said, bare(above.text))
        and _begins(goes_on, bare(below.text))
        and abs(above.size - below.size) < 0.15 * above.size
        and 0 < below.foot - above.foot <= APART * above.size
        and above.right + _width(above, below.text.split()[0]) > edge
        for above, below in pairwise(printed)
    )


def _ends(text: str, line: str) -> bool:
    return bool(line) and (text.endswith(line) or line.endswith(text))


def _begins(text: str, line: str) -> bool:
    return bool(line) and (text.startswith(line) or line.startswith(text))


def _width(line: Line, word: str) -> float:
    """Of a space and the word in the letters of that line."""
    return (len(word) + 1) * (line.right - line.left) / len(line.text)
