"""Documents of a source on their way in: read, loaded, and narrowed at once when their text says so."""

import hashlib
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from knowledge import documents
from knowledge.documents import Record
from knowledge.errors import DocumentUnreadable, SourceFailed
from knowledge.exchange import Exchange, Fetched, Parts
from knowledge.loaders.loaded import Loaded, titled
from knowledge.outcomes import Tally
from knowledge.permissions import NOTHING, Scopes
from knowledge.plan import Known, readers, readers_of, why_nobodys
from knowledge.settings import Source as SourceSettings
from knowledge.sources import Listed, Source
from knowledge.staleness import is_left_out, left_out_before

KEPT_CHARACTERS = 50_000_000
"""Of changed documents held in memory between narrowing and encoding; what is beyond is read a second time."""


class Intake:
    """Of the documents of one sync, counted in `tally`. `full`: equal bytes are loaded again too."""

    def __init__(
        self,
        parts: Parts,
        settings: SourceSettings,
        source: Source,
        settings_hash: str,
        exchange: Exchange,
        tally: Tally,
        full: bool,
    ) -> None:
        self._database = parts.database
        self._reader = parts.reader
        self._source_name = settings.name
        self._scopes: Scopes = frozenset(settings.scopes)
        self._source = source
        self._settings_hash = settings_hash
        self._exchange = exchange
        self._tally = tally
        self._full = full
        self.left_out_before = left_out_before(settings, datetime.now(UTC))

    def changed(self, change: Sequence[tuple[Known, Listed]]) -> Iterator[Fetched | None]:
        """One item for each changed document, None where nothing is left to do.

        All are read, and narrowed, before the first of them is handed on.
        """
        room = KEPT_CHARACTERS
        waiting: list[tuple[Listed, Known, Fetched | None]] = []
        for known, listed in change:
            fetched = self.fetch(listed, known)
            if fetched is None:
                yield None
                continue
            room -= len(fetched.loaded.markdown)
            waiting.append((listed, known, fetched if room >= 0 else None))
        yield from (fetched or self.fetch(listed, known) for listed, known, fetched in waiting)

    def fetch(self, listed: Listed, known: Known | None) -> Fetched | None:
        """Read and load; None when that ends it: equal bytes, not readable now, or nothing to index in it."""
        name = listed.external_id
        content_hash = ""
        try:
            content = self._source.read(name)
            content_hash = hashlib.sha256(content).hexdigest()
            if known and self._is_indexed(known, content_hash):
                self._store_unchanged(known, listed)
                return None
            loaded = self._reader.load(name, content)
        except DocumentUnreadable as unreadable:
            self._store_unreadable(listed, known, content_hash, unreadable)
            return None
        except (OSError, SourceFailed) as error:
            self._tally.unreadable.add(name)
            self._tally.failed[name] = f"it could not be read now: {getattr(error, 'strerror', None) or error}"
            return None
        if reason := why_nobodys(self._scopes, loaded.scopes):
            self._tally.failed[name] = reason
        if known:
            self._narrow(known, self._readers(listed, loaded))
        return Fetched(known, self._record(listed, loaded, content_hash), loaded)

    def _is_indexed(self, known: Known, content_hash: str) -> bool:
        return not self._full and (known.content_hash, known.settings_hash) == (content_hash, self._settings_hash)

    def _store_unchanged(self, known: Known, listed: Listed) -> None:
        wanted = readers_of(known, listed, self._scopes, self.left_out_before)
        with self._exchange.storing() as connection:
            updated_at = listed.updated_at if listed.dated else None
            documents.unchanged(connection, known.document_id, listed.revision, updated_at)
            documents.set_readers(connection, {known.document_id: wanted})
        if not wanted <= known.scopes:
            self._tally.changed.add(known.external_id)
        self.keep(known)

    def keep(self, known: Known) -> None:
        """The text stays as it is; what was wrong with it is said again."""
        (self._tally.same if known.state == "ok" else self._tally.unreadable).add(known.external_id)
        self.remark(known)

    def remark(self, known: Known) -> None:
        """Says what is wrong with a document that is stored already."""
        if reason := known.reason or why_nobodys(self._scopes, known.own_scopes):
            self._tally.failed[known.external_id] = reason

    def _readers(self, listed: Listed, loaded: Loaded) -> Scopes:
        if is_left_out(_updated_at(listed, loaded), self.left_out_before):
            return NOTHING
        return readers(self._scopes, listed.scopes, loaded.scopes)

    def _narrow(self, known: Known, scopes: Scopes) -> None:
        now = known.scopes & self._scopes
        if not now <= scopes:
            with self._database.writing() as connection:
                documents.set_readers(connection, {known.document_id: now & scopes})
            self._tally.narrowed.add(known.external_id)

    def _record(self, listed: Listed, loaded: Loaded, content_hash: str) -> Record:
        return Record(
            source=self._source_name,
            external_id=listed.external_id,
            scopes=self._readers(listed, loaded),
            own_scopes=loaded.scopes,
            title=loaded.title,
            url=listed.url,
            revision=listed.revision,
            content_hash=content_hash,
            settings_hash=self._settings_hash,
            state="ok",
            reason="; ".join(loaded.remarks),
            updated_at=_updated_at(listed, loaded),
        )

    def _store_unreadable(
        self, listed: Listed, known: Known | None, content_hash: str, unreadable: DocumentUnreadable
    ) -> None:
        """Keep the state and its reason; what was indexed of an older version is no longer what the source says."""
        own_scopes = known.own_scopes if known else None
        record = Record(
            source=self._source_name,
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
        self._exchange.store_textless(record)
        self._tally.unreadable.add(listed.external_id)
        self._tally.failed[listed.external_id] = str(unreadable)


def _updated_at(listed: Listed, loaded: Loaded) -> datetime | None:
    return listed.updated_at if listed.dated else loaded.updated_at or listed.updated_at
