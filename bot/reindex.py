"""`/reindex [source | all | status | help]`: an administrator has documents read again, and is told how it went, alone.

What takes no time is answered at once. The rest is a second task, begun after the caller was told to wait: words in the
acknowledgement could come after the work was done. A caller learns of a source only when its readers include the
caller. Slack lets a command be answered five times, so progress is told sparingly.
"""

import secrets
import time
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Protocol

import structlog

from bot import blocks, source_state, wording
from bot.directory import Directory
from bot.errors import SlackUnavailable
from bot.handling import Handling
from bot.mrkdwn import escape, tidy
from knowledge import catalog, generations, receipts
from knowledge.catalog import Failures
from knowledge.db import Database
from knowledge.errors import FootnoteError
from knowledge.outcomes import SyncOutcome
from knowledge.permissions import Scopes
from knowledge.receipts import Receipt
from knowledge.settings import Source

log = structlog.get_logger()

PROGRESS_EVERY_S = 10.0
PROGRESS_AT_MOST = 3
FAILURES_SHOWN = 10
HELP = frozenset({"help", "--help", "?"})


class Sync(Protocol):
    def __call__(
        self, source: Source, full: bool = False, on_progress: Callable[[int, int], None] | None = None
    ) -> SyncOutcome: ...


@dataclass
class Progress:
    """Tells where the command was given how far a source is, a few times at most. `total` counts documents to read."""

    tell: Callable[[str], None]
    told: int = 0
    last: float = field(default_factory=time.monotonic)

    def of(self, name: str) -> Callable[[int, int], None]:
        def step(done: int, total: int) -> None:
            if self.told < PROGRESS_AT_MOST and time.monotonic() - self.last >= PROGRESS_EVERY_S:
                self.told, self.last = self.told + 1, time.monotonic()
                self.tell(wording.sync_progress(name, done, total))

        return step


class Reindex:
    """`sync` reads one source; `afterwards` runs when documents may have gone or lost readers.

    `later`: puts the task `read_again` into the queue, for a receipt. `refresh` shows a person's Home tab anew, with how
    it goes (`told`).
    """

    def __init__(
        self,
        database: Database,
        directory: Directory,
        handling: Handling,
        *,
        sources: Sequence[Source],
        sync: Sync,
        afterwards: Callable[[], object],
        later: Callable[[int], object],
        refresh: Callable[..., object],
    ) -> None:
        self._database = database
        self._directory = directory
        self._handling = handling
        self._sources = sources
        self._sync = sync
        self._afterwards = afterwards
        self._later = later
        self._refresh = refresh

    @property
    def tasks(self) -> Mapping[str, Callable[[int], None]]:
        return {"reindex": self.reindex, "read_again": self._handling.task(self.read_again)}

    def reindex(self, inbox_id: int) -> None:
        """Answer what needs no reading; else say that it will be done, and have it done."""
        self._handling.task(self._begin)(inbox_id)
        with self._database.plain() as connection:
            receipt = receipts.load(connection, inbox_id)
        if receipt is not None and not receipt.finished:
            self._later(inbox_id)

    def read_again(self, receipt: Receipt) -> str:
        """Read the sources that were asked for, under the rights of this moment, and tell how it went."""
        chosen = self._chosen(receipt)
        self._tell(receipt, chosen if isinstance(chosen, str) else self._read(receipt, *chosen))
        return "done"

    def _begin(self, receipt: Receipt) -> str | None:
        """None when there is more to do."""
        chosen = self._chosen(receipt)
        self._tell(receipt, chosen if isinstance(chosen, str) else wording.COMMAND_RECEIVED)
        return "done" if isinstance(chosen, str) else None

    def _chosen(self, receipt: Receipt) -> tuple[Sequence[Source], Scopes] | str:
        """What is to be read, with the caller's scopes; or what to say instead.

        Sources that the caller may not know do not exist here.
        """
        person = str(receipt.person)
        try:
            if not self._directory.is_admin(person):
                return wording.ADMINS_ONLY
            allowed = self._directory.decide(person, None).allowed
        except SlackUnavailable:
            return wording.FACTS_UNKNOWN
        known = {source.name: source for source in self._sources if set(source.scopes) & allowed}
        wanted = _named(str(receipt.payload.get("text") or ""))
        if not known:
            return wording.NO_SOURCES
        if wanted == "status":
            return self._status(allowed)
        if wanted in HELP - known.keys():
            return wording.reindex_usage(sorted(known))
        if wanted != "all" and wanted not in known:
            return wording.unknown_source(escape(wanted), sorted(known))
        return list(known.values()) if wanted == "all" else [known[wanted]], allowed

    def _read(self, receipt: Receipt, chosen: Sequence[Source], allowed: Scopes) -> str:
        progress = Progress(lambda words: self._tell(receipt, words))
        told = [self._run(source, progress, allowed) for source in chosen]
        self._afterwards()
        return "\n".join(told)

    def _run(self, source: Source, progress: Progress, allowed: Scopes) -> str:
        error_id = secrets.token_hex(4)
        try:
            outcome = self._sync(source, on_progress=progress.of(source.name))
        except (FootnoteError, OSError) as error:
            log.warning("sync failed", source=source.name, error_id=error_id, error=str(error))
            return wording.sync_failed(source.name, error_id)
        if outcome.outdated:
            log.warning("settings are outdated", source=source.name, reason=outcome.outdated)
        if outcome.outdated and outcome.error:
            return wording.sync_outdated(source.name, outcome.outdated)
        if outcome.error:
            log.warning("sync failed", source=source.name, error_id=error_id, error=outcome.error)
            running = "already running" in outcome.error
            return wording.already_running(source.name) if running else wording.sync_failed(source.name, error_id)
        with self._database.reading(allowed) as connection:
            failures = catalog.failures(connection, source.name, outcome.failed, allowed)
        return described(outcome, failures)

    def _status(self, allowed: Scopes) -> str:
        with self._database.reading(allowed) as connection:
            states = catalog.source_states(connection, allowed)
        now = datetime.now(UTC)
        lines = [line for s in states for line in (source_state.summary(s, now), *source_state.faults(s))]
        kept = {source.name for source in self._sources}
        lines += [wording.source_not_in_settings(s.name) for s in states if s.name not in kept]
        with self._database.writing() as connection:
            building = generations.building(connection)
        if building is not None:
            told = wording.index_held(building.model) if building.held else None
            lines.append(told or wording.index_building(building.model, building.share))
        return "\n".join(lines) or wording.NO_SOURCES

    def _tell(self, receipt: Receipt, words: str) -> None:
        if receipt.payload.get("action") == "home_reindex":
            self._refresh(str(receipt.person), told=words)
        self._handling.tell_alone(receipt, blocks.notice(words), replace=True)


def _named(text: str) -> str:
    """What was typed, without what Slack's editor made of it."""
    return tidy(unicodedata.normalize("NFKC", text)).strip(" \"'`*").lower() or "all"


def described(outcome: SyncOutcome, failures: Failures) -> str:
    """One source's sync in words, with the documents that could not be read and why, as far as the caller may know."""
    lines = [wording.sync_outcome(outcome)]
    if failures.known:
        lines.append(wording.sync_unreadable(len(failures.known)))
        lines += [f"• {escape(document)}: {escape(reason)}" for document, reason in failures.known[:FAILURES_SHOWN]]
    if len(failures.known) > FAILURES_SHOWN:
        lines.append("…")
    if failures.hidden:
        lines.append(wording.hidden_failures(failures.hidden))
    if outcome.outdated:
        lines.append(wording.sync_outdated(outcome.name, outcome.outdated))
    return "\n".join(lines)
