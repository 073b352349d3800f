"""Text -> the terms of the keyword index. Documents and questions go through the same steps:

1. Quote-like characters become `'`; NUL, other control characters and lone surrogates are gone before (`clean`).
2. A word is a run of letters and digits, joined inside by `_ - . / : \\ @ + '`, with `++` or `#` after it (`C++`, `C#`).
3. A plain word is folded (case, width, accents), dropped when it is a stop word, and gives its English stem and itself.
4. An identifier with joiners gives itself whole, each path segment whole, versions cut at each dot, and its parts as
   plain words; a part in camelCase or with digits also gives its pieces, when they are words and not half a brand name.
5. Scripts without spaces give overlapping pairs of characters.

Whole identifiers carry a leading `=` and words as written a `~`, so that they cannot meet a stem by accident.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

_FUNCTION_WORDS = """
a about after all also am an and any are as at be been being but by can could did do does doing for from had
has have having he her here his how i if in into is it its just me my no nor not of on or our out she should
so some such than that the their them then there these they this those to too up us very was we were what when
where which while who whom whose why will with would you your
"""
STOP_WORDS = frozenset(_FUNCTION_WORDS.split())
"""English function words; a short list, because in a question "before", "under" or "between" can be what matters."""

EXACT = "~"
"""Marks a word as written. A chunk with the very form that was asked for beats one with another form of its stem."""

MAX_WORD = 200
"""Longer runs (base64, minified code) are one opaque identifier: nobody types a part of one."""

_QUOTES = {ord(c): "'" for c in "‘’‛ʻʼʹ＇′`´"}
_CJK = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_ALNUM = rf"(?:(?![{_CJK}])[^\W_])"
_WORD = re.compile(
    rf"(?P<cjk>[{_CJK}]+)|(?P<word>(?:{_ALNUM}|(?<!\w)_+(?={_ALNUM}))(?:{_ALNUM}|[_\-./:\\@+']+(?={_ALNUM}))*)(?P<tail>\+\+|\#(?!\w))?"
)
_SEGMENT = re.compile(r"[/:\\@]+")
_PART = re.compile(r"[_\-./:\\@+']+")
_PIECE = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\WA-Za-z\d_]+")
_VERSION = re.compile(r"v?(\d+(?:\.\d+)+)")
_CONTRACTION = re.compile(r"^(.+)'(s|t|re|ve|ll|d|m)$", re.IGNORECASE)


@dataclass(frozen=True)
class Term:
    """`text[start:end]` is the word of the given text that the term came from; one word may give several terms."""

    term: str
    start: int
    end: int


def clean(text: str) -> str:
    """The text without what no database column or reader can take: control characters and lone surrogates."""
    text = text.encode("utf-8", "ignore").decode("utf-8")
    return "".join(c for c in text if c in "\n\t" or unicodedata.category(c) != "Cc")


def terms(text: str) -> list[str]:
    """The terms of any text, in order, repeated as often as they occur."""
    return [term for match in _words(text) for term in _of_match(match)]


def stems(text: str) -> list[str]:
    """Its terms without those for how words are written."""
    return [term for term in terms(text) if not term.startswith(EXACT)]


def spans(text: str) -> Iterator[Term]:
    """The terms with the character span of the word they came from."""
    for match in _words(text):
        for term in _of_match(match):
            yield Term(term, match.start(), match.end())


def _words(text: str) -> Iterator[re.Match[str]]:
    return _WORD.finditer(text.translate(_QUOTES))


def _of_match(match: re.Match[str]) -> tuple[str, ...]:
    return _of_cjk(match["cjk"]) if match["cjk"] else _of_word(match["word"], match["tail"] or "")


@lru_cache(maxsize=50_000)
def _of_word(word: str, tail: str) -> tuple[str, ...]:
    if tail:
        return (f"={fold(word)}{tail}", *_of_word(word, ""))
    if contraction := _CONTRACTION.match(word):
        word, suffix = contraction.groups()
        if suffix.lower() == "t":  # don't, can't, isn't: a stop word whatever it is
            return ()
    if len(word) > MAX_WORD:
        return ("=" + fold(word),)
    parts = [word] if _is_plain(word) else _PART.split(word)
    terms = [t for part in parts for t in _of_part(part)]
    return (*(_wholes(word) if len(parts) > 1 else ()), *terms)


def _wholes(word: str) -> Iterator[str]:
    """An identifier as typed, its path segments that are identifiers, and its versions at each precision."""
    names = [word, *(s for s in _SEGMENT.split(word) if _PART.search(s))]
    for version in _VERSION.findall(word):
        numbers = version.split(".")
        names += (".".join(numbers[:n]) for n in range(2, len(numbers) + 1))
    return (f"={name}" for name in dict.fromkeys(map(fold, names)))


def _of_part(part: str) -> tuple[str, ...]:
    """A part's stem and the part as written; and of a part in camelCase or with digits, its pieces."""
    terms = _plain(part)
    if _is_plain(part):
        return terms
    pieces = _PIECE.findall(part)
    words = [p for p in pieces if p.isalpha()]
    numbers = [p for p in pieces if p.isdigit() and len(p) >= 3]
    if len(words) < 3 and not (len(words) == 2 and part.isalpha() and part[0].islower()):  # GitHub, iOS16
        words = []
    return (*terms, *(t for p in words + numbers for t in _plain(p)))


def _of_cjk(run: str) -> tuple[str, ...]:
    run = fold(run)
    return tuple(run[i : i + 2] for i in range(len(run) - 1)) or (run,)


def _is_plain(word: str) -> bool:
    """A word of prose, or a number; not an identifier."""
    if word.isdigit():
        return True
    return word.isalpha() and (word.islower() or word.isupper() or word[1:].islower())


def _plain(word: str) -> tuple[str, ...]:
    word = fold(word)
    if word in STOP_WORDS or (len(word) < 2 and not word.isdigit()):
        return ()
    return (_stem(word) if word.isalpha() else word, f"{EXACT}{word}") if len(word) > 1 else (word,)


def fold(word: str) -> str:
    """Case, width and accents away: `Ｃａｆé` -> `cafe`. Marks of other scripts stay: they make other letters."""
    if word.isascii():
        return word.lower()
    decomposed = unicodedata.normalize("NFKD", word).casefold()
    return unicodedata.normalize("NFC", "".join(c for c in decomposed if not "\u0300" <= c <= "\u036f"))


@lru_cache(maxsize=100_000)
def _stem(word: str) -> str:
    return str(_stemmer().stemWord(word))


@cache
def _stemmer() -> Any:
    import snowballstemmer

    return snowballstemmer.stemmer("english")
