"""Steps of a numbered list: the one that a question asks for, or all of what it asks how to do. Pure."""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from knowledge import analysis
from knowledge.captions import ends_in_colon
from knowledge.quotable import Unit

LAST = -1

_ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth",
    "erste zweite dritte vierte fünfte sechste siebte achte neunte zehnte elfte zwölfte",
)
NUMBERS = {word: number for words in _ORDINALS for number, word in enumerate(words.split(), 1)}
NUMBERS |= {"last": LAST, "final": LAST, "letzte": LAST}
_NAMED = re.compile(
    rf"\b(?P<word>{'|'.join(NUMBERS)}|(?P<figure>\d{{1,2}})(?:st|nd|rd|th|\.))[mnrs]?\W{{1,3}}(?:steps?|things?|points?|items?|tasks?|schritt|punkt)\b"
    r"|\b(?:step|point|item|schritt|punkt) (?:number |no\. ?|nr\. ?)?(?P<number>\d{1,2})\b",
    re.IGNORECASE,
)
_HOW = re.compile(
    r"\bhow (?:do|can|should|must|to|does|is|are|many steps)\b|\bwhat (?:do|should|must|can) (?:i|we|you|one) (?:have to )?do\b"
    r"|\bwhat now\b|\bwhat (?:has|have) to be done\b|\bwhat (?:comes|happens|follows|is next)\b|\bsteps?\b|\bprocedure (?:for|to|when|if)\b|\bwie (?:kann|muss|soll|geht|mache?|bekomme?|beantrage?)\b|\bwas muss ich\b",
    re.IGNORECASE,
)
MOST_STEPS = 10
"""A longer list is not quoted whole."""

_STEP = re.compile(r"\b(?:how many |which )?(?:steps?|schritte?n?)\b", re.IGNORECASE)

_ITEM = re.compile(r"\s*(?:(?P<number>\d{1,3})[.)]|[-*+•])\s")


def asked(question: str) -> int | None:
    """The number of the step, `LAST` for the last one; None when the question asks for none."""
    found = _NAMED.search(question)
    if not found:
        return None
    figure = found["number"] or found["figure"]
    return int(figure) if figure else NUMBERS[found["word"].casefold()]


def asks_how(question: str) -> bool:
    """Whether the question is how something is done, or about the steps of it."""
    return _HOW.search(question) is not None


def name(number: int) -> str:
    """What such a step is called where it is missing."""
    return "a last step" if number == LAST else f"step {number}"


def subject(question: str) -> str:
    """The question without the words for steps and their number, which no step says of itself; all of it when nothing else
    is left.
    """
    rest = _STEP.sub(" ", _NAMED.sub(" ", question))
    return rest if analysis.terms(rest) else question


def pick(number: int, units: Sequence[Unit]) -> tuple[Unit, ...]:
    """All sentences of that step of the nearest numbered list; empty when that has it not. `units`: best first."""
    best = next((unit.index for unit in units if unit.kind == "item" and _number(unit)), None)
    items = sorted((u for u in units if u.kind == "item" and u.index == best), key=lambda unit: unit.piece)
    numbers = [(item, _number(item)) for item in items]
    if number == LAST:
        number = max((n for _, n in numbers if n), default=0)
    start = next((at for at, (_, n) in enumerate(numbers) if n == number), None)
    if start is None:
        return ()
    end = start + 1
    while end < len(items) and goes_on(items[end - 1], items[end]):
        end += 1
    return tuple(items[start:end])


