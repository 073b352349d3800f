"""What a reader of the rendered page never sees, taken out of Markdown: comments, and pictures written out as text."""

import re

from markdown_it import MarkdownIt

_parser = MarkdownIt("commonmark")
_MARK = re.compile(r"(?<!`)(?P<ticks>`+)(?!`)(?:(?!\n[ \t]*\n).)+?(?<!`)(?P=ticks)(?!`)|<!--.*?-->", re.S)
_MDX_COMMENT = re.compile(r"\{/\*.*?\*/\}", re.S)
_DATA = re.compile(r"data:[\w.+-]+/[\w.+-]+(?:;[\w=.-]+)*;base64,[A-Za-z0-9+/=]{40,}")


def without_comments(markdown: str, mdx: bool = False) -> str:
    """The text without HTML comments, except those shown in code. An unclosed one at a line's start hides the rest, as
    it does on the page. `mdx`: without comments in braces too."""
    if "<!--" in markdown or (mdx and "{/*" in markdown):
        parts = [text if is_code else _stripped(text, mdx) for text, is_code in _code_and_rest(markdown)]
        markdown = "".join(parts)
    return _DATA.sub("data:", markdown)


def _stripped(text: str, mdx: bool) -> str:
    text = _MARK.sub(lambda m: m[0] if m["ticks"] else "", text)
    text = re.sub(r"^ {0,3}<!--.*\Z", "", text, flags=re.S | re.M)
    return _MDX_COMMENT.sub("", text) if mdx else text


def _code_and_rest(markdown: str) -> list[tuple[str, bool]]:
    """The text in stretches: code blocks, and what is between them."""
    lines = markdown.split("\n")
    lines = [line + "\n" for line in lines[:-1]] + lines[-1:]
    stretches: list[tuple[str, bool]] = []
    done = 0
    for token in _parser.parse(markdown):
        if token.type in ("fence", "code_block") and token.map and token.map[0] >= done:
            first, last = token.map
            stretches += [("".join(lines[done:first]), False), ("".join(lines[first:last]), True)]
            done = last
    return [*stretches, ("".join(lines[done:]), False)]
