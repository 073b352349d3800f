"""A document as the rest of the engine sees it, whatever file it came from."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from knowledge.loaders.decoding import clean
from knowledge.permissions import Scopes

MAX_TITLE = 120
"""Characters. A title is in front of every chunk of its document; a longer one is mostly a sentence gone astray."""


@dataclass(frozen=True)
class Loaded:
    """`pages`: start offset in `markdown` of each page, slide or sheet; empty without pages.

    `path`: headings above the whole text (the front matter's title). `plain`: nothing in the text is markup.
    `scopes`: None = the source's readers; a set narrows them. `remarks`: what the sync should say about it.
    """

    title: str
    markdown: str
    pages: tuple[int, ...] = ()
    updated_at: datetime | None = None
    scopes: Scopes | None = None
    path: tuple[str, ...] = ()
    plain: bool = False
    remarks: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "title": self.title,
            "markdown": self.markdown,
            "pages": self.pages,
            "updated_at": self.updated_at and self.updated_at.isoformat(),
            "scopes": None if self.scopes is None else sorted(self.scopes),
            "path": self.path,
            "plain": self.plain,
            "remarks": self.remarks,
        }


def from_json(fields: Mapping[str, Any]) -> Loaded:
    """What `to_json` wrote. Raises `KeyError`, `TypeError` or `ValueError` for anything else."""
    return Loaded(
        title=str(fields["title"]),
        markdown=str(fields["markdown"]),
        pages=tuple(int(page) for page in fields["pages"]),
        updated_at=fields["updated_at"] and datetime.fromisoformat(fields["updated_at"]),
        scopes=None if fields["scopes"] is None else frozenset(map(str, fields["scopes"])),
        path=tuple(map(str, fields["path"])),
        plain=bool(fields["plain"]),
        remarks=tuple(map(str, fields["remarks"])),
    )


def titled(name: str, *candidates: str) -> str:
    """The first candidate with words in it, else the file's name as words."""
    for candidate in candidates:
        if words := " ".join(clean(candidate).split()):
            return words if len(words) <= MAX_TITLE else words[: MAX_TITLE - 1].rstrip() + "…"
    stem = name.rsplit("/", 1)[-1].rsplit(".", 1)[0] or name
    words = " ".join(stem.replace("_", " ").replace("-", " ").split())[:MAX_TITLE]
    return words[:1].upper() + words[1:]


def paged(texts: list[str]) -> tuple[str, tuple[int, ...]]:
    """Pages joined by blank lines, and where each starts."""
    offsets, position = [], 0
    for text in texts:
        offsets.append(position)
        position += len(text) + 2
    return "\n\n".join(texts), tuple(offsets)
