"""Changing Markdown's prose and leaving its code alone."""

import re
from collections.abc import Callable, Iterator

from markdown_it import MarkdownIt

_parser = MarkdownIt("commonmark")
_CODE_SPAN = r"(?<!`)(?P<ticks>`+)(?!`)(?:(?!\n[ \t]*\n).)+?(?<!`)(?P=ticks)(?!`)"


def substitute(markdown: str, pattern: str, replacement: Callable[[re.Match[str]], str]) -> str:
    """Replace every match of `pattern` that is in no fence, no indented code and no code span. `.` matches line ends."""
    compiled = re.compile(f"{_CODE_SPAN}|{pattern}", re.S | re.M)

    def replace(match: re.Match[str]) -> str:
        return match[0] if match["ticks"] else replacement(match)

    return "".join(text if code else compiled.sub(replace, text) for text, code in stretches(markdown))


def stretches(markdown: str) -> Iterator[tuple[str, bool]]:
    """The text in order: (prose, False) and (a block of code, True)."""
    lines = _lines(markdown)
    done = 0
    for token in _parser.parse(markdown):
        if token.type in ("fence", "code_block") and token.map and token.map[0] >= done:
            first, last = token.map
            yield "".join(lines[done:first]), False
            yield "".join(lines[first:last]), True
            done = last
    yield "".join(lines[done:]), False


def _lines(markdown: str) -> list[str]:
    """Lines as the parser counts them: parted by `\\n` alone."""
    parts = markdown.split("\n")
    return [line + "\n" for line in parts[:-1]] + parts[-1:]