def procedure(question: str, chosen: Sequence[Unit], units: Sequence[Unit]) -> tuple[Unit, ...]:
    """What was chosen, with a whole list in the place of some of its items, which would be another procedure: when the
    question asks how something is done and a step of the best passage was chosen, or what only leads to the list.
    """
    places = {unit.piece: unit for unit in units if chosen and unit.index == chosen[0].index}
    items = {piece: unit for piece, unit in places.items() if unit.kind == "item"}
    how = asks_how(question)
    named = how and _is_named(chosen, question)
    anchors = ((n, _anchor(unit, items, how, named)) for n, unit in enumerate(chosen) if places.get(unit.piece) == unit)
    at, anchor = next(((n, piece) for n, piece in anchors if piece is not None), (0, None))
    if anchor is None:
        return tuple(chosen)
    whole = _list_around(anchor, items)
    lead = _before(whole[0], places)
    steps = sum(map(_is_marked, whole))
    if not 1 < steps <= MOST_STEPS or not (lead or _number(whole[0])):
        return tuple(chosen)
    ahead = (unit for unit in chosen[: at + named] if unit.kind != "item")
    beside = (unit for unit in chosen[at:] if unit.kind != "item" and unit.index != chosen[0].index and not named)
    return tuple(dict.fromkeys((*ahead, *lead, *whole, *beside)))


def _anchor(unit: Unit, items: Mapping[int, Unit], how: bool, named: bool) -> int | None:
    """A piece of the list that is to be told whole for this unit of its passage; None for none."""
    if _leads(unit):
        return unit.piece + 1 if unit.piece + 1 in items else None
    if named and unit.kind == "sentence":
        return next((piece for piece in sorted(items) if _number(items[piece]) == 1), None)
    return unit.piece if unit.kind == "item" and how else None


def _is_named(chosen: Sequence[Unit], question: str) -> bool:
    """Whether the question says all of the heading that the first quote stands under: that section is about just this."""
    heading = analysis.stems(chosen[0].heading) if chosen else ()
    asked = analysis.stems(question)
    # "restring" and "restringing" have other stems: of one word the other begins with its stem
    return bool(heading) and all(any(a.startswith(h) or h.startswith(a) for a in asked) for h in heading)


def _list_around(piece: int, items: Mapping[int, Unit]) -> tuple[Unit, ...]:
    """All of the list that this item is of."""
    first = last = piece
    numbered = next(
        (_number(items[n]) is not None for n in range(first, -1, -1) if n in items and _is_marked(items[n])), False
    )
    while first - 1 in items and _number(items[first]) != 1 and _is_of(items[first - 1], numbered):
        first -= 1
    while last + 1 in items and _number(items[last + 1]) != 1 and _is_of(items[last + 1], numbered):
        last += 1
    return tuple(items[n] for n in range(first, last + 1))


def _before(first: Unit, places: Mapping[int, Unit]) -> tuple[Unit, ...]:
    """The line that leads to the list, with the sentences of its paragraph; empty when none does."""
    found: list[Unit] = []
    before = places.get(first.piece - 1)
    if before is None or not _leads(before):
        return ()
    while before and (not found or before.is_followed_by(found[0])):
        found.insert(0, before)
        before = places.get(before.piece - 1)
    return tuple(found)


def _leads(unit: Unit) -> bool:
    return unit.kind == "sentence" and (unit.is_caption or ends_in_colon(unit.text))


def _is_marked(unit: Unit) -> bool:
    return _ITEM.match(unit.text) is not None


def _is_of(unit: Unit, numbered: bool) -> bool:
    """Whether an item can be of a list with or without numbers: its next one, a further sentence of one, or below one."""
    return not _is_marked(unit) or unit.text[:1].isspace() or (_number(unit) is not None) == numbered


def are_one_run(items: Sequence[Unit]) -> bool:
    """Whether the numbers of these items follow each other, so that a list of them has no other numbers."""
    numbers = [n for n in map(_number, items) if n is not None]
    return all(after == before + 1 for before, after in pairwise(numbers))


def unmarked(unit: Unit) -> str:
    """The text of an item without its mark; any other as it is."""
    return _ITEM.sub("", unit.text, count=1) if unit.kind == "item" else unit.text


def _number(unit: Unit) -> int | None:
    found = _ITEM.match(unit.text)
    return int(found["number"]) if found and found["number"] else None


def goes_on(before: Unit, unit: Unit) -> bool:
    """Whether it is the next sentence of the same item."""
    next_one = (before.kind, before.index, before.piece + 1) == (unit.kind, unit.index, unit.piece)
    return next_one and unit.kind == "item" and not _is_marked(unit)
