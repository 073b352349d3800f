"""Gold cases ready to be measured: each read under its own scopes, its labels looked up in today's index."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from knowledge import gold, labels
from knowledge.db import Database
from knowledge.gold import GoldCase
from knowledge.labels import Located
from knowledge.permissions import Scopes


@dataclass(frozen=True)
class Task:
    """A case and where its labels are today. `located` is empty for a question that is not in the documents."""

    case: GoldCase
    located: tuple[Located, ...]

    @property
    def stale(self) -> bool:
        return bool(self.located) and not self.chunks

    @property
    def chunks(self) -> frozenset[int]:
        return frozenset().union(*(place.chunk_ids for place in self.located))


def gather(database: Database, rights: Mapping[str, Scopes]) -> list[Task]:
    """The cases with these ids, each read under its own scopes."""
    tasks: list[Task] = []
    for scopes, ids in _alike(rights):
        with database.reading(scopes) as connection:
            for case in gold.cases(connection, scopes, ids=ids):
                tasks.append(Task(case, labels.locate(connection, case.expected or (), scopes)))
    return tasks


def read(database: Database, rights: Mapping[str, Scopes]) -> list[GoldCase]:
    """As `gather`, without looking anything up in the index."""
    cases: list[GoldCase] = []
    for scopes, ids in _alike(rights):
        with database.reading(scopes) as connection:
            cases += gold.cases(connection, scopes, ids=ids)
    return cases


def _alike(rights: Mapping[str, Scopes]) -> Iterator[tuple[Scopes, list[str]]]:
    """The ids of cases that have the same scopes, for one transaction."""
    for scopes in sorted(set(rights.values()), key=sorted):
        yield scopes, [case_id for case_id, theirs in rights.items() if theirs == scopes]
