"""A second look at the candidates of both lists.

`LateInteraction` needs no further weights (`late_interaction.py`), only the sign bits that indexing stored.
`CrossEncoder` reads question and chunk together with a model of its own.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from knowledge import late_interaction
from knowledge.candidates import Candidate
from knowledge.encoders import EncodedQuestion, Floats
from knowledge.errors import ModelUnavailable
from knowledge.settings import Models
from knowledge.weights import load_weights


class Reranker(Protocol):
    name: str
    reads_text: bool
    """Whether `scores` needs the candidates' texts."""

    def scores(
        self, question: EncodedQuestion, weights: Floats, candidates: Sequence[Candidate], texts: Mapping[int, str]
    ) -> dict[int, float]:
        """A score in [0, 1] for each chunk id, comparable across questions; {} leaves the fused order as it is.

        `weights` (t,): the importance of each token of the question.
        """
        ...

    def strength(self, score: float) -> float:
        """A score as how strong the evidence is, on the scale of a similarity; thresholds are compared with this."""
        ...

    def warm(self) -> None:
        """Loads what `scores` needs."""
        ...


class NoReranker:
    name = "none"
    reads_text = False

    def scores(
        self, question: EncodedQuestion, weights: Floats, candidates: Sequence[Candidate], texts: Mapping[int, str]
    ) -> dict[int, float]:
        return {}

    def strength(self, score: float) -> float:
        return score

    def warm(self) -> None:
        pass


class LateInteraction:
    name = "late-interaction"
    reads_text = False

    def scores(
        self, question: EncodedQuestion, weights: Floats, candidates: Sequence[Candidate], texts: Mapping[int, str]
    ) -> dict[int, float]:
        if not weights.sum() > 0:
            return {}
        scores = late_interaction.likeness(question, weights, [c.bits for c in candidates])
        return dict(zip((c.chunk_id for c in candidates), scores.tolist(), strict=True))

    def strength(self, score: float) -> float:
        return float(score ** (1 / late_interaction.SHARPNESS))

    def warm(self) -> None:
        pass


class CrossEncoder:
    """A sentence-transformers CrossEncoder; 30 candidates cost it 0.8 s on two plain cores at the size of MiniLM-L6."""

    reads_text = True

    def __init__(self, name: str, model: Any = None) -> None:
        """`model`: the loaded weights; None = load them on first use."""
        self.name = name
        self._model = model

    def scores(
        self, question: EncodedQuestion, weights: Floats, candidates: Sequence[Candidate], texts: Mapping[int, str]
    ) -> dict[int, float]:
        from torch import nn

        self.warm()
        known = sorted((c.chunk_id for c in candidates if c.chunk_id in texts), key=lambda chunk: len(texts[chunk]))
        if not known:
            return {}
        pairs = [(question.text, texts[chunk]) for chunk in known]
        scores = self._model.predict(pairs, batch_size=10, activation_fn=nn.Sigmoid(), show_progress_bar=False)
        return dict(zip(known, (float(s) for s in np.ravel(scores)), strict=True))

    def strength(self, score: float) -> float:
        return score

    def warm(self) -> None:
        """Raises `ModelUnavailable` when the weights are nowhere."""
        if self._model is None:
            self._model = load_weights("CrossEncoder", self.name, num_labels=1)


def load_reranker(models: Models) -> Reranker:
    """The reranker of the settings. `auto` takes the cross-encoder where its weights are on this machine already."""
    makers: dict[str, Callable[[], Reranker]] = {
        "none": NoReranker,
        "late-interaction": LateInteraction,
        "cross-encoder": lambda: CrossEncoder(models.cross_encoder),
        "auto": lambda: _on_disk(models.cross_encoder) or LateInteraction(),
    }
    return makers[models.reranker]()


def _on_disk(name: str) -> CrossEncoder | None:
    try:
        return CrossEncoder(name, load_weights("CrossEncoder", name, local_only=True, num_labels=1))
    except ModelUnavailable:
        return None
