"""Answers without a language model: the documents' own sentences, quoted and cited.

1. The best passages are cut into pieces (`citable.cut`); headings and table headers are not quoted by themselves,
   nor what speaks to a machine (`orders.py`).
2. The best piece (`scores.py`) and up to two more that score nearly as well are quoted, at most two of one passage, best
   first. What they need beside them is quoted too (`companions.py`), and a step that is asked for by its number alone
   (`steps.py`).
3. When the evidence is too weak nothing is quoted.

Quotes go through the same verification as a model's words.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

from knowledge import analysis, captions, steps, versions
from knowledge.claims import Segment
from knowledge.evidence import Cited, Evidence
from knowledge.grounding import Grounded, verify
from knowledge.quotable import Unit
from knowledge.scores import Scored

MOST_QUOTES = 3
MOST_OF_ONE_PASSAGE = 2
NEARLY = 0.1
"""A further quote may score this much less than the best. With 0.15 there were more of them, and no more answers."""

AS_GOOD = 0.05
"""So much less than the best may score what has no word of the question that quotes of other documents have not. With 0.03
five of XQuAD's 1,190 answers were lost, with 0.05 three."""

_STEP = re.compile(r"^\s*(\d{1,3})[.)]\s+")


def choose(scored: Sequence[Scored], question: str, most: int = MOST_QUOTES) -> tuple[Unit, ...]:
    """At most so many pieces to quote, best first, but no captions. Where one has a code or figure of the question, no row,
    item or code without any.
    """
    asked = set(analysis.stems(question))
    named = {term for term in analysis.terms(question) if any(sign.isdigit() for sign in term)}
    chosen: list[Unit] = []
    said: set[str] = set()
    has_named = False
    telling = [one for one in scored if not one.unit.is_caption]
    for one in telling:
        if one.score < telling[0].score - NEARLY or len(chosen) == most:
            break
        unit, same = one.unit, [other for other in chosen if other.index == one.unit.index]
        has = not named.isdisjoint(analysis.terms(unit.readable))
        own = asked & set(analysis.stems(f"{unit.context} {unit.readable}"))
        is_elsewhere = unit.document_id not in {other.document_id for other in chosen}
        adds = not (is_elsewhere and own <= said) or one.score >= telling[0].score - AS_GOOD
        if (
            adds
            and len(same) < MOST_OF_ONE_PASSAGE
            and unit.text.strip() not in {other.text.strip() for other in chosen}
            and (has or not has_named or unit.kind == "sentence")
        ):
            chosen.append(unit)
            said |= own
            has_named |= has
    return tuple(chosen)


def quote(chosen: Sequence[Unit], evidence: Sequence[Evidence], question: str) -> Grounded:
    """The quotes as verified Markdown with marks: prose as block quotes, rows below their header, code as it is.

    A step without the others has no number, unless the question asks for it by that.
    """
    ordered = _in_order(chosen)
    note = versions.note(ordered, evidence)
    segments = [Segment(f"{note}\n\n")] if note else []
    by_number = steps.asked(question) is not None
    first_list = next((unit.index for unit in ordered if unit.kind == "item"), None)
    for before, unit in pairwise((None, *ordered)):
        assert unit is not None
        cited = (Cited(unit.index, unit.piece, unit.piece + 1, unit.text),)
        goes_on = before is not None and _of_one_table(before, unit)
        header = unit.header.rstrip() + "\n" if unit.header and not goes_on else ""
        is_next = before is not None and (steps.goes_on(before, unit) or before.is_followed_by(unit))
        lead = "" if is_next else {"row": header, "code": "", "item": ""}.get(unit.kind, "> ")
        items = [other for other in ordered if _of_one_list(unit, other)]
        text = captions.bare(unit.text) if unit.is_caption else unit.text.strip("\n")
        if len(items) == 1 and not by_number:
            text = _STEP.sub("- ", text)
        elif items and (
            unit.index != first_list or not steps.are_one_run(items)
        ):  # a list of Markdown would number them anew
            text = _STEP.sub(r"- (\1) ", text)
        body = " ".join(text.split()) if unit.kind == "sentence" else text.strip()
        apart = " " if is_next else "\n" if goes_on else "\n\n"
        segments += [Segment(apart if before else ""), Segment(lead), Segment(body, cited)]
    return verify(segments, evidence, question)


def _in_order(chosen: Sequence[Unit]) -> list[Unit]:
    """Rows of one table, and items of one passage, together and in its order, where the best of them stood."""
    placed: dict[Unit, None] = {}
    for unit in chosen:
        alike = [other for other in chosen if _of_one_table(unit, other) or _of_one_list(unit, other)]
        placed.update(dict.fromkeys(sorted(alike, key=lambda other: other.piece) or [unit]))
    return list(placed)


def _of_one_table(one: Unit, other: Unit) -> bool:
    return one.kind == other.kind == "row" and (one.index, one.header) == (other.index, other.header)


def _of_one_list(one: Unit, other: Unit) -> bool:
    return one.kind == other.kind == "item" and one.index == other.index
