"""What a model wrote, checked against the passages it was given. Pure; nothing that fails a check is posted.

1. The text is cut into claims: sentences, list items, table rows, code blocks (`citable.cut`).
2. A citation holds when its passage exists and its quote is really in that passage. Others are taken out.
   A passage's sentences that speak to a machine (`orders.py`) are no evidence.
3. A claim is kept with at least one citation that holds, when it speaks of what it cites (roughly, by its words), no
   stretch of it without a citation speaks of something else, and every figure, date, version and identifier in it is in
   what its own stretch or one before cites (quotes, title, headings, date, a table row's header) or in the question.
4. A claim without citations is kept only when it says nothing of its own: all its words and figures are in what is
   cited before it or right after it, or in `evidence.FRAMING`. A lead-in may have the question's words too; it waits for
   what it leads to: a heading for a claim below it, a table's header for a row.
5. Addresses: the link of a cited document, or one that a cited passage contains on a host of the sources, is a link;
   any other that a cited passage or the question contains is shown as code; the rest is taken out.
6. Marks `[n]` count from 1 in order of first use, one number for each document and heading path. Brackets with
   numbers that the model wrote itself are taken out, except in code. Mentions become plain words everywhere.
7. The model's own statement of what is missing (`absences.py`) is never a claim.

Not checked: whether a sentence without figures says exactly what its quote says. The reader has the quote beside it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from knowledge import absences, markup
from knowledge.answers import Citation, Removed
from knowledge.claims import PLACED, Claim, Segment, claims
from knowledge.evidence import Checks, Cited, Evidence
from knowledge.numbering import Numbering

_ENDED = re.compile(r"[.!?|。！？`]\W*$|\n\s*$")
_CLAUSE = re.compile(r"\s*[,;–—(]|\s+-\s")
_HEADING = re.compile(r"\s*(#+)")


@dataclass(frozen=True)
class Grounded:
    """`text`: verified Markdown with marks, empty when nothing held. `missing`: what the model says the passages lack."""

    text: str
    citations: tuple[Citation, ...]
    removed: tuple[Removed, ...]
    missing: str | None


def verify(segments: Sequence[Segment], evidence: Sequence[Evidence], question: str, complete: bool = True) -> Grounded:
    """The part of the model's text that the evidence supports.

    `complete=False`: the text goes on or was cut off, so a last sentence without an end is left out.
    """
    checks = Checks(evidence, question)
    draft = _Draft(checks, Numbering(evidence))
    found = claims(segments, checks.held)
    if not complete and found and not _ENDED.search(found[-1].plain):
        found = found[:-1]
    for claim in found:
        draft.add(claim)
    grounded = draft.close()
    return replace(grounded, text=markup.paired(grounded.text)) if complete else grounded


@dataclass
class _Entry:
    """A claim's place in the answer: its text (`None`: not posted) and the white space that followed it."""

    text: str | None
    space: str


@dataclass(frozen=True)
class _Waiting:
    """A claim without citations that is posted with the next cited one, if that bears it out."""

    entry: _Entry
    text: str
    kind: str
    leads: bool

    @property
    def level(self) -> int:
        """Of a heading, from 1; 0 for anything else."""
        mark = _HEADING.match(self.text)
        return len(mark[1]) if mark and self.kind == "heading" else 0


