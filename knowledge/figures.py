"""What in a sentence can be checked by code: figures, dates, times, versions, identifiers, file names, addresses.

1. Text is normalised (NFKC, decimal digits of any script, one kind of minus) and cut into tokens.
2. A token that holds a digit, or is shaped like an identifier (`snake_case`, `camelCase`, `a.b`, `--flag`, `/path`,
   `a@b`), is a fact. A day with a month's name is one fact, a date (`dates.py`).
3. A fact is supported when one of its readings is among the readings of the evidence: `1,200` reads as 1200 and as
   1.200, `10GB` as 10, `3-5` as 3 and 5, `v4.7` as 4.7, `8 January 2026` as 2026-01-08. Letters compare without case.
4. A figure with a unit or a power of ten is supported by that figure with the same one, or with none (`quantities.py`).

Numbers in words are read in the evidence (a document's "two weeks" supports "2 weeks"); of a claim they are checked
where a unit follows ("three weeks"), because elsewhere they need not be meant as figures ("the two of them").
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache

from knowledge import dates, numerals, quantities, units

_TOKEN = re.compile(r"[A-Za-zÀ-ɏ0-9_.,:/@+\-'#%&=~$\\⁄]*[A-Za-zÀ-ɏ0-9_%]")
_DASHES = str.maketrans({"−": "-", "‑": "-", "‐": "-", "–": " ", "—": " ", "’": "'", "\u00a0": " ", "\u202f": " "})
_RANGE = re.compile(r"(?<=[\d.])[–—](?=\d)")
_FRACTION = re.compile(r"(\d*)\s?([¼½¾])")
_MINUS = re.compile(r"\b(?:minus|moins|menos)\s+(?=\d)", re.IGNORECASE)
_HOUR = re.compile(r"(?<![\w.,])(\d{1,2}) ?h ?(\d{2})\b")
_SQUARE = re.compile(r"(?<=[A-Za-z])[²³]")
_LIST_MARK = re.compile(
    r"^\s*(?:>\s*)*(?:[-*+•]\s+)?[*_]{0,3}(?:\(?\d{1,4}[.)]|(?:step|schritt|étape|paso)\s+\d{1,3}[.:)])[*_]{0,3}\s",
    re.MULTILINE | re.IGNORECASE,
)
_SPACED_THOUSANDS = re.compile(r"(?<![\w.,])(\d{1,3})((?: \d{3})+)(?!\w|[.,]\d{3})")
_LETTERED = re.compile(r"[A-Za-zÀ-ɏ]")
_UNIT = re.compile(r"([-+]?\d[\d.,']*)(?:[a-zA-Zµ]{1,4}|%)$")
_ISO_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})$")
_IDENTIFIER = re.compile(
    r"\w+_\w|.*[a-zß-ÿ][A-Z]|.*[A-Za-zÀ-ɏ]{2,}\.[A-Za-zÀ-ɏ]{2,}|--?[A-Za-z]{2}|~?/\w|.+@.+\w|\w+:\w+$"
)


@lru_cache(maxsize=2048)
def readings(text: str) -> frozenset[str]:
    """Every reading of every token in `text`: the evidence that a claim's facts are looked up in."""
    found: set[str] = set()
    written, in_words = dates.take(_normalised(text))
    for date in in_words:
        found.update(dates.readings(date))
    versions = {written, numerals.in_figures(written)}
    for token in {token for plain in versions for _, token in _tokens(plain)}:
        found.update(_evidence(token))
    for quantity in {quantity for plain in versions for quantity in quantities.find(plain)}:
        found.update(quantity.readings())
    found.update(quantities.scales(written))
    found.update(filter(None, map(numerals.ordinal, re.findall(r"[a-z]+", written.casefold()))))
    return frozenset(found)


def unsupported(claim: str, *evidence: frozenset[str]) -> tuple[str, ...]:
    """The facts of `claim` (a sentence without citation marks) that no part of `evidence` supports, as written."""

    def known(reading: str) -> bool:
        return any(reading in part for part in evidence)

    def holds(ways: Iterable[tuple[str, ...]]) -> bool:
        return any(all(map(known, way)) for way in ways)

    plain, in_words = dates.take(_normalised(_LIST_MARK.sub("", claim)))
    plain = numerals.in_figures(plain, units.FOLLOWS)
    counts = [quantity for quantity in quantities.find(plain) if quantity.says_more]
    held = {quantity.start: holds(quantity.supports()) for quantity in counts}
    loose = {-number: date for number, date in enumerate(in_words, 1) if not holds(dates.supports(date))}
    for start, token in _tokens(plain):
        if _is_fact(token) and not held.get(start) and not holds(_ways(token)):
            loose[start] = token
    for quantity in counts:
        if not held[quantity.start]:
            loose.setdefault(quantity.start, quantity.text)
    return tuple(dict.fromkeys(loose.values()))


def _normalised(text: str) -> str:
    if not text.isascii():
        text = _SQUARE.sub("", _FRACTION.sub(_decimal, _RANGE.sub("-", text)))
        text = unicodedata.normalize("NFKC", text.translate(_DASHES)).translate(_DASHES)
        text = "".join(
            str(unicodedata.decimal(c)) if c.isdecimal() else c for c in text if unicodedata.category(c) != "Cf"
        )
    text = _HOUR.sub(r"\1:\2", _MINUS.sub("-", text))
    return _SPACED_THOUSANDS.sub(lambda m: m.group(1) + m.group(2).replace(" ", ""), text)


def _decimal(fraction: re.Match[str]) -> str:
    return str(int(fraction[1] or 0) + unicodedata.numeric(fraction[2]))


def _tokens(text: str) -> Iterator[tuple[int, str]]:
    """Each token with its place."""
    for match in _TOKEN.finditer(text):
        token = match.group().lstrip(".,:'&=$#")
        if token.startswith("-") and match.start() and text[match.start() - 1].isalnum():
            token = token.lstrip("-")
        start = match.end() - len(token)
        if token := token.rstrip(".,:'&=/#+-"):
            yield start, token


def _is_fact(token: str) -> bool:
    return any(c.isdigit() for c in token) or bool(_IDENTIFIER.match(token))


def _ways(token: str) -> Iterator[tuple[str, ...]]:
    """Alternative sets of readings, each enough on its own."""
    yield (_key(token),)
    for form in quantities.values(token):
        yield (form,)
    for date in dates.in_figures(token):
        yield from dates.supports(date)
    if unit := _UNIT.match(token):
        for form in quantities.values(unit.group(1)):
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
    yield from quantities.values(token)
    if unit := _UNIT.match(token):
        yield from quantities.values(unit.group(1))
    for date in dates.in_figures(token):
        yield from dates.readings(date)
    if _ISO_DATE.match(token):
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
        key = quantities.plain_clock(key)
    return key


def _number_key(figure: str) -> str:
    return next(quantities.values(figure), _key(figure))
