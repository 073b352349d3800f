"""One sync of one source: what the source has becomes what the index has.

1. Readers the source no longer grants go first, even when the source cannot be listed.
2. list -> plan (`plan`, pure).
3. In one transaction: its settings replace those of another place (`fallback`), deleted documents become readable by
   nobody, changed readers and addresses are written.
4. Documents to be read again are read first, and narrowed at once when their text says so (`intake`); then new ones,
   which other processes may help with (`shares`).
5. load -> chunk -> encode what was not encoded before, some documents at a time -> one transaction for them
   (`exchange`).
6. Deleted documents are removed; until here a renamed one could take over their vectors.

A crash at any point leaves whole documents, old or new, and the next sync goes on from there.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from sqlalchemy import Connection

from knowledge import documents, generations, shares
from knowledge.errors import SettingsInvalid
from knowledge.exchange import Exchange, Fetched, Parts
from knowledge.intake import Intake
from knowledge.outcomes import Tally
from knowledge.permissions import NOTHING, Scopes
from knowledge.plan import Known, narrowed_by_source, plan
from knowledge.settings import Source as SourceSettings
from knowledge.shares import Invite, Tenure
from knowledge.sources import Listed, Source

MAX_NAME_BYTES = 2000
"""A row of the index on documents' names takes up to 2,704 bytes, the source's name included."""

Progress = Callable[[int, int], None]
"""(documents done, documents to do)"""


class Sync:
    """Use once: `run` or `help`, then look at `tally`. `full`: everything is read and encoded again.

    `tenure`: this sync, or the one that is helped.
    `invite`: asks other processes to help, when there is much to do.
    """

    def __init__(
        self,
        parts: Parts,
        settings: SourceSettings,
        source: Source,
        settings_hash: str,
        tenure: Tenure,
        full: bool = False,
        invite: Invite | None = None,
    ) -> None:
        self.tally = Tally()
        self._parts = parts
        self._database = parts.database
        self._settings = settings
        self._scopes: Scopes = frozenset(settings.scopes)
        self._source = source
        self._settings_hash = settings_hash
        self._tenure = tenure
        self._full = full
        self._invite = invite
        self._exchange = Exchange(parts, tenure, self.tally, full)
        self._intake = Intake(parts, settings, source, settings_hash, self._exchange, self.tally, full)

    def run(self, on_progress: Progress | None = None) -> None:
        """Raises `SourceFailed` when the source cannot be listed or its listing cannot be believed, `SyncOver` when other
        settings have narrowed it meanwhile.
        """
        with self._database.writing() as connection:
            known = documents.known(connection, self._settings.name)
            lost = narrowed_by_source(known, self._scopes)
            documents.set_readers(connection, {r.known.document_id: r.scopes for r in lost})
            whole = self._whole(connection)
        self.tally.narrowed.update(r.known.external_id for r in lost)
        planned = plan(
            self._listed({k.external_id: "" if self._full else k.revision for k in known}),
            known,
            self._scopes,
            self._settings_hash,
            max_deleted_share=self._settings.max_deleted_share,
            full=self._full,
            whole=whole,
            left_out_before=self._intake.left_out_before,
            source=self._settings.name,
        )
        with self._exchange.storing() as connection:
            shares.listed(connection, self._tenure)
            hidden = {k.document_id: NOTHING for k in planned.delete}
            documents.set_readers(connection, hidden | {r.known.document_id: r.scopes for r in planned.readers})
            for k, listed in planned.relink:
                documents.relink(connection, k.document_id, listed.url)
        for changed in planned.readers:
            (self.tally.narrowed if changed.narrower else self.tally.changed).add(changed.known.external_id)
        self.tally.changed.update(k.external_id for k, _ in planned.relink)
        for k in planned.same:
            self._intake.keep(k)
        self._index(planned.change, planned.add, on_progress or (lambda done, total: None))
        with self._database.writing() as connection:
            documents.delete(connection, [k.document_id for k in planned.delete])
        self.tally.deleted.update(k.external_id for k in planned.delete)

    def help(self, count: int) -> None:
        """Work off shares of the new documents that another process has divided into `count`, until none is free.

        Raises `SyncOver` when that process has ended meanwhile, `SourceFailed` when the source cannot be listed here.
        """
        with self._database.writing() as connection:
            there = {k.external_id for k in documents.known(connection, self._settings.name)}
        new = [item for item in self._listed({}) if item.external_id not in there]
        for share in shares.claimed(self._database, self._settings.name, new, count, wait=False):
            self._exchange.store_all(self._intake.fetch(item, None) for item in self._not_there(share))

    def _listed(self, known: Mapping[str, str]) -> Iterator[Listed]:
        for item in self._source.list(known):
            if len(item.external_id.encode()) <= MAX_NAME_BYTES:
                yield item
                continue
            reason = f"its name is longer than {MAX_NAME_BYTES:,} bytes and cannot be stored; it is left out"
            self.tally.unreadable.add(item.external_id)
            self.tally.failed[f"{item.external_id[:100]}…"] = reason

    def _whole(self, connection: Connection) -> frozenset[int]:
        """Documents that an interrupted full sync has already written for a generation that does not serve yet."""
        generation = self._parts.generation
        if not self._full or generations.serving(connection) == generation:
            return frozenset()
        return generations.whole_documents(connection, generation, self._settings.name)

    def _index(self, change: Sequence[tuple[Known, Listed]], add: Sequence[Listed], on_progress: Progress) -> None:
        total = len(change) + len(add)
        if total and self._parts.chunking.max_tokens > (limit := self._parts.embedder.max_tokens):
            raise SettingsInvalid(
                f"chunking.max_tokens is {self._parts.chunking.max_tokens}, but {self._parts.embedder.name} reads {limit} "
                f"tokens of a text and drops the rest; set it to {limit} or less"
            )
        steps = itertools.count(1)

        def stepping(fetched: Iterable[Fetched | None]) -> Iterator[Fetched | None]:
            for each in fetched:
                yield each
                on_progress(next(steps), total)

        self._exchange.store_all(stepping(self._intake.changed(change)))
        count = shares.count(len(add))
        if count > 1 and self._invite:
            self._invite(self._settings.name, count)
        for share in shares.claimed(self._database, self._settings.name, add, count, wait=True):
            mine = self._not_there(share)
            for _ in range(len(share) - len(mine)):
                on_progress(next(steps), total)
            self._exchange.store_all(stepping(self._intake.fetch(item, None) for item in mine))

    def _not_there(self, share: Sequence[Listed]) -> list[Listed]:
        """The new documents that no other process has stored since they were listed as new."""
        with self._database.writing() as connection:
            stored = documents.known(connection, self._settings.name, [item.external_id for item in share])
        for known in stored:
            (self.tally.added if known.state == "ok" else self.tally.unreadable).add(known.external_id)
            self._intake.remark(known)
        there = {known.external_id for known in stored}
        return [item for item in share if item.external_id not in there]
