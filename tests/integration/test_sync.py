"""A folder and the index: after every sync the index holds what the folder has, and no more was done than needed."""

import hashlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from knowledge import generations
from knowledge.encoders import Encoded
from knowledge.errors import ModelUnavailable, SettingsInvalid, SourceFailed
from knowledge.index import OUTDATED, Indexer
from knowledge.outcomes import SyncOutcome
from knowledge.settings import Chunking, Source
from knowledge.shares import REMOVED, UNREADABLE
from knowledge.sources.folder import Folder
from knowledge.strays import remove, strays
from knowledge.tables import chunk_terms, chunk_vectors, documents, sources
from tests.folder import ALL, LAB, Library
from tests.word_embedder import WordEmbedder


def test_a_first_sync_adds_and_a_second_does_nothing(library: Library) -> None:
    library.write("tea.md", "# Tea\n\nGreen.\n\n## Black\n\nStrong.\n")
    library.write("sub dir/milk.txt", "Cold.")
    assert library.sync() == SyncOutcome("docs", added=2, chunks_embedded=3)
    assert library.texts() == ["Cold.", "Green.", "Strong."]
    assert library.column(documents.c.url, "sub dir/milk.txt") == "https://docs.example/sub%20dir/milk.txt"
    assert library.sync() == SyncOutcome("docs", same=2)


def test_only_changed_chunks_are_encoded_and_the_others_keep_their_ids(library: Library) -> None:
    library.write("tea.md", "# Tea\n\nGreen.\n\n## Black\n\nStrong.\n")
    library.sync()
    before = library.ids()
    library.write("tea.md", "# Tea\n\nGreen.\n\n## Red\n\nSweet.\n\n## Black\n\nStrong.\n")
    assert library.sync() == SyncOutcome("docs", changed=1, chunks_embedded=1)
    after = library.ids()
    assert {text: after[text] for text in before} == before
    assert library.texts() == ["Green.", "Sweet.", "Strong."]


def test_a_new_title_encodes_the_document_again(library: Library) -> None:
    library.write("tea.md", "---\ntitle: Tea\n---\nGreen.\n")
    library.sync()
    library.write("tea.md", "---\ntitle: Teas\n---\nGreen.\n")
    assert library.sync() == SyncOutcome("docs", changed=1, chunks_embedded=1)
    assert library.column(documents.c.title, "tea.md") == "Teas"


def test_touched_files_are_read_and_nothing_else(library: Library) -> None:
    for i in range(5):
        library.write(f"{i}.md", f"# Page {i}\n\nText {i}.\n")
    library.sync()
    before = library.column(documents.c.updated_at, "1.md")
    for i in range(5):
        os.utime(library.folder / f"{i}.md", (10**9, 10**9))
    assert library.sync() == SyncOutcome("docs", same=5)
    assert library.column(documents.c.updated_at, "1.md") == before


def test_files_with_equal_size_time_and_inode_are_not_read(library: Library) -> None:
    path = library.write("tea.md", "Green.")
    library.sync()
    status = path.stat()
    path.write_text("Black.")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert library.sync() == SyncOutcome("docs", same=1)


def test_a_file_with_an_old_date_is_found(library: Library) -> None:
    library.write("new.md", "New.")
    library.sync()
    os.utime(library.write("old.md", "Old."), (10**9, 10**9))
    assert library.sync().added == 1


def test_other_line_ends_change_no_row(library: Library) -> None:
    library.write("tea.md", "# Tea\n\nGreen.\n")
    library.sync()
    library.write("tea.md", "# Tea\r\n\r\nGreen.\r\n")
    assert library.sync() == SyncOutcome("docs", same=1)
    assert library.sync() == SyncOutcome("docs", same=1)


def test_a_deleted_file_is_gone(library: Library) -> None:
    library.write("tea.md", "Green.")
    path = library.write("milk.md", "Cold.")
    library.sync()
    path.unlink()
    assert library.sync() == SyncOutcome("docs", deleted=1, same=1)
    assert library.texts() == ["Green."]


