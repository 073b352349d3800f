"""A model small enough to reason about: a text's vector counts its words, each word hashed to one of 32 dimensions."""

import hashlib
import os
import re
import signal
from collections.abc import Sequence

import numpy as np

from knowledge.encoders import BITS, Embedder, Encoded, EncodedQuestion


class WordEmbedder(Embedder):
    """`encoded`: every text it was asked for. A text with the word `unspeakable` gets NaN."""

    def __init__(self, name: str = "words") -> None:
        super().__init__(name, None)
        self.encoded: list[str] = []

    dimension = 32
    max_tokens = 300
    revision = "1"

    def count_tokens(self, text: str) -> int:
        return len(re.findall(r"\w+|[^\w\s]", text))

    def encode_passages(self, texts: Sequence[str]) -> Encoded:
        self.encoded.extend(texts)
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in zip(vectors, texts, strict=True):
            for word in re.findall(r"\w+", text.lower()):
                row[hashlib.md5(word.encode()).digest()[0] % self.dimension] += 1
            np.divide(row, np.linalg.norm(row) or 1, out=row)
            if "unspeakable" in text:
                row[:] = np.nan
        return Encoded(vectors, tuple(b"\x0f" * 8 for _ in texts))

    def _encode_question(self, text: str) -> EncodedQuestion:
        [vector] = self.encode_passages([text]).vectors
        return EncodedQuestion(text, vector, np.empty((0, BITS), dtype=np.float32), ())


class Dying(WordEmbedder):
    """Its process is killed at the third batch."""

    batches = 0

    def encode_passages(self, texts: Sequence[str]) -> Encoded:
        self.batches += 1
        if self.batches == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().encode_passages(texts)
