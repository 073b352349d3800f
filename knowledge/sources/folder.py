"""A folder of files, read where it lies. Symbolic links are followed only to files inside it; hidden files are left out."""

import os
import stat
import unicodedata
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from knowledge import near_paths
from knowledge.errors import DocumentUnreadable, SourceFailed
from knowledge.settings import Source as SourceSettings
from knowledge.sources.globs import wanted
from knowledge.sources.links import link
from knowledge.sources.source import Listed

LEFT_OUT = frozenset({"node_modules", "__pycache__", "__MACOSX"})
LEFT_OUT_FILES = frozenset({"Thumbs.db", "desktop.ini"})


class Folder:
    def __init__(self, settings: SourceSettings) -> None:
        self._root = Path(settings.location)
        self._settings = settings
        self._paths: dict[str, str] = {}

    def list(self, known: Mapping[str, str]) -> list[Listed]:
        """Files in order of their names. The revision is size, time and inode: a file with all three equal is not read."""
        if not self._root.is_dir():
            raise SourceFailed(f"{self._settings.location!r} {_no_folder(self._root)}; nothing was deleted")
        root = os.path.realpath(self._root)
        self._paths = {}
        listed = [self._listed(path, root) for path in _files(root)]
        return sorted((item for item in listed if item), key=lambda item: item.external_id)

    def read(self, external_id: str) -> bytes:
        path = self._paths[external_id]
        limit = int(self._settings.max_file_mb * 1_000_000)
        with open(path, "rb") as file:  # the file may have grown since it was listed
            content = file.read(limit + 1) if os.fstat(file.fileno()).st_size <= limit else None
        if content is None or len(content) > limit:
            raise DocumentUnreadable(
                "too_big", f"too large: more than {self._settings.max_file_mb:g} MB; raise max_file_mb to read it"
            )
        return content

    def close(self) -> None:
        pass

    def _listed(self, path: str, root: str) -> Listed | None:
        external_id = _external_id(path, root)
        if not wanted(external_id, self._settings.include, self._settings.exclude):
            return None
        target = os.path.realpath(path)
        if os.path.commonpath([root, target]) != root:
            return None
        try:
            status = os.stat(target)
        except FileNotFoundError:
            return None  # deleted since the folder was read, or a link to nothing
        if not stat.S_ISREG(status.st_mode):
            return None
        if external_id in self._paths:
            raise SourceFailed(
                f"two files are both called {external_id!r} once their names are made readable; rename one"
            )
        self._paths[external_id] = target
        return Listed(
            external_id=external_id,
            revision=f"{status.st_size}-{status.st_mtime_ns}-{status.st_ino}",
            url=link(self._settings.url, external_id),
            updated_at=datetime.fromtimestamp(status.st_mtime, UTC),
        )


def _no_folder(path: Path) -> str:
    if path.is_file():
        return "is a file, not a folder (name the folder that it is in, and the file in `include`)"
    near = near_paths.nearest(path, Path.is_dir)
    return f"is not a folder ({f'did you mean {near}?' if near else 'is it mounted?'})"


def _files(root: str) -> Iterator[str]:
    """Raises `SourceFailed` for a sub-folder that cannot be read: its files would look deleted."""

    def refuse(error: OSError) -> None:
        raise SourceFailed(f"{error.filename!r} cannot be read ({error.strerror}); nothing was deleted") from error

    for folder, folders, names in os.walk(root, onerror=refuse):
        folders[:] = sorted(f for f in folders if not f.startswith(".") and f not in LEFT_OUT)
        for name in names:
            if not name.startswith((".", "~$")) and name not in LEFT_OUT_FILES:
                yield os.path.join(folder, name)


def _external_id(path: str, root: str) -> str:
    """The path within the folder, as text any database takes: composed, and without what is no character."""
    relative = os.path.relpath(path, root).replace(os.sep, "/")
    readable = os.fsencode(relative).decode("utf-8", errors="replace")
    return unicodedata.normalize("NFC", "".join(c for c in readable if c.isprintable()))