def test_a_renamed_file_encodes_nothing(library: Library) -> None:
    path = library.write("tea.md", "# Tea\n\nGreen.\n\nGreen.\n\n## Black\n\nStrong.\n")
    library.sync()
    copy = library.write("teas/all.md", path.read_bytes())
    path.unlink()
    assert copy.is_file()
    assert library.sync() == SyncOutcome("docs", added=1, deleted=1)
    assert library.texts() == ["Green.\n\nGreen.", "Strong."]


def test_passages_that_are_equal_are_encoded_once(library: Library) -> None:
    library.write("a.md", "# A\n\nSame.\n\n# A\n\nSame.\n\n# A\n\nSame.\n")
    assert library.sync().chunks_embedded == 1
    assert library.texts() == ["Same."] * 3
    os.rename(library.folder / "a.md", library.folder / "b.md")
    assert library.sync().chunks_embedded == 0
    assert library.texts() == ["Same."] * 3


def test_the_same_bytes_in_two_sources_are_two_documents(library: Library, tmp_path: Path) -> None:
    first = library.write("licence.md", "Free to use.")
    library.sync()
    other = tmp_path / "other"
    other.mkdir()
    second = other / "licence.md"
    second.write_bytes(first.read_bytes())
    lab = Source(name="lab", location=str(other), scopes=("channel:CLAB",))
    assert library.indexer.sync(lab).added == 1
    assert (len(library.texts(ALL)), len(library.texts(LAB))) == (1, 1)
    first.unlink()
    assert library.sync().deleted == 1
    assert (library.texts(ALL), library.texts(LAB)) == ([], ["Free to use."])


def test_narrowing_and_widening_the_source_encodes_nothing(library: Library) -> None:
    library.write("tea.md", "Green.")
    library.sync()
    library.scope("channel:CLAB")
    assert library.sync() == SyncOutcome("docs", narrowed=1)
    assert (library.texts(ALL), library.texts(LAB)) == ([], ["Green."])
    library.scope("channel:CLAB", "workspace")
    assert library.sync() == SyncOutcome("docs", changed=1)
    assert (library.texts(ALL), library.texts(LAB)) == (["Green."], ["Green."])


def test_a_source_is_narrowed_even_when_it_cannot_be_listed(library: Library) -> None:
    library.scope("workspace", "channel:CLAB")
    library.write("tea.md", "Green.")
    library.sync()
    library.folder.rename(library.folder.with_name("away"))
    library.scope("channel:CLAB")
    outcome = library.sync()
    assert outcome.narrowed == 1
    assert "is not a folder" in outcome.error
    assert (library.texts(ALL), library.texts(LAB)) == ([], ["Green."])


def test_a_source_is_narrowed_at_once_while_it_is_synced_under_older_settings(library: Library) -> None:
    library.scope("workspace", "channel:CLAB")
    for name in ("tea.md", "milk.md"):
        library.write(name, "Old.")
    library.sync()
    narrower = library.settings.model_copy(update={"scopes": ("channel:CLAB",)})
    for name in ("tea.md", "milk.md", "salt.md"):
        library.write(name, "New.")

    def narrow(done: int, total: int) -> None:
        if done == 1:
            outcome = library.indexer.sync(narrower)
            assert "already running" in outcome.error
            assert outcome.narrowed == 2
            assert library.texts(ALL) == []

    outcome = library.indexer.sync(library.settings, on_progress=narrow)
    assert "other settings" in outcome.error
    assert library.texts(ALL) == []
    library.settings = narrower
    assert library.sync() == SyncOutcome("docs", added=1, changed=2, chunks_embedded=3)
    assert library.texts(LAB) == ["New."] * 3


def test_wider_settings_wait_for_a_sync_under_them(library: Library) -> None:
    library.scope("channel:CLAB")
    library.write("tea.md", "Green.")
    library.sync()
    assert library.indexer.narrow(library.settings.model_copy(update={"scopes": ("workspace", "channel:CLAB")})) == 0
    assert (library.texts(ALL), library.texts(LAB)) == ([], ["Green."])
    library.write("tea.md", "Black.")
    assert library.sync().changed == 1