class _Draft:
    """The answer while it is built, claim by claim."""

    def __init__(self, checks: Checks, numbering: Numbering) -> None:
        self._checks = checks
        self._numbering = numbering
        self._entries: list[_Entry] = []
        self._waiting: list[_Waiting] = []
        self._removed: list[Removed] = []
        self._missing: list[str] | None = None

    def add(self, claim: Claim) -> None:
        """Keep the claim, let it wait for the one it leads to, or remove it."""
        body, plain = claim.text.rstrip(), claim.plain.rstrip()
        entry = _Entry(None, claim.text[len(body) :])
        self._entries.append(entry)
        if not re.search(r"\w", plain):
            entry.text = plain if re.fullmatch(r"[.!?)\"'*_]+", plain) and self._kept_before() else None
        elif (statement := absences.announced(plain)) is not None:
            self._note_missing(statement)
        elif not claim.given and absences.is_plain(plain):
            self._note_missing(plain)
        elif claim.given and not claim.cited:
            self._remove(plain, "no citation of it holds")
        else:
            settled = markup.settle_links(
                markup.without_mentions(body), lambda url: self._checks.shown(url, claim.cited)
            )
            self._removed += [Removed(url, "an address that is in nothing cited") for url in settled.dropped]
            text = markup.without_marks(settled.text)
            if claim.cited:
                self._judge_cited(entry, text, claim)
            else:
                self._judge_uncited(entry, PLACED.sub("", text), claim.kind)

    def close(self) -> Grounded:
        self._give_up(self._waiting)
        text, space = "", ""
        for entry in self._entries:
            if entry.text is not None:
                text += (space if text else "") + entry.text
                space = ""
            space = _wider(space, entry.space)
        citations = self._numbering.citations()
        missing = None if self._missing is None else " ".join(dict.fromkeys(self._missing))
        return Grounded(text if citations else "", citations, (*self._checks.failed, *self._removed), missing)

    def _judge_cited(self, entry: _Entry, text: str, claim: Claim) -> None:
        text = self._without_afterthought(text, claim)
        plain = PLACED.sub("", text)
        if loose := self._loose(text, claim):
            self._remove(plain, f"not in what it cites: {', '.join(loose)}")
        elif self._unrelated(text, claim):
            self._remove(plain, "speaks of something else than what it cites")
        else:
            self._checks.learn(claim.cited)
            self._release(claim.kind)
            entry.text = PLACED.sub(lambda mark: self._marks(claim.places, int(mark[1])), text)

    def _without_afterthought(self, text: str, claim: Claim) -> str:
        """The claim without a clause at its end that cites nothing and speaks of something else."""
        *_, (stretch, place) = claim.stretches(text)
        if place or not _CLAUSE.match(stretch) or not self._checks.strange(stretch, claim.cited):
            return text
        self._remove(stretch, "speaks of something else than what it cites")
        end = list(PLACED.finditer(text))[-1]
        return text[: end.start() - len(stretch)] + text[end.end() :]

    def _loose(self, text: str, claim: Claim) -> tuple[str, ...]:
        """Facts of the claim that nothing supports which it cites up to there."""
        before: tuple[Cited, ...] = ()
        for stretch, place in claim.stretches(text):
            before += place
            if place and (loose := self._checks.unsupported(stretch, before)):
                return loose
        # A mark parts the words it stands between, no mark joins them.
        glued, parted = PLACED.sub("", text), PLACED.sub(" ", text)
        return self._checks.unsupported(glued, claim.cited) or self._checks.unsupported(parted, claim.cited)

    def _unrelated(self, text: str, claim: Claim) -> bool:
        whole = markup.without_addresses(PLACED.sub("", text))
        return self._checks.unrelated(whole, claim.cited) or any(
            self._checks.strange(markup.without_addresses(stretch), claim.cited)
            for stretch, place in claim.stretches(text)
            if not place
        )

    def _judge_uncited(self, entry: _Entry, text: str, kind: str) -> None:
        leads = kind in ("heading", "header") or text.rstrip("*_ ").endswith((":", "："))
        waiting = _Waiting(entry, text, kind, leads)
        if waiting.level:  # what waited in the section before leads to nothing
            self._give_up([each for each in self._waiting if not 0 < each.level < waiting.level])
        if not leads and (added := self._checks.added(text, with_question=True)):
            self._remove(text, f"no citation: {', '.join(added[:5])}")
        elif not leads and not self._checks.added(text, with_question=False):
            entry.text = text
        else:
            self._waiting.append(waiting)

    def _release(self, kind: str) -> None:
        """What waited is posted with the cited claim that follows it, once its words are known."""
        self._give_up([each for each in self._waiting if each.kind == "header" and kind != "row"])
        for each in self._waiting:
            added = self._checks.added(each.text, with_question=each.leads)
            if not added:
                each.entry.text = each.text
                continue
            self._remove(each.text, f"no citation: {', '.join(added[:5])}")
            if each.kind == "header":  # rows need a header to be a table
                names, rule = each.text.split("\n")
                each.entry.text = "\n".join((re.sub(r"[^|]+", " ", names), rule))
        self._waiting.clear()

    def _give_up(self, waiting: Sequence[_Waiting]) -> None:
        for each in waiting:
            self._remove(each.text, "leads to nothing that was kept" if each.leads else "only repeats the question")
        self._waiting = [each for each in self._waiting if each not in waiting]

    def _marks(self, places: Sequence[tuple[Cited, ...]], at: int) -> str:
        """` [1][2]`; empty when the stretch cites nothing, or the next one that does has the same marks."""
        numbers = self._numbering.numbers(places[at])
        following = next(filter(None, places[at + 1 :]), ())
        if following and self._numbering.peek(following) == numbers:
            return ""
        return " " + "".join(f"[{n}]" for n in numbers) if numbers else ""

    def _note_missing(self, statement: str) -> None:
        settled = markup.settle_links(markup.without_mentions(statement), lambda _: "nothing")
        text = " ".join(markup.without_marks(settled.text).split())
        if not self._checks.about_question(text):
            self._remove(statement, "a statement of what is missing that is not about the question")
            text = ""
        self._missing = [*(self._missing or ()), *([text] if text else ())]

    def _kept_before(self) -> bool:
        return len(self._entries) > 1 and self._entries[-2].text is not None

    def _remove(self, text: str, reason: str) -> None:
        self._removed.append(Removed(text.strip(), reason))


def _wider(one: str, other: str) -> str:
    """The stronger of two separations: a blank line, a line end, a space."""
    lines = min(2, max(one.count("\n"), other.count("\n")))
    return "\n" * lines or (" " if one or other else "")
