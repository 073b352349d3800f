"""The five buckets, on constructed failures."""

from dataclasses import replace
from typing import get_args

import pytest

from bot.review_wording import DIAGNOSES
from knowledge.diagnosis import Cause, Failure, diagnose

LONG = list(range(100, 130))
"""Chunks that were not expected."""


def stages(vector: list[int], keyword: list[int], fused: list[int], reranked: list[int]) -> dict[str, list[int]]:
    return {"vector": vector, "keyword": keyword, "fused": fused, "reranked": reranked}


EVERYWHERE = stages([1, *LONG], [1, *LONG], [1, *LONG], [1, *LONG])
NOWHERE = stages(LONG, LONG, LONG, LONG)


@pytest.mark.parametrize(
    "failure",
    [
        Failure([], NOWHERE, LONG[:8]),
        Failure([], {}, []),
        Failure([], NOWHERE, []),
        Failure([], EVERYWHERE, [1]),
        Failure([], NOWHERE, LONG[:8], split=True, shared_terms=0),
    ],
)
def test_what_no_chunk_holds_is_not_in_the_corpus(failure: Failure) -> None:
    diagnosis = diagnose(failure)
    assert (diagnosis.bucket, diagnosis.cause) == ("not_in_corpus", "absent")


@pytest.mark.parametrize(
    ("failure", "cause"),
    [
        (Failure([1], NOWHERE, LONG[:8], shared_terms=0), "wording"),
        (Failure([1, 2], NOWHERE, LONG[:8], split=True, shared_terms=3), "chunking"),
        (Failure([1], NOWHERE, LONG[:8], shared_terms=3), "crowded_out"),
        (Failure([], NOWHERE, LONG[:8], hidden=True), "filter"),
        (Failure([1], {}, [], shared_terms=0), "wording"),
    ],
)
def test_what_neither_list_had_was_not_retrieved(failure: Failure, cause: str) -> None:
    diagnosis = diagnose(failure)
    assert (diagnosis.bucket, diagnosis.cause) == ("not_retrieved", cause)
    assert diagnosis.missed_by == ("vector", "keyword")


@pytest.mark.parametrize(
    ("failure", "lost_after", "missed_by"),
    [
        (Failure([1], stages([1, *LONG], [1, *LONG], [1, *LONG], [*LONG, 1]), LONG[:8]), "reranked", ()),
        (Failure([1], stages([1, *LONG], LONG, [*LONG, 1], [*LONG, 1]), LONG[:8]), "fused", ("keyword",)),
        (Failure([1], stages([*LONG, 1], LONG, [*LONG, 1], [*LONG, 1]), LONG[:8]), "lists", ("keyword",)),
        (Failure([1], stages([1, *LONG], [1, *LONG], [1, *LONG], [1, *LONG]), LONG[:8]), "selection", ()),
        (Failure([1], stages(LONG, [*LONG, 1], [*LONG, 1], [*LONG[:20], 1]), LONG[:8]), "lists", ("vector",)),
    ],
)
def test_what_a_list_had_and_was_not_given_ranked_too_low(
    failure: Failure, lost_after: str, missed_by: tuple[str, ...]
) -> None:
    diagnosis = diagnose(failure)
    assert diagnosis.bucket == "ranked_low"
    assert (diagnosis.lost_after, diagnosis.missed_by) == (lost_after, missed_by)


@pytest.mark.parametrize(
    "failure",
    [
        Failure([1], EVERYWHERE, [1, *LONG[:7]]),
        Failure([1, 2], EVERYWHERE, [*LONG[:7], 2]),
        Failure([1], stages(LONG, [1], [*LONG, 1], [1]), [1]),
        Failure([1], EVERYWHERE, [*LONG[:7], 1], split=True),
        Failure([1], EVERYWHERE, [1], hidden=True, shared_terms=0),
    ],
)
def test_what_was_given_was_answered_wrongly_or_not_at_all(failure: Failure) -> None:
    cited = replace(failure, cited=[100, *failure.expected])
    found = diagnose(cited), diagnose(replace(failure, cited=[100])), diagnose(replace(failure, answered=False))
    assert [each.bucket for each in found] == ["answered_wrongly", "answered_wrongly", "unanswered"]
    assert [each.cause for each in found] == ["answering", "omission", "evidence"]


@pytest.mark.parametrize(
    ("passages", "cited", "answered", "cause"),
    [
        ([1, *LONG[:7]], [1], True, "answering"),
        ([1, 2], [2], True, "answering_somewhere"),
        ([2, *LONG[:7]], [100], True, "omission_somewhere"),
        ([1, 2], [100], True, "omission"),
        ([2], [], False, "evidence_somewhere"),
        ([1], [], False, "evidence"),
    ],
)
def test_of_a_document_that_was_named_whole_only_something_is_known_to_have_been_given(
    passages: list[int], cited: list[int], answered: bool, cause: str
) -> None:
    """1 holds a quote that was named; 2 is another chunk of a document that was."""
    failure = Failure([1, 2], EVERYWHERE, passages, loose=[2], answered=answered, cited=cited)
    assert diagnose(failure).cause == cause
    assert diagnose(failure).is_somewhere == cause.endswith("_somewhere")
    assert diagnose(replace(failure, loose=())).cause == cause.removesuffix("_somewhere")


@pytest.mark.parametrize(
    ("found", "cause"),
    [
        (stages([*LONG, 2], LONG, [*LONG, 2], [*LONG, 2]), "ranking_somewhere"),
        (stages([*LONG, 2], [*LONG, 1], [*LONG, 2, 1], [*LONG, 2, 1]), "ranking"),
        (stages([2, *LONG], LONG, [2, *LONG], [2, *LONG]), "selection_somewhere"),
        (NOWHERE, "crowded_out"),
    ],
)
def test_of_a_document_that_was_named_whole_only_something_is_known_to_have_been_found(
    found: dict[str, list[int]], cause: str
) -> None:
    assert diagnose(Failure([1, 2], found, LONG[:8], loose=[2])).cause == cause


@pytest.mark.parametrize(
    "failure",
    [Failure([], NOWHERE, []), Failure([1], NOWHERE, LONG[:8]), Failure([1], EVERYWHERE, LONG[:8])],
)
def test_what_was_not_given_failed_before_there_could_be_an_answer(failure: Failure) -> None:
    assert diagnose(replace(failure, answered=False)) == diagnose(failure)


def test_the_evidence_names_the_rank_at_every_stage() -> None:
    failure = Failure([1, 2], stages([100, 1], [2], [100, 101, 2, 1], [*LONG[:11], 1, 2]), LONG[:8])
    assert diagnose(failure).ranks == {"vector": 2, "keyword": 1, "fused": 3, "reranked": 12}


def test_every_cause_is_told_in_words_for_somebody_who_saw_the_reply_and_not_the_search() -> None:
    assert set(DIAGNOSES) == set(get_args(Cause))
    assert not [words for words in DIAGNOSES.values() if "given" in words]