def test_front_matter_narrows_and_never_widens(library: Library) -> None:
    library.scope("workspace", "channel:CLAB")
    library.write("tea.md", "Green.")
    library.sync()
    library.write("tea.md", "---\nscopes: [channel:CLAB, channel:COTHER]\n---\nGreen.")
    assert library.sync() == SyncOutcome("docs", narrowed=1)
    assert (library.texts(ALL), library.texts(LAB)) == ([], ["Green."])
    assert library.texts(frozenset({"channel:COTHER"})) == []
    library.scope("workspace")
    assert library.sync().narrowed == 1
    assert library.texts(ALL | LAB) == []
    library.scope("workspace", "channel:CLAB")
    library.sync()
    assert (library.texts(ALL), library.texts(LAB)) == ([], ["Green."])


def test_a_text_that_changed_gets_more_readers_only_with_its_new_version(library: Library) -> None:
    """The old one was never theirs, and the new one may narrow itself."""
    library.scope("channel:CLAB")
    library.write("plans.md", "Old plans.")
    library.write("tea.md", "Green.")
    library.write("milk.md", "Cold.")
    library.sync()
    library.scope("channel:CLAB", "workspace")
    library.write("plans.md", "---\nscopes: [channel:CLAB]\n---\nNew plans.")
    library.write("tea.md", "Black.")
    os.utime(library.folder / "milk.md", (10**9, 10**9))
    library.embedder = Watching(library)
    library.sync()
    assert library.embedder.seen == [["Cold."]]
    assert library.texts(ALL) == ["Cold.", "Black."]
    assert library.texts(LAB) == ["Cold.", "New plans.", "Black."]


def test_a_process_with_older_settings_does_not_undo_what_newer_ones_narrowed(library: Library) -> None:
    everyone = library.settings
    running = library.indexer
    library.write("tea.md", "Green.")
    running.sync(everyone)
    lab = everyone.model_copy(update={"scopes": ("channel:CLAB",)})
    assert library.indexer.sync(lab).narrowed == 1

    library.write("milk.md", "Cold.")
    for _ in range(2):
        outcome = running.sync(everyone)
        assert (outcome.error, outcome.outdated) == ("", OUTDATED)
        assert (library.texts(), library.texts(LAB)) == ([], ["Cold.", "Green."])
    (library.folder / "tea.md").unlink()
    assert running.sync(everyone).deleted == 1

    restarted = library.indexer
    assert restarted.sync(everyone).outdated == ""
    assert (library.texts(), library.texts(LAB)) == (["Cold."], [])
    restarted.sync(lab)
    restarted.sync(everyone)
    assert library.texts() == ["Cold."]


def test_a_process_with_older_settings_does_not_undo_what_newer_ones_left_out_or_moved(library: Library) -> None:
    older = library.settings.model_copy(update={"scopes": ("workspace", "channel:CLAB")})
    running = library.indexer
    library.write("tea.md", "Green.")
    library.write("salaries/all.md", "Much.")
    running.sync(older)
    newer = older.model_copy(update={"exclude": ("salaries/**",), "max_deleted_share": 1.0, "schedule": "0 3 * * *"})
    assert library.indexer.sync(newer).deleted == 1

    outcome = running.sync(older)
    assert (outcome.added, outcome.error, outcome.outdated, library.texts()) == (0, "", OUTDATED, ["Green."])
    (library.folder / "tea.md").unlink()
    library.write("milk.md", "Cold.")
    library.write("moved/cocoa.md", "Hot.")
    running.sync(older.model_copy(update={"max_deleted_share": 1.0}))
    assert library.texts() == ["Cold.", "Hot."]

    library.indexer.sync(newer.model_copy(update={"location": str(library.folder / "moved")}))
    running.sync(older)
    assert library.texts() == ["Hot."]


def test_its_own_schedule_and_limit_of_deletions_make_no_process_outdated(library: Library) -> None:
    running = library.indexer
    for name in ("tea", "milk", "cocoa", "water"):
        library.write(f"{name}.md", f"{name.title()}.")
    believing = library.settings.model_copy(update={"max_deleted_share": 1.0, "schedule": "0 3 * * *"})
    assert library.indexer.sync(believing).outdated == ""
    assert running.sync(library.settings).outdated == ""
    for name in ("tea", "milk", "cocoa"):
        (library.folder / f"{name}.md").unlink()
    assert "--allow-deletions" in running.sync(library.settings).error


