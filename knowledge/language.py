"""Whether a text is English, as far as its function words show."""

import re
from collections.abc import Sequence

from knowledge.analysis import STOP_WORDS

_WORD = re.compile(r"[^\W\d_]+")

_LEAST = 0.2
"""Share of function words from which a text may be English: one of them must be no word of another language, or there are
several and none of another language."""
_DISTINCT = 3

_SHARED = "a am an as at be by do for had has have he her here i in is just me my no of on or our so to up us was we"
_ENGLISH_ONLY = STOP_WORDS - frozenset(_SHARED.split())

_OTHERS = "der das und ist nicht wir ein eine zu mit von den dem le les des une est pas nous el los las una"
_FOREIGN = frozenset(_OTHERS.split())
_FOREIGN_MARKS = frozenset("¿¡")
_QUESTIONS = """
wie wo wer wem wann warum wieso welche welchem welchen welcher welches wieviel ich habe kann muss darf gibt
combien quand pourquoi quel quelle quels quelles puis dois cuánto cuántos cuántas cuándo cómo dónde quién cuál puedo tengo
quanto quanti quante quando perché posso quantos quantas onde hoe waar wanneer hoeveel welke
"""
_ASKING = frozenset(_QUESTIONS.split())
"""Words of questions in German, French, Spanish, Italian, Portuguese and Dutch that English does not have."""


def is_english(text: str) -> bool:
    """False for a text that is too short to tell, too."""
    found = _WORD.findall(text.casefold())
    function_words = [word for word in found if word in STOP_WORDS]
    if len(function_words) < _LEAST * len(found):
        return False
    return not _ENGLISH_ONLY.isdisjoint(found) or (len(set(function_words)) >= _DISTINCT and _FOREIGN.isdisjoint(found))


def is_foreign(text: str) -> bool:
    """Whether something in the text is surely not English; False for a text that is too short to tell, too."""
    found = _WORD.findall(text.casefold())  # English has dashes, curved quotes and currency signs that are not ASCII
    return not "".join(found).isascii() or not _FOREIGN.isdisjoint(found) or not _FOREIGN_MARKS.isdisjoint(text)


def asks_in_another(question: str, texts: Sequence[str]) -> bool:
    """Whether the question is surely not English while most of the texts are."""
    if is_english(question) or not (is_foreign(question) or _ASKING & set(_WORD.findall(question.casefold()))):
        return False
    return sum(map(is_english, texts)) * 2 > len(texts)
