"""A git repository as a source: what the branch has now, dated and linked by its commits."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from dulwich.refs import Ref
from dulwich.repo import Repo

from knowledge.errors import SourceFailed
from knowledge.settings import Source
from knowledge.sources.git import Git, _hosted, _without_password
from knowledge.sources.source import Listed


class Repository:
    """A repository made with dulwich, so that no git program is needed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.repo = Repo.init(str(folder), mkdir=True, default_branch=b"main")

    def commit(self, files: dict[str, str | None], day: int) -> str:
        """Write files (None deletes one) and commit them on that day of January 2026."""
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if text is None:
                path.unlink()
            else:
                path.write_text(text)
        tree = self.repo.get_worktree()
        tree.stage([name.encode() for name in files])
        at = datetime(2026, 1, day, tzinfo=UTC).timestamp()
        author = b"Ada <ada@brindlewick.example>"
        sha = tree.commit(
            message=b"Change", committer=author, author=author, commit_timestamp=at, author_timestamp=at,
            commit_timezone=0, author_timezone=0, ref=Ref(b"refs/heads/main"),
        )  # fmt: skip
        return bytes(sha).decode()

    def list(self, cache: Path, **settings: object) -> dict[str, Listed]:
        given = {"name": "code", "kind": "git", "location": str(self.folder), "scopes": ("workspace",)} | settings
        source = Git(Source(**given), cache)
        try:
            listed = source.list({})
            self.read = {item.external_id: source.read(item.external_id).decode() for item in listed}
            return {item.external_id: item for item in listed}
        finally:
            source.close()


@pytest.fixture
def repository(tmp_path: Path) -> Iterator[Repository]:
    made = Repository(tmp_path / "origin")
    yield made
    made.repo.close()


def test_files_are_those_of_the_newest_commit_dated_by_their_own(repository: Repository, tmp_path: Path) -> None:
    repository.commit({"docs/tea.md": "Green.", "docs/milk.md": "Cold.", "src/x.py": "x = 1"}, day=1)
    first = repository.list(tmp_path, path="docs")
    assert list(first) == ["milk.md", "tea.md"]
    repository.commit({"docs/tea.md": "Black.", "docs/milk.md": None}, day=2)
    repository.commit({"src/x.py": "x = 2"}, day=3)
    second = repository.list(tmp_path, path="docs")
    assert repository.read == {"tea.md": "Black."}
    assert (second["tea.md"].updated_at, second["tea.md"].dated) == (datetime(2026, 1, 2, tzinfo=UTC), True)
    assert second["tea.md"].revision != first["tea.md"].revision


def test_equal_files_have_equal_revisions_wherever_they_lie(repository: Repository, tmp_path: Path) -> None:
    repository.commit({"a.md": "Same.", "b/c.md": "Same."}, day=1)
    listed = repository.list(tmp_path)
    assert listed["a.md"].revision == listed["b/c.md"].revision


def test_hidden_files_and_links_are_left_out(repository: Repository, tmp_path: Path) -> None:
    (repository.folder / "link.md").symlink_to("/etc/passwd")
    repository.commit({"a.md": "A", ".github/b.md": "B"}, day=1)
    repository.repo.get_worktree().stage([b"link.md"])
    repository.commit({"c.md": "C"}, day=2)
    assert list(repository.list(tmp_path)) == ["a.md", "c.md"]


def test_a_branch_that_is_not_there_deletes_nothing(repository: Repository, tmp_path: Path) -> None:
    repository.commit({"a.md": "A"}, day=1)
    with pytest.raises(SourceFailed, match="no branch 'release'"):
        repository.list(tmp_path, branch="release")


def test_a_repository_that_cannot_be_fetched_deletes_nothing(repository: Repository, tmp_path: Path) -> None:
    with pytest.raises(SourceFailed, match="cannot be fetched"):
        repository.list(tmp_path, location=str(tmp_path / "nowhere"))


def test_a_branch_whose_history_was_replaced_is_what_it_is_now(repository: Repository, tmp_path: Path) -> None:
    repository.commit({"a.md": "Old."}, day=1)
    old = repository.repo.refs[Ref(b"refs/heads/main")]
    repository.commit({"a.md": "New.", "b.md": "B"}, day=2)
    repository.list(tmp_path)
    repository.repo.refs[Ref(b"refs/heads/main")] = old
    assert list(repository.list(tmp_path)) == ["a.md"]
    assert repository.read == {"a.md": "Old."}


@pytest.mark.parametrize("damage", ["emptied", "packs cut off", "objects emptied"])
def test_a_damaged_clone_is_made_anew(repository: Repository, tmp_path: Path, damage: str) -> None:
    repository.commit({"a.md": "A"}, day=1)
    repository.list(tmp_path)
    clone = tmp_path / "code.git"
    for file in [file for file in clone.rglob("*") if file.is_file()]:
        file.chmod(0o644)
        if damage == "emptied":
            file.unlink()
        elif file.suffix == ".pack" or (damage == "objects emptied" and "objects" in file.parts):
            file.write_bytes(file.read_bytes()[: 30 if damage == "packs cut off" else 0])
    repository.commit({"b.md": "B"}, day=2)
    assert list(repository.list(tmp_path)) == ["a.md", "b.md"]
    with pytest.raises(SourceFailed, match="cannot be fetched"):
        repository.list(tmp_path, location=str(tmp_path / "nowhere"))
    assert clone.is_dir()
    assert list(repository.list(tmp_path)) == ["a.md", "b.md"]


def test_a_folder_that_is_not_there_deletes_nothing(repository: Repository, tmp_path: Path) -> None:
    repository.commit({"docs.md": "A", "docs/hidden/.b.md": "B"}, day=1)
    with pytest.raises(SourceFailed, match="no folder 'doc'"):
        repository.list(tmp_path, path="doc")
    assert list(repository.list(tmp_path, path="docs")) == []


def test_links_lead_to_the_file_at_that_commit() -> None:
    expected = "https://github.com/acme/handbook/blob/c0ffee/docs/{path}"
    for location in (
        "https://github.com/acme/handbook.git",
        "https://token@github.com/acme/handbook",
        "git@github.com:acme/handbook.git",
    ):
        assert _hosted(location, "c0ffee", "docs/") == expected
    assert _hosted("https://git.acme.example/handbook", "c0ffee", "") is None


def test_messages_hold_no_password() -> None:
    assert _without_password("https://user:secret@git.acme.example/x") == "https://git.acme.example/x"
