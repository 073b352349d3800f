"""What a reader of the rendered page never sees, taken out of Markdown: comments, and pictures written out as text."""

import re

from knowledge.loaders.prose import substitute

_COMMENT = r"<!--.*?-->|\{\s*/\*.*?\*/\s*\}|^ {0,3}\[(?!\^)[^\[\]\n]*\]:[ \t]*(?:#|<>)[ \t]+(?:\([^\n]*\)|\"[^\n]*\"|'[^\n]*')[ \t]*$"
"""As HTML, as MDX, and as the title of a link to nowhere."""

_OPEN_COMMENT = r"^ {0,3}<!--(?!.*?-->).*\Z"
_NO_WORDS = r"!\[\]\([^()\n]*\)[ ]?"
_DATA = re.compile(r"data:[\w.+-]+/[\w.+-]+(?:;[\w=.-]+)*;base64,[A-Za-z0-9+/=]{40,}")


def without_comments(markdown: str) -> str:
    """The text without comments and without pictures that have no words, except those shown in code. A comment of HTML
    that begins a line and is not closed hides the rest, as it does on the page."""
    markdown = substitute(markdown, f"{_COMMENT}|{_OPEN_COMMENT}", lambda _: "")
    return substitute(_DATA.sub("data:", markdown), _NO_WORDS, lambda _: "")
