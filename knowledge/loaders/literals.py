"""Code and comments of reStructuredText: code becomes a fence of Markdown, in which nothing is taken for a heading or a
list; a comment, which no reader of the page sees, goes."""

import re
from collections.abc import Iterator
from textwrap import dedent

LONGEST = 250
"""Characters of a line that may begin code or a comment; the patterns take a time that grows with their square."""

_CODE = re.compile(
    r"(?P<indent> *)\.\. (?:code|code-block|sourcecode|parsed-literal|prompt|doctest|testcode|testoutput):: *(?P<language>\S*).*"
)
_LITERAL = re.compile(r"(?P<indent> *(?:(?:[-*+•]|\(?\w{1,2}[.)]|#\.) +)?)(?!\.\. )(?P<said>.*?)::\s*")
_COMMENT = re.compile(r"(?P<indent> *)\.\.(?: (?!\[|\||_|\S.*::)\S.*| *)")
_OPTION = re.compile(r" +:[\w-]+:.*")
_TICKS = re.compile(r"^ *(`{3,})", re.M)


def parted(text: str) -> Iterator[tuple[str, bool]]:
    """The text without comments, in order: (lines of prose, False) and (a fence, True). Joined they are the whole."""
    lines = text.expandtabs(8).split("\n")
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        read = line.rstrip() if len(line) <= LONGEST else ""
        code, literal = _CODE.fullmatch(read), _LITERAL.fullmatch(read)
        found = code or literal or _COMMENT.fullmatch(read)
        # Behind an empty comment, what is further in is a quote.
        is_empty = line.strip() == ".." and not "".join(lines[at : at + 1]).strip()
        end = _end_of_block(lines, at, len(found["indent"])) if found and not is_empty else at
        start = next((i for i in range(at, end) if not (code and _OPTION.fullmatch(lines[i]))), end)
        body = dedent("\n".join(lines[start:end])).strip("\n")
        if not found or (found in (code, literal) and (not body or lines[start].strip())):
            yield f"{line}\n", False
            continue
        at = end
        if literal and literal["said"].strip():
            yield f"{literal['indent']}{literal['said'].rstrip()}:\n\n", False
        if code or literal:
            yield _fence(" " * len(found["indent"]), code["language"] if code else "", body), True


def _end_of_block(lines: list[str], at: int, indent: int) -> int:
    """Behind the last line that is further in than `indent`."""
    end = at
    for number in range(at, len(lines)):
        line = lines[number]
        if line.strip():
            if len(line) - len(line.lstrip()) <= indent:
                break
            end = number + 1
    return end


def _fence(indent: str, language: str, body: str) -> str:
    mark = "`" * (max((len(ticks) for ticks in _TICKS.findall(body)), default=2) + 1)
    lines = [f"{mark}{language}", *body.split("\n"), mark]
    return "".join(f"{indent}{line}".rstrip() + "\n" for line in lines)
