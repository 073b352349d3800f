"""Which documents are stale, and how a reply says so."""

from datetime import UTC, datetime, timedelta

import pytest
from pydantic import ValidationError

from bot import blocks, wording
from knowledge.answers import Citation
from knowledge.settings import Source
from knowledge.staleness import is_left_out, left_out_before, limits, stale_days

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def source(days: int | None = None, drop: bool = False) -> Source:
    return Source(name="docs", location="docs", scopes=("workspace",), stale_after_days=days, drop_stale=drop)


@pytest.mark.parametrize(
    ("age", "days"),
    [
        (timedelta(days=30), None),
        (timedelta(days=30, seconds=1), 30),
        (timedelta(days=400, hours=23), 400),
        (timedelta(days=-1), None),
    ],
)
def test_a_document_is_stale_when_its_last_change_is_longer_ago_than_the_limit(
    age: timedelta, days: int | None
) -> None:
    assert stale_days("docs", NOW - age, limits([source(30)]), NOW) == days


def test_nothing_is_stale_without_a_date_or_without_a_limit() -> None:
    assert stale_days("docs", None, limits([source(30)]), NOW) is None
    assert stale_days("docs", NOW - timedelta(days=9999), limits([source()]), NOW) is None
    assert stale_days("other", NOW - timedelta(days=9999), limits([source(30)]), NOW) is None


def test_only_a_source_that_drops_leaves_documents_out() -> None:
    assert left_out_before(source(30), NOW) is None
    before = left_out_before(source(30, drop=True), NOW)
    assert before == NOW - timedelta(days=30)
    assert is_left_out(NOW - timedelta(days=31), before)
    assert not is_left_out(NOW - timedelta(days=30), before)
    assert not is_left_out(None, before)


def test_dropping_without_a_limit_is_refused() -> None:
    with pytest.raises(ValidationError, match="drop_stale of source 'docs' needs stale_after_days"):
        source(drop=True)


@pytest.mark.parametrize(
    ("days", "words"),
    [
        (1, "last changed 1 day ago"),
        (60, "last changed 60 days ago"),
        (61, "last changed 2 months ago"),
        (426, "last changed 14 months ago"),
        (729, "last changed 24 months ago"),
        (800, "last changed 2 years ago"),
        (3700, "last changed 10 years ago"),
    ],
)
def test_an_age_is_told_in_the_unit_a_person_would_use(days: int, words: str) -> None:
    assert wording.last_changed(days) == words


def test_a_stale_source_is_marked_and_a_fresh_one_shows_its_date() -> None:
    fresh = Citation(1, 1, 1, "Leave", "", (), "quote", datetime(2026, 3, 3, tzinfo=UTC), frozenset({"workspace"}))
    stale = Citation(2, 2, 2, "Rooms", "", (), "quote", fresh.updated_at, fresh.scopes, stale_days=426)
    assert blocks.sources([fresh, stale]) == (
        "[1] Leave · 3 Mar 2026",
        "[2] Rooms · :warning: last changed 14 months ago",
    )
