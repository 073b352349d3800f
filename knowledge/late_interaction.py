"""How alike a question and a text are, token by token: for each word piece of the question the most similar token of the
text, weighted by how rare the piece's word is (MaxSim: Khattab and Zaharia, "ColBERT", SIGIR 2020), over the sign bits
that encoding keeps of a text's tokens. Pure.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from knowledge import analysis
from knowledge.encoders import BITS, EncodedQuestion, Floats
from knowledge.keywords import Weighted

SHARPNESS = 3
"""Power of a similarity: the same word counts for much more than a related one. 1 lost 0.002 nDCG@10, 2 to 4 are alike."""

FUNCTION_WORD_WEIGHT = 0.5
"""Of every token, beside its word's IDF: stop words and punctuation carry some of the meaning of what is around them."""


def likeness(question: EncodedQuestion, weights: Floats, bits: Sequence[bytes]) -> Floats:
    """(texts,) in [0, 1], comparable across questions. `weights` (t,): the importance of each token of the question, with
    a sum above 0; `bits`: the tokens of each text.
    """
    best = np.clip(max_similarities(question.token_vectors, bits), 0, 1)
    return np.asarray(best**SHARPNESS @ (weights / weights.sum()), dtype=np.float32)


def token_weights(question: EncodedQuestion, terms: Weighted) -> Floats:
    """(t,): the IDF of the rarest term of each token's word, shared by the word's tokens, and a little for every token."""
    idfs: dict[tuple[int, int], float] = {}
    for term in analysis.spans(question.text):
        if not term.term.startswith(analysis.EXACT):
            span = term.start, term.end
            idfs[span] = max(idfs.get(span, 0.0), terms.idf(term.term))
    words = [next((word for word in idfs if word[0] < end and start < word[1]), None) for start, end in question.spans]
    pieces = Counter(words)
    shares = [idfs[word] / pieces[word] if word else 0.0 for word in words]
    return np.array(shares, dtype=np.float32) + FUNCTION_WORD_WEIGHT


def max_similarities(question: Floats, bits: Sequence[bytes]) -> Floats:
    """(texts, t): for each token of `question` (t, BITS) its highest similarity to a token of each text.

    The document's side is its sign vector at length 1, so the similarity is a cosine up to the quantisation. A
    text without tokens gets zeros.
    """
    lengths = np.array([len(b) * 8 // BITS for b in bits])
    best = np.zeros((len(bits), len(question)), dtype=np.float32)
    filled = np.flatnonzero(lengths)
    if not len(filled) or not len(question):
        return best
    tokens = np.unpackbits(np.frombuffer(b"".join(bits), dtype=np.uint8)).reshape(-1, BITS).astype(np.float32)
    products = tokens @ question.T
    starts = np.cumsum(lengths)[filled] - lengths[filled]
    # With b in {0, 1} for the sign 2b - 1: (2b - 1)·q = 2 b·q - Σq, and what is the same for every token can wait.
    best[filled] = (2 * np.maximum.reduceat(products, starts, axis=0) - question.sum(axis=1)) / np.sqrt(BITS)
    return best
