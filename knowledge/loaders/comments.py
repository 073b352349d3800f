"""What a reader of the rendered page never sees, taken out of Markdown: comments, and pictures written out as text."""

import re

from knowledge.loaders.prose import substitute

_COMMENT = r"<!--.*?-->"
_OPEN_COMMENT = r"^ {0,3}<!--.*\Z"
_DATA = re.compile(r"data:[\w.+-]+/[\w.+-]+(?:;[\w=.-]+)*;base64,[A-Za-z0-9+/=]{40,}")


def without_comments(markdown: str) -> str:
    """The text without HTML comments, except those shown in code. An unclosed one at a line's start hides the rest, as
    it does on the page."""
    if "<!--" in markdown:
        markdown = substitute(markdown, f"{_COMMENT}|{_OPEN_COMMENT}", lambda _: "")
    return _DATA.sub("data:", markdown)
