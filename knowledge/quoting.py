"""The answer in quotes to a whole question. A compound one is searched and judged part by part."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from knowledge import analysis, companions, compound, extractive, keywords
from knowledge.db import Database
from knowledge.encoders import Embedder
from knowledge.evidence import Evidence
from knowledge.extractive import Unit
from knowledge.grounding import Grounded
from knowledge.permissions import Scopes
from knowledge.retrieval import Retriever

MOST_OF_A_PART = 2
"""Quotes for each part of a compound question."""


@dataclass(frozen=True)
class Quoting:
    database: Database
    retriever: Retriever
    embedder: Embedder

    def quote(
        self, question: str, evidence: Sequence[Evidence], scopes: Scopes
    ) -> tuple[Grounded | None, Sequence[Evidence]]:
        """The quotes, None when the evidence is too weak for any, and the evidence that they are taken from."""
        parts = compound.parts(question)
        chosen, used = self._each(parts, scopes) if len(parts) > 1 else ((), evidence)
        if not chosen:
            chosen, used = self._best(question, evidence), evidence
        return (extractive.quote(chosen, used, question) if chosen else None), used

    def _each(self, parts: Sequence[str], scopes: Scopes) -> tuple[tuple[Unit, ...], Sequence[Evidence]]:
        """Something for every part, or nothing: half an answer could be taken for the whole."""
        used: dict[int, Evidence] = {}
        chosen: list[Unit] = []
        for part in parts:
            given = [Evidence.of(passage) for passage in self.retriever.search(part, scopes).passages]
            best = self._best(part, given)[:MOST_OF_A_PART]
            if not best:
                return (), ()
            for each in given:
                used.setdefault(each.passage.chunk_id, each)
            places = list(used)
            moved = (replace(unit, index=places.index(given[unit.index].passage.chunk_id)) for unit in best)
            chosen += [unit for unit in moved if unit not in chosen]
        return tuple(chosen), tuple(used.values())

    def _best(self, question: str, evidence: Sequence[Evidence]) -> tuple[Unit, ...]:
        """The pieces to quote for one question, none when the evidence is too weak."""
        threshold = extractive.threshold(self.embedder.name)
        with self.database.plain() as connection:
            weights = keywords.weigh(connection, analysis.terms(question))
        embedder = None if threshold.words_only else self.embedder
        scored = extractive.score(question, extractive.units(evidence), weights, embedder)
        if extractive.strength(scored, evidence) < threshold.quote:
            return ()
        chosen = companions.fill(extractive.choose(scored, question), scored, evidence, question, weights)
        return companions.complete(chosen, scored, evidence)
