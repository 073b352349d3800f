"""A model's text cut into claims: sentences, list items, table rows, code blocks, each with what it cites. Pure."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from knowledge import markup
from knowledge.citable import Piece, cut
from knowledge.evidence import Cited

_PLACE = "\ue010{}\ue011"
_ANY_PLACE = re.compile("\ue010\\d+\ue011")
PLACED = re.compile("[^\\S\n]*\ue010(\\d+)\ue011")
_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u2060\ufeff\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"))
"""Characters that hide in a text or turn its order round; those that join letters stay."""
_END = re.compile(r"(?:[.!?:;,…。！？：；，、]+|\s*\|)?[*_]{0,3}\s*$")


@dataclass(frozen=True)
class Segment:
    """A stretch of the model's text with the citations it carries."""

    text: str
    citations: tuple[Cited, ...] = ()


@dataclass(frozen=True)
class Claim:
    """`text` with a placeholder after each stretch; `places`: what each stretch cites, nothing when it cites nothing.

    `given`: how many citations the model gave, whether they hold or not.
    """

    text: str
    kind: str
    places: tuple[tuple[Cited, ...], ...]
    given: int

    @property
    def cited(self) -> tuple[Cited, ...]:
        return tuple(dict.fromkeys(c for place in self.places for c in place))

    @property
    def plain(self) -> str:
        return PLACED.sub("", self.text)

    def stretches(self, text: str) -> Iterator[tuple[str, tuple[Cited, ...]]]:
        """`text`, the claim's as it may be posted, cut where its citations change."""
        at = 0
        for mark in PLACED.finditer(text):
            yield text[at : mark.start()], self.places[int(mark[1])]
            at = mark.end()


def claims(segments: Sequence[Segment], held: Callable[[Cited], Cited | None]) -> list[Claim]:
    """The text cut into claims, each with the citations of the segments it overlaps."""
    texts = [markup.readable(s.text.translate(_INVISIBLE)) for s in segments]
    ends = list(accumulate(map(len, texts)))
    whole, claims, position, at = "".join(texts), [], 0, 0
    for piece in cut(whole):
        end = position + len(piece.text)
        stretches: list[tuple[str, tuple[Cited, ...]]] = []
        while position < end:
            while ends[at] <= position:
                at += 1
            stop = min(end, ends[at])
            stretches.append((whole[position:stop], segments[at].citations))
            position = stop
        claims.append(_claim(piece, stretches, held))
    return claims


def _claim(
    piece: Piece, stretches: Sequence[tuple[str, tuple[Cited, ...]]], held: Callable[[Cited], Cited | None]
) -> Claim:
    """A table's header has no mark, a code block one for all of it."""
    if piece.kind == "code":
        stretches = [
            (_closed(piece.text), tuple(c for part, cited in stretches if re.search(r"\w", part) for c in cited))
        ]
    text, places, given = "", list[tuple[Cited, ...]](), 0
    for part, cited in stretches:
        if re.search(r"\w", part) and piece.kind != "header" and (cited or piece.kind != "code"):
            given += len(cited)
            text += _with_place(part, len(places), piece.kind)
            places.append(tuple(filter(None, map(held, cited))))
        else:
            text += part
    return Claim(text if piece.kind == "code" else _with_whole_code(text), piece.kind, tuple(places), given)


def _with_whole_code(text: str) -> str:
    """Code spans with their placeholders behind them, and no backtick that could make code of what follows."""
    text = markup.CODE.sub(lambda code: _ANY_PLACE.sub("", code[0]) + "".join(_ANY_PLACE.findall(code[0])), text)
    return "".join(part if code else part.replace("`", "") for part, code in markup.outside_code(text))


def _closed(block: str) -> str:
    """A code block with its last fence, which a model that was cut off may not have written."""
    fence = block.split("\n", 1)[0].strip()[:3]
    return block if markup.CODE.fullmatch(block.strip("\n")) else f"{block.rstrip()}\n{fence}\n"


def _with_place(text: str, number: int, kind: str) -> str:
    """The placeholder goes before the mark that ends the stretch, inside the last cell of a row, below a code block."""
    if kind == "code":
        bare = text.rstrip()
        return f"{bare}\n{_PLACE.format(number)}{text[len(bare) :]}"
    end = _END.search(text)
    cut_at = end.start() if end else len(text)
    return f"{text[:cut_at]}{_PLACE.format(number)}{text[cut_at:]}"
