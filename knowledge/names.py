"""Names in a question that nothing found has: then what was found may be about somebody or something else. Pure.

A name is a word with a capital that does not begin a sentence, a code (letters with figures), a number behind a word such as
error or room, the number of a version, or a year. Only English questions are looked at: in others every noun may have a
capital, or names none.
"""

import re
from collections.abc import Sequence

from knowledge import analysis
from knowledge.editions import versions_in, years_in
from knowledge.evidence import Evidence
from knowledge.language import is_english

MOST = 3
"""Words with a capital in a row say that all have one, as in a headline; more names than that are not looked at."""

_WORD = re.compile(r"[^\W_](?:[\w'’./-]*\w)?")
_BEGINS = re.compile(r"(?:^|[.!?:;]\s+|[\"“„(]\s*|\n\s*)$")
_CODE = re.compile(r"(?!\d+[^\W\d_]{1,3}$)(?=.*\d).*[^\W\d_].*")
"""With letters and figures, and no figure with its unit or ending, such as 5GHz and 2nd."""
_NUMBERED = re.compile(
    r"(?:\b(?:errors?|codes?|faults?|alarms?|messages?|forms?|rooms?|articles?|items?|orders?|tickets?|invoices?|extensions?|"
    r"ext\.?|models?|types?|numbers?|no\.|nr\.)\s*|#)$",
    re.IGNORECASE,
)
"""What a number stands behind that names something; elsewhere it may count or measure."""
_ENDING = re.compile(r"['’](?:s|m|d|ve|ll|re)$")
_TIME_WORDS = (
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august "
    "september october november december christmas easter english german"
)
_TIMES = frozenset(_TIME_WORDS.split())
"""Written with a capital in English, and often said otherwise by the documents ("on working days")."""


def names(question: str) -> tuple[str, ...]:
    """As they are written, in order; none in a question that is not surely English."""
    if not is_english(question):
        return ()
    words = [(_ENDING.sub("", word[0]), question[: word.start()]) for word in _WORD.finditer(question)]
    found = tuple(dict.fromkeys(word for word, before in words if _is_name(word, before)))
    return found if len(found) <= MOST else ()


def missing(question: str, evidence: Sequence[Evidence]) -> tuple[str, ...]:
    """The names of which no passage has a part, nor its title or headings; a code only counts whole."""
    wanted = {name: analysis.stems(name)[: 1 if _CODE.fullmatch(name) else None] for name in names(question)}
    versions = versions_in(question)
    if not any(wanted.values()) and not versions:
        return ()
    texts = [f"{given.passage.label}\n{given.text}" for given in evidence]
    said = {term for text in texts for term in analysis.stems(text)}
    gone = versions.difference(*map(versions_in, texts))
    return (
        *(name for name, terms in wanted.items() if terms and said.isdisjoint(terms)),
        *(f"version {'.'.join(map(str, number))}" for number in sorted(gone)),
    )


def _is_name(word: str, before: str) -> bool:
    if word.isdigit():
        return bool(years_in(word) or (len(word) > 1 and _NUMBERED.search(before)))
    if any(sign.isdigit() for sign in word):
        return bool(_CODE.fullmatch(word))
    return len(word) > 1 and word[0].isupper() and not _BEGINS.search(before) and word.casefold() not in _TIMES