def test_settings_that_only_a_newer_version_knows_keep_an_older_one_from_syncing(library: Library) -> None:
    running = library.indexer
    library.write("tea.md", "Green.")
    library.sync()
    with library.database.writing() as connection:
        connection.execute(sa.update(sources).values(settings={"depth": 3}))
    library.write("milk.md", "Cold.")
    outcome = running.sync(library.settings)
    assert outcome.error == outcome.outdated == UNREADABLE
    assert library.texts() == ["Green."]


class Watching(WordEmbedder):
    """`seen`: what everybody could read, each time that it was asked for vectors."""

    def __init__(self, library: Library) -> None:
        super().__init__()
        self.seen: list[list[str]] = []
        self._library = library

    def encode_passages(self, texts: Sequence[str]) -> Encoded:
        self.seen.append(self._library.texts(ALL))
        return super().encode_passages(texts)


@pytest.mark.parametrize("scopes", ["everyone", "[]"])
def test_a_document_with_unreadable_scopes_is_read_by_nobody_and_named_every_time(
    library: Library, scopes: str
) -> None:
    library.write("tea.md", f"---\nscopes: {scopes}\n---\nGreen.")
    for _ in range(2):
        [(document, reason)] = library.sync().failed
        assert document == "tea.md"
        assert "nobody may read it" in reason
    assert library.texts(ALL) == []


def test_a_listing_that_is_too_short_deletes_nothing(library: Library) -> None:
    for i in range(10):
        library.write(f"{i}.md", f"Text {i}.")
    library.sync()
    for i in range(6):
        (library.folder / f"{i}.md").unlink()
    assert "6 of 10 documents are gone" in library.sync().error
    assert len(library.texts()) == 10
    library.settings = library.settings.model_copy(update={"max_deleted_share": 0.6})
    assert library.sync() == SyncOutcome("docs", deleted=6, same=4)


def test_an_empty_or_missing_folder_deletes_nothing_and_comes_back_for_free(library: Library) -> None:
    for i in range(3):
        library.write(f"{i}.md", f"Text {i}.")
    library.sync()
    away = library.folder.with_name("away")
    library.folder.rename(away)
    assert "is not a folder" in library.sync().error
    library.folder.mkdir()
    assert "had 3 documents" in library.sync().error
    library.folder.rmdir()
    away.rename(library.folder)
    assert library.sync() == SyncOutcome("docs", same=3)
    assert len(library.texts()) == 3


def test_files_that_cannot_be_loaded_are_named_and_stop_nothing(library: Library) -> None:
    library.write("tea.md", "Green.")
    library.write("zero.pdf", b"")
    library.write("noise.md", bytes(range(256)) * 20)
    library.write("broken.docx", b"PK\x03\x04 not really")
    first = library.sync()
    assert (first.added, [name for name, _ in first.failed]) == (1, ["broken.docx", "noise.md", "zero.pdf"])
    assert library.column(documents.c.state, "zero.pdf") == "empty"
    assert library.sync() == replace(first, added=0, same=1, chunks_embedded=0)
    library.write("noise.md", "Quiet.")
    assert (library.sync().changed, library.texts()) == (1, ["Quiet.", "Green."])


def test_the_counts_add_up_to_the_files_that_are_there(library: Library) -> None:
    """Whatever became of each: equal to another one, without text, narrowed, of another address, or not to be read now."""

    def counts(files: int) -> SyncOutcome:
        done = library.sync()
        counted = done.added + done.changed + done.narrowed + done.same + done.unreadable
        assert (counted, done.error) == (files, ""), done
        return done

    library.scope("workspace", "channel:CLAB")
    for name, text in {"tea": "Green.", "copy": "Green.", "milk": "Cold.", "salt": "White.", "empty": ""}.items():
        library.write(f"{name}.md", text)
    assert "4 added, 1 not readable" in counts(5).summary()
    assert "4 same, 1 not readable" in counts(5).summary()

    library.write("milk.md", "---\nscopes: [channel:CLAB]\n---\nWarm.")
    library.write("tea.md", "---\nscopes: [channel:CLAB]\n---\nGreen.")
    assert "1 changed, 1 with other readers, 2 same, 1 not readable" in counts(5).summary()
    library.settings = library.settings.model_copy(update={"url": "https://elsewhere.example/{path}"})
    assert "4 changed, 1 not readable" in counts(5).summary()
    library.scope("channel:CLAB")
    (library.folder / "copy.md").unlink()
    library.write("salt.md", "")
    assert "1 deleted, 2 same, 2 not readable" in counts(4).summary()
    assert "2 same, 2 not readable" in counts(4).summary()


