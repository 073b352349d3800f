"""Markup in text that a model or a document wrote: what may be posted of it, and which brackets are citation marks.

Everything here works on Markdown outside of code, unless it says otherwise.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

CODE = re.compile(
    r"^ {0,3}(?P<fence>`{3,}|~{3,})[^\n]*\n(?:.*?\n)?? {0,3}(?P=fence)[^\S\n]*$|(?P<tick>`+)(?!`).+?(?<!`)(?P=tick)(?!`)",
    re.S | re.M,
)
"""A fenced block or a code span. What is inside is shown as it is."""

_NUMBERS = r"\d{1,3}(?:\s*[,，;]\s*\d{1,3}|\s*[-–]\s*\d{1,3})*"
MARK = re.compile(rf"(?<![A-Za-z0-9_\\!])\[\^?({_NUMBERS})\](?!\()|【({_NUMBERS})】")
"""A citation mark: `[1]`, `[1, 2]`, `[1-3]`, `[^1]`, `【1】`; not `[x]`, `[2031]`, `[1](url)` or `item[1]`."""

_LOOSE_BRACKET = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*(?:\[\d{1,3}\])+")

_ENTITY = re.compile(r"<(?P<kind>!subteam\^|!date\^|!|@|#)(?P<name>[^<>|\s]*)(?:\|(?P<shown>[^<>]*))?>")
_ENTITY_START = re.compile(r"<(?=[!@#])")

_URL = r"(?:[a-zA-Z][a-zA-Z0-9+.-]*://|www\.)[^\s<>\"`|\[\]\\\ue000-\uf8ff]+"
_BARE = re.compile(rf"{_URL}|(?<![\w@./-])(?:[a-zA-Z0-9-]+\.)+[a-zA-Z]{{2,}}/[^\s<>\"`|\[\]\\\ue000-\uf8ff]*")
_IMAGE = re.compile(r"!\[([^\[\]]*)\]\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)|!\[([^\[\]]*)\]\[[^\[\]]*\]")
_LINK = re.compile(r"\[([^\[\]\n]*)\]\(\s*<?([^\s()<>]*(?:\([^\s()]*\)[^\s()<>]*)*)>?[^()\n]*\)")
_ANGLE = re.compile(r"<((?:[a-zA-Z][a-zA-Z0-9+.-]*:)[^<>|\s]+)(?:\|([^<>]*))?>")
_TAG = re.compile(
    r"</?(?:a|img|iframe|script|style|form|input|object|embed|link|svg|video|audio|base|meta)\b[^<>]*>|<!--.*?(?:-->|$)",
    re.I | re.S,
)

_HELD = "\ue000{}\ue001"
_HELD_BACK = re.compile("\ue000(\\d+)\ue001")
_PRIVATE = re.compile("[\ue000-\uf8ff]")

Shown = Literal["link", "code", "nothing"]


@dataclass(frozen=True)
class Settled:
    """`text` as it may be posted, and the addresses that were taken out of it."""

    text: str
    dropped: tuple[str, ...]


def readable(text: str) -> str:
    """Text without images (their alternative text stays), tags that load or link, comments, and our own placeholders."""

    def plain(part: str) -> str:
        return _IMAGE.sub(lambda m: m[1] or m[2] or "", _TAG.sub("", part))

    return "".join(part if code else plain(part) for part, code in outside_code(_PRIVATE.sub("", text)))


def outside_code(text: str) -> Iterator[tuple[str, bool]]:
    """The text in parts, each with whether it is code."""
    at = 0
    for match in CODE.finditer(text):
        if match.start() > at:
            yield text[at : match.start()], False
        yield match.group(), True
        at = match.end()
    if at < len(text):
        yield text[at:], False


def numbers(mark: re.Match[str]) -> tuple[int, ...]:
    """The numbers of a `MARK` match in order; a range is spelled out, at most 20 long."""
    found: list[int] = []
    for part in re.split(r"[,，;]", next(group for group in mark.groups() if group)):
        ends = [int(n) for n in re.split(r"[-–]", part)]
        found += range(ends[0], min(ends[-1], ends[0] + 19) + 1) if len(ends) == 2 else ends
    return tuple(dict.fromkeys(found))


def without_marks(text: str) -> str:
    """Text in which nothing reads as a citation mark: marks outside code are gone, `item[1]` becomes code."""

    def plain(part: str) -> str:
        before = None
        while before != part:
            before, part = part, re.sub(rf"[^\S\n]?(?:{MARK.pattern})", "", part)
        return _LOOSE_BRACKET.sub(lambda m: f"`{m.group()}`", part)

    return "".join(part if code else plain(part) for part, code in outside_code(text))


def paired(text: str) -> str:
    """The text without a `**` whose partner in its line is gone; it would be shown as it is written."""
    return "\n".join(map(_paired, text.split("\n"))) if "**" in text else text


def _paired(line: str) -> str:
    loose: list[int] = []
    opened: int | None = None
    at = 0
    for part, code in outside_code(line):
        for match in () if code else re.finditer(r"\*\*", part):
            place = at + match.start()
            if opened is not None and not line[place - 1].isspace():
                opened = None  # the two are a pair
                continue
            if opened is not None:
                loose.append(opened)
            opened = place
            if line[place + 2 : place + 3].isspace():
                loose.append(place)
                opened = None
        at += len(part)
    if opened is not None:
        loose.append(opened)
    for place in reversed(loose):
        line = line[:place] + line[place + 2 :]
    return line


def without_mentions(text: str) -> str:
    """No markup that calls people: `<!channel>`, `<@U1>`, `<#C1|name>` become plain words, in code too."""

    def word(match: re.Match[str]) -> str:
        kind, name, shown = match["kind"], match["name"], match["shown"]
        if kind == "!date^":
            return shown or ""
        return f"{'#' if kind == '#' else '@'}{(shown or name.split('^')[0]).lstrip('@#')}"

    before = None
    while before != text:
        before, text = text, _ENTITY.sub(word, text)
    return _ENTITY_START.sub("‹", text)


def addresses(text: str) -> frozenset[str]:
    """Every URL in the text, code included, without the punctuation that follows it."""
    return frozenset(_same(_trim(match.group())[0]) for match in _BARE.finditer(text)) | frozenset(
        _same(match[2]) for match in _LINK.finditer(text)
    )


def without_addresses(text: str) -> str:
    """The text without its URLs; a link leaves its words."""
    return _BARE.sub(" ", _LINK.sub(lambda m: m[1], text))


def host(url: str) -> str:
    """The host of an http(s) URL in lower case; empty for anything else."""
    try:
        parts = urlsplit(url)
        return (parts.hostname or "") if parts.scheme in ("http", "https") else ""
    except ValueError:
        return ""


def settle_links(text: str, show: Callable[[str], Shown]) -> Settled:
    """Links and addresses outside code kept, shown as code or taken out, as `show(url)` says.

    Images leave their alternative text. A link that may not stay leaves its words. `<url|words>` becomes a Markdown link.
    """
    held: list[str] = []
    dropped: list[str] = []

    def hold(shown: str) -> str:
        held.append(shown)
        return _HELD.format(len(held) - 1)

    def link(words: str, url: str) -> str:
        words = _BARE.sub("", words).strip()  # an address as the words of a link may name another place than its target
        if show(_same(url)) == "link" and host(url):
            return hold(f"[{words}]({url})" if words else url)
        dropped.append(url)
        return words

    def bare(match: re.Match[str]) -> str:
        url, rest = _trim(match.group())
        how = show(_same(url))
        if how == "link" and host(url):
            return hold(url) + rest
        if how == "code":
            return hold(f"`{url}`") + rest
        dropped.append(url)
        return rest

    def plain(part: str) -> str:
        part = _TAG.sub("", part)
        part = _IMAGE.sub(lambda m: m[1] or m[2] or "", part)
        part = _LINK.sub(lambda m: link(m[1], m[2]), part)
        part = _ANGLE.sub(lambda m: link(m[2] or m[1], m[1]) if m[2] else m[1], part)
        while _BARE.search(part):
            part = re.sub(r"(?<=\S) {2,}", " ", _BARE.sub(bare, part))
        return part

    text = "".join(part if code else plain(part) for part, code in outside_code(text))
    return Settled(_HELD_BACK.sub(lambda m: held[int(m[1])], text), tuple(dropped))


def _trim(url: str) -> tuple[str, str]:
    """A bare URL and the punctuation after it that is the sentence's."""
    end = len(url)
    while end and (url[end - 1] in ".,;:!?*_~'" or (url[end - 1] == ")" and "(" not in url[:end])):
        end -= 1
    return url[:end], url[end:]


def _same(url: str) -> str:
    return url.rstrip("/")
