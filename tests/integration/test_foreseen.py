"""What two folders will show to more people than one of them says, before they are synced."""

import os
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from knowledge.foreseen import ToCome, foreseen
from knowledge.settings import Source
from knowledge.sources import Listed, open_source
from tests.folder import Library


@pytest.fixture
def inner(library: Library) -> Source:
    """For one channel, in the folder of everybody."""
    library.write("tea.md", "Green.")
    library.write("pay/all.md", "Much.")
    location = str(library.folder / "pay")
    return library.settings.model_copy(update={"name": "pay", "location": location, "scopes": ("channel:CLAB",)})


def there(source: Source) -> list[Listed]:
    with closing(open_source(source)) as opened:
        return list(opened.list({}))


def told(library: Library, *sources: Source) -> list[tuple[str, str, str, int]]:
    found = foreseen(library.database, sources, there)
    return [(each.outer, each.inner, each.below, each.documents) for each in found]


def test_it_is_told_before_anything_was_synced_and_after(library: Library, inner: Source) -> None:
    for sources in ((library.settings, inner), (inner, library.settings)):
        assert told(library, *sources) == [("docs", "pay", "pay", 1)]
    library.indexer.sync(inner)
    library.sync()
    assert told(library, library.settings, inner) == [("docs", "pay", "pay", 1)]


def test_what_is_left_out_or_for_no_more_people_is_not(library: Library, inner: Source) -> None:
    without = library.settings.model_copy(update={"exclude": ("pay/**",)})
    assert told(library, without, inner) == []
    for everybody in (("workspace",), ("channel:COTHER", "workspace")):
        assert told(library, library.settings, inner.model_copy(update={"scopes": everybody})) == []
    assert told(library, library.settings.model_copy(update={"scopes": inner.scopes}), inner) == []
    assert told(library, library.settings, inner.model_copy(update={"kind": "git"})) == []


def test_a_document_that_narrows_itself_or_cannot_be_read_is_not(library: Library, inner: Source) -> None:
    library.write("pay/all.md", "---\nscopes: [channel:CLAB]\n---\nMuch.")
    library.write("pay/empty.md", "")
    library.indexer.sync(inner)
    assert told(library, library.settings, inner) == []
    library.write("pay/new.md", "More.")
    assert told(library, library.settings, inner) == [("docs", "pay", "pay", 1)]


def test_a_document_that_is_dropped_by_its_age_is_not(library: Library, inner: Source) -> None:
    dropping = library.settings.model_copy(update={"stale_after_days": 30, "drop_stale": True})
    assert told(library, dropping, inner) == [("docs", "pay", "pay", 1)]
    moment = (datetime.now(UTC) - timedelta(days=40)).timestamp()
    os.utime(Path(inner.location) / "all.md", (moment, moment))
    assert told(library, dropping, inner) == []


def test_the_same_folder_twice_is_told_once(library: Library, inner: Source) -> None:
    same = inner.model_copy(update={"location": library.settings.location})
    assert told(library, library.settings, same) == [("docs", "pay", "", 2)]
    other = same.model_copy(update={"name": "lab", "scopes": ("channel:COTHER",)})
    assert told(library, same, other) == [("pay", "lab", "", 2)]


@pytest.mark.parametrize(
    ("count", "below", "says"),
    [
        (1, "pay", "on 1 document will be in both, and docs will show them to people for whom pay does not"),
        (2, "", "on 2 documents will be in both, and docs will show them to people for whom pay does not"),
    ],
)
def test_its_remedy_is_before_the_sync(count: int, below: str, says: str) -> None:
    each = ToCome("docs", "pay", below, count)
    assert each.says == f"from the next sync {says}"
    assert each.remedy.endswith("before that")
