"""What a model wrote, checked against the passages it was given. Pure; nothing that fails a check is posted.

1. The text is cut into claims: sentences, list items, table rows, code blocks (`citable.cut`).
2. A citation holds when its passage exists and its quote is really in that passage. Others are taken out.
   A passage's sentences that speak to a machine (`orders.py`) are no evidence.
3. A claim is kept with at least one citation that holds, when it speaks of what it cites (roughly, by its words) and
   every figure, date, version and identifier in it is in what it cites (quotes, title, headings, date, a table row's
   header) or in the question.
4. A claim without citations is kept only when it says nothing of its own: all its words are in the question, in what
   is cited beside it, or in `evidence.FRAMING`, and the same holds for its figures. A lead-in waits for what it leads to.
5. Addresses: the link of a cited document, or one that a cited passage contains on a host of the sources, is a link;
   any other that a cited passage or the question contains is shown as code; the rest is taken out.
6. Marks `[n]` count from 1 in order of first use, one number for each document and heading path. Brackets with
   numbers that the model wrote itself are taken out, except in code. Mentions become plain words everywhere.
7. A line that starts with `NOT COVERED:` is the model's own statement of what is missing, and never a claim.

Not checked: whether a sentence without figures says exactly what its quote says. The reader has the quote beside it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from knowledge import markup
from knowledge.answers import Citation, Removed
from knowledge.citable import cut
from knowledge.evidence import Checks, Cited, Evidence, Numbering, words

MISSING = "NOT COVERED:"
_MISSING = re.compile(r"^\W{0,6}NOT COVERED\W{0,4}:\W{0,4}", re.IGNORECASE)
_MARK_PLACE = "\ue010{}\ue011"
_MARK_PLACED = re.compile("[^\\S\n]*\ue010(\\d+)\ue011")
_ENDED = re.compile(r"[.!?|。！？`]\W*$|\n\s*$")
_END = re.compile(r"(?:[.!?:;,…]+|\s*\|)?[*_]{0,3}\s*$")


@dataclass(frozen=True)
class Segment:
    """A stretch of the model's text with the citations it carries."""

    text: str
    citations: tuple[Cited, ...] = ()


@dataclass(frozen=True)
class Grounded:
    """`text`: verified Markdown with marks, empty when nothing held. `missing`: what the model says the passages lack."""

    text: str
    citations: tuple[Citation, ...]
    removed: tuple[Removed, ...]
    missing: str | None


@dataclass(frozen=True)
class _Claim:
    """`text` with a placeholder after each cited stretch; `places`: what each placeholder stands for."""

    text: str
    kind: str
    places: tuple[tuple[Cited, ...], ...]
    given: int

    @property
    def cited(self) -> tuple[Cited, ...]:
        return tuple(dict.fromkeys(c for place in self.places for c in place))


def verify(segments: Sequence[Segment], evidence: Sequence[Evidence], question: str, complete: bool = True) -> Grounded:
    """The part of the model's text that the evidence supports.

    `complete=False`: the text goes on or was cut off, so a last sentence without an end is left out.
    """
    checks = Checks(evidence, question)
    draft = _Draft(checks, Numbering(evidence))
    claims = _claims(segments, checks)
    if not complete and claims and not _ENDED.search(_MARK_PLACED.sub("", claims[-1].text)):
        claims = claims[:-1]
    for claim in claims:
        draft.add(claim)
    return draft.close()


def marked_segments(text: str, evidence: Sequence[Evidence]) -> tuple[Segment, ...]:
    """Text of a model that writes `[n]` itself: each mark cites the whole passage n, for the sentence before it."""
    segments: list[Segment] = []
    behind = ""
    for part, code in markup.outside_code(markup.readable(text)):
        at = 0
        for mark in () if code else markup.MARK.finditer(part):
            behind += part[at : mark.start()].rstrip(" \t")
            at = mark.end()
            if behind.strip() or not segments:
                segments += [Segment(piece.text) for piece in cut(behind)] or [Segment("")]
                behind = ""
            last = segments[-1]
            cited = tuple(_whole(n - 1, last.text, evidence) for n in markup.numbers(mark))
            segments[-1] = replace(last, citations=last.citations + cited)
        behind += part[at:]
    return (*segments, Segment(behind)) if behind else tuple(segments)


def _whole(index: int, sentence: str, evidence: Sequence[Evidence]) -> Cited:
    """The whole passage, shown by the piece that has most words of the sentence."""
    if not 0 <= index < len(evidence):
        return Cited(index, 0, 0, "")
    given, said = evidence[index], words(sentence)
    usable = [
        n for n, piece in enumerate(given.pieces) if n not in given.orders and piece.kind not in ("heading", "header")
    ]
    best = max(usable, key=lambda n: len(said & words(given.pieces[n].text)), default=0)
    return Cited(index, best, best + 1, given.pieces[best].text, whole=True)


def _claims(segments: Sequence[Segment], checks: Checks) -> list[_Claim]:
    """The text cut into claims, each with the citations of the segments it overlaps."""
    texts = [markup.readable(s.text) for s in segments]
    ends = list(accumulate(map(len, texts)))
    whole, claims, position, at = "".join(texts), [], 0, 0
    for piece in cut(whole):
        end = position + len(piece.text)
        parts: list[str] = []
        places: list[tuple[Cited, ...]] = []
        given = 0
        while position < end:
            while ends[at] <= position:
                at += 1
            stop = min(end, ends[at])
            part, cited = whole[position:stop], segments[at].citations
            if cited and re.search(r"\w", part):
                given += len(cited)
                if held := tuple(c for c in cited if checks.holds(c)):
                    part = _with_place(part, len(places), piece.kind)
                    places.append(held)
            parts.append(part)
            position = stop
        claims.append(_Claim("".join(parts), piece.kind, tuple(places), given))
    return claims


