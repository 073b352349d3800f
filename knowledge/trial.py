"""A new model's generation before it serves: on the accepted gold cases it must find about as much as the one before.

1. Of each case the last evaluation with the serving model knows whether a place that answers it was among the first of
   the vector list. The old model itself may not be at hand any more.
2. The same cases are searched for in the new generation, each under its own scopes.
3. When the share that is found fell by more than is allowed, or nothing could be compared, the generation is held.
"""

from dataclasses import dataclass

from knowledge import analysis, candidates, evals, generations, gold, keywords
from knowledge.candidates import Query
from knowledge.db import Database
from knowledge.encoders import Embedder
from knowledge.generations import Generation
from knowledge.tasks import Task, gather

WITHIN = 10
"""Places of the vector list: what fusion and reranking bring to the top was nearly always among them."""
EVERY_CHUNK = 2**31
"""Scan exactly, however many chunks there are."""


@dataclass(frozen=True)
class Trial:
    """Of `cases` accepted ones with a place to find, `compared` were measured before; how many of those were found."""

    old: str
    new: str
    cases: int
    compared: int
    before: int
    now: int

    def verdict(self, recall_loss: float) -> str:
        """Why the new model may not serve, with the remedy; empty when it may. `recall_loss`: a share of the cases."""
        if not self.cases or recall_loss >= 1:
            return ""
        if not self.compared:
            return (
                f"{self.new} does not serve: no accepted question was measured with {self.old}, to compare; set "
                f"models.embedder back to it, run `footnote eval`, then `footnote sync --full` with {self.new} again"
            )
        if (self.before - self.now) / self.compared <= recall_loss:
            return ""
        return (
            f"{self.new} does not serve: of {self.compared} accepted questions it finds {self.now} among the first "
            f"{WITHIN}, {self.old} found {self.before}; set models.embedder back, or set models.recall_loss to accept "
            "that and run `footnote sync --full` again"
        )


def switch(database: Database, generation: Generation, embedder: Embedder, recall_loss: float) -> str:
    """Let the generation serve if it is whole and stands its trial; why it is held, else empty."""
    with database.writing() as connection:
        old = generations.serving(connection)
        if not generations.is_whole(connection, generation):
            return ""
        is_new = not generations.has_served(connection, generation)
    if old is not None and is_new and (reason := compare(database, old, generation, embedder).verdict(recall_loss)):
        with database.plain() as connection:
            generations.hold(connection, generation)
        return reason
    with database.writing() as connection:
        generations.switch(connection, generation)
    return ""


def compare(database: Database, old: Generation, new: Generation, embedder: Embedder) -> Trial:
    """`embedder`: the new generation's."""
    with database.writing() as connection:
        rights = gold.rights(connection)
        found = _found_before(evals.latest(connection, old.model, old.revision))
    tasks = [task for task in gather(database, rights) if task.chunks]
    compared = [task for task in tasks if task.case.id in found]
    before = sum(found[task.case.id] for task in compared)
    now = sum(_finds(database, new, embedder, task) for task in compared)
    return Trial(old.model, new.model, len(tasks), len(compared), before, now)


def _found_before(results: dict[str, evals.Result]) -> dict[str, bool]:
    ranks = {case: result.ranks["vector"] for case, result in results.items() if "vector" in result.ranks}
    return {case: rank is not None and rank <= WITHIN for case, rank in ranks.items()}


def _finds(database: Database, generation: Generation, embedder: Embedder, task: Task) -> bool:
    question = analysis.clean(task.case.standalone).strip()
    vector = embedder.encode_question(question).vector
    with database.reading(task.case.scopes) as connection:
        terms = keywords.weigh(connection, analysis.terms(question))
        query = Query(generation, vector, terms, task.case.scopes, WITHIN)
        found = candidates.find(connection, query, EVERY_CHUNK)
    return any(c.vector_rank is not None and c.chunk_id in task.chunks for c in found)
