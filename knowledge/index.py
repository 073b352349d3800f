"""The index and its sources: who syncs when, and what is kept about it. One sync is in `sync`."""

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import version
from pathlib import Path

import sqlalchemy as sa
import structlog
from sqlalchemy.dialects.postgresql import insert

from knowledge import documents, generations, loaders, vector_index
from knowledge.chunking import VERSION as CHUNKER_VERSION
from knowledge.db import Database
from knowledge.encoders import Embedder
from knowledge.errors import SourceFailed
from knowledge.generations import Generation
from knowledge.loaders.reader import Reader
from knowledge.outcomes import SyncOutcome
from knowledge.settings import Chunking
from knowledge.settings import Source as SourceSettings
from knowledge.sources import Source, open_source
from knowledge.sync import Parts, Progress, Sync
from knowledge.tables import sources

log = structlog.get_logger(__name__)

Opener = Callable[[SourceSettings], Source]

PARSERS = (
    "html-to-markdown", "liteparse", "mammoth", "markdown-it-py", "python-calamine", "python-pptx", "striprtf",
)  # fmt: skip
"""Packages whose versions decide what text comes out of a file."""


class Indexer:
    """Brings sources into the index. Threads and processes may share it: a source is synced by one of them at a time."""

    def __init__(
        self,
        database: Database,
        embedder: Embedder,
        chunking: Chunking,
        *,
        cache: Path | None = None,
        openers: Mapping[str, Opener] | None = None,
        exact_below: int | None = None,
    ) -> None:
        """`cache`: a folder that sources may keep copies in. `openers`: by kind, for sources that the engine cannot open.

        `exact_below`: more chunks than that get a vector index (`vector_index`); None = never.
        """
        self._database = database
        self._embedder = embedder
        self._chunking = chunking
        self._cache = cache
        self._openers = openers or {}
        self._exact_below = exact_below

    def opening(self, openers: Mapping[str, Opener]) -> "Indexer":
        """This indexer, for more kinds of sources."""
        return Indexer(
            self._database,
            self._embedder,
            self._chunking,
            cache=self._cache,
            openers={**self._openers, **openers},
            exact_below=self._exact_below,
        )

    def sync(self, source: SourceSettings, full: bool = False, on_progress: Progress | None = None) -> SyncOutcome:
        """Make the index hold what the source has. `full`: read and encode everything again, also with another model,
        which serves as soon as every source was synced so.

        A source that cannot be listed, or is being synced elsewhere, is told by the outcome's `error`; nothing of it is
        deleted. Raises `ModelUnavailable`, or `SettingsInvalid` for chunks longer than the model reads.
        """
        started = time.monotonic()
        with self._database.lock(f"sync of {source.name}") as got:
            if not got:
                return SyncOutcome(source.name, error="a sync of this source is already running")
            self._begin(source)
            error = ""
            with self._database.plain() as connection:
                choose = generations.next_to if full else generations.active
                generation = choose(connection, self._embedder)
            with Reader() as reader:
                parts = Parts(self._database, self._embedder, generation, self._chunking, reader)
                opened = self._openers.get(source.kind, self._open)(source)
                run = Sync(parts, source, opened, self._settings_hash(), full)
                try:
                    run.run(on_progress)
                except SourceFailed as failure:
                    error = str(failure)
                finally:
                    opened.close()
            self._tend(generation)
            if full and not error:
                with self._database.writing() as connection:
                    generations.switch(connection, generation)
            outcome = run.tally.outcome(source.name, round((time.monotonic() - started) * 1000), error)
            self._finish(outcome)
            return outcome

    def remove_missing_sources(self, names: Iterable[str]) -> tuple[str, ...]:
        """Take out of the index every source that is not among `names`; returns which they were.

        One that is being synced at this moment is left for the next time.
        """
        kept = set(names)
        with self._database.plain() as connection:
            known = connection.scalars(sa.select(sources.c.name).order_by(sources.c.name)).all()
        removed = []
        for name in (name for name in known if name not in kept):
            with self._database.lock(f"sync of {name}") as got:
                if not got:
                    continue
                with self._database.writing() as connection:
                    documents.delete(connection, [k.document_id for k in documents.known(connection, name)])
                    connection.execute(sa.delete(sources).where(sources.c.name == name))
                removed.append(name)
        return tuple(removed)

    def _open(self, source: SourceSettings) -> Source:
        return open_source(source, self._cache)

    def _begin(self, source: SourceSettings) -> None:
        values: dict[str, object] = {"kind": source.kind, "location": source.location, "scopes": sorted(source.scopes)}
        values["started_at"] = sa.func.now()
        statement = insert(sources).values(name=source.name, **values)
        with self._database.plain() as connection:
            connection.execute(statement.on_conflict_do_update(index_elements=["name"], set_=values))

    def _finish(self, outcome: SyncOutcome) -> None:
        values: dict[str, object] = {"finished_at": sa.func.now(), "outcome": outcome.as_json()}
        if not outcome.error:
            values["succeeded_at"] = sa.func.now()
        with self._database.plain() as connection:
            connection.execute(sa.update(sources).where(sources.c.name == outcome.name).values(values))

    def _tend(self, generation: Generation) -> None:
        """The vector index costs time when it is missing, not answers: what keeps it from being built fails no sync."""
        if self._exact_below is None:
            return
        started = time.monotonic()
        try:
            if vector_index.tend(self._database, generation, self._exact_below):
                log.info("vector index built", model=generation.model, seconds=round(time.monotonic() - started, 1))
        except sa.exc.DBAPIError as error:
            log.warning("vector index not built", model=generation.model, reason=type(error.orig).__name__)

    def _settings_hash(self) -> str:
        """Of everything besides a file's bytes that decides its chunks and their vectors."""
        parts = {
            "loaders": loaders.VERSION,
            "chunker": CHUNKER_VERSION,
            "chunking": self._chunking.model_dump(),
            "model": [self._embedder.name, self._embedder.revision],
            "parsers": {name: version(name) for name in PARSERS},
        }
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]
