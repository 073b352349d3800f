"""The index and its sources: who syncs when, and what is kept about it. One sync is in `sync`."""

import hashlib
import json
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from copy import copy
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import sqlalchemy as sa
import structlog

from knowledge import documents, generations, loaders, shares, trial, vector_index
from knowledge.chunking import VERSION as CHUNKER_VERSION
from knowledge.db import Database
from knowledge.encoders import Embedder
from knowledge.errors import SourceFailed, SyncOver
from knowledge.exchange import Parts
from knowledge.generations import Generation
from knowledge.loaders.reader import Reader
from knowledge.outcomes import SyncOutcome
from knowledge.plan import narrowed_by_source
from knowledge.settings import Chunking
from knowledge.settings import Source as SourceSettings
from knowledge.shares import Invite
from knowledge.sources import Source, open_source
from knowledge.sync import Progress, Sync

log = structlog.get_logger(__name__)

Opener = Callable[[SourceSettings], Source]

PARSERS = (
    "html-to-markdown", "liteparse", "mammoth", "markdown-it-py", "python-calamine", "python-pptx", "striprtf",
)  # fmt: skip
"""Packages whose versions decide what text comes out of a file."""


OUTDATED = (
    "it was read by newer settings than this process has; restart the bot, and every other process that began before the "
    "settings changed"
)


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
        invite: Invite | None = None,
        recall_loss: float = 0.05,
        settings_at: datetime | None = None,
    ) -> None:
        """`cache`: a folder that sources may keep copies in. `openers`: by kind, for sources that the engine cannot open.

        `exact_below`: more chunks than that get a vector index (`vector_index`); None = never. `recall_loss`: what a new
        model may find less (`trial`), as a share. `settings_at`: when the settings were read, None = just now.
        """
        self._database = database
        self._embedder = embedder
        self._chunking = chunking
        self._cache = cache
        self._openers = openers or {}
        self._exact_below = exact_below
        self._invite = invite
        self._recall_loss = recall_loss
        self._settings_at = settings_at or datetime.now(UTC)

    def opening(self, openers: Mapping[str, Opener], invite: Invite | None = None) -> "Indexer":
        """This indexer, for more kinds of sources, and with a way to ask other processes for help."""
        other = copy(self)
        other._openers = {**self._openers, **openers}
        other._invite = self._invite if invite is None else invite
        return other

    def sync(self, source: SourceSettings, full: bool = False, on_progress: Progress | None = None) -> SyncOutcome:
        """Make the index hold what the source has. `full`: read and encode everything again, also with another model,
        which serves as soon as every source was synced so, unless it finds less (the outcome's `held`).

        A source that cannot be listed, or is being synced elsewhere, is told by the outcome's `error`; nothing of it is
        deleted. One of which newer settings, in another process, say otherwise is synced by those (`outdated`).
        Raises `ModelUnavailable`, or `SettingsInvalid` for chunks longer than the model reads.
        """
        started = time.monotonic()
        with self._database.lock(f"sync of {source.name}") as got:
            if not got:
                running = "a sync of this source is already running"
                return SyncOutcome(source.name, narrowed=self.narrow(source), error=running)
            try:
                with self._database.plain() as connection:
                    tenure = shares.begin(connection, source, self._settings_at)
            except SourceFailed as failure:
                return SyncOutcome(source.name, error=str(failure), outdated=str(failure))
            outdated = "" if tenure.goes_by(source) else OUTDATED
            source, error = tenure.settings, ""
            with self._database.plain() as connection:
                choose = generations.next_to if full else generations.active
                generation = choose(connection, self._embedder)
            with Reader() as reader:
                parts = Parts(self._database, self._embedder, generation, self._chunking, reader)
                opened = self._openers.get(source.kind, self._open)(source)
                run = Sync(parts, source, opened, self._settings_hash(), tenure, full, self._inviter(source))
                try:
                    run.run(on_progress)
                except (SourceFailed, SyncOver) as failure:
                    error = str(failure)
                finally:
                    opened.close()
            self._tend(generation)
            held = ""
            if full and not error:
                held = trial.switch(self._database, generation, self._embedder, self._recall_loss)
            outcome = run.tally.outcome(source.name, round((time.monotonic() - started) * 1000), error)
            outcome = replace(outcome, held=held, outdated=outdated)
            with self._database.plain() as connection:
                shares.finish(connection, outcome)
            return outcome

    def narrow(self, source: SourceSettings) -> int:
        """Take from the source's documents the readers that these settings do not grant, also while it is being synced
        under others; how many documents had some.
        """
        with self._database.writing() as connection:
            shares.narrow(connection, source, self._settings_at)
            lost = narrowed_by_source(documents.known(connection, source.name), frozenset(source.scopes))
            documents.set_readers(connection, {each.known.document_id: each.scopes for each in lost})
        return len(lost)

    def help(self, source: SourceSettings, count: int) -> int:
        """Take part in the first index of a source that another process leads, divided into `count` shares; how many
        documents were indexed here. Nothing is done when that sync has ended, or began under other settings.
        """
        with self._database.plain() as connection:
            tenure = shares.current(connection, source)
            generation = generations.serving(connection)
        if tenure is None or generation is None:
            return 0
        generations.check(generation, self._embedder)
        with Reader() as reader, closing(self._open(source)) as opened:
            parts = Parts(self._database, self._embedder, generation, self._chunking, reader)
            run = Sync(parts, source, opened, self._settings_hash(), tenure)
            try:
                run.help(count)
            except (SyncOver, SourceFailed) as ended:
                log.info("stopped helping", source=source.name, reason=str(ended))
        return len(run.tally.added)

    def _inviter(self, source: SourceSettings) -> Invite | None:
        """Only of a folder a helper can have its own list without asking a site, or Slack, for everything again."""
        return self._invite if source.kind == "folder" else None

    def _open(self, source: SourceSettings) -> Source:
        return open_source(source, self._cache)

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
