"""Markdown's links and footnotes put where they are used, so that a chunk cut out of the text still has them.

`[the form][f]` becomes `[the form](https://forms.example/7)`, and the definition line goes. A footnote's text is moved
below the block that first mentions it.
"""

import re
from typing import Any

from markdown_it.common.utils import normalizeReference

from knowledge.loaders.prose import BLOCKS, outside_spans, stretches, substitute

_USE = r"(?<![\\\]])\[(?P<text>(?!\^)[^\[\]]*(?:!?\[[^\[\]]*\](?:\([^()]*\))?[^\[\]]*)*)\](?:\[(?P<label>[^\[\]]*)\])?(?![\[(:])"
_DEFINITION = r"^ {0,3}\[(?P<name>(?!\^)[^\[\]]+)\]:[ \t]*\S[^\n]*(?:\n|\Z)"
_NOTE = r"^\[\^(?P<id>[^\]\s]+)\]:[ \t]+[^\n]*(?:\n[ \t]+\S[^\n]*)*(?:\n|\Z)"
_MENTION = re.compile(r"\[\^([^\]\s]+)\](?!:)")


def resolved(markdown: str) -> str:
    """The same text with every reference at its place; definitions that nothing uses stay where they are."""
    if "]:" not in markdown:
        return markdown
    return _with_notes_below(_with_links_inline(markdown))


def _with_links_inline(markdown: str) -> str:
    environment: dict[str, Any] = {}
    parts = list(stretches(markdown, environment))
    addresses = {label: str(found["href"]) for label, found in environment.get("references", {}).items()}
    used: set[str] = set()

    def inline(match: re.Match[str]) -> str:
        label = normalizeReference(match["label"] or match["text"])
        if label not in addresses:
            return match[0]
        used.add(label)
        return f"[{match['text']}]({addresses[label]})"

    def drop(match: re.Match[str]) -> str:
        return "" if normalizeReference(match["name"]) in used else match[0]

    if not addresses:
        return markdown
    parts = [(text if code else outside_spans(text, _USE, inline), code) for text, code in parts]
    return "".join(text if code else outside_spans(text, _DEFINITION, drop) for text, code in parts)


def _with_notes_below(markdown: str) -> str:
    mentioned = set(_MENTION.findall(markdown))
    notes: dict[str, str] = {}

    def take(match: re.Match[str]) -> str:
        if match["id"] not in mentioned:
            return match[0]
        notes.setdefault(match["id"], match[0].rstrip("\n"))
        return ""

    body = substitute(markdown, _NOTE, take) if mentioned else markdown
    if not notes:
        return markdown
    lines = body.split("\n")
    ends = [token.map[1] for token in BLOCKS.parse(body) if token.level == 0 and token.map and token.nesting >= 0]
    result: list[str] = []
    done = 0
    for end in [*ends, len(lines)]:
        block = lines[done:end]
        done = max(done, end)
        below = [notes.pop(name) for name in dict.fromkeys(_MENTION.findall("\n".join(block))) if name in notes]
        result += [*block, *(["", *below, ""] if below else [])]
    return "\n".join(result)
