"""Documents that say otherwise of the same: two editions of a rule. All of them are quoted, the newest first. Pure."""

import re
from collections.abc import Sequence
from itertools import combinations

from knowledge import analysis, steps
from knowledge.evidence import Evidence
from knowledge.figures import readings
from knowledge.passages import Passage
from knowledge.quotable import Unit
from knowledge.scores import Scored

NEAR = 0.15
"""So much less than the best one's passage may score that is another version of it."""

ALIKE, FEWEST = 0.4, 3
"""Share of their words together, and number of words, that two pieces have in common which say the same but for figures."""

DIFFER, NEWER_FIRST = "The sources differ.", "The sources differ; the newer one comes first."

_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")


def beside(
    chosen: Sequence[Unit], scored: Sequence[Scored], evidence: Sequence[Evidence], question: str = ""
) -> tuple[Unit, ...]:
    """What was chosen, with the best piece of each other document that is nearly as good and has a section of the same name
    or the same words with other figures. The newer version comes before the older, one of a year that the question names
    before both, and all of them before all else.
    """
    if not chosen:
        return ()
    best = evidence[chosen[0].index].passage

    def is_version(unit: Unit) -> bool:
        other = evidence[unit.index].passage
        if other.document_id == best.document_id or other.score <= best.score - NEAR:
            return False
        if unit.text.strip() == chosen[0].text.strip():
            return False
        return _same_section(best, other) or _differ(chosen[0], unit)

    others: dict[int, Unit] = {}
    for one in scored:
        if is_version(one.unit):
            others.setdefault(evidence[one.unit.index].passage.document_id, one.unit)
    if not others:
        return tuple(chosen)
    years = set(_YEAR.findall(question))

    def rank(unit: Unit) -> tuple[bool, tuple[int, float]]:
        as_of = _as_of(evidence[unit.index].passage)
        return str(as_of[0]) in years, as_of

    found = sorted((chosen[0], *others.values()), key=rank, reverse=True)
    return tuple(dict.fromkeys((*found, *chosen)))


def note(quoted: Sequence[Unit], evidence: Sequence[Evidence]) -> str:
    """That two of the quotes say otherwise of the same, and which of them holds if their dates tell; empty if none do."""
    for one, other in combinations(quoted, 2):
        before, after = evidence[one.index].passage, evidence[other.index].passage
        if before.document_id != after.document_id and _differ(one, other):
            return NEWER_FIRST if _as_of(before) > _as_of(after) else DIFFER
    return ""


def _same_section(one: Passage, other: Passage) -> bool:
    return bool(one.heading_path) and one.heading_path[-1:] == other.heading_path[-1:]


def _differ(one: Unit, other: Unit) -> bool:
    mine, its = _figures(one), _figures(other)
    words, others = _words(one), _words(other)
    shared = len(words & others)
    return bool(mine and its) and mine != its and shared >= max(FEWEST, ALIKE * len(words | others))


def _figures(unit: Unit) -> set[str]:
    """None without a digit: "the first one" and "once" are seldom what two rules differ in."""
    text = steps.unmarked(unit)
    if not any(sign.isdigit() for sign in text):
        return set()
    return {reading for reading in readings(text) if any(sign.isdigit() for sign in reading)}


def _words(unit: Unit) -> set[str]:
    return {term for term in analysis.stems(unit.text) if not any(sign.isdigit() for sign in term)}


def _as_of(passage: Passage) -> tuple[int, float]:
    """A year in the title says more than when the file was changed. (0, 0) without any date."""
    updated = passage.updated_at
    year = _YEAR.search(passage.title)
    return (int(year[0]) if year else updated.year if updated else 0), (updated.timestamp() if updated else 0)
