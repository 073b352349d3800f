"""The plan of a sync, from facts alone."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.errors import SourceFailed
from knowledge.permissions import NOTHING
from knowledge.plan import Known, Plan, Readers, narrowed_by_source, plan, readers, why_nobodys
from knowledge.sources.source import Listed

ALL = frozenset({"workspace"})
LEGAL = frozenset({"channel:CLEGAL"})
_ids = count(1)


def known(name: str, revision: str = "1", **fields: object) -> Known:
    given_fields = {"content_hash": "", "settings_hash": "s", "url": "", "scopes": ALL} | fields
    return Known(next(_ids), name, revision, **given_fields)  # type: ignore[arg-type]  # a test names the fields it varies


def listed(name: str, revision: str = "1", **fields: object) -> Listed:
    return Listed(name, revision, **fields)  # type: ignore[arg-type]  # see above


def test_a_first_sync_adds_everything() -> None:
    assert plan([listed("b"), listed("a")], [], ALL, "s") == Plan(add=(listed("a"), listed("b")))


def test_equal_revisions_are_the_same_and_others_are_read() -> None:
    a, b = known("a"), known("b")
    assert plan([listed("a"), listed("b", "2")], [a, b], ALL, "s") == Plan(change=((b, listed("b", "2")),), same=(a,))


@pytest.mark.parametrize("item", [listed("a", ""), listed("a", "2")])
def test_without_an_equal_mark_a_document_is_read(item: Listed) -> None:
    a = known("a", "")
    assert plan([item], [a], ALL, "s").change == ((a, item),)


def test_other_settings_and_a_full_sync_read_everything_again() -> None:
    a = known("a")
    assert plan([listed("a")], [a], ALL, "other").change == ((a, listed("a")),)
    assert plan([listed("a")], [a], ALL, "s", full=True).change == ((a, listed("a")),)
    assert plan([listed("a")], [a], ALL, "s", full=True, whole={a.document_id}) == Plan(same=(a,))


def test_readers_change_without_reading() -> None:
    a = known("a")
    assert plan([listed("a")], [a], LEGAL, "s") == Plan(readers=(Readers(a, LEGAL),), same=(a,))


def test_an_item_of_the_listing_and_the_documents_own_text_narrow_its_readers() -> None:
    a, b = known("a", scopes=ALL | LEGAL), known("b", scopes=ALL | LEGAL, own_scopes=ALL)
    planned = plan([listed("a", scopes=LEGAL), listed("b")], [a, b], ALL | LEGAL, "s")
    assert planned == Plan(readers=(Readers(a, LEGAL), Readers(b, ALL)), same=(a, b))


@pytest.mark.parametrize(("before", "now"), [(ALL, ALL), (LEGAL, NOTHING), (ALL | LEGAL, ALL)])
def test_a_document_to_be_read_again_only_loses_readers(before: frozenset[str], now: frozenset[str]) -> None:
    a = known("a", scopes=before)
    planned = plan([listed("a", "2")], [a], ALL, "s")
    assert planned.readers == (() if before == now else (Readers(a, now),))


def test_a_new_address_is_written_without_reading() -> None:
    a, item = known("a"), listed("a", url="https://docs.example/a")
    assert plan([item], [a], ALL, "s") == Plan(relink=((a, item),), same=(a,))


def test_what_is_gone_is_deleted() -> None:
    a, b, c = known("a"), known("b"), known("c")
    assert plan([listed("a"), listed("b")], [a, b, c], ALL, "s").delete == (c,)


@pytest.mark.parametrize(
    ("source", "item", "own", "expected"),
    [
        (ALL | LEGAL, None, None, ALL | LEGAL),
        (ALL | LEGAL, None, LEGAL, LEGAL),
        (ALL, None, LEGAL, NOTHING),
        (ALL | LEGAL, LEGAL, None, LEGAL),
        (ALL | LEGAL, LEGAL, ALL, NOTHING),
        (ALL, None, NOTHING, NOTHING),
    ],
)
def test_nothing_widens_the_readers_of_the_source(
    source: frozenset[str], item: frozenset[str] | None, own: frozenset[str] | None, expected: frozenset[str]
) -> None:
    assert readers(source, item, own) == expected


def test_what_the_source_no_longer_grants_is_known_without_a_listing() -> None:
    a, b = known("a", scopes=ALL | LEGAL), known("b", scopes=LEGAL)
    assert narrowed_by_source([a, b], LEGAL) == (Readers(a, LEGAL),)


@pytest.mark.parametrize(
    ("before", "now", "narrower"),
    [(ALL | LEGAL, LEGAL, True), (ALL, LEGAL, True), (LEGAL, ALL | LEGAL, False), (LEGAL, LEGAL, False)],
)
def test_readers_are_narrower_when_one_of_them_is_gone(
    before: frozenset[str], now: frozenset[str], narrower: bool
) -> None:
    assert Readers(known("a", scopes=before), now).narrower is narrower


def test_an_empty_listing_is_not_believed() -> None:
    with pytest.raises(SourceFailed, match=r"had 2 documents.*`footnote sync tides --allow-deletions`"):
        plan([], [known("a"), known("b")], ALL, "s", max_deleted_share=0.5, source="tides")


def test_more_than_the_set_share_is_not_deleted() -> None:
    documents = [known(str(i)) for i in range(10)]
    with pytest.raises(SourceFailed, match=r"6 of 10.*0.5.*`footnote sync tides --allow-deletions`"):
        plan([listed(str(i)) for i in range(4)], documents, ALL, "s", max_deleted_share=0.5, source="tides")
    assert len(plan([listed(str(i)) for i in range(5)], documents, ALL, "s", max_deleted_share=0.5).delete) == 5


def test_what_could_not_be_read_does_not_make_the_loss_of_the_rest_look_small() -> None:
    pictures = [known(f"{i}.png", state="unsupported") for i in range(8)]
    pages = [known("a"), known("b")]
    still_there = [listed(k.external_id) for k in pictures]
    with pytest.raises(SourceFailed, match="2 of 2 documents are gone"):
        plan(still_there, [*pictures, *pages], ALL, "s", max_deleted_share=0.5, source="tides")
    assert len(plan([listed("a")], [*pictures, *pages], ALL, "s", max_deleted_share=0.5).delete) == 9


def test_a_single_document_may_always_be_deleted() -> None:
    only = known("a")
    assert plan([], [only], ALL, "s", max_deleted_share=0.0).delete == (only,)


def test_a_document_listed_twice_is_refused() -> None:
    with pytest.raises(SourceFailed, match="'a' is listed twice"):
        plan([listed("a"), listed("a", "2")], [], ALL, "s")


names = st.sampled_from("abcdefgh")
listings = st.dictionaries(names, st.sampled_from(["1", "2", ""])).map(
    lambda d: [listed(name, revision) for name, revision in d.items()]
)


@given(listings, listings, st.randoms())
def test_the_order_of_the_listing_does_not_matter(before: list[Listed], now: list[Listed], random: object) -> None:
    documents = [known(item.external_id, item.revision) for item in before]
    shuffled = sorted(now, key=lambda _: random.random())  # type: ignore[attr-defined]  # Hypothesis gives a Random
    assert plan(now, documents, LEGAL, "s") == plan(shuffled, list(reversed(documents)), LEGAL, "s")


@given(listings, listings)
def test_a_plan_that_was_carried_out_leaves_nothing_to_do(before: list[Listed], now: list[Listed]) -> None:
    first = plan(now, [known(item.external_id, item.revision) for item in before], LEGAL, "s")
    done = [known(i.external_id, i.revision, scopes=LEGAL) for i in (*first.add, *(i for _, i in first.change))]
    done += [known(k.external_id, k.revision, scopes=LEGAL) for k in first.same]
    second = plan(now, done, LEGAL, "s")
    assert (second.add, second.readers, second.delete) == ((), (), ())
    assert {k.external_id for k in second.same} == {i.external_id for i in now if i.revision}


def test_documents_that_changed_last_before_a_moment_lose_their_readers_and_get_them_back_with_a_newer_date() -> None:
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    old, new = moment - timedelta(days=1), moment + timedelta(days=1)
    stale, fresh, undated = known("a", updated_at=old), known("b", updated_at=new), known("c")
    there = [listed("a"), listed("b"), listed("c")]
    first = plan(there, [stale, fresh, undated], ALL, "s", left_out_before=moment)
    assert first == Plan(readers=(Readers(stale, NOTHING),), same=(stale, fresh, undated))
    left_out = replace(stale, scopes=NOTHING)
    assert plan(there[:1], [left_out], ALL, "s", left_out_before=moment).readers == ()
    assert plan(there[:1], [left_out], ALL, "s").readers == (Readers(left_out, ALL),)
    by_source = listed("a", updated_at=new, dated=True)
    assert plan([by_source], [left_out], ALL, "s", left_out_before=moment).readers == (Readers(left_out, ALL),)
    by_file_time = listed("a", updated_at=new)
    assert plan([by_file_time], [left_out], ALL, "s", left_out_before=moment).readers == ()


def test_a_document_that_gives_itself_to_none_of_its_sources_readers_is_said_to_be_nobodys() -> None:
    assert "channel:CLEGAL" in why_nobodys(ALL, LEGAL)
    for source, own in ((ALL, None), (ALL | LEGAL, LEGAL), (ALL, NOTHING), (NOTHING, LEGAL)):
        assert why_nobodys(source, own) == ""
