"""A git repository: the files of one branch, dated by the commits that last changed them.

It is cloned without a working tree into `cache`, and brought up to date at each listing.
"""

import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from knowledge.errors import DocumentUnreadable, SourceFailed
from knowledge.settings import Source as SourceSettings
from knowledge.sources.globs import wanted
from knowledge.sources.links import link
from knowledge.sources.source import Listed

REGULAR = 0o100000
"""The file type of a plain file in a tree; links (0o120000) and submodules (0o160000) are left out."""

MAX_COMMITS = 20_000
"""Looked through for the dates of files; what no commit among them changed has no date."""

_HOSTED = re.compile(r"^(?:https://(?:[^@/]*@)?|git@)(github\.com|gitlab\.com)[/:](.+?)(?:\.git)?/?$")


class Git:
    """`cache`: a folder that may be kept between syncs; None = a new clone each time."""

    def __init__(self, settings: SourceSettings, cache: Path | None = None) -> None:
        self._settings = settings
        self._temporary = None if cache else tempfile.TemporaryDirectory(prefix="footnote-git-")
        self._folder = (cache or Path(self._temporary.name if self._temporary else "")) / f"{settings.name}.git"
        self._limit = int(settings.max_file_mb * 1_000_000)
        self._blobs: dict[str, bytes] = {}
        self._repository: Any = None

    def list(self, known: Mapping[str, str]) -> Sequence[Listed]:
        """Files by path below `path`. The revision is the blob's id: a file that was moved is known by it too.

        A clone that is damaged is made anew.
        """
        try:
            return self._listed(self._folder)
        except SourceFailed:
            raise
        except Exception as error:  # dulwich passes on what sockets, servers and broken repositories raise
            if not self._folder.exists():
                raise self._failed(error) from error
        anew = self._folder.with_suffix(".new")
        shutil.rmtree(anew, ignore_errors=True)
        try:
            self._listed(anew)
            self._close_repository()
            shutil.rmtree(self._folder)
            anew.rename(self._folder)
            return self._listed(self._folder)
        except SourceFailed:
            raise
        except Exception as error:
            raise self._failed(error) from error
        finally:
            shutil.rmtree(anew, ignore_errors=True)

    def _listed(self, folder: Path) -> Sequence[Listed]:
        commit = self._pulled(folder)
        prefix = f"{self._settings.path.strip('/')}/" if self._settings.path.strip("/") else ""
        every = _files(self._repository, commit.tree)
        below = {path.removeprefix(prefix): blob for path, blob in every if path.startswith(prefix)}
        if prefix and not below:
            raise SourceFailed(
                f"source {self._settings.name!r} has no folder {self._settings.path!r} on its branch; nothing was deleted"
            )
        files = {path: blob for path, blob in below.items() if self._is_wanted(path)}
        dates = _dates(self._repository, commit, {prefix + path for path in files})
        self._blobs = files
        base = self._settings.url or _hosted(self._settings.location, commit.id.decode(), prefix)
        return tuple(
            Listed(path, blob.decode(), link(base, path), dates.get(prefix + path), dated=prefix + path in dates)
            for path, blob in sorted(files.items())
        )

    def read(self, external_id: str) -> bytes:
        content: bytes = self._repository[self._blobs[external_id]].data
        if len(content) > self._limit:
            raise DocumentUnreadable(
                "too_big", f"too large: more than {self._settings.max_file_mb:g} MB; raise max_file_mb to read it"
            )
        return content

    def close(self) -> None:
        self._close_repository()
        if self._temporary:
            self._temporary.cleanup()

    def _close_repository(self) -> None:
        if self._repository is not None:
            self._repository.close()
            self._repository = None

    def _is_wanted(self, path: str) -> bool:
        hidden = any(part.startswith(".") for part in path.split("/"))
        return not hidden and wanted(path, self._settings.include, self._settings.exclude)

    def _failed(self, error: Exception) -> SourceFailed:
        location = _without_password(self._settings.location)
        return SourceFailed(f"{location!r} cannot be fetched ({type(error).__name__}: {error}); nothing was deleted")

    def _pulled(self, folder: Path) -> Any:
        """The branch's newest commit, as the remote has it now, in a clone that need not be there yet."""
        from dulwich.client import get_transport_and_path
        from dulwich.repo import Repo

        self._close_repository()
        folder.parent.mkdir(parents=True, exist_ok=True)
        self._repository = Repo(str(folder)) if folder.is_dir() else Repo.init_bare(str(folder), mkdir=True)
        client, path = get_transport_and_path(self._settings.location)
        refs: Any = client.fetch(path, self._repository).refs
        branch = self._settings.branch
        head = refs.get(f"refs/heads/{branch}".encode() if branch else b"HEAD")
        if head is None:
            raise SourceFailed(
                f"source {self._settings.name!r} has no branch {branch or 'HEAD'!r}; nothing was deleted"
            )
        return self._repository[head]


def _files(repository: Any, tree: Any) -> Iterator[tuple[str, bytes]]:
    from dulwich.object_store import iter_tree_contents

    for entry in iter_tree_contents(repository.object_store, tree):
        if entry.mode & 0o170000 == REGULAR:
            yield entry.path.decode("utf-8", errors="replace"), entry.sha


def _dates(repository: Any, commit: Any, paths: set[str]) -> dict[str, datetime]:
    """When each path was last changed, from the newest commit backwards."""
    found: dict[str, datetime] = {}
    for entry in repository.get_walker(include=[commit.id], max_entries=MAX_COMMITS):
        at = datetime.fromtimestamp(entry.commit.commit_time, UTC)
        for change in entry.changes():
            for one in change if isinstance(change, list) else [change]:
                path = one.new.path.decode("utf-8", errors="replace") if one.new and one.new.path else ""
                if path in paths:
                    found.setdefault(path, at)
        if len(found) == len(paths):
            break
    return found


def _hosted(location: str, commit: str, prefix: str) -> str | None:
    """Where a well-known host shows the files of that commit; None elsewhere."""
    match = _HOSTED.match(location)
    if not match:
        return None
    kind = "blob" if match[1] == "github.com" else "-/blob"
    return f"https://{match[1]}/{match[2]}/{kind}/{commit}/{prefix}{{path}}"


def _without_password(location: str) -> str:
    return re.sub(r"//[^@/]*@", "//", location)
