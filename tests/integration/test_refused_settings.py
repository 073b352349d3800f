"""Settings of a source that could not be listed: they take readers away, and nothing else of what worked."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from knowledge import shares
from knowledge.index import OUTDATED, Indexer
from knowledge.settings import Source
from knowledge.sources import Listed
from knowledge.sources.folder import Folder
from tests.folder import ALL, LAB, Library

BOTH = ("workspace", "channel:CLAB")


def moved(source: Source, **more: Any) -> Source:
    """To a place that is not there."""
    return source.model_copy(update={"location": source.location + "-misspelt", **more})


@pytest.fixture
def bot(library: Library) -> Indexer:
    """Runs since its first sync."""
    library.write("tea.md", "Green.")
    library.write("salaries/all.md", "Much.")
    running = library.indexer
    running.sync(library.settings)
    return running


def test_a_place_that_could_not_be_listed_does_not_replace_the_one_that_worked(library: Library, bot: Indexer) -> None:
    for _ in range(2):
        assert "misspelt' is not a folder" in library.indexer.sync(moved(library.settings)).error
    library.write("milk.md", "Cold.")
    outcome = bot.sync(library.settings)
    assert (outcome.error, outcome.outdated, outcome.added) == ("", "", 1)
    assert library.texts() == ["Cold.", "Much.", "Green."]


def test_neither_does_one_whose_listing_was_not_believed(library: Library, bot: Indexer) -> None:
    elsewhere = library.folder.with_name("elsewhere")
    elsewhere.mkdir()
    (elsewhere / "other.md").write_text("Other.")
    there = library.settings.model_copy(update={"location": str(elsewhere)})
    assert "2 of 2 documents are gone" in library.indexer.sync(there).error
    library.write("milk.md", "Cold.")
    assert bot.sync(library.settings).error == ""
    assert library.texts() == ["Cold.", "Much.", "Green."]

    assert library.indexer.sync(there.model_copy(update={"max_deleted_share": 1.0})).error == ""
    assert bot.sync(library.settings).outdated == OUTDATED
    assert library.texts() == ["Other."]


def test_the_readers_that_it_takes_away_stay_away(library: Library, bot: Indexer) -> None:
    library.scope(*BOTH)
    bot = library.indexer
    bot.sync(library.settings)
    assert library.indexer.sync(moved(library.settings, scopes=("channel:CLAB",))).error
    assert (library.texts(ALL), library.texts(LAB)) == ([], ["Much.", "Green."])
    library.write("milk.md", "Cold.")
    outcome = bot.sync(library.settings)
    assert (outcome.error, outcome.outdated) == ("", OUTDATED)
    assert (library.texts(ALL), library.texts(LAB)) == ([], ["Cold.", "Much.", "Green."])


def test_the_readers_that_it_adds_do_not_get_what_is_at_the_place_that_worked(library: Library) -> None:
    library.scope("channel:CLAB")
    library.write("salaries.md", "Much.")
    bot = library.indexer
    bot.sync(library.settings)
    for scopes in (BOTH, ("workspace",)):
        assert library.indexer.sync(moved(library.settings, scopes=scopes)).error
        library.write("more.md", f"More for {scopes}.")
        assert bot.sync(library.settings).error == ""
        assert library.texts(ALL) == []


def test_what_it_leaves_out_is_left_out(library: Library, bot: Indexer) -> None:
    assert library.indexer.sync(moved(library.settings, exclude=("salaries/**",))).error
    library.write("salaries/new.md", "More.")
    outcome = bot.sync(library.settings)
    assert (outcome.error, outcome.outdated) == ("", OUTDATED)
    assert library.texts() == ["Green."]


def test_what_it_takes_in_again_is_not_taken_in_at_the_place_that_worked(library: Library) -> None:
    library.write("tea.md", "Green.")
    library.write("salaries/all.md", "Much.")
    worked = library.settings.model_copy(update={"exclude": ("salaries/**",)})
    bot = library.indexer
    bot.sync(worked)
    assert library.indexer.sync(moved(worked, exclude=())).error
    outcome = bot.sync(worked)
    assert (outcome.error, outcome.outdated) == ("", "")
    assert library.texts() == ["Green."]


def test_a_restarted_process_goes_by_the_mended_file(library: Library, bot: Indexer) -> None:
    assert library.indexer.sync(moved(library.settings, scopes=("channel:CLAB",), exclude=("tea.md",))).error
    outcome = library.indexer.sync(library.settings)
    assert (outcome.error, outcome.outdated) == ("", "")
    assert library.texts() == ["Much.", "Green."]
    assert bot.sync(library.settings).outdated == ""


def test_the_same_place_with_other_settings_counts_before_it_could_be_listed(library: Library, bot: Indexer) -> None:
    """It was away for a moment, as a mount or a site may be; what newer settings leave out waits for nobody's restart."""
    away = library.folder.with_name("away")
    library.folder.rename(away)
    newer = library.settings.model_copy(update={"exclude": ("salaries/**",)})
    assert library.indexer.sync(newer).error
    away.rename(library.folder)
    outcome = bot.sync(library.settings)
    assert (outcome.error, outcome.outdated, outcome.deleted) == ("", OUTDATED, 1)


def test_a_source_that_is_narrowed_while_it_is_listed_elsewhere_is_not_widened_by_that(library: Library) -> None:
    library.scope("channel:CLAB")
    library.write("tea.md", "Green.")
    library.write("new/milk.md", "Cold.")
    library.sync()

    class Meanwhile(Folder):
        def list(self, known: Mapping[str, str]) -> list[Listed]:
            library.indexer.narrow(library.settings)
            return super().list(known)

    there = {"location": str(library.folder / "new"), "max_deleted_share": 1.0}
    wider = library.settings.model_copy(update={"scopes": BOTH, **there})
    assert "other settings" in library.indexer.opening({"folder": Meanwhile}).sync(wider).error
    assert library.texts(ALL) == []
    library.write("new/salt.md", "White.")
    assert library.sync().error == ""
    assert library.texts(ALL) == []


def test_nobody_helps_while_it_is_open_which_place_it_will_be(library: Library, bot: Indexer) -> None:
    with library.database.plain() as connection:
        tenure = shares.begin(connection, moved(library.settings), datetime.now(UTC))
        assert shares.current(connection, library.settings) is None
        assert shares.current(connection, tenure.settings) is None
        shares.listed(connection, tenure)
        assert shares.current(connection, tenure.settings) == tenure
