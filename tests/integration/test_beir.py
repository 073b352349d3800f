"""A labelled set in BEIR's form, measured through the real pipeline."""

import json
from pathlib import Path

import pytest

from knowledge import beir
from knowledge.db import Database
from knowledge.encoders import load_embedder
from knowledge.engine import Engine
from knowledge.errors import SettingsInvalid
from knowledge.reranking import LateInteraction
from knowledge.retrieval import Retriever
from knowledge.settings import KnowledgeSettings, Models, Retrieval

CORPUS = {
    "leave": ("Holidays", "Everyone has thirty days of paid leave a year."),
    "codes": ("Expenses", "Error E4012 means that the receipt is missing."),
    "desk": ("Laptops", "A broken laptop is replaced by the service desk."),
}
QUESTIONS = {"1": "How much vacation do I get?", "2": "What is E4012?", "3": "Where is the canteen?"}


def write(folder: Path, key: str = "_id", qrels: str = "qrels/test.tsv", header: bool = True) -> Path:
    corpus = [{key: name, "title": title, "text": text} for name, (title, text) in CORPUS.items()]
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, corpus)) + "\n")
    (folder / "queries.jsonl").write_text("\n".join(json.dumps({key: q, "text": t}) for q, t in QUESTIONS.items()))
    (folder / qrels).parent.mkdir(exist_ok=True)
    lines = ["1\tleave\t1", "1\tdesk\t0", "2\tcodes\t2", "3\tgone\t1"]
    (folder / qrels).write_text("\n".join((["query-id\tcorpus-id\tscore"] if header else []) + lines))
    return folder


def test_every_stage_is_measured_on_the_questions_that_have_an_answer(database: Database, tmp_path: Path) -> None:
    embedder = load_embedder(Models())
    retriever = Retriever(database, embedder, LateInteraction(), Retrieval())
    engine = Engine(
        settings=KnowledgeSettings(home=tmp_path),
        database=database,
        embedder=embedder,
        retriever=retriever,
        answerer=None,  # type: ignore[arg-type]  # nothing is answered
        indexer=None,  # type: ignore[arg-type]  # nor synced
    )
    result = beir.evaluate(write(tmp_path), engine)
    assert result["queries"] == 2
    assert result["documents"] == result["chunks"] == 3
    assert list(result["stages"]) == ["vector", "keyword", "fused", "reranked"]
    assert result["metrics"] == result["stages"]["reranked"]
    assert set(result["metrics"]) == set(beir.MEASURES)
    assert result["metrics"]["ndcg@10"] == 1
    assert result["stages"]["keyword"]["recall@5"] == 0.5  # no document says "vacation"
    assert 0 < result["ms_per_query"]["p50"] <= result["ms_per_query"]["p95"]
    json.dumps(result)


@pytest.mark.parametrize("key", ["_id", "id"])
@pytest.mark.parametrize("qrels", ["qrels.tsv", "qrels/test.tsv"])
@pytest.mark.parametrize("header", [True, False])
def test_both_spellings_of_the_form_are_read(tmp_path: Path, key: str, qrels: str, header: bool) -> None:
    labelled = beir.read(write(tmp_path, key, qrels, header))
    assert labelled.gains == {"1": {"leave": 1.0}, "2": {"codes": 2.0}}
    assert list(labelled.questions) == ["1", "2"]


def test_a_folder_that_is_no_labelled_set_is_refused_by_the_name_of_what_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(SettingsInvalid, match=r"corpus\.jsonl does not exist"):
        beir.read(tmp_path)
    write(tmp_path)
    (tmp_path / "queries.jsonl").write_text('{"text": "no id"}')
    with pytest.raises(SettingsInvalid, match=r"queries\.jsonl, line 1: expected a JSON object with an id"):
        beir.read(tmp_path)
    write(tmp_path)
    (tmp_path / "qrels" / "test.tsv").write_text("1\tleave\t1\n2 codes 1")
    with pytest.raises(SettingsInvalid, match=r"test\.tsv, line 2"):
        beir.read(tmp_path)
    (tmp_path / "qrels" / "test.tsv").write_text("9\tleave\t1")
    with pytest.raises(SettingsInvalid, match="no judgement"):
        beir.read(tmp_path)
