"""Boxes and tabs that documentation tools add to Markdown: a bold line with their name, then their text.

Known are `!!! note "Title"` and `=== "Tab"` with indented text, `:::note[Title]` up to `:::`, ```` ```{note} Title ````
up to the end of the fence, and `> [!NOTE]`.
"""

import re

_INDENTED = re.compile(
    r"(?P<indent> *)(?:!!!|\?\?\?\+?|===[!+]?)[ ]+(?P<kind>[\w-]+)?[\w ,-]*(?:\"(?P<title>[^\"]*)\")?[ ]*"
)
_COLONS = re.compile(r"(?P<indent> *)(?P<mark>:{3,})[ ]*(?:\{?(?P<kind>[a-zA-Z][\w.-]*)\}?)?(?P<title>[^\n]*)")
_FENCE = re.compile(r"(?P<indent> *)(?P<mark>`{3,}|~{3,})(?P<info>[^`\n]*)")
_BOX = re.compile(r"\{(?P<kind>[a-z][\w-]*)\}[ ]*(?P<title>[^\n]*)")
_QUOTED = re.compile(r"(?P<quote>[ ]{0,3}>[ ]?)\[!(?P<kind>[A-Za-z]+)\][+-]?(?P<title>[^\n]*)")
_OPTION = re.compile(r"\s*:[\w-]+:[^\n]*")
_ATTRIBUTES = re.compile(r"\{[^{}]*\}")

BOXES = frozenset(
    {
        "abstract", "admonition", "attention", "bug", "caution", "danger", "deprecated", "dropdown", "error", "example",
        "failure", "hint", "important", "info", "note", "question", "quote", "seealso", "success", "summary", "tip", "todo",
        "versionadded", "versionchanged", "warning",
    }
)  # fmt: skip
"""Kinds that are a box of text; a fence of another kind in braces is code or is made by the tool."""


def unboxed(markdown: str) -> str:
    """The same text with every box as a bold line and plain paragraphs. Code is left alone."""
    if not re.search(r"^ *(?:!!!|\?\?\?|===[ !+]|:::|(?:`{3,}|~{3,})\{|>[ ]?\[!)", markdown, re.M):
        return markdown
    return "\n".join(_unboxed(markdown.split("\n")))


def _unboxed(lines: list[str]) -> list[str]:
    result: list[str] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if fence := _FENCE.fullmatch(line):
            end = _end_of_fence(lines, at, fence)
            box = _BOX.fullmatch(fence["info"].strip())
            if box and box["kind"] in BOXES:
                inner = lines[at:end]
                while inner and _OPTION.fullmatch(inner[0]):
                    inner = inner[1:]
                result += [*_name(fence["indent"], box["kind"], box["title"]), *_unboxed(inner), ""]
            else:
                result += lines[at - 1 : end + 1]
            at = end + 1
        elif match := _INDENTED.fullmatch(line):
            end = _end_of_indented(lines, at, len(match["indent"]))
            inner = [words[4:] if words[:4].isspace() else words for words in lines[at:end]]
            named = _name(match["indent"], match["kind"] or "", match["title"])
            result += [*named, *_unboxed(inner)] if any(map(str.strip, inner)) else [line, *inner]
            at = end
        elif match := _COLONS.fullmatch(line):
            if match["kind"]:
                result += _name(match["indent"], match["kind"], match["title"])
        elif match := _QUOTED.fullmatch(line):
            result += [match["quote"] + words for words in _name("", match["kind"], match["title"])[1:]]
        else:
            result.append(line)
    return result


def _end_of_fence(lines: list[str], at: int, fence: re.Match[str]) -> int:
    """The line that closes the fence, or the number of lines."""
    mark = fence["mark"]
    closing = re.compile(rf"[ ]*{re.escape(mark[0])}{{{len(mark)},}}[ \t]*")
    return next((i for i in range(at, len(lines)) if closing.fullmatch(lines[i])), len(lines))


def _end_of_indented(lines: list[str], at: int, indent: int) -> int:
    inner = " " * (indent + 4)
    while at < len(lines) and (not lines[at].strip() or lines[at].startswith(inner)):
        at += 1
    return at


def _name(indent: str, kind: str, title: str | None) -> list[str]:
    """The box's own title, else its kind as a word, as a paragraph."""
    words = _ATTRIBUTES.sub("", title or "").strip()
    if words.startswith("[") and words.endswith("]"):
        words = words[1:-1].strip()
    words = words or (kind.capitalize() if kind.lower() in BOXES else kind)
    return ["", f"{indent}**{words}**", ""] if words else [""]
