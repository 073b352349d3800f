"""One sync of one source: what the source has becomes what the index has.

1. Readers the source no longer grants go first, even when the source cannot be listed.
2. list -> plan (`plan`, pure).
3. In one transaction: deleted documents become readable by nobody, changed readers and addresses are written.
4. Documents to be read again are read first, and narrowed at once when their text says so; then new ones, which other
   processes may help with (`shares`).
5. load -> chunk -> encode what was not encoded before, in batches across documents -> one transaction per document.
6. Deleted documents are removed; until here a renamed one could take over their vectors.

A crash at any point leaves whole documents, old or new, and the next sync goes on from there.
"""

import hashlib
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import Connection

from knowledge import documents, shares
from knowledge.chunk_rows import Draft, draft, encoded_before, replace
from knowledge.chunking import chunk_document
from knowledge.db import Database
from knowledge.documents import Record
from knowledge.encoders import Embedder, Floats
from knowledge.errors import DocumentUnreadable, SettingsInvalid, SourceFailed
from knowledge.generations import Generation
from knowledge.loaders.loaded import Loaded, titled
from knowledge.loaders.reader import Reader
from knowledge.outcomes import Tally
from knowledge.permissions import NOTHING, Scopes
from knowledge.plan import Known, narrowed_by_source, plan, readers
from knowledge.settings import Chunking
from knowledge.settings import Source as SourceSettings
from knowledge.shares import Invite, Tenure
from knowledge.sources import Listed, Source
from knowledge.staleness import is_left_out, left_out_before

ENCODE_AT_ONCE = 256
"""Chunks gathered from several documents before the model is asked: enough to sort by length without waste."""

KEPT_CHARACTERS = 50_000_000
"""Of changed documents held in memory between narrowing and encoding; what is beyond is read a second time."""

Progress = Callable[[int, int], None]
"""(documents done, documents to do)"""


@dataclass(frozen=True)
class Fetched:
    """A document whose text may differ from the indexed one."""

    listed: Listed
    known: Known | None
    content_hash: str
    loaded: Loaded


@dataclass(frozen=True)
class Prepared:
    """A document ready to be stored. `fresh`: encoded text by hash, for what was not encoded before."""

    known: Known | None
    record: Record
    drafts: tuple[Draft, ...]
    fresh: dict[str, str]


@dataclass(frozen=True)
class Parts:
    """What a sync works with."""

    database: Database
    embedder: Embedder
    generation: Generation
    chunking: Chunking
    reader: Reader


