"""Another embedding model serves only when it finds about as many of the accepted gold questions as the one before."""

from collections.abc import Sequence

import pytest
import sqlalchemy as sa

from knowledge import evals, generations, gold
from knowledge.encoders import Encoded
from knowledge.evals import Result
from knowledge.gold import Proposal
from knowledge.labels import Label
from knowledge.tables import chunk_vectors
from knowledge.trial import WITHIN, Trial
from tests.folder import ALL, Library
from tests.word_embedder import WordEmbedder

PLACE = Label("docs", "garage.md")


class Blind(WordEmbedder):
    """Takes every text for the same, but for the one that is looked for."""

    def encode_passages(self, texts: Sequence[str]) -> Encoded:
        encoded = super().encode_passages(texts)
        encoded.vectors[:] = 0
        encoded.vectors[:, 0] = [-1 if "Mill" in text else 1 for text in texts]
        return encoded


@pytest.fixture
def case(library: Library) -> str:
    """An accepted question, in more documents than are looked at."""
    library.write("garage.md", "The garage in Mill Street opens at six.")
    for number in range(WITHIN + 1):
        library.write(f"page-{number}.md", f"Page {number} about something else.")
    library.sync()
    with library.database.writing() as connection:
        made = gold.propose(connection, Proposal("When does the garage open?", ALL, (PLACE,), "import", "UANA"))
        gold.accept(connection, made, "UANA")
    return made


def measured(library: Library, case: str, rank: int | None) -> None:
    """An evaluation with the serving model."""
    model = {"name": library.embedder.name, "revision": library.embedder.revision}
    with library.database.writing() as connection:
        run_id = evals.begin(connection, {"embedder": model})
        evals.finish(connection, run_id, {}, [Result(case, ALL, "hit", {"vector": rank})])


def changed_to(library: Library, model: WordEmbedder) -> tuple[str, str]:
    """The model that serves after a full sync with another, and why that one is held."""
    library.embedder = model
    outcome = library.sync(full=True)
    with library.database.plain() as connection:
        serving = generations.serving(connection)
    assert serving is not None
    return serving.model, outcome.held


def test_a_model_that_finds_as_much_serves(library: Library, case: str) -> None:
    measured(library, case, 1)
    assert changed_to(library, WordEmbedder("better words")) == ("better words", "")


def test_a_model_that_finds_less_is_held_and_the_sync_says_what_to_do(library: Library, case: str) -> None:
    measured(library, case, 1)
    serving, held = changed_to(library, Blind("blind"))
    assert serving == "words"
    assert "of 1 accepted questions it finds 0 among the first 10, words found 1" in held
    assert "models.recall_loss" in held
    with library.database.writing() as connection:
        assert generations.building(connection) == generations.Building("blind", 1.0, held=True)


def test_what_was_never_measured_before_cannot_be_compared_and_does_not_serve(library: Library, case: str) -> None:
    serving, held = changed_to(library, WordEmbedder("better words"))
    assert serving == "words"
    assert "run `footnote eval`" in held


def test_a_model_that_another_process_let_serve_meanwhile_is_not_held(library: Library) -> None:
    library.write("tea.md", "Green.")
    library.sync()
    with library.database.plain() as connection:
        served = generations.serving(connection)
        assert served
        generations.hold(connection, served)
        assert generations.serving(connection) == served


def test_vectors_of_a_model_that_was_given_up_for_another_are_removed(library: Library) -> None:
    library.write("tea.md", "Green.")
    library.sync()
    with library.database.plain() as connection:
        generations.next_to(connection, WordEmbedder("first"))
    generation = "select generation_id from chunk_vectors"
    with library.database.writing() as connection:
        copied = sa.select(
            chunk_vectors.c.chunk_id,
            sa.text("(select id from generations where model = 'first')"),
            chunk_vectors.c.acl_id,
            chunk_vectors.c.embedding,
        )
        connection.execute(
            sa.insert(chunk_vectors).from_select(["chunk_id", "generation_id", "acl_id", "embedding"], copied)
        )
        assert len(set(connection.scalars(sa.text(generation)))) == 2
    with library.database.plain() as connection:
        generations.next_to(connection, WordEmbedder("second"))
    with library.database.writing() as connection:
        models = set(connection.scalars(sa.text("select model from generations")))
        assert len(set(connection.scalars(sa.text(generation)))) == 1
    assert models == {"words", "second"}


@pytest.mark.parametrize(
    ("trial", "loss", "serves"),
    [
        (Trial("a", "b", 0, 0, 0, 0), 0.0, True),
        (Trial("a", "b", 20, 20, 20, 19), 0.05, True),
        (Trial("a", "b", 20, 20, 20, 18), 0.05, False),
        (Trial("a", "b", 20, 20, 18, 20), 0.0, True),
        (Trial("a", "b", 20, 0, 0, 0), 0.05, False),
        (Trial("a", "b", 20, 0, 0, 0), 1.0, True),
    ],
)
def test_how_much_less_may_be_found_is_a_setting(trial: Trial, loss: float, serves: bool) -> None:
    assert (trial.verdict(loss) == "") is serves
