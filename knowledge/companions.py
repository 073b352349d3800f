"""What quotes need beside them, so that a part of the answer is not taken for the whole.

1. A large part of the question that none of them has brings the piece of the same document that has it (`fill`).
2. A question of the documents gives way to the sentence behind it (`answered`).
3. Another version of the page, a sentence that goes on with the one before ("Above that …") and the table that a
   sentence leads to are quoted too (`complete`).
"""

import re
from collections.abc import Collection, Sequence

from knowledge import analysis
from knowledge.evidence import Evidence
from knowledge.keywords import Weighted
from knowledge.quotable import Unit
from knowledge.scores import Scored, shares

MISSING = 0.2
"""Share of the question's term weights that a further piece must bring: at 0.12 mostly noise, at 0.25 none on the samples."""

ALIKE = 0.15
"""So much less than the best one's passage may score that is another version of it."""

_GOES_ON = re.compile(
    r"\W*(?:otherwise|if not|failing that|in (?:that|this) case|(?:above|below|beyond|over|under|up to|before|after|until|"
    r"without) (?:that|this)|(?:anything|everything|everyone|all) (?:else|above|below|beyond|over|under|more|larger|higher))\b",
    re.IGNORECASE,
)

MOST_ROWS = 8
"""A longer table is not quoted whole for the sentence above it."""


def fill(
    chosen: Sequence[Unit], scored: Sequence[Scored], evidence: Sequence[Evidence], question: str, weights: Weighted
) -> tuple[Unit, ...]:
    """The chosen pieces, and the best one of the first's document that says a large part of the question they lack."""
    if not chosen:
        return ()
    said = {term for unit in chosen for term in analysis.terms(f"{unit.readable} {unit.context}")}
    lacking = {term: share for term, share in shares(question, weights).items() if term not in said}
    document = evidence[chosen[0].index].passage.document_id
    for one in scored:
        if evidence[one.unit.index].passage.document_id == document and one.unit not in chosen:
            own = set(analysis.terms(one.unit.readable))
            if sum(share for term, share in lacking.items() if term in own) >= MISSING:
                return (*chosen, one.unit)
    return tuple(chosen)


def answered(chosen: Sequence[Unit], scored: Sequence[Scored]) -> tuple[Unit, ...]:
    """The chosen pieces, with the sentence that answers it in the place of one that only asks, as an FAQ does."""
    places = {(s.unit.index, s.unit.piece): s.unit for s in scored}

    def answer(unit: Unit) -> Unit:
        behind = places.get((unit.index, unit.piece + 1)) if _asks(unit) else None
        return unit if behind is None or _asks(behind) else behind

    return tuple(dict.fromkeys(map(answer, chosen)))


def _asks(unit: Unit) -> bool:
    return unit.kind == "sentence" and unit.text.rstrip(' \n*_"”»)').endswith(("?", "？"))


def complete(chosen: Sequence[Unit], scored: Sequence[Scored], evidence: Sequence[Evidence]) -> tuple[Unit, ...]:
    """The chosen pieces with what must be read beside them, the newer version of a page before the older."""
    every: dict[Unit, None] = {}
    for unit in _versions(chosen, scored, evidence):
        every.update(dict.fromkeys((unit, *_continued(unit, scored), *_introduced(unit, every, scored))))
    return tuple(every)


def _continued(unit: Unit, scored: Sequence[Scored]) -> tuple[Unit, ...]:
    """The sentence after this one when it says what holds otherwise, and would say nothing alone."""
    return tuple(
        other
        for other in (s.unit for s in scored)
        if (other.index, other.piece, other.kind) == (unit.index, unit.piece + 1, unit.kind)
        and unit.kind == "sentence"
        and _GOES_ON.match(other.text)
    )


def _versions(chosen: Sequence[Unit], scored: Sequence[Scored], evidence: Sequence[Evidence]) -> tuple[Unit, ...]:
    """A section of the same name in another document, nearly as good, may say otherwise: its best piece comes too."""
    if not chosen:
        return ()
    best = evidence[chosen[0].index].passage

    def is_version(unit: Unit) -> bool:
        other = evidence[unit.index].passage
        same_section = bool(best.heading_path) and other.heading_path[-1:] == best.heading_path[-1:]
        return same_section and other.document_id != best.document_id and other.score > best.score - ALIKE

    others: dict[int, Unit] = {}
    for one in scored:
        if is_version(one.unit):
            others.setdefault(evidence[one.unit.index].passage.document_id, one.unit)
    extra = [unit for unit in others.values() if unit not in chosen]
    if not others:
        return tuple(chosen)
    changed = {unit: evidence[unit.index].passage.updated_at for unit in (*chosen, *extra)}
    return tuple(sorted((*chosen, *extra), key=lambda unit: -(moment.timestamp() if (moment := changed[unit]) else 0)))


def _introduced(unit: Unit, better: Collection[Unit], scored: Sequence[Scored]) -> tuple[Unit, ...]:
    """The rows of a short table that follow a sentence without a figure of its own, which only leads to them.

    None when one of them answers better than the sentence, and was quoted for it. A row that answers less well is not
    left to stand for the table.
    """
    if unit.kind != "sentence" or any(c.isdigit() for c in unit.text):
        return ()
    rows = sorted(
        (s.unit for s in scored if s.unit.index == unit.index and s.unit.kind == "row"), key=lambda u: u.piece
    )
    if not 0 < len(rows) <= MOST_ROWS or rows[0].piece < unit.piece or any(row in better for row in rows):
        return ()
    return tuple(row for row in rows if row.header == rows[0].header)
