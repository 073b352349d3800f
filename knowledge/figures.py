"""What in a sentence can be checked by code: figures, dates, times, versions, identifiers, file names, addresses.

1. Text is normalised (NFKC, decimal digits of any script, one kind of minus) and cut into tokens.
2. A token that holds a digit, or is shaped like an identifier (`snake_case`, `camelCase`, `a.b`, `--flag`, `/path`,
   `a@b`), is a fact. A day with a month's name is one fact, a date.
3. A fact is supported when one of its readings is among the readings of the evidence: `1,200` reads as 1200 and as
   1.2, `10GB` as 10, `3-5` as 3 and 5, `v4.7` as 4.7, `8 January 2026` as 2026-01-08. Letters compare without case.

Numbers in words are read in the evidence (a document's "two weeks" supports "2 weeks"), not demanded of it.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

_TOKEN = re.compile(r"[A-Za-zÀ-ɏ0-9_.,:/@+\-'#%&=~$\\⁄]*[A-Za-zÀ-ɏ0-9_%]")
_DASHES = str.maketrans({"−": "-", "‑": "-", "‐": "-", "–": " ", "—": " ", "’": "'", "\u00a0": " ", "\u202f": " "})
_LIST_MARK = re.compile(r"^\s*(?:>\s*)*\d{1,4}[.)]\s", re.MULTILINE)
_SPACED_THOUSANDS = re.compile(r"(?<![\w.,])(\d{1,3})((?: \d{3})+)(?![\w.,]*\d)")
_LETTERED = re.compile(r"[A-Za-zÀ-ɏ]")
_NUMBER = re.compile(r"[-+]?\d+(?:[.,']\d+)*$")
_UNIT = re.compile(r"([-+]?\d[\d.,']*)(?:[a-zA-Zµ]{1,4}|%)$")
_ISO_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})$")
_IDENTIFIER = re.compile(
    r"\w+_\w|.*[a-zß-ÿ][A-Z]|.*[A-Za-zÀ-ɏ]{2,}\.[A-Za-zÀ-ɏ]{2,}|--?[A-Za-z]{2}|~?/\w|.+@.+\w|\w+:\w+$"
)

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
_MONTH = "(?P<month>" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\b\.?"
_YEAR = r"(?:,?\s+(?:de\s+)?(?P<year>\d{4})\b)?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th|er|\.)?"
_DATES = (
    re.compile(rf"\b{_DAY}\s+(?:of\s+|de\s+)?{_MONTH}{_YEAR}", re.IGNORECASE),
    re.compile(rf"\b{_MONTH}\s+{_DAY}\b(?![:.,]\d){_YEAR}", re.IGNORECASE),
    re.compile(rf"\b{_MONTH}\s+(?P<year>\d{{4}})\b", re.IGNORECASE),
)
_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
)
_WORDS = {word: str(number) for number, word in enumerate(_ONES.split())}
_WORDS |= {"thirty": "30", "forty": "40", "fifty": "50", "sixty": "60", "ninety": "90", "hundred": "100", "dozen": "12"}


@lru_cache(maxsize=2048)
def readings(text: str) -> frozenset[str]:
    """Every reading of every token in `text`: the evidence that a claim's facts are looked up in."""
    found: set[str] = set()
    plain, dates = _take_dates(_normalised(text))
    for date in dates:
        found.update(_date_readings(date))
    for token in _tokens(plain):
        found.update(_evidence(token))
        if word := _WORDS.get(token.casefold()):
            found.add(word)
    return frozenset(found)


def unsupported(claim: str, *evidence: frozenset[str]) -> tuple[str, ...]:
    """The facts of `claim` (a sentence without citation marks) that no part of `evidence` supports, as written."""

    def known(reading: str) -> bool:
        return any(reading in part for part in evidence)

    plain, dates = _take_dates(_normalised(_LIST_MARK.sub("", claim)))
    loose = [date for date in dates if not known(date)]
    loose += [
        token for token in _tokens(plain) if _is_fact(token) and not any(all(map(known, way)) for way in _ways(token))
    ]
    return tuple(dict.fromkeys(loose))


def _normalised(text: str) -> str:
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text.translate(_DASHES)).translate(_DASHES)
        text = "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in text)
    return _SPACED_THOUSANDS.sub(lambda m: m.group(1) + m.group(2).replace(" ", ""), text)


