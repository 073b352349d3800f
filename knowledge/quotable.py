"""What can be quoted of the passages that were found. Pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from knowledge import captions
from knowledge.citable import LABELLED
from knowledge.evidence import Evidence

_VERDICT = re.compile(r"\W*(?:yes|no|ja|nein|oui|non|sí)\W*", re.IGNORECASE)
"""A sentence of one word that is half of an answer."""

_ENDS = re.compile(r"\n\s*\n\s*$")
"""A blank line, behind the last sentence of a paragraph."""

PASSAGES = 5
"""Passages that are read for sentences; further ones add more noise than answers."""


@dataclass(frozen=True)
class Unit:
    """Something that can be quoted: piece `piece` of passage `index`, of a document. `context`: its title and headings, and
    the captions above it; `is_caption`: it only names what follows, `is_captioned`: it stands under one. `heading`: the
    last heading above it, the title where there is none. `is_verdict`: it only says yes or no.
    """

    index: int
    piece: int
    kind: str
    text: str
    header: str
    context: str
    is_caption: bool = False
    is_captioned: bool = False
    heading: str = ""
    document_id: int = 0
    is_verdict: bool = False

    @property
    def readable(self) -> str:
        """The text with its table header."""
        return self.header + self.text

    @property
    def answers(self) -> str:
        """The question that its heading is, as in an FAQ; empty when it is none."""
        return self.heading if self.heading.endswith(("?", "？")) else ""

    @property
    def compared(self) -> str:
        """What is compared with a question: what the text says is often only said together with the question above it."""
        return f"{self.answers} {self.readable}" if self.answers else self.readable

    def is_followed_by(self, other: "Unit") -> bool:
        """Whether that is the next sentence of the same paragraph; a line with a name of its own is not."""
        next_one = (self.index, self.piece + 1) == (other.index, other.piece)
        own_line = self.text.endswith("\n") and LABELLED.match(other.text)
        return next_one and self.kind == other.kind == "sentence" and not own_line and not _ENDS.search(self.text)


def units(evidence: Sequence[Evidence]) -> tuple[Unit, ...]:
    """Everything quotable in the first passages, in their order."""
    return tuple(unit for index, given in enumerate(evidence[:PASSAGES]) for unit in _units(index, given))


def _units(index: int, given: Evidence) -> Iterator[Unit]:
    heading = [given.passage.title, *given.passage.heading_path][-1].strip()
    for number, (piece, place) in enumerate(zip(given.pieces, captions.places(given.pieces), strict=True)):
        is_verdict = _VERDICT.fullmatch(piece.text) is not None
        says_something = len(piece.text.split()) > 1 or is_verdict or piece.text.rstrip().endswith(":")
        if says_something and piece.kind not in ("heading", "header") and number not in given.orders:
            context = "\n".join(filter(None, [given.passage.label, place.above]))
            named = (place.is_caption, bool(place.above), heading, given.passage.document_id, is_verdict)
            yield Unit(index, number, piece.kind, piece.text, piece.header, context, *named)
