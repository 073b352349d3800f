"""Whether one source lies in another, and where."""

import pytest

from knowledge.overlaps import lies_below
from knowledge.settings import Source


def source(kind: str, location: str, **more: str) -> Source:
    given = {"name": "docs", "kind": kind, "location": location, "scopes": ("workspace",), **more}
    return Source.model_validate(given)


@pytest.mark.parametrize(
    ("outer", "inner", "below"),
    [
        (source("folder", "/d"), source("folder", "/d/finance"), "finance"),
        (source("folder", "/d"), source("folder", "/d/.a/b"), ".a/b"),
        (source("folder", "/d"), source("folder", "/d"), ""),
        (source("folder", "/d"), source("folder", "/documents"), None),
        (source("folder", "/d/finance"), source("folder", "/d"), None),
        (source("git", "git@h:r.git"), source("git", "git@h:r.git", path="docs/"), "docs"),
        (source("git", "git@h:r.git", path="docs"), source("git", "git@h:r.git", path="docs/a"), "a"),
        (source("git", "git@h:r.git"), source("git", "git@h:r.git", branch="old"), None),
        (source("git", "git@h:r.git"), source("git", "git@h:other.git"), None),
        (source("website", "https://a.example/"), source("website", "https://a.example/"), ""),
        (source("folder", "/d"), source("git", "/d"), None),
    ],
)
def test_a_source_lies_in_another_of_its_kind_at_a_place(outer: Source, inner: Source, below: str | None) -> None:
    assert lies_below(outer, inner) == below
