"""Dates in a text, in words and in figures, in the languages of the month names below.

A date reads as `2026-01-08`, without its day as `2026-01`, without its year as `--01-08`. `04/03/2026` reads both ways
round: its text does not say which one is meant.
"""

import re
from collections.abc import Iterator

_MONTHS = {
    name: number
    for names in (
        "january february march april may june july august september october november december",
        "jan feb mar apr may jun jul aug sep oct nov dec",
        "januar februar märz april mai juni juli august september oktober november dezember",
        "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    )
    for number, name in enumerate(names.split(), 1)
}
_VERB = r"(?-i:may)\b(?!\.?,?\s+\d{4}\b)"  # "12 may apply" is no date, "12 may 2026" is one
_MONTH = rf"(?!{_VERB})(?P<month>" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\b\.?"
_YEAR = r"(?:,?\s+(?:de\s+)?(?P<year>\d{4})\b)?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th|er|\.)?"
_TO = r"\s*(?:-|to|bis|au|al)\s*"
_IN_WORDS = (
    re.compile(
        rf"(?<![\d:.,])(?:(?P<first>\d{{1,2}})(?:st|nd|rd|th|er|\.)?{_TO})?\b{_DAY}\s+(?:of\s+|de\s+)?{_MONTH}{_YEAR}",
        re.IGNORECASE,
    ),
    re.compile(rf"\b{_MONTH}\s+(?:(?P<first>\d{{1,2}}){_TO})?{_DAY}\b(?![:.,]\d){_YEAR}", re.IGNORECASE),
    re.compile(rf"\b{_MONTH}\s+(?P<year>\d{{4}})\b", re.IGNORECASE),
)
_YEAR_FIRST = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})$")
_DAY_AND_MONTH = re.compile(r"(\d{1,2})\.(\d{1,2})$")
_YEAR_LAST = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4})$")


def take(text: str) -> tuple[str, tuple[str, ...]]:
    """The text without its dates in words, and those dates; `1-5 May` gives its first and its last day."""
    dates: list[str] = []

    def note(match: re.Match[str]) -> str:
        groups = match.groupdict()
        days = [int(day) for day in (groups.get("first"), groups.get("day")) if day is not None]
        if not all(1 <= day <= 31 for day in days):
            return match.group()
        start = f"{groups.get('year') or '-'}-{_MONTHS[groups['month'].casefold()]:02}"
        dates.extend([f"{start}-{day:02}" for day in days] or [start])
        return " "

    for pattern in _IN_WORDS:
        text = pattern.sub(note, text)
    return text, tuple(dates)


def in_figures(token: str) -> tuple[str, ...]:
    """The dates that a token in figures may mean; `24.12`, which need not be one, may be the 24th of December."""
    if match := _YEAR_FIRST.match(token):
        year, *rest = match.groups()
        ways = [rest]
    elif match := _YEAR_LAST.match(token):
        one, mark, other, year = match.groups()
        ways = [[other, one]] if mark == "." else [[other, one], [one, other]]
    elif match := _DAY_AND_MONTH.match(token):
        (one, other), year = match.groups(), "-"
        ways = [[other, one]]
    else:
        return ()
    valid = [(int(month), int(day)) for month, day in ways if 1 <= int(month) <= 12 and 1 <= int(day) <= 31]
    return tuple(f"{year}-{month:02}-{day:02}" for month, day in dict.fromkeys(valid))


def readings(date: str) -> Iterator[str]:
    """A full date also supports its month and its day without the year, and each of its figures."""
    yield date
    year, month, *day = date.removeprefix("-").split("-")
    if year and day:
        yield f"{year}-{month}"
        yield f"--{month}-{day[0]}"
    if not year:
        yield f"?{date}"
    yield from (str(int(part)) for part in (year, month, *day) if part)


def supports(date: str) -> Iterator[tuple[str, ...]]:
    """Alternative sets of readings that support it: the date, or its day said without a year beside its year."""
    yield (date,)
    year, _, day = date.partition("-")
    if year and len(day) == len("01-08"):
        yield f"?--{day}", year
