"""A question that leans on its thread -> a question that stands alone. The rule that needs no model; pure.

1. A question leans when somebody asked before it in the thread and it begins like a continuation ("and for…", "what
   about…") or a correction ("no, I meant Oslo"), has hardly a word of its own ("in Zurich?"), or is short and points back
   ("when does it expire?").
2. It then takes along the content words of the question before, which may itself have leaned on the one before that.
   A message of courtesies ("great, thanks") is no question before.
3. What it names in the place of something else stands for it: "in Oslo" for the "in Zurich" before, "E4019" for "E4012".
4. Any other question is left exactly as it was asked.
"""

import re
from collections.abc import Sequence

from knowledge import analysis, steps
from knowledge.answers import Turn

_CONTINUES = re.compile(
    r"[\s¿¡]*(?:and|or|but|also|what about|how about|what if|same for|the same|tell me more|more details|anything else"
    r"|und|oder|aber|was ist mit|wie ist es|gilt das|et|y|e|en)\b",
    re.IGNORECASE,
)
_CORRECTS = re.compile(
    r"\s*(?:sorry|i mean|i meant|actually|not|same|ich meinte|ich meine|eigentlich|(?:no|nein|non)(?:,|\.|\s+i\b))",
    re.IGNORECASE,
)
_THANKS = "thanks thank thx cheers danke vielen dank merci beaucoup gracias great perfect nice super awesome wonderful"
_ASSENT = "ok okay cool fine good yes yep sure understood helpful helps help lot much parfait vale perfecto prima klar"
_COURTESIES = frozenset(f"{_THANKS} {_ASSENT} please sorry hi hello hey hallo".split())
_POINTS_BACK = re.compile(
    r"\b(?:it|its|that|this|those|these|they|them|their|he|she|his|her|there|then|one|ones|former|latter|"
    r"das|dies|dieser|diese|dort|davon|dafür|dazu|ihn|sie|es)\b",
    re.IGNORECASE,
)
_BARE = re.compile(
    r"\W*(?:(?:since|until|till|by|from|up to|for|starting|and|but|so|bis|seit|ab)\s+)*(?:when|how (?:long|much|many|often|far|soon|"
    r"late)|where|who|whom|why|which(?: ones?)?|what(?: for)?|wann|wie (?:lange|viele?|oft)|wo|wer|warum)\W*",
    re.IGNORECASE,
)
"""All of a question that asks on and names nothing: "until when?"."""
_PREPOSITION = re.compile(
    r"\b(?:in|on|at|for|from|to|with|without|of|by|into|after|before|during|für|auf|bei|von|mit|nach|aus|im|am|pour|à|dans|de|para|en)\b",
    re.IGNORECASE,
)
_DIGITS, _LETTERS = re.compile(r"\d+"), re.compile(r"[^\W\d_]+")

SHORT = 4
"""Content words up to which a question with a pronoun is taken to lean; longer ones usually explain their "it"."""

CORRECTION = 3
"""Content words up to which a correction is only that; "actually, how do I …" goes on with something new."""

STEP = 2
"""Content words up to which a question for a step by its number does not say of what: "what is the third step?"."""

MOST_WORDS = 12


def stand_alone(text: str, thread: Sequence[Turn]) -> str:
    """`text` itself when it stands alone or nothing was asked before, else with the words it leans on in brackets."""
    before = ""
    for turn in thread:
        if turn.role == "person" and _content(turn.text) and _asks(turn.text):
            before = _joined(turn.text, before)
    return _joined(text, before)


def leans(text: str) -> bool:
    """Whether a question that follows another one needs it to be understood."""
    content = _content(text)
    return refers_back(text) or len(content) <= 1 or (len(content) <= STEP and steps.asked(text) is not None)


def refers_back(text: str) -> bool:
    """Whether a question cannot be understood by itself, whatever was asked before: "and who pays?", "does it expire?"."""
    content = _content(text)
    return (
        not content
        or is_bare(text)
        or bool(_CONTINUES.match(text))
        or (len(content) <= CORRECTION and bool(_CORRECTS.match(text)))
        or (len(content) <= SHORT and bool(_POINTS_BACK.search(text)))
    )


def is_bare(text: str) -> bool:
    """Whether a question has no word of its own beside those for asking: "until when?"."""
    return _BARE.fullmatch(text) is not None


def _asks(text: str) -> bool:
    """Whether there is more in the text than courtesies."""
    content = _content(text)
    return "?" in text or not content or any(word.casefold() not in _COURTESIES for word in content)


def _joined(text: str, before: str) -> str:
    if not before or not leans(text) or not _asks(text):
        return text
    own = set(analysis.terms(text))
    replaced = _replaced(before, text)
    missing = [word for word, terms in _content(before).items() if not terms <= own and word not in replaced]
    return f"{text} ({' '.join(missing[:MOST_WORDS])})" if missing else text


def _replaced(before: str, text: str) -> set[str]:
    """The words of the question before for which the text names others: of the same shape, or after the same preposition
    when that stands there once.
    """
    shapes = {_shape(word) for word in _content(text)} - {""}
    named = [lead for lead, _ in _phrases(text)]
    phrases = _phrases(before)
    leads = [lead for lead, _ in phrases]
    gone = {word for word in _content(before) if _shape(word) in shapes}
    for lead, words in phrases:
        if lead and lead in named and leads.count(lead) == 1:
            gone.update(words)
    return gone


def _shape(word: str) -> str:
    """Letters and digits as signs of their kind, so that codes, versions or years are alike, as ordinals are; empty for
    other words without a digit."""
    if word.casefold() in steps.NUMBERS:
        return "ordinal"
    if not _DIGITS.search(word):
        return ""
    return _DIGITS.sub(lambda run: "0" if len(run[0]) < 3 else "000", _LETTERS.sub("a", word))


def _phrases(text: str) -> list[tuple[str, list[str]]]:
    """Words of content that stand side by side, with the preposition before them, empty without one."""
    phrases: list[tuple[str, list[str]]] = []
    end = 0
    for start, stop in dict.fromkeys((span.start, span.end) for span in analysis.spans(text)):
        gap = text[end:start]
        if gap.strip() or not phrases:
            lead = _PREPOSITION.search(gap)
            phrases.append((lead[0].casefold() if lead else "", []))
        phrases[-1][1].append(text[start:stop])
        end = stop
    return phrases


def _content(text: str) -> dict[str, frozenset[str]]:
    """The words of a text that carry meaning, as written, with their terms."""
    words: dict[str, set[str]] = {}
    for span in analysis.spans(text):
        words.setdefault(text[span.start : span.end], set()).add(span.term)
    return {word: frozenset(terms) for word, terms in words.items()}
