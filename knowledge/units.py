"""What a figure counts, where the text says so beside it: a currency, a time, a share, a size, or half of the day.

Units with more than one meaning ("m", "h", "min") are left out: a figure beside them is one without a known unit.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_NAMES = {
    "percent": "% percent prozent",
    "eur": "€ eur euro euros",
    "usd": "$ usd dollar dollars",
    "gbp": "£ gbp",
    "chf": "chf franken",
    "second": "second seconds sekunde sekunden seconde secondes segundo segundos",
    "minute": "minute minutes minuten minuto minutos",
    "hour": "hour hours hrs stunde stunden heure heures hora horas",
    "day": "day days tage tagen jour jours día días",
    "week": "week weeks woche wochen semaine semaines semana semanas",
    "month": "month months monat monate monaten mois mes meses",
    "year": "year years jahr jahre jahren ans année années año años",
    "kb": "kb kib",
    "mb": "mb mib",
    "gb": "gb gib gigabyte gigabytes",
    "tb": "tb tib terabyte terabytes",
    "km": "km kilometre kilometres kilometer kilometers",
    "kg": "kg",
    "am": "am a.m",
    "pm": "pm p.m",
}
_UNITS = {name: unit for unit, names in _NAMES.items() for name in names.split()}
_UNITS |= {"per cent": "percent", "pour cent": "percent", "por ciento": "percent"}
_POWERS = {
    name: power
    for power, names in {
        3: "k thousand tausend mille mil",
        6: "million millions millionen mio millones",
        9: "billion billions bn mrd milliarden milliard milliards",
    }.items()
    for name in names.split()
}


def _one_of(names: list[str]) -> str:
    return "(?:" + "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True)) + ")"


_UNIT = _one_of(list(_UNITS)) + r"(?!\w)"
_POWER = _one_of(list(_POWERS)) + r"(?!\w)"
_CURRENCY = _one_of([name for name, unit in _UNITS.items() if unit in ("eur", "usd", "gbp", "chf")])
_KIND = r"(?:working|calendar|business|full|whole|paid|consecutive|additional|more|extra|unused)[ -]"
_AFTER = re.compile(rf"(?:[\s-]?(?P<power>{_POWER}))?(?:[\s-]?(?:{_KIND})?(?P<unit>{_UNIT}))?", re.IGNORECASE)
_BEFORE = re.compile(rf"(?<!\w){_CURRENCY}(?=\s?$)", re.IGNORECASE)
_MILLIONS = re.compile(r"\s?m(?!\w)", re.IGNORECASE)  # "EUR 5m", where no metres can be meant
_ALONE = re.compile(rf"(?<!\d[\s-])(?<!\w){_POWER}", re.IGNORECASE)

FOLLOWS = re.compile(rf"[- ](?:(?:{_KIND})?{_UNIT}|{_POWER})", re.IGNORECASE)
"""A unit or a power of ten, and what stands between it and its figure."""


@dataclass(frozen=True)
class Unit:
    """`name`: None when none is known; `power`: of ten, 0 when none is said. `end`: where in the text they end."""

    name: str | None
    power: int
    end: int


def beside(text: str, start: int, end: int) -> Unit:
    """What is said beside the figure `text[start:end]`."""
    after = _AFTER.match(text, end)
    assert after is not None, "the pattern matches nothing at all, too"
    name, power = after["unit"] or "", after["power"] or ""
    if not name and (currency := _BEFORE.search(text, max(0, start - 7), start)):
        name = currency.group()
        if millions := _MILLIONS.match(text, end):
            return Unit(_UNITS[name.casefold()], 6, millions.end())
    return Unit(_UNITS.get(name.casefold()), _POWERS.get(power.casefold(), 0), after.end())


def powers(text: str) -> Iterator[int]:
    """The powers of ten that are said without a figure before them."""
    yield from (_POWERS[match.group().casefold()] for match in _ALONE.finditer(text))
