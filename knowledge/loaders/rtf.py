"""Rich Text Format: its paragraphs as plain text."""

import re
from typing import Any

from knowledge.errors import DocumentUnreadable
from knowledge.loaders.decoding import clean
from knowledge.loaders.loaded import Loaded, titled

_BREAKS = re.compile(r"[ \t]*\n\s*")


def load(name: str, content: bytes) -> Loaded:
    from striprtf import striprtf

    parser: Any = striprtf  # it has no annotations
    text = clean(parser.rtf_to_text(content.decode("latin-1"), encoding="cp1252", errors="replace")).strip()
    if not text:
        raise DocumentUnreadable("empty", "the document has no text")
    return Loaded(title=titled(name), markdown=_BREAKS.sub("\n\n", text), plain=True)