def _tokens(text: str) -> Iterator[str]:
    for match in _TOKEN.finditer(text):
        token = match.group().lstrip(".,:'&=$#").rstrip(".,:'&=/#+-")
        if token.startswith("-") and match.start() and text[match.start() - 1].isalnum():
            token = token.lstrip("-")
        if token:
            yield token


def _is_fact(token: str) -> bool:
    return any(c.isdigit() for c in token) or bool(_IDENTIFIER.match(token))


def _ways(token: str) -> Iterator[tuple[str, ...]]:
    """Alternative sets of readings, each enough on its own."""
    yield (_key(token),)
    for form in _numbers(token):
        yield (form,)
    if unit := _UNIT.match(token):
        for form in _numbers(unit.group(1)):
            yield (form,)
    parts = token.split("-")
    if len(parts) > 1 and all(parts) and not _ISO_DATE.match(token):
        figures = [p for p in parts if any(c.isdigit() for c in p)]
        words = [p for p in parts if p not in figures]
        plain = all(w.isalpha() and w.islower() for w in words) and not any(_LETTERED.search(f) for f in figures)
        if figures and plain and len(parts) <= 3:
            yield tuple(_number_key(f) for f in figures)


def _evidence(token: str) -> Iterator[str]:
    yield _key(token)
    yield from _numbers(token)
    if unit := _UNIT.match(token):
        yield from _numbers(unit.group(1))
    if date := _ISO_DATE.match(token):
        yield from _date_readings(token)
        yield from (str(int(part)) for part in date.groups())
        return
    for separator in "-/=:~@":
        parts = [part for part in token.split(separator) if part] if separator in token else []
        for part in parts:
            if part != token:
                yield from _evidence(part)


def _key(token: str) -> str:
    """One spelling: no case, no leading zeros in parts of figures, no `v` before a version."""
    key = token.casefold()
    if re.match(r"v\d", key):
        key = key[1:]
    if ":" in key and not _LETTERED.search(key):
        key = re.sub(r"(?<!\d)0+(?=\d)", "", key)
    return key


def _number_key(figure: str) -> str:
    return next(_numbers(figure), _key(figure))


def _numbers(token: str) -> Iterator[str]:
    """A number's values under the two conventions for `.` and `,`; nothing for versions and other tokens."""
    if not _NUMBER.match(token):
        return
    sign, digits = ("-", token[1:]) if token[0] == "-" else ("", token.lstrip("+"))
    seen = set()
    for thousands, point in ((",'", "."), (".'", ",")):
        whole, _, fraction = digits.partition(point)
        groups = re.split(f"[{thousands}]", whole)
        if fraction and not fraction.isdigit():
            continue
        if len(groups) > 1 and not (len(groups[0]) <= 3 and all(len(g) == 3 for g in groups[1:])):
            continue
        value = "".join(groups).lstrip("0") or "0"
        fraction = fraction.rstrip("0")
        seen.add(sign + value + ("." + fraction if fraction else ""))
    yield from sorted(seen)


def _take_dates(text: str) -> tuple[str, tuple[str, ...]]:
    """The text without its dates in words, and those dates as `2026-01-08`, `2026-01` or `--01-08`."""
    dates: list[str] = []

    def take(match: re.Match[str]) -> str:
        groups = match.groupdict()
        month, year, day = _MONTHS[groups["month"].casefold()], groups.get("year"), groups.get("day")
        if day is not None and not 1 <= int(day) <= 31:
            return match.group()
        start = f"{year or '-'}-{month:02}"
        dates.append(f"{start}-{int(day):02}" if day else start)
        return " "

    for pattern in _DATES:
        text = pattern.sub(take, text)
    return text, tuple(dates)


def _date_readings(date: str) -> Iterator[str]:
    """A full date also supports its month and its day without the year, and each of its figures."""
    yield date
    parts = date.rsplit("-", 2)
    if len(parts) == 3 and parts[0] not in ("", "-"):
        yield f"{parts[0]}-{parts[1]}"
        yield f"--{parts[1]}-{parts[2]}"
    for part in date.split("-"):
        if part:
            yield str(int(part))
