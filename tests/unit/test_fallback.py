"""What others go by while newer settings of a source could not be listed: nothing that only one of the two allows."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.fallback import until_listed
from knowledge.settings import Source
from knowledge.sources.globs import wanted
from knowledge.staleness import left_out_before

PATHS = ("a.md", "b.txt", "pay/a.md", "pay/b.txt")
NOW = datetime(2026, 12, 1, tzinfo=UTC)


def source(location: str = "/documents", **more: Any) -> Source:
    return Source.model_validate({"name": "docs", "location": location, "scopes": ("workspace",), **more})


def taken(each: Source) -> set[str]:
    return {path for path in PATHS if wanted(path, each.include, each.exclude)}


patterns = st.lists(st.sampled_from(("**/*", "*.md", "**/*.md", "pay/**", "pay/")), max_size=3).map(tuple)
scopes = st.lists(st.sampled_from(("workspace", "channel:CPAY", "channel:CLAB")), unique=True).map(tuple)
sources = st.builds(
    source,
    location=st.sampled_from(("/documents", "/documets")),
    scopes=scopes,
    include=patterns,
    exclude=patterns,
    stale_after_days=st.integers(1, 3),
    drop_stale=st.booleans(),
    allow_private_addresses=st.booleans(),
)


@given(sources, sources)
def test_a_place_that_worked_is_read_for_no_more_than_both_allow(worked: Source, newest: Source) -> None:
    standing = until_listed(worked, newest)
    if worked.location == newest.location:
        assert standing == newest
        return
    assert standing.location == worked.location
    assert set(standing.scopes) == set(worked.scopes) & set(newest.scopes)
    assert taken(standing) <= taken(worked) & taken(newest)
    moments = [left_out_before(each, NOW) for each in (worked, newest)]
    assert left_out_before(standing, NOW) == max((moment for moment in moments if moment), default=None)
    assert standing.allow_private_addresses == (worked.allow_private_addresses and newest.allow_private_addresses)


@given(sources)
def test_settings_that_only_look_elsewhere_change_nothing(worked: Source) -> None:
    assert until_listed(worked, worked.model_copy(update={"location": "/elsewhere"})) == worked


@pytest.mark.parametrize("change", [{"kind": "git"}, {"location": "/b"}, {"branch": "b"}, {"path": "b"}])
def test_what_makes_another_place(change: dict[str, str]) -> None:
    worked = source(exclude=("pay/**",))
    newest = source(**change)
    assert until_listed(worked, newest) == worked
    assert until_listed(None, newest) == newest
