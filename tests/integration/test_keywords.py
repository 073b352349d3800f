"""The keyword index: BM25 exactly, under any rights, whatever is asked."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest
import sqlalchemy as sa

from knowledge import acls, analysis, candidates, keywords
from knowledge.candidates import Candidate, Query
from knowledge.db import Database
from knowledge.embeddings import ChunkKey
from knowledge.generations import Generation
from knowledge.keywords import Weighted
from knowledge.tables import acls as acls_table
from knowledge.tables import chunk_terms, term_counts
from tests.rows import add_chunk

WORKSPACE = frozenset({"workspace"})
GENERATION = Generation(1, "test", "1", 2)


def index(database: Database, texts: Sequence[str], scopes: Sequence[str] = ("workspace",)) -> None:
    """Chunks 1, 2, … with these texts."""
    with database.writing() as connection:
        acl_id = acls.intern(connection, scopes)
        first = 1 + (connection.scalar(sa.select(sa.func.max(chunk_terms.c.chunk_id))) or 0)
        for number in range(first, first + len(texts)):
            add_chunk(connection, number, scopes)
        connection.execute(sa.delete(chunk_terms).where(chunk_terms.c.chunk_id >= first))
        keywords.write(connection, [ChunkKey(first + i, 0, acl_id) for i in range(len(texts))], texts)
        connection.execute(
            sa.update(acls_table)
            .where(acls_table.c.id == acl_id)
            .values(chunk_count=acls_table.c.chunk_count + len(texts))
        )


def ask(
    database: Database,
    question: str,
    limit: int = 30,
    scopes: frozenset[str] = WORKSPACE,
    budgets: Sequence[int] = keywords.CHUNK_BUDGETS,
) -> list[Candidate]:
    """The keyword list, best first."""
    with database.reading(scopes) as connection:
        terms = keywords.weigh(connection, analysis.terms(analysis.clean(question)))
        terms = replace(terms, budgets=budgets)
        query = Query(GENERATION, np.array([0.0, 1.0], np.float32), terms, scopes, limit)
        found = candidates.find(connection, query, exact_below=50_000)
    return sorted((c for c in found if c.keyword_rank), key=lambda c: c.keyword_rank or 0)


def bm25(texts: Sequence[str], question: str) -> dict[int, float]:
    """The formula spelt out, without the index: chunk number -> score."""
    counts = [Counter(analysis.terms(text)) for text in texts]
    scores: dict[int, float] = {}
    for term, times in Counter(analysis.terms(question)).items():
        having = sum(term in c for c in counts)
        idf = math.log(1 + (len(texts) - having + 0.5) / (having + 0.5))
        said = times * (keywords.EXACT_WEIGHT if term.startswith(analysis.EXACT) else 1)
        weight = 9 * said / (8 + said)
        for number, c in enumerate(counts, 1):
            if c[term]:
                norm = 1.2 * (0.25 + 0.75 * c.total() / keywords.AVERAGE_LENGTH)
                scores[number] = scores.get(number, 0.0) + weight * idf * c[term] * 2.2 / (c[term] + norm)
    return scores


WORDS = (
    "pool",
    "kite",
    "valve",
    "reset",
    "limit",
    "server",
    "error",
    "report",
    "travel",
    "budget",
    "paper",
    "river",
    "cloud",
)


def corpus(size: int, seed: int = 3) -> list[str]:
    random = np.random.default_rng(seed)
    shares = 1 / np.arange(1, len(WORDS) + 1)
    return [" ".join(random.choice(WORDS, random.integers(3, 60), p=shares / shares.sum())) for _ in range(size)]


@pytest.mark.parametrize("question", ["cloud", "error report of the river", "pool pool kite", "Which server errors?"])
def test_the_scores_are_bm25(database: Database, question: str) -> None:
    texts = corpus(80)
    index(database, texts)
    expected = bm25(texts, question)
    found = ask(database, question, limit=80)
    assert {c.chunk_id: c.bm25 for c in found} == pytest.approx(expected, rel=1e-5)
    assert [c.bm25 for c in found] == sorted((c.bm25 for c in found), reverse=True)


@pytest.mark.parametrize("budgets", [(1,), (1, 2), (40, 100), (100,), (1, 40, 10_000), (10_000,)])
def test_starting_with_the_rarest_terms_changes_no_result(database: Database, budgets: tuple[int, ...]) -> None:
    texts = corpus(120)
    index(database, texts)
    whole = [(c.chunk_id, c.bm25) for c in ask(database, "cloud river pool kite", limit=10)]
    assert [(c.chunk_id, c.bm25) for c in ask(database, "cloud river pool kite", limit=10, budgets=budgets)] == whole


def test_the_terms_left_out_can_add_no_more_than_the_bound() -> None:
    weighted = Weighted({1: 3.0, 2: 2.0, 3: 0.5}, {1: 5, 2: 50, 3: 900}, 1000)
    for budget, taken, bound in ((60, [1, 2], 0.5 * 2.2), (1, [1], 2.5 * 2.2), (10_000, [1, 2, 3], 0.0)):
        terms, most = weighted.rarest(budget)
        assert terms == taken
        assert most == pytest.approx(bound)
    assert Weighted({}, {}, 0).rarest(10) == ([], 0)


def test_each_try_takes_more_terms_than_the_one_before_until_all_are_taken() -> None:
    weighted = Weighted({1: 3.0, 2: 2.0, 3: 0.5}, {1: 5, 2: 50, 3: 900}, 1000, budgets=(10, 20, 60, 10_000, 20_000))
    assert [terms for terms, _ in weighted.tries()] == [[1], [1, 2], [1, 2, 3]]
    assert list(Weighted({}, {}, 0).tries()) == [([], 0)]


@pytest.mark.parametrize("question", ["who are you", "what is it?", "the", "Don", "zzz", "???", "' \\ % _ :* & | !"])
def test_a_question_without_known_words_matches_nothing(database: Database, question: str) -> None:
    index(database, corpus(10))
    assert ask(database, question) == []


DECOYS = (
    "Drain the pool every night.",
    "A kite needs wind.",
    "The manager of the pool is away.",
    "Be idle at most once.",
)
CODE = "kite_pool_v2 = KitePoolManager('/srv/kite/conf.d/pool.yaml') --max-idle 30 since v2.14.0-rc.1: ERR_CONN_4012 net.kite.Pool"


@pytest.mark.parametrize(
    "question",
    [
        "kite_pool_v2",
        "ERR_CONN_4012",
        "KitePoolManager",
        "--max-idle",
        "what does ERR_CONN_4012 mean?",
        "pool.yaml",
        "/srv/kite/conf.d/pool.yaml",
        "conf.d",
        "v2.14.0-rc.1",
        "2.14",
        "net.kite.Pool",
    ],
)
def test_an_identifier_finds_its_text_ahead_of_its_parts(database: Database, question: str) -> None:
    index(database, [*DECOYS, CODE])
    assert ask(database, question)[0].chunk_id == len(DECOYS) + 1


def test_a_reader_is_given_their_own_chunks_however_common_the_word(database: Database) -> None:
    index(database, ["pool rules"] * 60)
    index(database, ["pool rules for the board", "cheese"], scopes=["channel:C1"])
    assert [c.chunk_id for c in ask(database, "pool rules", limit=5, scopes=frozenset({"channel:C1"}))] == [61]
    assert len(ask(database, "pool rules", limit=5)) == 5


def test_a_forgotten_chunk_leaves_the_counts_as_they_were(database: Database) -> None:
    index(database, corpus(20))
    before = counts(database)
    index(database, ["cloud paper cloud", "something new"])
    assert counts(database) != before
    with database.writing() as connection:
        keywords.forget(connection, [21, 22])
        keywords.forget(connection, [21, 4711])
    assert {term: n for term, n in counts(database).items() if n} == before


def counts(database: Database) -> Mapping[int, int]:
    with database.plain() as connection:
        return {int(t): int(n) for t, n in connection.execute(sa.select(term_counts.c.term, term_counts.c.count))}


def test_a_pasted_log_is_looked_up_by_its_rarest_terms(database: Database) -> None:
    index(database, [*corpus(30), "ERR_CONN_4012 means that the pool is exhausted."])
    log = "\n".join(f"at frame {n} of net.kite.Pool" for n in range(1200)).replace("frame 700", "ERR_CONN_4012")
    assert ask(database, log + "\nwhat should I do about this?")[0].chunk_id == 31
    with database.reading(WORKSPACE) as connection:
        assert len(keywords.weigh(connection, analysis.terms(log + " ".join(WORDS))).weights) <= 128