def test_a_name_that_no_index_holds_is_told_and_stops_nothing(library: Library) -> None:
    """A page's address may be that long."""
    deep = library.folder
    for level in range(14):
        deep /= "".join(hashlib.sha256(f"{level} {part}".encode()).hexdigest() for part in range(3))
        os.mkdir(deep)
    (deep / "tea.md").write_text("Green.")
    library.write("milk.md", "Cold.")
    for added, same in ((1, 0), (0, 1)):
        outcome = library.sync()
        assert (outcome.added, outcome.same, library.texts()) == (added, same, ["Cold."])
        [(name, reason)] = outcome.failed
        assert (outcome.unreadable, len(name) < 200) == (1, True)
        assert "2,000 bytes" in reason


def test_a_file_that_breaks_loses_its_old_text(library: Library) -> None:
    library.write("tea.md", "Green.")
    library.sync()
    library.write("tea.md", bytes(range(256)) * 20)
    assert dict(library.sync().failed) == {"tea.md": "not text: it looks like a binary file"}
    assert library.texts() == []


def test_a_narrowed_file_that_breaks_keeps_its_few_readers(library: Library) -> None:
    """Its name alone may say too much."""
    library.write("talks.md", "---\nscopes: [channel:CLAB]\n---\n# Talks\n\nAbout a merger.\n")
    library.sync()
    library.write("talks.md", b"---\nscopes: [channel:CLAB]\n---\n# Talks\n\n" + bytes(range(256)) * 20)
    for _ in range(2):
        assert [name for name, _ in library.sync().failed] == ["talks.md"]
        with library.database.reading(ALL) as connection:
            assert connection.scalars(sa.select(documents.c.external_id)).all() == []


def test_a_file_for_readers_its_source_does_not_have_is_named_until_the_source_has_them(library: Library) -> None:
    library.write("pay.md", "---\nscopes: [channel:CFINANCE]\n---\n# Pay\n\nOn the 25th.\n")
    for _ in range(2):
        [(name, reason)] = library.sync().failed
        assert name == "pay.md"
        assert "channel:CFINANCE, which is not among the scopes of its source" in reason
    both = ("workspace", "channel:CFINANCE")
    library.settings = library.settings.model_copy(update={"scopes": both})
    assert library.sync().failed == ()
    with library.database.reading(frozenset({"channel:CFINANCE"})) as connection:
        assert connection.scalars(sa.select(documents.c.external_id)).all() == ["pay.md"]


def test_a_file_over_the_limit_is_named_and_indexed_once_the_limit_is_raised(library: Library) -> None:
    library.settings = library.settings.model_copy(update={"max_file_mb": 0.001})
    library.write("tea.txt", "Green tea. " * 200)
    [(_, reason)] = library.sync().failed
    assert "too large" in reason
    library.settings = library.settings.model_copy(update={"max_file_mb": 1.0})
    assert library.sync().changed == 1
    assert library.texts()[0].startswith("Green tea.")


def test_text_the_model_cannot_encode_is_found_by_words_and_named(library: Library) -> None:
    library.write("tea.md", "# Tea\n\nGreen.\n\n## Odd\n\nunspeakable\n")
    outcome = library.indexer.sync(library.settings)
    assert "no usable vector for 1 of its passages" in dict(outcome.failed)["tea.md"]
    with library.database.writing() as connection:
        assert connection.scalar(sa.select(sa.func.count()).select_from(chunk_vectors)) == 1
        assert connection.scalar(sa.select(sa.func.count()).select_from(chunk_terms)) == 2


def test_names_and_texts_hold_nothing_a_database_refuses(library: Library) -> None:
    odd = os.fsencode(str(library.folder)) + b"/t\xffea\x01.md"
    with open(odd, "wb") as file:
        file.write(b'---\ntitle: "a\\0b"\n---\nGr\x00een \xed\xa0\x80tea. ' + b"Steep it. " * 60)
    assert library.sync().added == 1
    assert library.sync().same == 1


