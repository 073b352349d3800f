"""Two questions in one: "What does it cost, and when do we move?" Each part is a question that stands alone, together with
the statement that leads to all of them: "I am ill. Who do I tell, and when do I need a note?"
"""

import re

from knowledge import analysis

_ASKING = r"what|when|where|who|whom|whose|which|why|how"
_VERB = r"do|does|did|is|are|was|were|can|could|may|should|shall|will|would|must|has|have|had|am"
_QUESTION = rf"(?:(?:what|who|whom|whose|which)\b|(?:when|where|why)\s+(?:{_VERB})\b|how\s+(?!to\b)\w)"
"""Where a question begins; "when the token expires" is part of one."""
_JOINT = re.compile(rf"[,;?]?\s+(?:and|or)\s+(?={_QUESTION})|\?\s+(?={_QUESTION})", re.IGNORECASE)
_STATED = re.compile(rf"(?:[^?]*?[.!]\s+)?(?=(?:{_ASKING})\b)", re.IGNORECASE)
"""What is said before the first question, empty where it begins with that."""
_BACK = re.compile(r"\b(?:it|its|this|that|these|those|they|them|their|he|she|him|her|one)\b", re.IGNORECASE)


def parts(question: str) -> tuple[str, ...]:
    """The questions in it, in order; the whole alone when a later one speaks of what an earlier one named, or of nothing ("what do I do?")."""
    stated = _STATED.match(question)
    if stated is None:
        return (question,)
    found = tuple(part.strip() for part in _JOINT.split(question[stated.end() :]) if part.strip())
    alone = len(found) > 1 and all(analysis.stems(part) and not _BACK.search(part) for part in found[1:])
    return tuple(f"{stated[0]}{part}" for part in found) if alone else (question,)
