"""Footnotes of a page written as those of Markdown: `[^1]` where one is mentioned, `[^1]: …` at the end."""

import re

_MENTION = re.compile(
    r"<sup\b[^<>]*>\s*<a\b[^<>]*\bhref\s*=\s*[\"']#(?P<in_sup>[^\"'<>]+)[\"'][^<>]*>\s*\[?(?P<first>\d{1,4})\]?\s*</a\s*>\s*</sup\s*>"
    r"|<a\b[^<>]*\bhref\s*=\s*[\"']#(?P<around>[^\"'<>]+)[\"'][^<>]*>\s*<sup\b[^<>]*>\s*\[?(?P<second>\d{1,4})\]?\s*</sup\s*>\s*</a\s*>",
    re.I,
)
_ITEM = re.compile(
    r"<li\b[^<>]*\bid\s*=\s*[\"']?(?P<id>[^\"'\s<>]+)[^<>]*>(?P<text>(?:(?!<li\b).)*?)</li\s*>", re.I | re.S
)
_PARAGRAPH = re.compile(r"</?p\b[^<>]*>", re.I)


def noted(html: str) -> str:
    """The page with its footnotes so; any other link to a place on it stays."""
    mentions = {m["in_sup"] or m["around"]: m["first"] or m["second"] for m in _MENTION.finditer(html)}
    numbers: dict[str, str] = {}
    for item in _ITEM.finditer(html) if mentions else ():
        if (number := mentions.get(item["id"])) and number not in numbers.values():
            numbers[item["id"]] = number
    if not numbers:
        return html
    notes: list[str] = []

    def mention(match: re.Match[str]) -> str:
        number = numbers.get(match["in_sup"] or match["around"])
        return f"[^{number}]" if number else match[0]

    def take(match: re.Match[str]) -> str:
        if match["id"] not in numbers:
            return match[0]
        notes.append(f"<p>[^{numbers[match['id']]}]: {' '.join(_PARAGRAPH.sub(' ', match['text']).split())}</p>")
        return ""

    return "".join([_MENTION.sub(mention, _ITEM.sub(take, html)), *notes])