def _with_place(text: str, number: int, kind: str) -> str:
    """The placeholder goes before the mark that ends the stretch, inside the last cell of a row, below a code block."""
    if kind == "code":
        bare = text.rstrip()
        return f"{bare}\n{_MARK_PLACE.format(number)}{text[len(bare) :]}"
    end = _END.search(text)
    cut_at = end.start() if end else len(text)
    return f"{text[:cut_at]}{_MARK_PLACE.format(number)}{text[cut_at:]}"


@dataclass
class _Entry:
    """A claim's place in the answer: its text (`None`: not posted) and the white space that followed it."""

    text: str | None
    space: str


class _Draft:
    """The answer while it is built, claim by claim."""

    def __init__(self, checks: Checks, numbering: Numbering) -> None:
        self._checks = checks
        self._numbering = numbering
        self._entries: list[_Entry] = []
        self._leads: list[tuple[_Entry, str, str]] = []
        self._removed: list[Removed] = []
        self._missing: str | None = None

    def add(self, claim: _Claim) -> None:
        """Keep the claim, let it wait for the one it leads to, or remove it."""
        body = claim.text.rstrip()
        entry = _Entry(None, claim.text[len(body) :])
        self._entries.append(entry)
        plain = _MARK_PLACED.sub("", body)
        if not re.search(r"\w", plain):
            entry.text = plain if re.fullmatch(r"[.!?)\"'*_]+", plain) and self._kept_before() else None
        elif statement := _MISSING.match(plain):
            self._note_missing(plain[statement.end() :])
        elif claim.given and not claim.places:
            self._remove(plain, "no citation of it holds")
        else:
            settled = markup.settle_links(
                markup.without_mentions(body), lambda url: self._checks.shown(url, claim.cited)
            )
            self._removed += [Removed(url, "an address that is in nothing cited") for url in settled.dropped]
            text = markup.without_marks(settled.text)
            if claim.places:
                self._judge_cited(entry, text, claim)
            else:
                self._judge_uncited(entry, text, claim.kind)

    def close(self) -> Grounded:
        for _, text, _ in self._leads:
            self._remove(text, "leads to nothing that was kept")
        text, space = "", ""
        for entry in self._entries:
            if entry.text is not None:
                text += (space if text else "") + entry.text
                space = ""
            space = _wider(space, entry.space)
        citations = self._numbering.citations()
        return Grounded(text if citations else "", citations, (*self._checks.failed, *self._removed), self._missing)

    def _judge_cited(self, entry: _Entry, text: str, claim: _Claim) -> None:
        plain = _MARK_PLACED.sub("", text)
        if loose := self._checks.unsupported(plain, claim.cited):
            self._remove(plain, f"not in what it cites: {', '.join(loose)}")
            return
        if self._checks.unrelated(markup.without_addresses(plain), claim.cited):
            self._remove(plain, "speaks of something else than what it cites")
            return
        self._checks.learn(claim.cited)
        self._release_leads()
        entry.text = _MARK_PLACED.sub(lambda mark: self._marks(claim.places, int(mark[1])), text)

    def _judge_uncited(self, entry: _Entry, text: str, kind: str) -> None:
        if kind in ("heading", "header") or text.rstrip("*_ ").endswith((":", "：")):
            self._leads.append((entry, text, kind))
        elif added := self._checks.added(text):
            self._remove(text, f"no citation: {', '.join(added[:5])}")
        else:
            entry.text = text

    def _release_leads(self) -> None:
        """Lead-ins are posted with the first claim that follows them, once its words are known."""
        for entry, text, kind in self._leads:
            added = self._checks.added(text)
            if not added:
                entry.text = text
                continue
            self._remove(text, f"no citation: {', '.join(added[:5])}")
            if kind == "header":  # rows need a header to be a table
                names, rule = text.split("\n")
                entry.text = "\n".join((re.sub(r"[^|]+", " ", names), rule))
        self._leads.clear()

    def _marks(self, places: Sequence[tuple[Cited, ...]], at: int) -> str:
        """` [1][2]`; empty when the next stretch of the same claim has the same marks."""
        numbers = self._numbering.numbers(places[at])
        if at + 1 < len(places) and self._numbering.peek(places[at + 1]) == numbers:
            return ""
        return " " + "".join(f"[{n}]" for n in numbers)

    def _note_missing(self, statement: str) -> None:
        settled = markup.settle_links(markup.without_mentions(statement), lambda _: "nothing")
        text = " ".join(markup.without_marks(settled.text).split())
        if not self._checks.about_question(text):
            self._remove(statement, "a statement of what is missing that is not about the question")
            text = ""
        self._missing = self._missing or text

    def _kept_before(self) -> bool:
        return len(self._entries) > 1 and self._entries[-2].text is not None

    def _remove(self, text: str, reason: str) -> None:
        self._removed.append(Removed(text.strip(), reason))


def _wider(one: str, other: str) -> str:
    """The stronger of two separations: a blank line, a line end, a space."""
    lines = min(2, max(one.count("\n"), other.count("\n")))
    return "\n" * lines or (" " if one or other else "")