def test_links_out_of_the_folder_are_not_followed(library: Library, tmp_path: Path) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text("Secret.")
    library.write("tea.md", "Green.")
    (library.folder / "link.md").symlink_to(secret)
    (library.folder / "up").symlink_to(tmp_path)
    (library.folder / "inside.md").symlink_to(library.folder / "tea.md")
    (library.folder / "nowhere.md").symlink_to(tmp_path / "nothing")
    library.write(".git/config.md", "Hidden.")
    assert library.sync().added == 2
    assert library.texts() == ["Green.", "Green."]


def test_globs_choose_files(library: Library) -> None:
    library.settings = library.settings.model_copy(
        update={"include": ("**/*.md",), "exclude": ("drafts/", "*/old*.md")}
    )
    for name in ("a.md", "x/b.md", "x/old-c.md", "drafts/d.md", "drafts/x/e.md", "f.txt"):
        library.write(name, f"Text of {name}")
    assert library.sync().added == 2
    assert library.texts() == ["Text of a.md", "Text of x/b.md"]


def test_a_full_sync_encodes_everything_again(library: Library) -> None:
    library.write("tea.md", "Green.")
    library.sync()
    assert library.sync(full=True) == SyncOutcome("docs", changed=1, chunks_embedded=1)


def test_other_chunk_sizes_cut_again_and_change_only_what_differs(library: Library) -> None:
    library.write("tea.md", "# Tea\n\nGreen.\n\n## Long\n\n" + "Strong and sweet. " * 15)
    library.sync()
    Indexer(library.database, library.embedder, Chunking(max_tokens=32, min_tokens=5)).sync(library.settings)
    encoded = library.embedder.encoded
    assert sum(text == "Tea\nGreen." for text in encoded) == 1
    library.check()


def test_chunks_longer_than_the_model_reads_are_refused(library: Library) -> None:
    library.write("tea.md", "Green.")
    with pytest.raises(SettingsInvalid, match="reads 300 tokens"):
        Indexer(library.database, library.embedder, Chunking(max_tokens=1000)).sync(library.settings)


def test_a_source_taken_out_of_the_settings_stays_until_it_is_removed(library: Library) -> None:
    library.write("tea.md", "Green.")
    library.sync()
    assert strays(library.database, ["docs"]) == ()
    [stray] = strays(library.database, ["other"])
    assert (stray.name, stray.documents) == ("docs", 1)
    with library.database.lock("sync of docs"), pytest.raises(SourceFailed, match="is being synced"):
        remove(library.database, stray)
    assert library.texts() == ["Green."]
    remove(library.database, stray)
    library.check()
    assert (library.texts(), strays(library.database, [])) == ([], ())


def test_a_process_that_began_before_a_source_was_removed_does_not_bring_it_back(library: Library) -> None:
    running = library.indexer
    library.write("tea.md", "Green.")
    running.sync(library.settings)
    for _ in range(2):
        remove(library.database, strays(library.database, [])[0])
        outcome = running.sync(library.settings)
        assert (outcome.added, outcome.error, outcome.outdated, library.texts()) == (0, REMOVED, REMOVED, [])
        assert library.sync() == SyncOutcome("docs", added=1, chunks_embedded=1)
        assert running.sync(library.settings).same == 1


def test_the_outcome_is_kept_with_the_source(library: Library) -> None:
    library.write("tea.md", "Green.")
    outcome = library.indexer.sync(library.settings)
    with library.database.plain() as connection:
        row = connection.execute(sa.select(sources)).one()
    assert row.outcome == outcome.as_json()
    assert row.succeeded_at is not None


def test_progress_counts_documents(library: Library) -> None:
    for i in range(3):
        library.write(f"{i}.md", f"Text {i}.")
    seen: list[tuple[int, int]] = []
    library.indexer.sync(library.settings, on_progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 3), (2, 3), (3, 3)]


def test_what_changes_while_a_sync_runs_is_found_by_the_next(library: Library) -> None:
    for name in ("a", "b", "c"):
        library.write(f"{name}.md", f"Text {name}.")

    def meddle(done: int, total: int) -> None:
        if done == 1:
            library.write("a.md", "Other a.")
            library.write("b.md", "Other b.")
            (library.folder / "c.md").unlink()

    first = library.indexer.sync(library.settings, on_progress=meddle)
    assert first.added == 2
    assert "could not be read now" in dict(first.failed)["c.md"]
    library.sync()
    assert library.texts() == ["Other a.", "Other b."]


