"""Editions: documents whose titles are the same but for a year or the number of a version. Pure.

"Holiday policy 2024" and "Holiday policy 2026" are two, "Hire terms v1" and "Hire terms, version 2 (final)" too; "Chapter 1"
and "Chapter 2" are none.
"""

import re
from dataclasses import dataclass

from knowledge import analysis

_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_VERSION = re.compile(
    r"\b(?:version|edition|revision|ausgabe|fassung|rev|v)[._ -]{0,2}(\d+(?:\.\d+)*)\b", re.IGNORECASE
)
_OLD = re.compile(
    r"\b(?:old|outdated|obsolete|superseded|previous|archived?|draft|alt|veraltet|entwurf)\b", re.IGNORECASE
)
_STATE = re.compile(rf"{_OLD.pattern}|\b(?:final|new|latest|current|copy|neu|aktuell)\b", re.IGNORECASE)

Number = tuple[int, ...]
"""Of a version: (1, 2) for "1.2"."""


@dataclass(frozen=True)
class Edition:
    """`name`: the stems of the title without year, version and state. `year` and `version`: None where it says none;
    `states`: words such as old or final, `is_old` where one says that it does not hold.
    """

    name: frozenset[str]
    year: int | None
    version: Number | None
    states: frozenset[str]

    @property
    def is_old(self) -> bool:
        return any(_OLD.fullmatch(state) for state in self.states)

    def is_of(self, other: "Edition") -> bool:
        """Whether it is another edition of the same."""
        return bool(self.name) and self.name == other.name and self != other


def edition(title: str) -> Edition:
    title = title.replace("_", " ")
    year, versions = _YEAR.search(title), versions_in(title)
    states = frozenset(state.casefold() for state in _STATE.findall(title))
    rest = _STATE.sub(" ", _VERSION.sub(" ", _YEAR.sub(" ", title)))
    name = frozenset(analysis.stems(rest))
    return Edition(name, int(year[0]) if year else None, min(versions) if versions else None, states)


def years_in(text: str) -> frozenset[int]:
    return frozenset(map(int, _YEAR.findall(text)))


def versions_in(text: str) -> frozenset[Number]:
    """The numbers of versions that a text says with a word for that: "version 1", "v2.3"."""
    return frozenset(tuple(map(int, number.split("."))) for number in _VERSION.findall(text))