class Sync:
    """Use once: `run` or `help`, then look at `tally`. `full`: everything is read and encoded again.

    `invite`: asks other processes to help, when there is much to do.
    """

    def __init__(
        self,
        parts: Parts,
        settings: SourceSettings,
        source: Source,
        settings_hash: str,
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
        self._full = full
        self._invite = invite
        self._helped: Tenure | None = None
        self._left_out_before = left_out_before(settings, datetime.now(UTC))

    def run(self, on_progress: Progress | None = None) -> None:
        """Raises `SourceFailed` when the source cannot be listed or its listing cannot be believed."""
        with self._database.writing() as connection:
            known = documents.known(connection, self._settings.name)
            lost = narrowed_by_source(known, self._scopes)
            documents.set_readers(connection, {r.known.document_id: r.scopes for r in lost})
        self.tally.narrowed.update(r.known.external_id for r in lost)
        planned = plan(
            self._source.list({k.external_id: k.revision for k in known if not self._full}),
            known,
            self._scopes,
            self._settings_hash,
            max_deleted_share=self._settings.max_deleted_share,
            full=self._full,
            left_out_before=self._left_out_before,
        )
        with self._database.writing() as connection:
            hidden = {k.document_id: NOTHING for k in planned.delete}
            documents.set_readers(connection, hidden | {r.known.document_id: r.scopes for r in planned.readers})
            for k, listed in planned.relink:
                documents.relink(connection, k.document_id, listed.url)
        for changed in planned.readers:
            (self.tally.narrowed if changed.narrower else self.tally.changed).add(changed.known.external_id)
        self.tally.changed.update(k.external_id for k, _ in planned.relink)
        for k in planned.same:
            self._keep(k)
        self._index(planned.change, planned.add, on_progress or (lambda done, total: None))
        with self._database.writing() as connection:
            documents.delete(connection, [k.document_id for k in planned.delete])
        self.tally.deleted.update(k.external_id for k in planned.delete)

    def help(self, tenure: Tenure, count: int) -> None:
        """Work off shares of the new documents that another process has divided into `count`, until none is free.

        Raises `SyncOver` when that process has ended meanwhile, `SourceFailed` when the source cannot be listed here.
        """
        self._helped = tenure
        with self._database.writing() as connection:
            there = {k.external_id for k in documents.known(connection, self._settings.name)}
        new = [item for item in self._source.list({}) if item.external_id not in there]
        for share in shares.claimed(self._database, self._settings.name, new, count, wait=False):
            self._store_all(self._fetch(item, None) for item in self._not_there(share))

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

        self._store_all(stepping(self._fetched(change)))
        count = shares.count(len(add))
        if count > 1 and self._invite:
            self._invite(self._settings.name, count)
        for share in shares.claimed(self._database, self._settings.name, add, count, wait=True):
            mine = self._not_there(share)
            for _ in range(len(share) - len(mine)):
                on_progress(next(steps), total)
            self._store_all(stepping(self._fetch(item, None) for item in mine))

    def _store_all(self, fetched: Iterable[Fetched | None]) -> None:
        pending: list[Prepared] = []
        for each in fetched:
            if each is not None:
                pending.append(self._prepare(each))
            if sum(len(p.fresh) for p in pending) >= ENCODE_AT_ONCE or len(pending) >= ENCODE_AT_ONCE:
                self._store(pending)
                pending = []
        self._store(pending)

    def _not_there(self, share: Sequence[Listed]) -> list[Listed]:
        """The new documents that no other process has stored since they were listed as new."""
        with self._database.writing() as connection:
            stored = documents.known(connection, self._settings.name, [item.external_id for item in share])
        for known in stored:
            self.tally.added.add(known.external_id)
            if known.reason:
                self.tally.failed[known.external_id] = known.reason
        there = {known.external_id for known in stored}
        return [item for item in share if item.external_id not in there]

    def _fetched(self, change: Sequence[tuple[Known, Listed]]) -> Iterator[Fetched | None]:
        """One item for each changed document, None where nothing is left to do.

        All are read, and narrowed, before the first of them is handed on.
        """
        room = KEPT_CHARACTERS
        waiting: list[tuple[Listed, Known, Fetched | None]] = []
        for known, listed in change:
            fetched = self._fetch(listed, known)
            if fetched is None:
                yield None
                continue
            room -= len(fetched.loaded.markdown)
            waiting.append((listed, known, fetched if room >= 0 else None))
        yield from (fetched or self._fetch(listed, known) for listed, known, fetched in waiting)

    def _fetch(self, listed: Listed, known: Known | None) -> Fetched | None:
        """Read and load; None when that ends it: equal bytes, not readable now, or nothing to index in it."""
        name = listed.external_id
        content_hash = ""
        try:
            content = self._source.read(name)
            content_hash = hashlib.sha256(content).hexdigest()
            if known and self._is_indexed(known, content_hash):
                with self._database.writing() as connection:
                    updated_at = listed.updated_at if listed.dated else None
                    documents.unchanged(connection, known.document_id, listed.revision, updated_at)
                self._keep(known)
                return None
            loaded = self._parts.reader.load(name, content)
        except DocumentUnreadable as unreadable:
            self._store_unreadable(listed, known, content_hash, unreadable)
            return None
        except (OSError, SourceFailed) as error:
            self.tally.failed[name] = f"it could not be read now: {getattr(error, 'strerror', None) or error}"
            return None
        if known:
            self._narrow(known, self._readers(listed, loaded))
        return Fetched(listed, known, content_hash, loaded)

    def _is_indexed(self, known: Known, content_hash: str) -> bool:
        return not self._full and (known.content_hash, known.settings_hash) == (content_hash, self._settings_hash)

    def _keep(self, known: Known) -> None:
        """The text stays as it is; what was wrong with it is said again."""
        if known.state == "ok":
            self.tally.same.add(known.external_id)
        if known.reason:
            self.tally.failed[known.external_id] = known.reason

    def _readers(self, listed: Listed, loaded: Loaded) -> Scopes:
        if is_left_out(_updated_at(listed, loaded), self._left_out_before):
            return NOTHING
        return readers(self._scopes, listed.scopes, loaded.scopes)

    def _narrow(self, known: Known, scopes: Scopes) -> None:
        now = known.scopes & self._scopes
        if not now <= scopes:
            with self._database.writing() as connection:
                documents.set_readers(connection, {known.document_id: now & scopes})
            self.tally.narrowed.add(known.external_id)

    def _store_unreadable(
        self, listed: Listed, known: Known | None, content_hash: str, unreadable: DocumentUnreadable
    ) -> None:
        """Keep the state and its reason; what was indexed of an older version is no longer what the source says."""
        own_scopes = known.own_scopes if known else None
        record = Record(
            source=self._settings.name,
            external_id=listed.external_id,
            # It may still mean to have fewer readers than its source: those of its last readable version.
            scopes=readers(self._scopes, listed.scopes, own_scopes),
            own_scopes=own_scopes,
            title=titled(listed.external_id),
            url=listed.url,
            revision=listed.revision if content_hash else "",  # the source refused: ask again, its limit may change
            content_hash=content_hash,
            settings_hash=self._settings_hash,
            state=unreadable.state,
            reason=str(unreadable),
            updated_at=listed.updated_at,
        )
        with self._storing() as connection:
            document_id = documents.save(connection, record)
            replace(connection, self._parts.generation, document_id, (), encoded={}, reusable={})
        self.tally.failed[listed.external_id] = str(unreadable)

    def _prepare(self, fetched: Fetched) -> Prepared:
        loaded, listed = fetched.loaded, fetched.listed
        record = Record(
            source=self._settings.name,
            external_id=listed.external_id,
            scopes=self._readers(listed, loaded),
            own_scopes=loaded.scopes,
            title=loaded.title,
            url=listed.url,
            revision=listed.revision,
            content_hash=fetched.content_hash,
            settings_hash=self._settings_hash,
            state="ok",
            reason="; ".join(loaded.remarks),
            updated_at=_updated_at(listed, loaded),
        )
        chunks = chunk_document(loaded, self._parts.embedder.count_tokens, self._parts.chunking)
        drafts = tuple(draft(loaded.title, item) for item in chunks)
        with self._database.writing() as connection:
            reusable = self._reusable(connection, record)
        fresh = {item.hash: item.embedded for item in drafts if item.hash not in reusable}
        return Prepared(fetched.known, record, drafts, fresh)

    def _reusable(self, connection: Connection, record: Record) -> dict[str, int]:
        if self._full:
            return {}
        return encoded_before(
            connection, self._parts.generation, record.source, record.external_id, record.content_hash
        )

    def _store(self, pending: Iterable[Prepared]) -> None:
        """Encode what several documents need, then exchange each document in a transaction of its own."""
        pending = list(pending)
        encoded = self._encode({text_hash: text for item in pending for text_hash, text in item.fresh.items()})
        for item in pending:
            name = item.record.external_id
            with self._storing() as connection:
                document_id = documents.save(connection, item.record)
                reusable = self._reusable(connection, item.record)
                # A document this one wanted to borrow from may have been exchanged a moment ago.
                lost = {d.hash: d.embedded for d in item.drafts if d.hash not in encoded and d.hash not in reusable}
                encoded |= self._encode(lost)
                replaced = replace(
                    connection, self._parts.generation, document_id, item.drafts, encoded=encoded, reusable=reusable
                )
            if item.known is None:
                self.tally.added.add(name)
            else:
                (self.tally.changed if replaced.changed else self.tally.same).add(name)
            if reason := "; ".join(filter(None, (item.record.reason, _words_only(replaced.without_vector)))):
                self.tally.failed[name] = reason

    @contextmanager
    def _storing(self) -> Iterator[Connection]:
        with self._database.writing() as connection:
            if self._helped is not None:
                shares.hold(connection, self._helped)
            yield connection

    def _encode(self, texts: dict[str, str]) -> dict[str, tuple[Floats, bytes]]:
        """Vectors by hash. Sorted by length over all documents, so that a batch holds texts of about one length."""
        hashes = sorted(texts, key=lambda text_hash: len(texts[text_hash]))
        result: dict[str, tuple[Floats, bytes]] = {}
        for start in range(0, len(hashes), ENCODE_AT_ONCE):
            batch = hashes[start : start + ENCODE_AT_ONCE]
            encoded = self._parts.embedder.encode_passages([texts[text_hash] for text_hash in batch])
            tokens = encoded.tokens or (b"",) * len(batch)
            result |= dict(zip(batch, zip(encoded.vectors, tokens, strict=True), strict=True))
            self.tally.chunks_embedded += len(batch)
        return result


def _updated_at(listed: Listed, loaded: Loaded) -> datetime | None:
    return listed.updated_at if listed.dated else loaded.updated_at or listed.updated_at


def _words_only(count: int) -> str:
    return (
        f"the model gave no usable vector for {count} of its passages; they are found by their words only"
        if count
        else ""
    )
