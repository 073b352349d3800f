"""What quotes need beside them, so that a part of the answer is not taken for the whole.

1. A large part of the question that none of them has brings the piece of the same document that has it (`fill`).
2. A question of the documents gives way to the sentence behind it (`answered`).
3. Other versions (`versions.py`), a sentence that goes on with the one before ("Above that …"), the table that a sentence
   leads to, and all of a short one that is asked what is the cheapest or has grades, are quoted too (`complete`).
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from knowledge import analysis, steps, versions
from knowledge.evidence import Evidence
from knowledge.keywords import Weighted
from knowledge.quotable import Unit
from knowledge.scores import Scored, shares

MISSING = 0.2
"""Share of the question's term weights that a further piece must bring: at 0.12 mostly noise, at 0.25 none on the samples."""

_GOES_ON = re.compile(
    r"\W*(?:otherwise|if not|failing that|in (?:that|this) case|(?:above|below|beyond|over|under|up to|before|after|until|"
    r"without) (?:that|this)|(?:anything|everything|everyone|all) (?:else|above|below|beyond|over|under|more|larger|higher))\b",
    re.IGNORECASE,
)

_POINTS_BACK = re.compile(r"\W*(?:it|its|they|them|their|these|those|this|he|she|such)\b", re.IGNORECASE)
"""Of what is said before: "They lapse in February"."""

_BEST = re.compile(
    r"(?<!\bat )\b(?:most|least|fewest|cheapest|dearest|(?:high|low|larg|small|bigg|long|short|fast|slow|old|young|strong|"
    r"weak|heavi|light|new|lat|earli)est|am (?:meisten|wenigsten)|(?:billig|teuer|günstig|größ|klein|höch|niedrig)s?te[nrs]?)\b",
    re.IGNORECASE,
)

_GRADE = re.compile(
    r"\W*(?:(?:up to|from|over|under|above|below|after|more than|less than|at least|at most|bis|ab|über|unter|von)\b\D{0,8}\d"
    r"|[<>≤≥]\D{0,8}\d|\d[\d.,]*(?:\s\w+)?\s*(?:[-–—+]|(?:to|bis|and|or|und|oder)\s+(?:\d|more|over|above|mehr)))",
    re.IGNORECASE,
)
"""What begins a row that holds between limits: "12–35 months", "up to 15 miles", "36 and more"."""

Places = Mapping[tuple[int, int], Unit]
"""Everything quotable by passage and piece."""

SHORT_PARAGRAPH = 250
"""Characters of a paragraph of two sentences that is quoted whole for the first."""

SHORT_ANSWER = 400
"""Characters of the sentences below a question that are quoted whole, in their order, for any of them."""

MOST_SENTENCES = 2
"""That are quoted because they go on with one."""

HEADER = 2
"""From a sentence to the first row of the table that it leads to: the header, which is no unit, stands between."""

MOST_ROWS = 8
"""A longer table is not quoted whole."""


def fill(chosen: Sequence[Unit], scored: Sequence[Scored], question: str, weights: Weighted) -> tuple[Unit, ...]:
    """The chosen pieces, and the best one of the first's document that says a large part of the question they lack."""
    if not chosen:
        return ()
    said = {term for unit in chosen for term in analysis.terms(f"{unit.readable} {unit.context}")}
    lacking = {term: share for term, share in shares(question, weights).items() if term not in said}
    for one in scored:
        if one.unit.document_id == chosen[0].document_id and one.unit not in chosen:
            own = set(analysis.terms(one.unit.readable))
            if sum(share for term, share in lacking.items() if term in own) >= MISSING:
                return (*chosen, one.unit)
    return tuple(chosen)


def answered(chosen: Sequence[Unit], scored: Sequence[Scored]) -> tuple[Unit, ...]:
    """The chosen pieces, with the sentence that answers it in the place of one that only asks, as an FAQ does."""
    places = _placed(scored)

    def answer(unit: Unit) -> Unit:
        behind = places.get((unit.index, unit.piece + 1)) if _asks(unit) else None
        return unit if behind is None or _asks(behind) else behind

    return tuple(dict.fromkeys(map(answer, chosen)))


def _placed(scored: Sequence[Scored]) -> Places:
    return {(each.unit.index, each.unit.piece): each.unit for each in scored}


def _asks(unit: Unit) -> bool:
    return unit.kind == "sentence" and unit.text.rstrip(' \n*_"”»)').endswith(("?", "？"))


