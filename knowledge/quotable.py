"""What can be quoted of the passages that were found. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from knowledge.evidence import Evidence

_ENDS = re.compile(r"\n\s*\n\s*$")
"""A blank line, behind the last sentence of a paragraph."""

PASSAGES = 5
"""Passages that are read for sentences; further ones add more noise than answers."""


@dataclass(frozen=True)
class Unit:
    """Something that can be quoted: piece `piece` of passage `index`. `context`: its title and headings."""

    index: int
    piece: int
    kind: str
    text: str
    header: str
    context: str

    @property
    def readable(self) -> str:
        """The text with its table header, as it is compared with the question."""
        return self.header + self.text

    def is_followed_by(self, other: "Unit") -> bool:
        """Whether that is the next sentence of the same paragraph."""
        next_one = (self.index, self.piece + 1) == (other.index, other.piece)
        return next_one and self.kind == other.kind == "sentence" and not _ENDS.search(self.text)


def units(evidence: Sequence[Evidence]) -> tuple[Unit, ...]:
    """Everything quotable in the first passages, in their order."""
    return tuple(
        Unit(index, number, piece.kind, piece.text, piece.header, given.passage.label)
        for index, given in enumerate(evidence[:PASSAGES])
        for number, piece in enumerate(given.pieces)
        if piece.kind not in ("heading", "header") and number not in given.orders and len(piece.text.split()) > 1
    )
