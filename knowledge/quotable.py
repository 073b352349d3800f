"""What can be quoted of the passages that were found. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from knowledge.evidence import Evidence

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


def units(evidence: Sequence[Evidence]) -> tuple[Unit, ...]:
    """Everything quotable in the first passages, in their order."""
    return tuple(
        Unit(index, number, piece.kind, piece.text, piece.header, given.passage.label)
        for index, given in enumerate(evidence[:PASSAGES])
        for number, piece in enumerate(given.pieces)
        if piece.kind not in ("heading", "header") and number not in given.orders and len(piece.text.split()) > 1
    )
