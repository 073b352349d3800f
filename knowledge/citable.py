"""Markdown cut into the smallest pieces that can be quoted on their own.

1. A fenced code block is one piece, fences included.
2. A table's header and its rule line are one piece, every other row is one piece.
3. A heading is one piece.
4. A list item (with its continuation lines) and a paragraph are cut into sentences.
5. Lines that each begin with a name and a colon ("Payroll: Ana, extension 214") are pieces of their own.
6. White space belongs to the piece before it, leading white space to the first piece, so that no piece is blank.

Joined, the pieces give the text back, character by character.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal["sentence", "item", "row", "header", "heading", "code"]

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_ITEM = re.compile(r"\s*(?:[-*+•]|\d{1,4}[.)])\s+\S")
_HEADING = re.compile(r" {0,3}#{1,6}(?:\s|$)")
LABELLED = re.compile(r"\s{0,3}[^\W\d_][^:.!?|\n]{0,40}:[ \t]+\S")
"""A line of a form, or of a list of contacts."""
_FULL_STOP = re.compile(r"(?<=[。！？])(?![。！？」』）】”’\s]|$)")
"""The end of a sentence in scripts that put no space behind it."""
_ORDINAL = re.compile(r"\b(?:am|im|zum|vom|bis|ab|seit|der|die|das|des|dem|den|jede[mnrs]?) \d{1,3}\.\s+\Z", re.I)
"""Not the end of a sentence but a German ordinal: "am 30. April", "im 2. Stock"."""
_RULE = re.compile(r"\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$")


@dataclass(frozen=True)
class Piece:
    """`text` with its trailing white space; `header`: for a table row the header piece above it, else empty."""

    text: str
    kind: Kind
    header: str = ""


@dataclass(frozen=True)
class _Run:
    """Consecutive lines of one kind, before sentences are cut."""

    text: str
    kind: Kind


def cut(text: str) -> tuple[Piece, ...]:
    """The pieces of `text` in order; `()` when there is nothing but white space."""
    if not text.strip():
        return ()
    pieces: list[Piece] = []
    header, before = "", ""
    for run in _runs(text):
        if run.kind == "header":
            header = run.text
        elif run.kind != "row" and run.text.strip():
            header = ""
        for part in _sentences(run.text) if run.kind in ("sentence", "item") else (run.text,):
            if part.strip():
                pieces.append(Piece(before + part, run.kind, header if run.kind == "row" else ""))
                before = ""
            elif pieces:
                last = pieces[-1]
                pieces[-1] = Piece(last.text + part, last.kind, last.header)
            else:
                before += part
    return tuple(pieces)


def _sentences(text: str) -> list[str]:
    from nupunkt import sent_spans

    starts = [start for start, _ in sent_spans(text) if not _ORDINAL.search(text, max(0, start - 20), start)][1:]
    ends = [*starts, len(text)]
    spans = zip([0, *starts], ends, strict=True)
    return [part for start, end in spans for part in _FULL_STOP.split(text[start:end])]


def _runs(text: str) -> list[_Run]:
    """Lines grouped: a fence, a table header, a row, a heading, a list item, a paragraph. Blank lines end a group."""
    lines = re.findall(r"[^\n]*\n|[^\n]+", text)
    runs: list[_Run] = []
    open_run: list[str] = []
    kind: Kind = "sentence"

    def close() -> None:
        if open_run:
            runs.append(_Run("".join(open_run), kind))
            open_run.clear()

    at = 0
    while at < len(lines):
        line = lines[at]
        end = at + 1
        own: Kind | None = None
        if fence := _FENCE.match(line):
            own, end = "code", _fence_end(lines, at, fence.group(1))
        elif _HEADING.match(line):
            own = "heading"
        elif _is_row(line):
            own = "row"
            if end < len(lines) and _RULE.match(lines[end]) and "|" in line:
                own, end = "header", at + 2
        if own:
            close()
            runs.append(_Run("".join(lines[at:end]), own))
        elif not line.strip():
            close()
            runs.append(_Run(line, "sentence"))
        else:
            if _ITEM.match(line):
                close()
                kind = "item"
            elif kind == "sentence" and _is_labelled(open_run[:1], line, lines[end : end + 1]):
                close()
            elif not open_run:
                kind = "sentence"
            open_run.append(line)
        at = end
    close()
    return runs


def _is_labelled(first: Sequence[str], line: str, behind: Sequence[str]) -> bool:
    """Whether it is one of several lines with names: the first one of its group or the one behind it has a name as well."""
    return LABELLED.match(line) is not None and any(map(LABELLED.match, (*first, *behind)))


def _is_row(line: str) -> bool:
    bare = line.strip()
    return len(bare) > 1 and bare.startswith("|") and bare.endswith("|")


def _fence_end(lines: list[str], at: int, mark: str) -> int:
    """Index after the closing fence; a fence that is never closed runs to the end."""
    for i in range(at + 1, len(lines)):
        bare = lines[i].strip()
        if bare.startswith(mark) and not bare.strip(mark[0]):
            return i + 1
    return len(lines)
