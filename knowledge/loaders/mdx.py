"""What only MDX has: modules and components, taken out of the Markdown around them."""

import re

from knowledge.loaders.prose import stretches, substitute

_IMPORT = r"^import\s(?:[^'\"\n]|\n(?![ \t]*\n))*?['\"][^'\"\n]+['\"];?[ \t]*(?:\n|\Z)"
_EXPORT = r"^export\s+(?:const|let|var|default|function|async|class|\{|\*)[^\n]*(?:\n(?![ \t]*\n)[^\n]+)*(?:\n|\Z)"
_BRACES = r"\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}"
_COMPONENT = rf"</?(?:[A-Z][\w.]*(?P<attributes>(?:\s+(?:[\w:-]+(?:\s*=\s*(?:\"[^\"]*\"|'[^']*'|{_BRACES}))?|{_BRACES}))*)\s*/?)?>"
_SAID = re.compile(r"(?<![\w-])(?:title|label|header|summary|question|caption|alt)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_OPENING = re.compile(r"\s*<[A-Z][\w.]*(?:\s[^\n]*)?(?<!/)>\s*")
_CLOSING = re.compile(r"\s*</[A-Z][\w.]*>\s*")
_SIGN = r"(?<=\|)[ \t]*<(?P<sign>[A-Z]\w*)[^<>|\n]*/>[ \t]*(?=\|)"
_ALONE = re.compile(rf"^ {{0,3}}(?:</[A-Z][\w.]*>|<[A-Z][\w.]*(?:\s[^<>]*)?/>)[ \t]*$|{_SIGN}", re.M)
_MODULE = re.compile(r"^import\s[^\n]*\sfrom\s+['\"]", re.M)


def is_mdx(name: str, markdown: str) -> bool:
    """By its name, by an import at the start, or by a component or the end of one that has a line or a cell to itself:
    some tools read components in `.md` files too."""
    if name.lower().endswith(".mdx") or _MODULE.match(markdown.lstrip()):
        return True
    return bool(_ALONE.search(markdown)) and any(_ALONE.search(text) for text, code in stretches(markdown) if not code)


def plain_markdown(mdx: str) -> str:
    """The text without imports, exports and the tags of components; what a component's title says stays, and the name of
    one that is all there is in a cell, as `<Check />` is."""
    text = substitute(_aligned(mdx), f"{_IMPORT}|{_EXPORT}", lambda _: "")
    text = substitute(text, _SIGN, lambda m: f" {m['sign']} ")
    return substitute(text, _COMPONENT, _said)


def _said(match: re.Match[str]) -> str:
    words = " – ".join(filter(None, (a or b for a, b in _SAID.findall(match["attributes"] or ""))))
    return f"\n**{words.strip()}**\n" if words else ""


def _aligned(mdx: str) -> str:
    """What lies within components without the indentation they give it: MDX knows no indented code, Markdown does."""
    result: list[str] = []
    shifts = [0]
    begins = False
    fence = ""
    for line in mdx.split("\n"):
        if not fence and _CLOSING.fullmatch(line):
            begins = False
            result.append(line.strip())
            shifts = shifts[:-1] or [0]
            continue
        indent = len(line) - len(line.lstrip(" "))
        if begins and line.strip():
            shifts[-1], begins = indent, False
        result.append(line[min(indent, shifts[-1]) :])
        if mark := _FENCE.match(line):
            if not fence:
                fence = mark[1]
            elif line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
        elif not fence and _OPENING.fullmatch(line):
            shifts.append(0)
            begins = True
    return "\n".join(result)
