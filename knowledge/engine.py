"""The engine put together from its settings: the one place where its parts meet."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from knowledge.answering import Answerer
from knowledge.db import Database, open_database
from knowledge.encoders import Embedder, load_embedder
from knowledge.index import Indexer
from knowledge.reranking import load_reranker
from knowledge.retrieval import Retriever
from knowledge.settings import KnowledgeSettings, Source


@dataclass(frozen=True)
class Engine:
    """Everything that a command, the worker or a job needs. Models are loaded on first use."""

    settings: KnowledgeSettings
    database: Database
    embedder: Embedder
    retriever: Retriever
    answerer: Answerer
    indexer: Indexer

    def narrow(self, sources: Iterable[Source]) -> None:
        """What the settings no longer grant of these sources waits for no sync."""
        for source in sources:
            self.indexer.narrow(source)

    def close(self) -> None:
        self.answerer.close()
        self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        """Raises `DatabaseUnusable` when the database was lost inside the block."""
        self.answerer.close()
        self.database.__exit__(kind, error, trace)


def open_engine(settings: KnowledgeSettings) -> Engine:
    """Connect, migrate and assemble. Raises `DatabaseUnusable` or `ModelUnavailable` with the remedy."""
    database = open_database(settings)
    embedder = load_embedder(settings.models)
    retriever = Retriever(database, embedder, load_reranker(settings.models), settings.retrieval, settings.sources)
    return Engine(
        settings=settings,
        database=database,
        embedder=embedder,
        retriever=retriever,
        answerer=Answerer(database, retriever, embedder, settings.answers),
        indexer=Indexer(
            database,
            embedder,
            settings.chunking,
            cache=settings.home / "sources",
            exact_below=settings.retrieval.exact_below,
            recall_loss=settings.models.recall_loss,
        ),
    )
