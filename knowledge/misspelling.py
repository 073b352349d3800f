"""Misspelt words of a question, and the words of the documents that may have been meant. Pure.

1. A word is doubtful when no document has it, the embedding model has to read it in parts, and it is no name: all of it
   small letters, five at least.
2. Meant may be what is one edit away: a letter too many, missing, another one, or two that changed places (Damerau, 1964;
   the first letter is seldom wrong). Of these the one that most chunks have.
"""

import re
from collections.abc import Callable, Mapping, Sequence

from knowledge import analysis

LEAST = 5
"""Letters from which a word is looked at: of shorter ones too many are one edit from another."""

MOST_WORDS = 3
"""Words of a question that are looked at; one with more of them is in another language."""

_LETTERS = "abcdefghijklmnopqrstuvwxyzäöüßéè"
_WORD = re.compile(rf"(?<![\w./@'-])[{_LETTERS}]{{{LEAST},20}}(?![\w@'/-]|\.\w)")


def doubtful(question: str, count_pieces: Callable[[str], int]) -> tuple[str, ...]:
    """The words that may be misspelt if no document has them; none when there are too many. `count_pieces`: of a word, as
    the embedding model reads it.
    """
    words = tuple(dict.fromkeys(word for word in _WORD.findall(question) if count_pieces(word) > 1))
    return words if len(words) <= MOST_WORDS else ()


def edits(word: str) -> tuple[str, ...]:
    """All that is one edit away and begins alike, in alphabetical order."""
    halves = [(word[:i], word[i:]) for i in range(1, len(word) + 1)]
    found = {head + rest[1:] for head, rest in halves if rest}
    found |= {head + rest[1] + rest[0] + rest[2:] for head, rest in halves if len(rest) > 1}
    found |= {head + letter + rest[1:] for head, rest in halves if rest for letter in _LETTERS}
    found |= {head + letter + rest for head, rest in halves for letter in _LETTERS}
    return tuple(sorted(found - {word}))


def unknown(words: Sequence[str], counts: Mapping[str, int]) -> tuple[str, ...]:
    """Those that no chunk has in any of their forms. `counts`: stem -> chunks that have it."""
    return tuple(word for word in words if not any(counts.get(stem) for stem in analysis.stems(word)))


def meant(near: Mapping[str, Sequence[str]], counts: Mapping[str, int]) -> dict[str, str]:
    """For each word the one of its `edits` that most chunks have; without those of which none is in any. `near`: the word's
    edits; `counts`: word as it is written (`written`) -> chunks that have it.
    """
    best = {word: max(others, key=lambda other: counts.get(written(other), 0)) for word, others in near.items()}
    return {word: other for word, other in best.items() if counts.get(written(other))}


def written(word: str) -> str:
    """The term for how it is written."""
    return f"{analysis.EXACT}{analysis.fold(word)}"


def corrected(question: str, others: Mapping[str, str]) -> str:
    """The question with the other words in the place of its own."""
    return _WORD.sub(lambda found: others.get(found[0], found[0]), question)
