"""Changing Markdown's prose and leaving its code alone."""

import re
from collections.abc import Callable, Iterator
from typing import Any

from markdown_it import MarkdownIt

BLOCKS = MarkdownIt("commonmark").enable("table").disable("inline")
"""Finds blocks and link definitions only, which takes a sixth of the time of a whole parse."""

_CODE_SPAN = r"(?<!`)(?P<ticks>`+)(?!`)(?:(?!\n[ \t]*\n).)+?(?<!`)(?P=ticks)(?!`)"

_BLOCK_MARK = re.compile(r"(?=#{1,6}(?:\s|$)|>|`{3}|~{3})")

Replacement = Callable[[re.Match[str]], str]


def one_line(words: str) -> str:
    """Words of no markup as a paragraph of one line: never a heading, a quote or a fence."""
    line = " ".join(words.split())
    return f"\\{line}" if _BLOCK_MARK.match(line) else line


def substitute(markdown: str, pattern: str, replacement: Replacement) -> str:
    """Replace every match of `pattern` that is in no fence, no indented code and no code span.

    `.` matches line ends, `^` and `$` match at each of them.
    """
    if not re.search(pattern, markdown, re.S | re.M):
        return markdown
    return changed_prose(markdown, lambda text: outside_spans(text, pattern, replacement))


def changed_prose(markdown: str, change: Callable[[str], str]) -> str:
    """The text with each stretch between blocks of code changed."""
    return "".join(text if code else change(text) for text, code in stretches(markdown))


def outside_spans(text: str, pattern: str, replacement: Replacement) -> str:
    """`substitute` for a stretch without blocks of code."""

    def replace(match: re.Match[str]) -> str:
        return match[0] if match["ticks"] else replacement(match)

    return re.sub(f"{_CODE_SPAN}|{pattern}", replace, text, flags=re.S | re.M)


def stretches(markdown: str, environment: dict[str, Any] | None = None) -> Iterator[tuple[str, bool]]:
    """The text in order: (prose, False) and (a block of code, True). `environment`: filled by the parser."""
    lines = _lines(markdown)
    done = 0
    for token in BLOCKS.parse(markdown, environment):
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
