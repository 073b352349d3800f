"""A folder of documents, the index made of it, and what a test asks about them."""

from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import sqlalchemy as sa

from knowledge.acls import visible
from knowledge.db import Database
from knowledge.index import Indexer
from knowledge.outcomes import SyncOutcome
from knowledge.permissions import Scopes
from knowledge.settings import Chunking, Source
from knowledge.tables import acls, chunk_terms, chunk_tokens, chunk_vectors, chunks, documents, term_counts
from tests.rows import readable_texts
from tests.word_embedder import WordEmbedder

ALL = frozenset({"workspace"})
LAB = frozenset({"channel:CLAB"})


@dataclass
class Library:
    """A folder, the index, and the settings between them."""

    folder: Path
    database: Database
    embedder: WordEmbedder
    settings: Source

    @property
    def indexer(self) -> Indexer:
        return Indexer(self.database, self.embedder, Chunking(max_tokens=60, min_tokens=10))

    def write(self, name: str, text: str | bytes) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def sync(self, full: bool = False) -> SyncOutcome:
        """Sync, and check that the index is consistent in itself."""
        outcome = self.indexer.sync(self.settings, full=full)
        self.check()
        return replace(outcome, ms=0)

    def scope(self, *scopes: str) -> None:
        self.settings = self.settings.model_copy(update={"scopes": scopes})

    def texts(self, scopes: Scopes = ALL) -> list[str]:
        """Text of every chunk a holder of the scopes can read, through the reader's role."""
        return readable_texts(self.database, scopes)

    def texts_of(self, name: str, scopes: Scopes = ALL) -> list[str]:
        """Text of one document's chunks, in order, as a holder of the scopes sees it."""
        query = (
            sa.select(chunks.c.text)
            .join(documents, documents.c.id == chunks.c.document_id)
            .where(visible(chunks.c.acl_id, scopes), documents.c.external_id == name)
            .order_by(chunks.c.ordinal)
        )
        with self.database.reading(scopes) as connection:
            return list(connection.scalars(query))

    def column(self, column: sa.Column[object], name: str) -> object:
        with self.database.writing() as connection:
            return connection.scalar(sa.select(column).where(documents.c.external_id == name))

    def ids(self) -> dict[str, int]:
        with self.database.writing() as connection:
            return {text: int(i) for i, text in connection.execute(sa.select(chunks.c.id, chunks.c.text))}

    def check(self) -> None:
        with self.database.writing() as connection:
            owners = sa.select(chunks.c.id, documents.c.acl_id).join(documents, documents.c.id == chunks.c.document_id)
            expected = {tuple(row) for row in connection.execute(owners)}
            for table in (chunks, chunk_vectors, chunk_terms, chunk_tokens):
                key = table.c.id if table is chunks else table.c.chunk_id
                assert {tuple(r) for r in connection.execute(sa.select(key, table.c.acl_id))} == expected, table.name
            counted = {row.id: row.chunk_count for row in connection.execute(sa.select(acls.c.id, acls.c.chunk_count))}
            actual = [acl_id for _, acl_id in expected]
            assert counted == {acl_id: actual.count(acl_id) for acl_id in counted}
            total = connection.scalar(sa.select(term_counts.c.count).where(term_counts.c.term == 0))
            assert (total or 0) == len(expected)


@pytest.fixture
def library(database: Database, tmp_path: Path) -> Library:
    folder = tmp_path / "docs"
    folder.mkdir()
    settings = Source(name="docs", location=str(folder), scopes=("workspace",), url="https://docs.example/{path}")
    return Library(folder, database, WordEmbedder(), settings)