def test_one_source_is_never_synced_twice_at_once(library: Library) -> None:
    library.write("tea.md", "Green.")
    with library.database.lock("sync of docs") as got:
        assert got
        assert "already running" in library.indexer.sync(library.settings).error
    assert library.sync().added == 1


def test_another_model_serves_once_every_source_was_synced_with_it(library: Library, tmp_path: Path) -> None:
    library.write("tea.md", "Green.")
    library.sync()
    folder = tmp_path / "other"
    folder.mkdir()
    (folder / "milk.md").write_text("Cold.")
    other = Source(name="other", location=str(folder), scopes=("workspace",))
    library.indexer.sync(other)
    library.embedder = WordEmbedder("better words")
    with pytest.raises(ModelUnavailable, match="footnote sync --full"):
        library.indexer.sync(library.settings)
    assert library.indexer.sync(library.settings, full=True).chunks_embedded == 1
    with library.database.plain() as connection:
        before = generations.serving(connection)
    assert before is not None
    assert before.model == "words"
    assert library.indexer.sync(other, full=True).chunks_embedded == 1
    with library.database.plain() as connection:
        assert generations.active(connection, library.embedder).model == "better words"
    library.check()
    assert library.sync() == SyncOutcome("docs", same=1)


def test_an_interrupted_change_of_the_model_goes_on_and_can_be_taken_back(library: Library) -> None:
    """Another model's index grows over several tries, serves when it is whole, and the one before is kept a while."""
    library.write("a.md", "# Steps\n\nConstant.\n" + "".join(f"\n## Step {i}\n\nWalk {i}.\n" for i in range(600)))
    for name in ("tea", "milk"):
        library.write(f"{name}.md", f"{name}.")
    library.sync()
    old, new = library.embedder, WordEmbedder("better words")

    def interrupt(done: int, total: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    library.embedder = new
    with pytest.raises(KeyboardInterrupt):
        library.indexer.sync(library.settings, full=True, on_progress=interrupt)
    with library.database.writing() as connection:
        building = generations.building(connection)
        assert generations.serving(connection) == generations.active(connection, old)
    assert building is not None
    assert 0.9 < building.share < 1
    new.encoded.clear()
    assert library.sync(full=True) == SyncOutcome("docs", changed=2, same=1, chunks_embedded=2)
    with library.database.writing() as connection:
        assert generations.building(connection) is None
        assert generations.active(connection, new).model == "better words"

    library.embedder = old
    assert library.sync(full=True) == SyncOutcome("docs", same=3)
    with library.database.plain() as connection:
        assert generations.active(connection, old).model == "words"
    library.write("tea.md", "Black.")
    library.sync()
    library.embedder = new
    assert library.sync(full=True) == SyncOutcome("docs", changed=1, same=2, chunks_embedded=1)

    with library.database.writing() as connection:
        assert generations.drop_retired(connection, datetime(2020, 1, 1, tzinfo=UTC)) == 0
        assert generations.drop_retired(connection, datetime.now(UTC) + timedelta(days=1)) == 1
        assert connection.scalar(sa.select(sa.func.count(sa.distinct(chunk_vectors.c.generation_id)))) == 1


def test_a_full_sync_whose_model_is_given_up_for_another_one_says_so(library: Library) -> None:
    library.write("tea.md", "Green.")
    library.sync()
    old, library.embedder = library.embedder, WordEmbedder("better words")

    def begin_another(done: int, total: int) -> None:
        with library.database.plain() as connection:
            generations.next_to(connection, WordEmbedder("best words"))

    outcome = library.indexer.sync(library.settings, full=True, on_progress=begin_another)
    assert "the index of better words was given up" in outcome.error
    with library.database.plain() as connection:
        assert generations.active(connection, old).model == "words"


def test_a_kind_the_engine_cannot_open_is_opened_by_whoever_can(library: Library) -> None:
    library.write("tea.md", "Green.")
    indexer = Indexer(library.database, library.embedder, Chunking(), openers={"slack": Folder})
    assert indexer.sync(library.settings.model_copy(update={"kind": "slack"})).added == 1


KILLED = """
import sys
from knowledge.db import Database
from knowledge.index import Indexer
from knowledge.settings import Chunking, Source
from tests.word_embedder import Dying

source = Source(name="docs", location=sys.argv[2], scopes=("workspace",))
with Database(sys.argv[1]) as database:
    Indexer(database, Dying(), Chunking(max_tokens=60, min_tokens=10)).sync(source)
"""


def test_a_killed_sync_leaves_the_old_version_whole_and_the_next_one_ends_it(library: Library) -> None:
    def version(word: str) -> str:
        return "# Tea\n\nConstant.\n" + "".join(f"\n## Step {i}\n\n{word} {i}.\n" for i in range(1500))

    library.write("tea.md", version("Old"))
    library.sync()
    library.write("tea.md", version("New"))
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, library.database.url, str(library.folder)],
        cwd=Path(__file__).parents[2],
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL
    library.check()
    assert library.texts() == ["Constant.", *(f"Old {i}." for i in range(1500))]
    outcome = library.sync()
    assert (outcome.changed, outcome.chunks_embedded) == (1, 1500)
    assert library.texts() == ["Constant.", *(f"New {i}." for i in range(1500))]


