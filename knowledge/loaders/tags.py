"""HTML written inside Markdown: what its tags mean stays as Markdown, the tags themselves go.

Only names of HTML are tags: `<file>` and `vector<int>` are words. Code is left alone.
"""

import re
from html import unescape

from knowledge.loaders.conversion import to_markdown
from knowledge.loaders.prose import Replacement, outside_spans

_VALUES = r"(?:[^<>\"']|\"[^\"]*\"|'[^']*')*"
_ATTRIBUTES = rf"(?:\s{_VALUES})?"


def _element(names: str) -> str:
    """An element without another of the same name in it."""
    return rf"<(?P<tag>{names})\b(?P<attributes>{_ATTRIBUTES})>(?P<inner>(?:(?!<(?P=tag)\b).)*?)</(?P=tag)\s*>"


def _nested(names: str, depth: int) -> str:
    start, end, other = rf"<(?:{names})\b{_ATTRIBUTES}>", rf"</(?:{names})\s*>", rf"(?!</?(?:{names})\b)."
    inner = f"(?:{other})*"
    for _ in range(depth):
        inner = f"(?:{other}|{start}{inner}{end})*"
    return start + inner + end


_ROW = r"^[ \t]*\|[^\n]*$"
_WHOLE = "|".join(
    (
        _nested("table", 1),
        _nested("ul|ol|dl", 3),
        rf"<pre\b{_ATTRIBUTES}>.*?</pre\s*>",
        rf"<(?P<heading>h[1-6])\b{_ATTRIBUTES}>.*?</(?P=heading)\s*>",
    )
)
_UNSEEN = rf"<(?P<anchor>a|i|span|div)\s+(?:id|name)\s*={_VALUES}>\s*</(?P=anchor)\s*>|{_element('script|style|svg|noscript|template')}"
_POWER = r"(?<=[\w)])<sup>\s*(?P<power>[-+−]?\d{1,4})\s*</sup>"
_CODE = _element("code|kbd|samp|tt")
_PICTURE = rf"<img\b(?P<attributes>{_ATTRIBUTES})>"
_WORDS = _element(
    "b|strong|i|em|u|s|q|p|ins|del|mark|small|big|font|span|sub|sup|abbr|cite|var|time|label|button|dfn|bdi|center"
)
_LINK = _element("a")
_SUMMARY = _element("summary|figcaption")
_BREAK = r"<br\b[^<>]*>"
_ITEM = rf"<li\b{_ATTRIBUTES}>\s*"
_HOLDER = (
    rf"</?(?:div|p|center|details|section|article|figure|picture|ul|ol|dl|dt|dd|blockquote"
    rf"|table|thead|tbody|tr|th|td)\b{_ATTRIBUTES}>"
    rf"|</(?:li|a|span|iframe|video|audio|object)\s*>|<hr\b[^<>]*>|<wbr\s*/?>"
    rf"|<(?:a|span|source|input|embed|iframe|video|audio|object)\s[^<>]*>"
)


_TAG = re.compile(r"</?[a-z][a-z1-6]*[\s/>]", re.I)


def without_tags(text: str) -> str:
    """The Markdown of a stretch without blocks of code. Tables, lists and headings become those of Markdown; links,
    pictures, code and the summary of what is folded keep what they say."""
    if not _TAG.search(text):
        return text
    text = _changed(text, _ROW, lambda m: _cells(m[0]))
    text = _changed(text, _WHOLE, lambda m: f"\n\n{to_markdown(m[0]).strip()}\n\n")
    text = _changed(text, _UNSEEN, lambda _: "")
    text = _changed(text, _POWER, lambda m: f"^{m['power']}")
    text = _changed(text, _CODE, lambda m: f"`{m['inner']}`" if m["tag"].lower() == "code" else m["inner"])
    text = _changed(text, _PICTURE, _picture)
    before = None
    while before != text:
        before, text = text, _changed(text, _WORDS, lambda m: m["inner"])
    text = _changed(text, _LINK, _link)
    text = _changed(text, _SUMMARY, lambda m: f"\n\n**{' '.join(m['inner'].split()).strip('#* ')}**\n\n")
    text = _changed(text, _BREAK, lambda _: "\n")
    text = _changed(text, _ITEM, lambda _: "- ")
    return _changed(text, _HOLDER, lambda _: "")


def _changed(text: str, pattern: str, replacement: Replacement) -> str:
    return outside_spans(text, f"(?i:{pattern})", replacement)


def _cells(row: str) -> str:
    """A table's row: whatever is in a cell stays on its line."""
    row = _changed(row, r"</li\s*>\s*<li\b[^<>]*>", lambda _: ", ")
    row = _changed(row, r"</?(?:ul|ol|li|p|div)\b[^<>]*>", lambda _: "")
    return _changed(row, _BREAK, lambda _: " ")


def _picture(match: re.Match[str]) -> str:
    words, source = _attribute(match["attributes"], "alt"), _attribute(match["attributes"], "src")
    return f"![{words}]({source})" if words else ""


def _link(match: re.Match[str]) -> str:
    words, target = " ".join(match["inner"].split()), _attribute(match["attributes"], "href")
    return f"[{words}]({target})" if target and words else words


def _attribute(attributes: str, name: str) -> str:
    found = re.search(rf"\b{name}\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))", attributes, re.I)
    return " ".join(unescape(next(filter(None, found.groups()), "")).split()) if found else ""
