"""Footnote itself, from files in a folder, as `footnote sync` reads them."""

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

import sqlalchemy as sa

from knowledge.db import Database
from knowledge.index import Indexer
from knowledge.permissions import WORKSPACE
from knowledge.reranking import load_reranker
from knowledge.retrieval import Retriever
from knowledge.settings import Chunking, Models, Retrieval, Source
from knowledge.tables import chunks, documents
from tests.benchmarks.assemblies.system import Model, Page, System


class Footnote(System):
    """A sync of a folder with a Markdown file for each page, its title in the front matter."""

    name = "footnote"
    keeps_unchanged = True

    def __init__(self, model: Model, url: sa.URL) -> None:
        super().__init__(model, url)
        self.database = Database(self.address("+psycopg"))
        self.folder = tempfile.TemporaryDirectory(prefix="footnote-peers-")
        self.pages: dict[str, str] = {}
        self.page_of: dict[int, str] = {}
        self.indexer = Indexer(self.database, model.embedder, Chunking())
        self.retriever = Retriever(self.database, model.embedder, load_reranker(Models()), Retrieval())

    def prepare(self, pages: Sequence[Page]) -> None:
        for number, page in enumerate(pages):
            file = Path(self.folder.name) / f"{number:06}.md"
            file.write_text(f"---\ntitle: {json.dumps(page.title)}\n---\n\n{page.text}\n", encoding="utf-8")
            self.pages[file.name] = page.id

    def index(self, pages: Sequence[Page]) -> int:
        outcome = self.indexer.sync(Source(name="pages", location=self.folder.name, scopes=(WORKSPACE,)))
        assert not outcome.error, outcome.error
        with self.database.writing() as connection:
            rows = connection.execute(sa.select(chunks.c.id, documents.c.external_id).join(documents))
            self.page_of = {int(chunk): self.pages[external_id] for chunk, external_id in rows}
        return len(self.page_of)

    def search(self, question: str) -> Sequence[str]:
        found = self.retriever.search(question, frozenset({WORKSPACE}))
        return [self.page_of[hit.chunk_id] for hit in found.stages["reranked"]]
