"""The answer in quotes to a whole question. A compound one is searched and judged part by part, and a part for which there is
nothing is named: half an answer could be taken for all of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from knowledge import analysis, companions, compound, extractive, followups, keywords, names, persons, scores, steps
from knowledge.answers import Strength
from knowledge.compound import Part
from knowledge.db import Database
from knowledge.encoders import Embedder
from knowledge.evidence import Evidence
from knowledge.grounding import Grounded
from knowledge.permissions import Scopes
from knowledge.quotable import Unit
from knowledge.retrieval import Retriever

MOST_OF_A_PART = 2
"""Quotes for each part of a compound question."""


@dataclass(frozen=True)
class Quoted:
    """`grounded`: the quotes, None when the evidence is too weak for any; `evidence`: what they are taken from."""

    grounded: Grounded | None
    evidence: Sequence[Evidence]
    strength: Strength


@dataclass(frozen=True)
class _Several:
    """What was found for the parts of a question."""

    chosen: tuple[Unit, ...]
    used: Sequence[Evidence]
    strength: Strength


@dataclass(frozen=True)
class Quoting:
    database: Database
    retriever: Retriever
    embedder: Embedder

    def quote(self, question: str, evidence: Sequence[Evidence], scopes: Scopes, asked: str = "") -> Quoted:
        """`asked`: the question without what it has from its thread."""
        alone = asked == question or followups.is_bare(asked)
        question = self.retriever.spelled(question)
        asked = "" if alone else self.retriever.spelled(asked)
        parts = compound.parts(question)
        several = self._each(parts, scopes) if len(parts) > 1 else None
        if several is not None:
            chosen, used, strength = several.chosen, several.used, several.strength
        else:
            (chosen, strength), used = self._best(question, evidence, asked), evidence
        return Quoted(extractive.quote(chosen, used, question) if chosen else None, used, strength)

    def _each(self, parts: Sequence[Part], scopes: Scopes) -> _Several | None:
        """Something for every part for which there is something, as strong as the weakest of them; None when there is for none."""
        used: dict[int, Evidence] = {}
        chosen: list[Unit] = []
        strengths: list[Strength] = []
        unanswered: list[str] = []
        for part in parts:
            given = [Evidence.of(passage) for passage in self.retriever.search(part.full, scopes).passages]
            best, strength = self._best(part.full, given, most=MOST_OF_A_PART)
            if not best:
                unanswered.append(part.asked)
                continue
            strengths.append(strength)
            for each in given:
                used.setdefault(each.passage.chunk_id, each)
            places = list(used)
            moved = (replace(unit, index=places.index(given[unit.index].passage.chunk_id)) for unit in best)
            chosen += [unit for unit in moved if unit not in chosen]
        if not strengths:
            return None
        weakest = min(strengths, key=lambda each: each.found)
        missing = tuple(dict.fromkeys(name for each in strengths for name in each.missing))
        lacking = tuple(dict.fromkeys((*unanswered, *(part for each in strengths for part in each.unanswered))))
        strength = replace(weakest, missing=missing, unanswered=lacking)
        return _Several(tuple(chosen), tuple(used.values()), strength)

    def _best(
        self, question: str, evidence: Sequence[Evidence], asked: str = "", most: int = extractive.MOST_QUOTES
    ) -> tuple[tuple[Unit, ...], Strength]:
        """The pieces to quote for one question, none when the evidence is too weak."""
        threshold = scores.threshold(self.embedder.name)
        subject, asked_subject = steps.subject(question), steps.subject(asked) if asked else ""
        with self.database.plain() as connection:
            weights = keywords.weigh(connection, analysis.terms(subject))
        embedder = None if threshold.words_only else self.embedder
        scored = scores.score(subject, evidence, weights, embedder, asked_subject, steps.asks_how(question))
        found = scores.strength(scored, evidence)
        strength = Strength(found, threshold.quote, threshold.sure, names.missing(question, evidence))
        if not strength.is_enough:
            return (), strength
        every = [each.unit for each in scored]
        step = steps.asked(question)
        if step and (picked := steps.pick(step, every)):
            return picked, strength
        if step:
            strength = replace(strength, missing=(*strength.missing, steps.name(step)))
        chosen = companions.answered(extractive.choose(scored, subject, most), scored)
        chosen = companions.fill(chosen, scored, asked_subject or subject, weights)
        chosen = companions.complete(chosen, scored, evidence, question)
        chosen = steps.procedure(question, chosen, every)
        if persons.is_missing(question, chosen):
            strength = replace(strength, unanswered=(persons.WHO,))
        return chosen, strength
