"""Whether steps name anybody, where the question is who: else "Sign the sheet" is told to whom asks who signs it. Pure.

Somebody is a word with a capital within a sentence, an address, or a common word for people, none of which the question has
itself. English only.
"""

import re
from collections.abc import Sequence

from knowledge import analysis, steps
from knowledge.language import is_english
from knowledge.quotable import Unit

WHO = "who it is"
"""What is not answered then."""

_ASKS = re.compile(r"\s*(?:who|whom|whose)\b", re.IGNORECASE)
_NAME = re.compile(r"(?<=[\w,;:(/–-] )[A-Z][\w'’-]+|\S+@\S+|\b[A-Z]{2,}\b")
_PEOPLE = re.compile(
    r"\b(?:i|you|your|we|they|people|person|staff|employees?|members?|colleagues?|lead|leader|managers?|heads?|boss|owners?|teams?|"
    r"departments?|office|desk|reception|payroll|accounts|board|company|everyone|everybody|anyone|anybody|nobody|somebody|"
    r"someone|all|guests?|customers?|suppliers?|police|bank|doctor)\b",
    re.IGNORECASE,
)


def is_missing(question: str, quoted: Sequence[Unit]) -> bool:
    """Whether the question is who, and what is quoted are items of lists, none of which says anybody."""
    if not quoted or not _ASKS.match(question) or not is_english(question):
        return False
    asked = set(analysis.stems(question))
    return all(unit.kind == "item" and not _names(steps.unmarked(unit), asked) for unit in quoted)


def _names(text: str, asked: set[str]) -> bool:
    found = (match[0] for pattern in (_NAME, _PEOPLE) for match in pattern.finditer(text))
    return any(asked.isdisjoint(analysis.stems(word)) for word in found)
