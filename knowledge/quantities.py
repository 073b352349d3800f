"""Figures with what they count: "5 %" is no support for "EUR 5", nor "two weeks" for "two months".

A quantity reads as `5 percent`, without a known unit as `5 ?`. With a power of ten said after it, its value is counted
out: "EUR 1.5 million" reads as `1500000 eur`. A time of a half day reads as `21:00`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from knowledge import units

_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_FIGURE = re.compile(r"(?<![\w.,:'])(?:(?<!\w)[-+])?\d+(?:[.,':]\d+)*(?![.,':]?\d|(?:st|nd|rd|th)\b)")
CLOCK = "clock"
_NUMBER = re.compile(r"[-+]?\d+(?:[.,']\d+)*$")
_CLOCK = re.compile(r"(\d{1,2})(?::(\d{2}))?$")


@dataclass(frozen=True)
class Quantity:
    """`text`: as written, from `start` on. `written`: what its figure may mean; `values`: with `power` or the half day.

    `unit`: None when none is known.
    """

    text: str
    start: int
    written: tuple[str, ...]
    values: tuple[str, ...]
    unit: str | None
    power: int

    @property
    def says_more(self) -> bool:
        """Whether there is more to it than a figure."""
        return bool(self.values) and (self.unit is not None or self.power > 0)

    def readings(self) -> Iterator[str]:
        for value in self.values:
            yield value
            yield f"{value} {self.unit or '?'}"

    def supports(self) -> Iterator[tuple[str, ...]]:
        """Alternative sets of readings that support it."""
        for value in self.values:
            yield (f"{value} {self.unit}",) if self.unit else (value,)
            yield (f"{value} ?",)
        if self.power or self.unit == CLOCK:
            yield from ((f"{value} ?", f"10^{self.power}") for value in self.written)


def find(text: str) -> Iterator[Quantity]:
    """The quantities in a normalised text without its dates in words."""
    for match in _FIGURE.finditer(_ISO_DATE.sub(lambda date: " " * len(date.group()), text)):
        figure, start = match.group(), match.start()
        beside = units.beside(text, start, match.end())
        said, unit, written = text[start : beside.end], beside.name, tuple(values(figure))
        if unit in ("am", "pm") and (clock := _CLOCK.match(figure)):
            hour = int(clock[1]) % 12 + (12 if unit == "pm" else 0)
            time = plain_clock(f"{hour}:{clock[2] or 0}")
            yield Quantity(said, start, written or (plain_clock(figure),), (time,), CLOCK, 0)
        elif ":" in figure:
            yield Quantity(said, start, (), (plain_clock(figure),), None, 0)
        else:
            raised = tuple(_raised(value, beside.power) for value in written) if beside.power else written
            yield Quantity(said, start, written, raised, unit, beside.power)


def scales(text: str) -> Iterator[str]:
    """`10^6` for "in millions", said of figures elsewhere, as in a table's header; `10^0` always."""
    yield "10^0"
    yield from (f"10^{power}" for power in units.powers(text))


def plain_clock(figure: str) -> str:
    """`9:5` for "09:05": no leading zeros."""
    return re.sub(r"(?<!\d)0+(?=\d)", "", figure)


def values(figure: str) -> Iterator[str]:
    """A number's values under the two conventions for `.` and `,`; nothing for versions and other tokens."""
    if not _NUMBER.match(figure):
        return
    sign, digits = ("-", figure[1:]) if figure[0] == "-" else ("", figure.lstrip("+"))
    seen = set()
    for thousands, point in ((",'", "."), (".'", ",")):
        whole, _, fraction = digits.partition(point)
        groups = re.split(f"[{thousands}]", whole)
        if fraction and not fraction.isdigit():
            continue
        if len(groups) > 1 and not (
            groups[0][0] != "0" and len(groups[0]) <= 3 and all(len(g) == 3 for g in groups[1:])
        ):
            continue
        value = "".join(groups).lstrip("0") or "0"
        # "1,200" may mean 1.200, which then has its zeros: it is no way to write 1.2.
        may_be_thousands = len(groups) == 1 and len(fraction) == 3 and value != "0"
        fraction = fraction if may_be_thousands else fraction.rstrip("0")
        seen.add(sign + value + ("." + fraction if fraction else ""))
    yield from sorted(seen)


def _raised(value: str, power: int) -> str:
    raised = Decimal(value) * 10**power
    return f"{raised.normalize():f}"
