"""Which step of a numbered list a question asks for, and that step among what can be quoted. Pure."""

import re
from collections.abc import Sequence

from knowledge.quotable import Unit

LAST = -1

_ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth",
    "erste zweite dritte vierte fünfte sechste siebte achte neunte zehnte elfte zwölfte",
)
_NUMBERS = {word: number for words in _ORDINALS for number, word in enumerate(words.split(), 1)}
_NUMBERS |= {"last": LAST, "final": LAST, "letzte": LAST}
_NAMED = re.compile(
    rf"\b(?P<word>{'|'.join(_NUMBERS)}|(?P<figure>\d{{1,2}})(?:st|nd|rd|th|\.))[mnrs]? (?:steps?|things?|points?|items?|tasks?|schritt|punkt)\b"
    r"|\b(?:step|point|item|schritt|punkt) (?:number |no\. ?|nr\. ?)?(?P<number>\d{1,2})\b",
    re.IGNORECASE,
)
_ITEM = re.compile(r"\s*(?:(?P<number>\d{1,3})[.)]|[-*+•])\s")


def asked(question: str) -> int | None:
    """The number of the step, `LAST` for the last one; None when the question asks for none."""
    found = _NAMED.search(question)
    if not found:
        return None
    figure = found["number"] or found["figure"]
    return int(figure) if figure else _NUMBERS[found["word"].casefold()]


def pick(number: int, units: Sequence[Unit]) -> tuple[Unit, ...]:
    """All sentences of that step of the first numbered list that has it; empty when none has. `units`: in any order."""
    items = [unit for unit in sorted(units, key=lambda unit: (unit.index, unit.piece)) if unit.kind == "item"]
    numbers = [(item, _number(item)) for item in items]
    if number == LAST:
        first = next((item.index for item, n in numbers if n), None)
        number = max((n for item, n in numbers if n and item.index == first), default=0)
    start = next((at for at, (_, n) in enumerate(numbers) if n == number), None)
    if start is None:
        return ()
    end = start + 1
    while end < len(items) and _goes_on(items[end - 1], items[end]):
        end += 1
    return tuple(items[start:end])


def _number(unit: Unit) -> int | None:
    found = _ITEM.match(unit.text)
    return int(found["number"]) if found and found["number"] else None


def _goes_on(before: Unit, unit: Unit) -> bool:
    return (unit.index, unit.piece) == (before.index, before.piece + 1) and not _ITEM.match(unit.text)
