"""A model's own statement that something is not in the documents: never a claim, and no place for one.

It starts with `NOT COVERED:` as the model is told, or says in plain words, English, German, French or Spanish, that the
documents do not have it. Only an uncited sentence can be one of the second kind.
"""

import re

MISSING = "NOT COVERED:"
_PREFIX = re.compile(
    r"^\W{0,6}(?:NOT COVERED|NICHT ABGEDECKT|NON COUVERT|NO CUBIERTO)\W{0,4}?\s?[:：–—-]\W{0,4}", re.IGNORECASE
)

_SOURCES = r"(?:documents?|documentation|passages?|sources?|pages?|excerpts?|context|materials?)"
_TELL = r"(?:say|state|mention|cover|contain|include|specify|provide|describe|give|have|address|define|explain|list|indicate|name|answer|tell|discuss|show)"
_QUELLEN = r"(?:dokumente?n?|unterlagen|quellen?|passagen?|auszügen?|textstellen)"
_EXTRAITS = r"(?:documents?|sources?|passages?|extraits?)"
_FUENTES = r"(?:documentos?|fuentes?|pasajes?|fragmentos?)"
_PLAIN = re.compile(
    rf"""
      \b{_SOURCES}\b[^.!?\n]{{0,60}}\b(?:do(?:es)?\s+not|don['’]t|doesn['’]t|never)\s+(?:\w+\s+)?{_TELL}\b
    | \b{_SOURCES}\s+(?:say|contain|have|give|mention)\s+(?:nothing|no)\b
    | \b(?:not|nothing|no\s+(?:information|mention|details?|answer))\b[^.!?\n]{{0,60}}\b(?:in|by)\s+(?:\w+\s+){{0,2}}{_SOURCES}\b
    | \bI\s+(?:do\s+not|don['’]t|did\s+not|didn['’]t|could\s+not|couldn['’]t|cannot|can['’]t|(?:am|was)\s+(?:unable|not\s+able)\s+to)\s+(?:have|find|see|know|answer|locate|determine|tell|say)\b
    | \b(?:no|not\s+enough|insufficient)\s+(?:\w+\s+)?information\b
    | \b(?:nicht|nichts|keine?[mnrs]?)\b[^.!?\n]{{0,60}}\b{_QUELLEN}\b | \b{_QUELLEN}\b[^.!?\n]{{0,60}}\b(?:nicht|nichts|keine?[mnrs]?)\b
    | \bich\s+(?:habe|kann|konnte|finde)\b[^.!?\n]{{0,80}}\b(?:nicht|nichts|keine?[mnrs]?)\b
    | \b{_EXTRAITS}\b[^.!?\n]{{0,20}}\b(?:ne\s|n['’])[^.!?\n]{{0,60}}\b(?:pas|rien|aucune?)\b
    | \b(?:pas|rien|aucune?)\b[^.!?\n]{{0,60}}\bdans\s+(?:\w+\s+){{0,2}}{_EXTRAITS}\b | \bje\s+(?:ne|n['’])[^.!?\n]{{0,60}}\b(?:pas|rien|aucune?)\b
    | \b{_FUENTES}\s+(?:\w+\s+)?no\b | \b(?:no|nada|ning[uú]n\w*)\b[^.!?\n]{{0,60}}\ben\s+(?:\w+\s+){{0,2}}{_FUENTES}\b
    | \bno\s+(?:tengo|encuentro|encontré|he\s+encontrado|puedo)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_ABSENCE = re.compile(
    r"\b(?:no|not|\w+n['’]t|cannot|nothing|none|never|neither|nor|without|lack\w*|missing|absent|unclear|unknown|only|nicht|nichts|kein\w*"
    r"|fehl\w*|nur|ne|pas|aucune?|rien|sin|nada|ning[uú]n\w*|non|niet|geen|ikke|inte|não)\b|\bn['’]|[不無无没未]|ない|ません|없",
    re.IGNORECASE,
)


def announced(text: str) -> str | None:
    """What follows `NOT COVERED:`; None when the text does not start with it."""
    prefix = _PREFIX.match(text)
    return text[prefix.end() :] if prefix else None


def is_plain(text: str) -> bool:
    """Whether a sentence says in plain words that the documents do not have something."""
    return bool(_PLAIN.search(text))


def denies(text: str) -> bool:
    """Whether a text says of anything that it is not there."""
    return bool(_ABSENCE.search(text))
