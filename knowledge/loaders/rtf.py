"""Rich Text Format: its paragraphs as plain text."""

import re
from datetime import UTC, datetime
from typing import Any

from knowledge.errors import DocumentUnreadable
from knowledge.loaders import dated
from knowledge.loaders.decoding import clean
from knowledge.loaders.loaded import Loaded, titled

_LINK = re.compile(r"\{\\field\s*\{\\\*\\fldinst[^\"]{0,80}?HYPERLINK\s+\"(https?:[^\"{}\\]+)\"")
_ROWS = re.compile(r"(?<=\|)\n\n(?=[^\n]+\|(?:\n|\Z))")
_BREAKS = re.compile(r"[ \t]*\n\s*")


def load(name: str, content: bytes) -> Loaded:
    from striprtf import striprtf

    parser: Any = striprtf  # it has no annotations
    rtf = content.decode("latin-1")
    text = clean(parser.rtf_to_text(_with_targets(rtf), encoding="cp1252", errors="replace")).strip()
    if not text:
        raise DocumentUnreadable("empty", "the document has no text")
    return Loaded(
        title=titled(name),
        markdown=_ROWS.sub("\n", _BREAKS.sub("\n\n", text)),
        updated_at=dated.of_rtf(rtf, datetime.now(UTC)),
        plain=True,
    )


def _with_targets(rtf: str) -> str:
    """The address of each link behind its words, inside the link's field: a group that closes with the field's brace."""
    result, done = [], 0
    for link in _LINK.finditer(rtf):
        depth, at = link[0].count("{"), link.end()
        while at < len(rtf) and depth - (rtf[at] == "}"):
            depth += {"{": 1, "}": -1}.get(rtf[at], 0)
            at += 1
        if link.start() >= done:
            result += [rtf[done:at], f" ({link[1]})"]
            done = at
    return "".join([*result, rtf[done:]])
