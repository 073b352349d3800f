"""Documents that were read become what the index holds of them: cut, encoded in batches across documents, and then each
exchanged in a transaction of its own.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sqlalchemy import Connection

from knowledge import documents, shares
from knowledge.chunk_rows import Draft, draft, encoded_before, replace
from knowledge.chunking import chunk_document
from knowledge.db import Database
from knowledge.documents import Record
from knowledge.encoders import Embedder, Floats
from knowledge.generations import Generation
from knowledge.loaders.loaded import Loaded
from knowledge.loaders.reader import Reader
from knowledge.outcomes import Tally
from knowledge.plan import Known
from knowledge.settings import Chunking
from knowledge.shares import Tenure

ENCODE_AT_ONCE = 256
"""Chunks gathered from several documents before the model is asked: enough to sort by length without waste."""


@dataclass(frozen=True)
class Parts:
    """What a sync works with."""

    database: Database
    embedder: Embedder
    generation: Generation
    chunking: Chunking
    reader: Reader


@dataclass(frozen=True)
class Fetched:
    """A document whose text may differ from the indexed one."""

    known: Known | None
    record: Record
    loaded: Loaded


@dataclass(frozen=True)
class Prepared:
    """A document ready to be stored. `fresh`: encoded text by hash, for what was not encoded before."""

    known: Known | None
    record: Record
    drafts: tuple[Draft, ...]
    fresh: dict[str, str]


class Exchange:
    """Of the documents of one sync, counted in `tally`. `full`: everything is encoded again.

    `helped`: the sync of another process that this one works for; a document is stored only while that goes on.
    """

    def __init__(self, parts: Parts, tally: Tally, full: bool) -> None:
        self.helped: Tenure | None = None
        self._parts = parts
        self._tally = tally
        self._full = full

    def store_all(self, fetched: Iterable[Fetched | None]) -> None:
        """Raises `SyncOver` when the sync that is helped has ended."""
        pending: list[Prepared] = []
        for each in fetched:
            if each is not None:
                pending.append(self._prepare(each))
            if sum(len(p.fresh) for p in pending) >= ENCODE_AT_ONCE or len(pending) >= ENCODE_AT_ONCE:
                self._store(pending)
                pending = []
        self._store(pending)

    def store_textless(self, record: Record) -> None:
        """Keep the document's state and its reason, and nothing of an older version's text."""
        with self._storing() as connection:
            document_id = documents.save(connection, record)
            replace(connection, self._parts.generation, document_id, (), encoded={}, reusable={})

    def _prepare(self, fetched: Fetched) -> Prepared:
        chunks = chunk_document(fetched.loaded, self._parts.embedder.count_tokens, self._parts.chunking)
        drafts = tuple(draft(fetched.loaded.title, item) for item in chunks)
        with self._parts.database.writing() as connection:
            reusable = self._reusable(connection, fetched.record)
        fresh = {item.hash: item.embedded for item in drafts if item.hash not in reusable}
        return Prepared(fetched.known, fetched.record, drafts, fresh)

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
                self._tally.added.add(name)
            else:
                (self._tally.changed if replaced.changed else self._tally.same).add(name)
            if reason := "; ".join(filter(None, (item.record.reason, _words_only(replaced.without_vector)))):
                self._tally.failed[name] = reason

    @contextmanager
    def _storing(self) -> Iterator[Connection]:
        with self._parts.database.writing() as connection:
            if self.helped is not None:
                shares.hold(connection, self.helped)
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
            self._tally.chunks_embedded += len(batch)
        return result


def _words_only(count: int) -> str:
    return (
        f"the model gave no usable vector for {count} of its passages; they are found by their words only"
        if count
        else ""
    )
