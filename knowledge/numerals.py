"""Numbers in words, as figures: "twenty-five days" is "25 days". English wholly, other languages where they are short."""

import re

_ENGLISH = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
)
_ONES = {word: number for number, word in enumerate(_ENGLISH.split())}
_ROUND = "ten twenty thirty forty fifty sixty seventy eighty ninety"
_TENS = {word: 10 * number for number, word in enumerate(_ROUND.split(), 1) if number > 1}
_FOREIGN = {
    word: number
    for words in (
        "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
        "deux trois quatre cinq six _ huit neuf dix onze douze",
        "dos tres cuatro cinco seis siete ocho nueve diez _ doce",
    )
    for number, word in enumerate(words.split(), 2)
    if word != "_"  # "sept" is a month and "once" an adverb
}
_OTHERS = {"dozen": 12, "zwanzig": 20, "vingt": 20, "veinte": 20, "dreißig": 30, "trente": 30, "treinta": 30}
_VALUES = _OTHERS | _FOREIGN | _ONES | _TENS

_SMALL = rf"(?:(?:{'|'.join(_TENS)})[- ](?:{'|'.join(list(_ONES)[1:10])})|{'|'.join(sorted(_VALUES, key=len, reverse=True))})"
_ANY = re.compile(
    rf"(?<![\w./@:'-])(?:{_SMALL}[- ]hundred(?:(?: and)? {_SMALL})?|hundred|{_SMALL})(?![\w/@:'])(?!\.\w|-\w*\d)",
    re.IGNORECASE,
)

_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
_ORDINAL = {
    word: f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number, 'th') }"
    for number, word in enumerate(_ORDINALS.split(), 1)
}


def in_figures(text: str, only_before: re.Pattern[str] | None = None) -> str:
    """The text with its numbers in words as figures; `only_before`: those above one that this comes after."""

    def figure(match: re.Match[str]) -> str:
        words = match.group()
        if re.search(r"[a-z][A-Z]", words):  # an identifier
            return words
        value = _value(words)
        meant = only_before is None or (value > 1 and only_before.match(text, match.end()))
        return str(value) if meant else words

    return _ANY.sub(figure, text)


def ordinal(word: str) -> str | None:
    """`3rd` for "third"."""
    return _ORDINAL.get(word)


def _value(words: str) -> int:
    total = 0
    for word in re.split(r"[- ]", words.casefold()):
        total = (total or 1) * 100 if word == "hundred" else total + _VALUES.get(word, 0)
    return total
