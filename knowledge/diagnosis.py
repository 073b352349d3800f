"""Why a question was not answered from the place that answers it: one of five buckets, with the evidence. Pure.

1. not_in_corpus: no chunk holds the expected place.
2. not_retrieved: a chunk does, and neither list of the search had it.
3. ranked_low: a list had it, and it did not come among the passages that were given.
4. unanswered: it was given, and no answer was made of it.
5. answered_wrongly: it was given, and an answer was made: one that leaves it out, or one that cites it and is wrong.

Where only a document is named, which of its sections is the place is not known: a cause that ends in `_somewhere` says that
something of the document got so far, perhaps not what answers.
"""

from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Literal

Bucket = Literal["not_in_corpus", "not_retrieved", "ranked_low", "unanswered", "answered_wrongly"]
Cause = Literal[
    "absent",
    "filter",
    "chunking",
    "wording",
    "crowded_out",
    "ranking",
    "selection",
    "evidence",
    "omission",
    "answering",
    "ranking_somewhere",
    "selection_somewhere",
    "evidence_somewhere",
    "omission_somewhere",
    "answering_somewhere",
]
Certain = Literal["ranking", "selection", "evidence", "omission", "answering"]
SOMEWHERE: Mapping[Certain, Cause] = {
    "ranking": "ranking_somewhere",
    "selection": "selection_somewhere",
    "evidence": "evidence_somewhere",
    "omission": "omission_somewhere",
    "answering": "answering_somewhere",
}
LISTS = ("vector", "keyword")
STAGES = (*LISTS, "fused", "reranked")


@dataclass(frozen=True)
class Failure:
    """What is known of one question. Chunks are named by id.

    `expected`: the chunks that hold the place, as far as the reply might read them. `hidden`: there are others that it
    might not. `loose`: those of them that are expected only because they are of a document that was named. `split`: the
    place is cut in two by a chunk's border. `stages`: the chunks of each stage, best first.
    `passages`: what was given to be answered from. `shared_terms`: how many of the question's terms the expected chunks
    hold, None when that is not known. `answered`: whether the reply had an answer. `cited`: the chunks that it
    cites, which are what its readers were shown.
    """

    expected: Collection[int]
    stages: Mapping[str, Sequence[int]]
    passages: Sequence[int]
    hidden: bool = False
    loose: Collection[int] = ()
    split: bool = False
    shared_terms: int | None = None
    answered: bool = True
    cited: Collection[int] = ()


@dataclass(frozen=True)
class Diagnosis:
    """`ranks`: the best expected chunk's rank at each stage, None where it is absent. `missed_by`: lists without it.

    `lost_after`: the stage that put it below the cut, for what ranked low.
    """

    bucket: Bucket
    cause: Cause
    ranks: Mapping[str, int | None] = field(default_factory=dict)
    missed_by: tuple[str, ...] = ()
    lost_after: str | None = None

    @property
    def is_somewhere(self) -> bool:
        return self.cause in SOMEWHERE.values()


def diagnose(failure: Failure) -> Diagnosis:
    ranks = best_ranks(failure.stages, failure.expected)
    missed_by = tuple(name for name in LISTS if ranks[name] is None)
    if not failure.expected:
        # What exists and may not be read is, for this reader, a matter of rights; the search could not have it.
        return (
            Diagnosis("not_retrieved", "filter", ranks, missed_by)
            if failure.hidden
            else Diagnosis("not_in_corpus", "absent")
        )
    if given := set(failure.expected) & set(failure.passages):
        if not failure.answered:
            return Diagnosis("unanswered", _known(failure, given, "evidence"), ranks, missed_by)
        shown = set(failure.expected) & set(failure.cited)
        cause = _known(failure, shown, "answering") if shown else _known(failure, given, "omission")
        return Diagnosis("answered_wrongly", cause, ranks, missed_by)
    if len(missed_by) == len(LISTS):
        return Diagnosis("not_retrieved", _why_missed(failure), ranks, missed_by)
    lost_after = _lost_after(ranks, len(failure.passages))
    listed = {chunk for name in LISTS for chunk in failure.stages.get(name, ())} & set(failure.expected)
    cause = _known(failure, listed, "selection" if lost_after == "selection" else "ranking")
    return Diagnosis("ranked_low", cause, ranks, missed_by, lost_after)


def best_ranks(stages: Mapping[str, Sequence[int]], expected: Collection[int]) -> dict[str, int | None]:
    """The rank from 1 of the best expected chunk at each stage."""
    return {
        name: next((rank for rank, chunk in enumerate(stages.get(name, ()), start=1) if chunk in expected), None)
        for name in STAGES
    }


def _known(failure: Failure, chunks: Set[int], cause: Certain) -> Cause:
    """The cause, when one of these expected chunks is known to hold the place; else that of something of its document."""
    return cause if chunks - set(failure.loose) else SOMEWHERE[cause]


def _why_missed(failure: Failure) -> Cause:
    if failure.split:
        return "chunking"
    return "wording" if failure.shared_terms == 0 else "crowded_out"


def _lost_after(ranks: Mapping[str, int | None], cut: int) -> str:
    """The last stage that took it from within the cut to below it; the lists when it never was within."""

    def within(stage: str) -> bool:
        rank = ranks[stage]
        return rank is not None and rank <= cut

    if within("reranked"):
        return "selection"  # a near-duplicate, or a document's share of the passages was used up
    if within("fused"):
        return "reranked"
    return "fused" if any(within(name) for name in LISTS) else "lists"
