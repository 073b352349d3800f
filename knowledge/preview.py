"""What would be indexed of one file, without a database."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from knowledge.chunking import Chunk, chunk_document
from knowledge.encoders import Embedder
from knowledge.loaders.loaded import Loaded
from knowledge.loaders.reader import Reader
from knowledge.outline import Section, outline
from knowledge.settings import Chunking


@dataclass(frozen=True)
class Preview:
    loaded: Loaded
    chunks: tuple[Chunk, ...]

    @property
    def title(self) -> str:
        return self.loaded.title

    @property
    def _sections(self) -> tuple[Section, ...]:
        return () if self.loaded.plain else tuple(s for s in outline(self.loaded.markdown) if s.level)

    def as_json(self) -> dict[str, Any]:
        """As `footnote chunks --json` prints it."""
        loaded = self.loaded
        return {
            "document": {
                "title": loaded.title,
                "updated_at": loaded.updated_at and loaded.updated_at.isoformat(),
                "scopes": None if loaded.scopes is None else sorted(loaded.scopes),
                "pages": len(loaded.pages) or None,
                "characters": len(loaded.markdown),
                "heading_paths": [list(loaded.path + section.path) for section in self._sections],
                "remarks": list(loaded.remarks),
            },
            "chunks": [
                {
                    "heading_path": list(c.heading_path),
                    "prefix": c.prefix,
                    "text": c.text,
                    "start": c.start,
                    "end": c.end,
                    "page": c.page,
                    "tokens": c.tokens,
                }
                for c in self.chunks
            ],
        }


def preview(file: Path, embedder: Embedder, chunking: Chunking) -> Preview:
    """Load and cut one file. Raises `DocumentUnreadable` when it cannot be loaded and `OSError` when it is not there."""
    with Reader() as reader:
        loaded = reader.load(file.name, file.read_bytes())
    return Preview(loaded, chunk_document(loaded, embedder.count_tokens, chunking))
