"""Documents that say otherwise of the same: two editions of a rule. All of them are quoted, the newest first. Pure."""

from collections.abc import Iterable, Sequence

from knowledge import analysis, editions, steps
from knowledge.editions import Number, edition
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
EDITIONS, NEWER_EDITION_FIRST = (
    "From two versions of one document.",
    "From two versions of one document; the newer one comes first.",
)

Age = tuple[bool, Number, int, float]
"""What versions are ordered by, the newest has the greatest: not called old, number, year, time."""


def beside(
    chosen: Sequence[Unit], scored: Sequence[Scored], evidence: Sequence[Evidence], question: str = ""
) -> tuple[Unit, ...]:
    """What was chosen, with the best piece of each other document that is nearly as good and has a section of the same name,
    the same words with other figures, or is a newer edition. The newer version comes before the older, one that the
    question names before both, and all of them before all else.
    """
    if not chosen:
        return ()
    best = evidence[chosen[0].index].passage

    def is_version(unit: Unit) -> bool:
        other = evidence[unit.index].passage
        if other.document_id == best.document_id or unit.text.strip() == chosen[0].text.strip():
            return False
        is_near = other.score > best.score - NEAR
        return unit.index in newer or (is_near and (_same_section(best, other) or _differ(chosen[0], unit)))

    newer = _newer_editions(best, evidence)
    others: dict[int, Unit] = {}
    for one in scored:
        if is_version(one.unit):
            others.setdefault(one.unit.document_id, one.unit)
    if not others:
        return tuple(chosen)
    found = (chosen[0], *others.values())
    ages = _ages(evidence[unit.index].passage for unit in found)

    def rank(unit: Unit) -> tuple[bool, Age]:
        passage = evidence[unit.index].passage
        return _is_named(passage, question), ages[passage]

    return tuple(dict.fromkeys((*sorted(found, key=rank, reverse=True), *chosen)))


def note(quoted: Sequence[Unit], evidence: Sequence[Evidence]) -> str:
    """That a quote says otherwise of the same than the first one, or is of another edition of its document, and which of
    them holds if that is known; empty if none does.
    """
    first, *others = [(unit, evidence[unit.index].passage) for unit in quoted if not unit.is_caption]
    beside = [(other, passage) for other, passage in others if passage.document_id != first[1].document_id]
    for other, passage in beside:
        if _differ(first[0], other):
            return NEWER_FIRST if _is_newer(first[1], passage) else DIFFER
    for _, passage in beside:
        if _are_editions(first[1], passage):
            return NEWER_EDITION_FIRST if _is_newer(first[1], passage) else EDITIONS
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


def _are_editions(one: Passage, other: Passage) -> bool:
    return edition(one.title).is_of(edition(other.title))


def _newer_editions(best: Passage, evidence: Sequence[Evidence]) -> frozenset[int]:
    """Where in the evidence the best passage of each newer edition of the best one's document is."""
    first: dict[int, int] = {}
    for index, given in enumerate(evidence):
        if _are_editions(best, given.passage) and _is_newer(given.passage, best):
            first.setdefault(given.passage.document_id, index)
    return frozenset(first.values())


def _is_newer(one: Passage, other: Passage) -> bool:
    ages = _ages((one, other))
    return ages[one] > ages[other]


def _is_named(passage: Passage, question: str) -> bool:
    """Whether the question names this version, by its number or its year."""
    _, number, year, _ = _ages((passage,))[passage]
    return number in editions.versions_in(question) or year in editions.years_in(question)


def _ages(passages: Iterable[Passage]) -> dict[Passage, Age]:
    """What the title calls old is; then the number of the version there says most, where all have one, and a year more than
    when the file was changed.
    """
    said = {passage: edition(passage.title) for passage in passages}
    are_numbered = all(each.version for each in said.values())
    return {
        passage: (
            not each.is_old,
            each.version if each.version and are_numbered else (),
            each.year or (passage.updated_at.year if passage.updated_at else 0),
            passage.updated_at.timestamp() if passage.updated_at else 0.0,
        )
        for passage, each in said.items()
    }
