"""Libraries for each list, glued by hand."""

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
import sqlalchemy as sa

from tests.benchmarks.assemblies.system import DEPTH, RRF_K, Model, Page, System, cut, windows


class ByHand(System):
    """FAISS and rank_bm25, fused by ranks, then maximal marginal relevance over the chunks' vectors."""

    name = "FAISS + rank_bm25 + MMR by hand"
    RELEVANCE = 0.7
    """MMR's lambda."""

    def __init__(self, model: Model, url: sa.URL) -> None:
        super().__init__(model, url)
        import faiss
        import rank_bm25

        self.flat, self.okapi = faiss.IndexFlatIP, rank_bm25.BM25Okapi

    def index(self, pages: Sequence[Page]) -> int:
        self.chunks = cut(pages, windows)
        self.vectors = self.model.texts([chunk.text for chunk in self.chunks])
        self.faiss = self.flat(self.model.dimension)
        self.faiss.add(self.vectors)
        self.bm25 = self.okapi([words(chunk.text) for chunk in self.chunks])
        return len(self.chunks)

    def search(self, question: str) -> Sequence[str]:
        _, nearest = self.faiss.search(self.model.question(question)[None], DEPTH)
        wordy = np.argsort(-self.bm25.get_scores(words(question)), kind="stable")[:DEPTH]
        scores: Counter[int] = Counter()
        for ranking in (nearest[0].tolist(), wordy.tolist()):
            scores.update({chunk: 1 / (RRF_K + rank) for rank, chunk in enumerate(ranking, 1) if chunk >= 0})
        return [self.chunks[chunk].page for chunk in self.marginal(scores)]

    def marginal(self, scores: Counter[int]) -> list[int]:
        left, taken, best = dict(scores.most_common(DEPTH)), list[int](), max(scores.values())
        while left:
            alike = self.vectors[list(left)] @ self.vectors[taken].T if taken else np.zeros((len(left), 1))
            relevance = np.array(list(left.values())) / best
            gain = self.RELEVANCE * relevance - (1 - self.RELEVANCE) * alike.max(axis=1)
            taken.append(list(left)[int(gain.argmax())])
            del left[taken[-1]]
        return taken


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())