def test_a_stale_document_of_a_source_that_drops_them_is_read_by_nobody_until_it_changes(library: Library) -> None:
    old = time.time() - 40 * 86_400
    library.write("fresh.md", "New.")
    os.utime(library.write("old.md", "Old."), (old, old))
    os.utime(library.write("dated.md", "---\nupdated: 2001-02-03\n---\nAncient.\n"))
    library.sync()
    assert library.texts() == ["Ancient.", "New.", "Old."]
    library.settings = library.settings.model_copy(update={"stale_after_days": 30, "drop_stale": True})
    assert library.sync() == SyncOutcome("docs", narrowed=2, same=1)
    assert library.texts() == ["New."]
    assert library.sync() == SyncOutcome("docs", same=3)
    os.utime(library.write("older.md", "Older."), (old, old))
    assert library.sync() == SyncOutcome("docs", added=1, same=3, chunks_embedded=1)
    library.write("old.md", "Old, but looked at.")
    library.sync()
    assert library.texts() == ["New.", "Old, but looked at."]
    library.settings = library.settings.model_copy(update={"drop_stale": False})
    assert library.sync().chunks_embedded == 0
    assert library.texts() == ["Ancient.", "New.", "Old, but looked at.", "Older."]


def test_a_folder_of_which_nothing_or_one_page_changed_is_not_read_again(library: Library) -> None:
    for i in range(60):
        library.write(
            f"{i // 20}/{i}.md", f"# Page {i}\n\nText {i}.\n\n## Tides\n\nTide {i}.\n\n## Winds\n\nWind {i}.\n"
        )
    with opened_below(library.folder) as first:
        assert library.sync() == SyncOutcome("docs", added=60, chunks_embedded=180)
    assert len(first) == 60
    with opened_below(library.folder) as second:
        assert library.sync() == SyncOutcome("docs", same=60)
    assert second == []
    changed = library.write("1/33.md", "# Page 33\n\nText 33.\n\n## Tides\n\nNeap.\n\n## Winds\n\nWind 33.\n")
    library.embedder.encoded.clear()
    with opened_below(library.folder) as third:
        assert library.sync() == SyncOutcome("docs", changed=1, same=59, chunks_embedded=1)
    assert third == [str(changed)]
    assert library.embedder.encoded == ["Page 33 › Tides\nNeap."]


_watched: list[tuple[str, list[str]]] = []


def _note_opening(event: str, arguments: tuple[object, ...]) -> None:
    if event == "open":
        for folder, opened in _watched:
            if str(arguments[0]).startswith(folder):
                opened.append(str(arguments[0]))


sys.addaudithook(_note_opening)  # the interpreter has no way to take a hook away


@contextmanager
def opened_below(folder: Path) -> Iterator[list[str]]:
    """Every file below the folder that this process opens meanwhile, however it does."""
    watched: tuple[str, list[str]] = (f"{folder}/", [])
    _watched.append(watched)
    try:
        yield watched[1]
    finally:
        _watched.remove(watched)
