"""Documents that were read become what the index holds of them: cut, then encoded and exchanged some at a time, each
whole in one transaction.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from sqlalchemy import Connection

from knowledge import documents, generations, shares
from knowledge.chunk_rows import Draft, Replaced, Vectors, draft, encoded_before, replace
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

CHUNKS_AT_ONCE = 512
"""Gathered from several documents before the model is asked: enough to sort by length without waste, and to write them
in a few statements.
"""


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
    """A document ready to be stored."""

    known: Known | None
    record: Record
    drafts: tuple[Draft, ...]


class Exchange:
    """Of the documents of one sync, counted in `tally`. `full`: everything is encoded again.

    `tenure`: that sync, which may be another process's; a document is stored only while it goes on.
    """

    def __init__(self, parts: Parts, tenure: Tenure, tally: Tally, full: bool) -> None:
        self._parts = parts
        self._tenure = tenure
        self._tally = tally
        self._full = full

    def store_all(self, fetched: Iterable[Fetched | None]) -> None:
        """Raises `SyncOver` when the sync has ended, or was narrowed."""
        pending: list[Prepared] = []
        for each in fetched:
            if each is not None:
                pending.append(self._prepare(each))
            if sum(max(1, len(p.drafts)) for p in pending) >= CHUNKS_AT_ONCE:
                self._store(pending)
                pending = []
        self._store(pending)

    def store_textless(self, record: Record) -> None:
        """Keep the document's state and its reason, and nothing of an older version's text."""
        with self.storing() as connection:
            [document_id] = documents.save(connection, [record])
            replace(connection, self._parts.generation, {document_id: ()}, encoded={}, reusable={})

    def _prepare(self, fetched: Fetched) -> Prepared:
        chunks = chunk_document(fetched.loaded, self._parts.embedder.count_tokens, self._parts.chunking)
        return Prepared(fetched.known, fetched.record, tuple(draft(fetched.loaded.title, item) for item in chunks))

    def _store(self, pending: Sequence[Prepared]) -> None:
        """Encode what the documents need, then exchange them in one transaction."""
        if not pending:
            return
        records, generation = [item.record for item in pending], self._parts.generation
        texts = {each.hash: each.embedded for item in pending for each in item.drafts}
        reusable = {} if self._full else self._encoded_before(records)
        encoded = self._encode({text_hash: texts[text_hash] for text_hash in texts.keys() - reusable.keys()})
        with self.storing() as connection:
            ids = documents.save(connection, records)
            drafts = {i: item.drafts for i, item in zip(ids, pending, strict=True)}
            replaced = replace(connection, generation, drafts, encoded=encoded, reusable=reusable)
        for i, item in zip(ids, pending, strict=True):
            self._count(item, replaced[i])

    def _encoded_before(self, records: Sequence[Record]) -> Vectors:
        with self._parts.database.writing() as connection:
            return encoded_before(connection, self._parts.generation, records)

    def _count(self, item: Prepared, replaced: Replaced) -> None:
        name = item.record.external_id
        if item.known is None:
            self._tally.added.add(name)
        else:
            (self._tally.changed if replaced.changed else self._tally.same).add(name)
        if reason := "; ".join(filter(None, (item.record.reason, _words_only(replaced.without_vector)))):
            self._tally.failed[name] = reason

    @contextmanager
    def storing(self) -> Iterator[Connection]:
        """A transaction that may give readers to a document. Raises `SyncOver` as `store_all` does."""
        with self._parts.database.writing() as connection:
            shares.hold(connection, self._tenure)
            generations.keep(connection, self._parts.generation)
            yield connection

    def _encode(self, texts: dict[str, str]) -> dict[str, tuple[Floats, bytes]]:
        """Vectors by hash. Sorted by length over all documents, so that a batch holds texts of about one length."""
        hashes = sorted(texts, key=lambda text_hash: len(texts[text_hash]))
        result: dict[str, tuple[Floats, bytes]] = {}
        for start in range(0, len(hashes), CHUNKS_AT_ONCE):
            batch = hashes[start : start + CHUNKS_AT_ONCE]
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
