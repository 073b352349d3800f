"""What retrieval hands on: passages with their ranks at every stage, and the record of how they were found."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class Ranks:
    """1-based rank at each stage; `None` where the stage did not see the chunk."""

    vector: int | None = None
    keyword: int | None = None
    fused: int | None = None
    rerank: int | None = None


@dataclass(frozen=True)
class Passage:
    """One chunk as its readers see it. `score` is the final score in [0, 1], comparable across questions."""

    chunk_id: int
    document_id: int
    source: str
    external_id: str
    title: str
    url: str
    heading_path: tuple[str, ...]
    text: str
    prefix: str
    page: int | None
    updated_at: datetime | None
    scopes: frozenset[str]
    ranks: Ranks
    score: float
    stale_days: int | None = None
    """Days since the last change when that is longer ago than the source's limit, else None."""

    @property
    def label(self) -> str:
        """`Title › Heading › Sub-heading`, without repeating a title that is also the first heading."""
        path = self.heading_path[1:] if self.heading_path[:1] == (self.title,) else self.heading_path
        return " › ".join((self.title, *path))

    @property
    def body(self) -> str:
        """The text to read: a split table's header in front of its rows."""
        return self.prefix + self.text


@dataclass(frozen=True)
class Hit:
    """A chunk at one stage: `rank` from 1, `score` in that stage's own unit (cosine, BM25, fused, reranked)."""

    chunk_id: int
    rank: int
    score: float


@dataclass(frozen=True)
class Found:
    """The outcome of one search. `stages` by name (vector, keyword, fused, reranked), best first; no text in them."""

    passages: tuple[Passage, ...]
    stages: Mapping[str, tuple[Hit, ...]]
    reranker: str
    generation_id: int
    ms: Mapping[str, float]
