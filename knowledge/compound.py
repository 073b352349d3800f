"""Two questions in one sentence: "What does it cost, and when do we move?" Each part is a question that stands alone."""

import re

_ASKING = r"what|when|where|who|whom|whose|which|why|how"
_VERB = r"do|does|did|is|are|was|were|can|could|may|should|shall|will|would|must|has|have|had|am"
_QUESTION = rf"(?:(?:what|who|whom|whose|which)\b|(?:when|where|why)\s+(?:{_VERB})\b|how\s+(?!to\b)\w)"
"""Where a question begins; "when the token expires" is part of one."""
_JOINT = re.compile(rf"[,;?]?\s+(?:and|or)\s+(?={_QUESTION})|\?\s+(?={_QUESTION})", re.IGNORECASE)
_BACK = re.compile(r"\b(?:it|its|this|that|these|those|they|them|their|he|she|him|her|one)\b", re.IGNORECASE)


def parts(question: str) -> tuple[str, ...]:
    """The questions in it, in order; the whole alone when a later one speaks of what an earlier one named."""
    found = tuple(part.strip() for part in _JOINT.split(question) if part.strip())
    alone = len(found) > 1 and re.match(_ASKING, found[0], re.IGNORECASE) and not any(map(_BACK.search, found[1:]))
    return found if alone else (question,)
