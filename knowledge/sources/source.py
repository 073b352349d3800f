"""What a source of documents must be able to do."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from knowledge.permissions import Scopes


@dataclass(frozen=True)
class Listed:
    """One document that a source has now.

    `external_id`: its name within the source, stable for as long as it is the same document.
    `revision`: a cheap mark; equal marks mean equal bytes, so that the document is not read. Empty: it must be read.
    `updated_at`: when it changed, None when the source does not say. `dated`: that is the source's own word (a commit, a
    server) and goes before a date in the text; a file's time goes behind it. `scopes`: None = the source's readers.
    """

    external_id: str
    revision: str
    url: str = ""
    updated_at: datetime | None = None
    dated: bool = False
    scopes: Scopes | None = None


class Source(Protocol):
    def list(self, known: Mapping[str, str]) -> Iterable[Listed]:
        """Everything there is. `known`: revisions from the last time, by which a source may ask for changes only;
        empty ones when everything is to be read again.

        Raises `SourceFailed` when that cannot be said for sure; a short list is taken at its word."""
        ...

    def read(self, external_id: str) -> bytes:
        """Bytes of a listed document.

        Raises `DocumentUnreadable` when they should not be read (too big), `OSError` or `SourceFailed` when they cannot
        be read now.
        """
        ...

    def close(self) -> None:
        """Let go of connections and temporary files."""
        ...
