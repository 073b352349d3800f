"""What all assemblies have in common: pages in, documents out, one model, one way to carry titles."""

from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar, NamedTuple

import numpy as np
import sqlalchemy as sa

from knowledge.encoders import BATCH, Embedder, Floats

PIECES = 230
"""Word pieces a chunk: what the model reads, less room for a title."""
WORDS = 150
"""Words a chunk, where a splitter counts words."""
DEPTH = 30
"""Length of each list, as in Footnote."""
RRF_K = 60


class Page(NamedTuple):
    id: str
    title: str
    text: str


class Chunk(NamedTuple):
    page: str
    text: str


class Model:
    """The embedder as a plain sentence-transformers model, with the threads that Footnote gives it."""

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder
        self.dimension = embedder.dimension

    def texts(self, texts: Sequence[str]) -> Floats:
        return self._encode(list(texts), threads=2)

    def question(self, text: str) -> Floats:
        return np.asarray(self._encode([text], threads=1)[0])

    def _encode(self, texts: list[str], threads: int) -> Floats:
        import torch

        torch.set_num_threads(threads)
        return np.asarray(
            self.embedder._model.encode(
                texts, batch_size=BATCH, normalize_embeddings=True, show_progress_bar=False, convert_to_numpy=True
            ),
            dtype=np.float32,
        )


class System:
    """Base of all: the model, and a fresh database that holds pgvector."""

    name: ClassVar[str]
    keeps_unchanged: ClassVar[bool] = False

    def __init__(self, model: Model, url: sa.URL) -> None:
        self.model = model
        self.url = url

    def prepare(self, pages: Sequence[Page]) -> None:
        """What is not timed: pages come from somewhere."""

    def index(self, pages: Sequence[Page]) -> int:
        raise NotImplementedError

    def search(self, question: str) -> Sequence[str]:
        raise NotImplementedError

    def address(self, driver: str = "") -> str:
        return self.url.set(drivername=f"postgresql{driver}").render_as_string(hide_password=False)


def cut(pages: Iterable[Page], split: Callable[[str], Sequence[str]]) -> list[Chunk]:
    """Chunks of all pages, the title in front of each."""
    return [Chunk(page.id, titled(page.title, text)) for page in pages for text in split(page.text) if text.strip()]


def titled(title: str, text: str) -> str:
    return f"{title}\n{text}" if title else text


def windows(text: str) -> list[str]:
    """Windows of `WORDS` words, each sharing a tenth with the one before."""
    all_words = text.split()
    step = WORDS - WORDS // 10
    return [
        " ".join(all_words[start : start + WORDS]) for start in range(0, max(len(all_words) - WORDS // 10, 1), step)
    ]
