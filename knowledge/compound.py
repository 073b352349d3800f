"""Two questions in one: "What does it cost, and when do we move?" Each part is a question that stands alone, or with what was
said before both: "I am ill. Who do I tell, and when do I need a doctor's note?"
"""

import re
from dataclasses import dataclass

from knowledge import analysis, followups

_ASKING = r"what|when|where|who|whom|whose|which|why|how"
_VERB = r"do|does|did|is|are|was|were|can|could|may|should|shall|will|would|must|has|have|had|am"
_YES_OR_NO = rf"(?:{_VERB})\s+(?:i|you|we|there|the|a|an|my|our|your|any(?:one|body)|some(?:one|body))\b"
_QUESTION = rf"(?:(?:what|who|whom|whose|which)\b|(?:when|where|why)\s+(?:{_VERB})\b|how\s+(?!to\b)\w|{_YES_OR_NO})"
"""Where a question begins; "when the token expires" is part of one."""
_JOINT = re.compile(rf"[,;?]?\s+(?:and|or)\s+(?={_QUESTION})|\?\s+(?={_QUESTION})", re.IGNORECASE)
_STATED = re.compile(rf"(?:[^?]*?[.!]\s+)?(?=(?:{_ASKING}|{_VERB})\s)", re.IGNORECASE)
"""What is said before the first question, empty where it begins with that."""
_BACK = re.compile(r"\b(?:it|its|this|that|these|those|they|them|their|he|she|him|her|one)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Part:
    """`asked`: as it stands in the question; `full`: behind what was said before, where it leans on that."""

    asked: str
    full: str


def parts(question: str) -> tuple[Part, ...]:
    """The questions in it, in order; the whole alone when a later one speaks of what an earlier one named, or of nothing
    ("what do I do?").
    """
    whole = (Part(question, question),)
    stated = _STATED.match(question)
    if stated is None:
        return whole
    found = [part.strip() for part in _JOINT.split(question[stated.end() :]) if part.strip()]
    if len(found) < 2 or any(not analysis.stems(part) or _BACK.search(part) for part in found[1:]):
        return whole
    return tuple(Part(part, f"{stated[0]}{part}" if followups.leans(part) else part) for part in found)
