"""Markdown's links and footnotes put where they are used, so that a chunk cut out of the text still has them.

`[the form][f]` becomes `[the form](https://forms.example/7)`, and the definition line goes. A footnote's text is moved
below the block that first mentions it.
"""

import re
from typing import Any

from markdown_it.common.utils import normalizeReference

from knowledge.loaders.prose import BLOCKS, outside_spans, stretches

_USE = r"(?<![\\\]])\[(?P<text>(?!\^)[^\[\]]*(?:!?\[[^\[\]]*\](?:\([^()]*\))?[^\[\]]*)*)\](?:\[(?P<label>[^\[\]]*)\])?(?![\[(:])"
_DEFINITION = r"^ {0,3}\[(?P<name>(?!\^)[^\[\]]+)\]:[ \t]*\S[^\n]*(?:\n|\Z)"
_NOTE = re.compile(r"\[\^(?P<id>[^\]\s]+)\]:[ \t]+\S")
_INDENT = re.compile(r" {2,4}|\t")
_LAZY = re.compile(r"(?!\d+[.)] )[^\s\[#>`~|*+-]")
_MENTION = re.compile(r"\[\^([^\]\s]+)\](?!:)")


def resolved(markdown: str) -> str:
    """The same text with every reference at its place; definitions that nothing uses stay where they are."""
    if "]:" not in markdown:
        return markdown
    return with_notes_below(_with_links_inline(markdown))


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


def with_notes_below(markdown: str) -> str:
    """The same text with each footnote below the block that first mentions it."""
    if "[^" not in markdown:
        return markdown
    body, notes = _without_notes(markdown, set(_MENTION.findall(markdown)))
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


def _without_notes(markdown: str, mentioned: set[str]) -> tuple[str, dict[str, str]]:
    """The text without the notes that are mentioned, and those by name, with all of their paragraphs."""
    lines = markdown.split("\n")
    fences = (token.map for token in BLOCKS.parse(markdown) if token.type == "fence") if mentioned else ()
    fenced = {number for span in fences if span for number in range(*span)}
    notes: dict[str, str] = {}
    rest: list[str] = []
    at = 0
    while at < len(lines):
        found = _NOTE.match(lines[at]) if at not in fenced else None
        if not found or found["id"] not in mentioned:
            rest.append(lines[at])
            at += 1
            continue
        end = _end_of_note(lines, at + 1)
        notes.setdefault(
            found["id"], "\n".join([lines[at], *(_INDENT.sub("", line, 1) for line in lines[at + 1 : end])])
        )
        at = end
    return "\n".join(rest), notes


def _end_of_note(lines: list[str], at: int) -> int:
    """Behind its last line: paragraphs that are indented are its own, and lines that go on without a blank one."""
    end = at
    for number in range(at, len(lines)):
        line, before = lines[number], lines[number - 1]
        if not line.strip():
            continue
        if not line.startswith(("    ", "\t")) and not (before.strip() and (line[0] in " \t" or _LAZY.match(line))):
            break
        end = number + 1
    return end
