"""Literals, roles and links within reStructuredText as those of Markdown.

1. A literal is code between single backticks, unless it has one in it.
2. A role (`:doc:`) goes and leaves its text: as code where it names something of a program, else as plain words.
3. A link is one of Markdown where its address is known, also from elsewhere in the text (`.. _name: https://…`), else its
   text.
"""

import re

_CODE = frozenset(
    {
        "attr", "class", "code", "command", "const", "data", "env", "envvar", "exc", "file", "func", "keyword", "kbd",
        "literal", "member", "meth", "mod", "obj", "option", "program", "samp", "token", "type", "var",
    }
)  # fmt: skip
"""Roles, without their domain, whose text is written as code."""
_NUMBERED = {"pep": "PEP ", "rfc": "RFC "}

_SAID = r"(?P<said>(?:[^`\n]|\n(?![ \t]*\n))+)"
_BEFORE, _AFTER = r"(?<![\w`\\])", r"(?![\w`])(?:\\ |\\(?=\w))?"
_INLINE = re.compile(
    rf"{_BEFORE}(?:``(?P<literal>\S(?:[^\n]|\n(?![ \t]*\n)){{0,500}}?)``(?!`)|:(?P<role>[a-zA-Z][\w:.+-]*):`{_SAID}`"
    rf"|`(?P<text>(?:[^`\n]|\n(?![ \t]*\n))+)`(?P<link>__?)|(?<![-.])(?P<word>\w+(?:[-.]\w+)*)_){_AFTER}"
)
_TARGET = re.compile(r"(?P<text>.*?)\s*<(?P<target>[^<>]+)>", re.S)
_NAMED = re.compile(r"^ *\.\. _(?:`(?P<quoted>[^`\n]+)`|(?P<name>[^:`\n]+)): +(?P<url>\w[\w+.-]*:\S+)[ \t]*\n", re.M)
_ADDRESS = re.compile(r"(?:https?|mailto|ftp):\S+", re.I)


def addresses(text: str) -> dict[str, str]:
    """Name, in small letters -> the address that the text gives it."""
    return {_key(m["quoted"] or m["name"]): m["url"] for m in _NAMED.finditer(text)}


def unmarked(prose: str, known: dict[str, str]) -> str:
    """The prose with its markup as that of Markdown. `known`: addresses by name; the lines that give them go."""

    def written(match: re.Match[str]) -> str:
        if match["literal"]:
            return match[0] if "`" in match["literal"] else f"`{match['literal']}`"
        if match["role"]:
            return _role(match["role"].rpartition(":")[2].lower(), match["said"])
        if match["word"]:
            url = known.get(_key(match["word"]))
            return f"[{match['word']}]({url})" if url else match[0]
        return _link(match["text"], known)

    return _INLINE.sub(written, _NAMED.sub("", prose))


def _role(name: str, said: str) -> str:
    titled = _TARGET.fullmatch(said)
    text = titled["text"] if titled and titled["text"] else said
    if text is said and text[:1] in ("~", "!"):
        text = text[1:].rpartition(".")[2] if text[0] == "~" else text[1:]
    return f"`{text}`" if name in _CODE else f"{_NUMBERED.get(name, '')}{text}"


def _link(said: str, known: dict[str, str]) -> str:
    titled = _TARGET.fullmatch(said)
    text, target = (titled["text"], titled["target"]) if titled else (said, said)
    joined = "".join(target.split())
    url = joined if _ADDRESS.fullmatch(joined) else known.get(_key(target.removesuffix("_")), "")
    return f"[{text or joined}]({url})" if url else text or target


def _key(name: str) -> str:
    """Names are the same whatever their case and spaces."""
    return " ".join(name.split()).lower()
