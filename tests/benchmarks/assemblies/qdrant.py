"""Qdrant in the process."""

from collections import Counter
from collections.abc import Sequence
from typing import Any
from zlib import crc32

import sqlalchemy as sa

from tests.benchmarks.assemblies.by_hand import words
from tests.benchmarks.assemblies.system import DEPTH, Model, Page, System, cut, windows


class Qdrant(System):
    """In memory: dense vectors and BM25-weighted sparse ones with its IDF modifier, fused by ranks."""

    name = "Qdrant in memory, dense + sparse"

    def __init__(self, model: Model, url: sa.URL) -> None:
        super().__init__(model, url)
        import qdrant_client
        import snowballstemmer

        self.client = qdrant_client.QdrantClient(":memory:")
        self.stemmer = snowballstemmer.stemmer("english")

    def index(self, pages: Sequence[Page]) -> int:
        from qdrant_client import models

        chunks = cut(pages, windows)
        counts = [Counter(self.stemmer.stemWords(words(chunk.text))) for chunk in chunks]
        mean = sum(map(Counter.total, counts)) / len(counts)
        self.client.delete_collection("pages")
        self.client.create_collection(
            "pages",
            vectors_config={"dense": models.VectorParams(size=self.model.dimension, distance=models.Distance.COSINE)},
            sparse_vectors_config={"words": models.SparseVectorParams(modifier=models.Modifier.IDF)},
        )
        points = [
            models.PointStruct(
                id=number,
                vector={"dense": vector.tolist(), "words": self.sparse(saturated(count, mean))},
                payload={"page": chunk.page},
            )
            for number, (chunk, vector, count) in enumerate(
                zip(chunks, self.model.texts([chunk.text for chunk in chunks]), counts, strict=True)
            )
        ]
        self.client.upload_points("pages", points)
        return len(chunks)

    def search(self, question: str) -> Sequence[str]:
        from qdrant_client import models

        terms = {word: 1.0 for word in self.stemmer.stemWords(words(question))}
        arms = [
            models.Prefetch(query=self.model.question(question).tolist(), using="dense", limit=DEPTH),
            models.Prefetch(query=self.sparse(terms), using="words", limit=DEPTH),
        ]
        fused = models.FusionQuery(fusion=models.Fusion.RRF)
        found = self.client.query_points("pages", prefetch=arms, query=fused, limit=DEPTH, with_payload=True)
        return [str(point.payload["page"]) for point in found.points]

    @staticmethod
    def sparse(terms: dict[str, float]) -> Any:
        from qdrant_client import models

        weights = {crc32(term.encode()): weight for term, weight in terms.items()}
        return models.SparseVector(indices=list(weights), values=list(weights.values()))


def saturated(counts: Counter[str], mean: float, k1: float = 1.2, b: float = 0.75) -> dict[str, float]:
    """BM25's weight of each term without its IDF, which Qdrant adds."""
    length = k1 * (1 - b + b * counts.total() / mean)
    return {term: n * (k1 + 1) / (n + length) for term, n in counts.items()}
