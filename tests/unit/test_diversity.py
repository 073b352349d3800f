"""From ranked passages to the few that are handed on."""

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.diversity import NEAR_DUPLICATE, collapse, likeness, select
from knowledge.passages import Passage, Ranks

RULE = (
    "Remote employees may book a hotel for up to three nights when they visit the head office for a planned workshop, "
    "and the travel desk pays for breakfast, trains and the room. Send the receipts within {days} days of your return."
)


def passage(chunk_id: int, text: str, score: float = 0.5, document_id: int = 0, year: int | None = None) -> Passage:
    return Passage(
        chunk_id=chunk_id,
        document_id=document_id or chunk_id,
        source="wiki",
        external_id=f"{document_id}.md",
        title="Travel",
        url="",
        heading_path=(),
        text=text,
        prefix="",
        page=None,
        updated_at=datetime(year, 1, 1, tzinfo=UTC) if year else None,
        scopes=frozenset({"workspace"}),
        ranks=Ranks(rerank=chunk_id),
        score=score,
    )


def ids(passages: Sequence[Passage]) -> list[int]:
    return [p.chunk_id for p in passages]


def test_two_versions_of_a_page_collapse_to_the_newer_at_the_better_rank() -> None:
    old, new = passage(1, RULE.format(days=30), 0.9, year=2024), passage(2, RULE.format(days=45), 0.8, year=2026)
    chosen = select([old, new, passage(3, "Something else altogether.")], 8, 4)
    assert ids(chosen) == [2, 3]
    assert chosen[0].score == 0.9
    assert chosen[0].ranks.rerank == 1


def test_a_dated_version_beats_one_without_a_date_and_equals_keep_the_first() -> None:
    undated, dated = passage(1, RULE.format(days=30)), passage(2, RULE.format(days=30), year=2020)
    assert ids(select([undated, dated], 8, 4)) == [2]
    assert ids(select([undated, passage(3, RULE.format(days=30))], 8, 4)) == [1]


def test_different_passages_about_the_same_thing_stay() -> None:
    other = "Hotels at the head office can be booked for three nights by those who attend a workshop there."
    assert ids(select([passage(1, RULE.format(days=30)), passage(2, other)], 8, 4)) == [1, 2]


def test_a_document_gets_a_few_places_and_the_free_ones_go_to_it_again() -> None:
    many = [passage(n, f"Point number {n} of the list, {'abcdefg'[n]}", document_id=1) for n in range(1, 6)]
    other = passage(9, "Another document has this to say.", document_id=2)
    assert ids(select([*many, other], 4, per_document=2)) == [1, 2, 9, 3]
    assert ids(select(many, 4, per_document=2)) == [1, 2, 3, 4]


def test_lambda_below_one_prefers_what_is_new() -> None:
    first = passage(1, RULE.format(days=30), 0.9)
    alike = passage(2, RULE.format(days=30).replace("breakfast, trains and the room", "nothing but trains"), 0.89)
    fresh = passage(3, "Flights are booked by the travel desk only.", 0.6)
    assert 0.4 < likeness(first, alike) < 0.8
    assert ids(select([first, alike, fresh], 3, 4)) == [1, 2, 3]
    assert ids(select([first, alike, fresh], 3, 4, diversity=0.5)) == [1, 3, 2]


@pytest.mark.parametrize("text", ["", "one", "one two"])
def test_short_texts_are_like_themselves(text: str) -> None:
    assert likeness(passage(1, text), passage(2, text)) == 1


@given(st.lists(st.tuples(st.lists(st.sampled_from("abcd"), max_size=9), st.integers(2020, 2023)), max_size=12))
def test_each_passage_is_compared_with_all_that_were_kept(drawn: list[tuple[list[str], int]]) -> None:
    ranked = [passage(n, " ".join(words), year=year) for n, (words, year) in enumerate(drawn, 1)]
    kept: list[Passage] = []
    for one in ranked:
        twin = next((i for i, other in enumerate(kept) if likeness(one, other) >= NEAR_DUPLICATE), None)
        if twin is None:
            kept.append(one)
        elif str(one.updated_at) > str(kept[twin].updated_at):
            kept[twin] = one
    assert ids(collapse(ranked)) == ids(kept)


def test_nothing_found_is_nothing_chosen() -> None:
    assert select([], 8, 4, 0.5) == ()