def complete(
    chosen: Sequence[Unit], scored: Sequence[Scored], evidence: Sequence[Evidence], question: str
) -> tuple[Unit, ...]:
    """The chosen pieces with what must be read beside them, the newer version of a page before the older."""
    every: dict[Unit, None] = {}
    how = steps.asks_how(question)
    places = _placed(scored)
    for unit in versions.beside(chosen, scored, evidence, question):
        rows = _compared(unit, question, places) or _introduced(unit, every, places)
        with_next = unit.is_verdict or (not every and (how or _is_half(unit, places)))
        around = (*_needed(unit, places), unit, *_continued(unit, places, with_next))
        every.update(dict.fromkeys((*(_whole_answer(unit, places) or around), *rows)))
    return tuple(every)


def _needed(unit: Unit, places: Places) -> tuple[Unit, ...]:
    """The caption right above a sentence, which may say a part of it, or the sentence before it that it points back to, or
    that says yes or no to the same question.
    """
    before = places.get((unit.index, unit.piece - 1))
    if unit.kind != "sentence" or before is None:
        return ()
    leans = before.is_verdict or (_POINTS_BACK.match(unit.text) is not None and before.is_followed_by(unit))
    return (before,) if before.is_caption or leans else ()


def _whole_answer(unit: Unit, places: Places) -> tuple[Unit, ...]:
    """All that a short section says to the question that it stands under; empty when there is no such question."""
    if not unit.answers or unit.kind != "sentence":
        return ()
    section = sorted((each for each in places.values() if each.index == unit.index), key=lambda each: each.piece)
    is_short = sum(len(each.text) for each in section) <= SHORT_ANSWER
    return tuple(section) if is_short and all(each.kind == "sentence" for each in section) else ()


def _is_half(unit: Unit, places: Places) -> bool:
    """Whether it begins a short paragraph of two sentences."""
    before, after, end = (places.get((unit.index, unit.piece + step)) for step in (-1, 1, 2))
    begins = before is None or not before.is_followed_by(unit)
    if after is None or not begins or not unit.is_followed_by(after):
        return False
    return (end is None or not after.is_followed_by(end)) and len(unit.text) + len(after.text) <= SHORT_PARAGRAPH


def _continued(unit: Unit, places: Places, with_next: bool) -> Iterator[Unit]:
    """The sentences after this one that belong to it: the rest of its item, what holds otherwise, which would say nothing
    alone, and the next one when that is wanted.
    """
    for _ in range(MOST_SENTENCES):
        after = places.get((unit.index, unit.piece + 1))
        if after is None or not (
            steps.goes_on(unit, after) or _says_otherwise(unit, after) or (with_next and unit.is_followed_by(after))
        ):
            return
        yield after
        unit, with_next = after, False


def _says_otherwise(unit: Unit, after: Unit) -> bool:
    return unit.kind == after.kind == "sentence" and _GOES_ON.match(after.text) is not None


def _introduced(unit: Unit, better: Collection[Unit], places: Places) -> tuple[Unit, ...]:
    """The rows of a short table that follow a sentence without a figure of its own, which only leads to them.

    None when one of them answers better than the sentence, and was quoted for it, or when another paragraph stands
    between. A row that answers less well is not left to stand for the table.
    """
    if unit.kind != "sentence" or any(c.isdigit() for c in unit.text):
        return ()
    rows = _rows(unit.index, places)
    if not rows or not _ends_before(unit, rows[0], places) or any(row in better for row in rows):
        return ()
    return tuple(row for row in rows if row.header == rows[0].header) if len(rows) <= MOST_ROWS else ()


def _ends_before(unit: Unit, row: Unit, places: Places) -> bool:
    """Whether the sentence's paragraph stands right before the table that begins with this row."""
    while unit.piece + HEADER < row.piece:
        after = places.get((unit.index, unit.piece + 1))
        if after is None or not unit.is_followed_by(after):
            return False
        unit = after
    return unit.piece + HEADER == row.piece


def _compared(unit: Unit, question: str, places: Places) -> tuple[Unit, ...]:
    """The short table around a row, when only all of it says which row answers: the question is which of them has most or
    least of something, or they hold between limits, as grades do.
    """
    if unit.kind != "row":
        return ()
    rows = tuple(row for row in _rows(unit.index, places) if row.header == unit.header)
    is_graded = sum(_GRADE.match(row.text.lstrip("| ")) is not None for row in rows) > 1
    return rows if len(rows) <= MOST_ROWS and (is_graded or _BEST.search(question)) else ()


def _rows(index: int, places: Places) -> list[Unit]:
    """All rows of a passage, in its order."""
    found = (unit for unit in places.values() if unit.index == index and unit.kind == "row")
    return sorted(found, key=lambda unit: unit.piece)
