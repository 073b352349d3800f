"""Haystack over Postgres."""

from collections.abc import Sequence
from dataclasses import replace

import sqlalchemy as sa

from tests.benchmarks.assemblies.system import DEPTH, WORDS, Model, Page, System, titled


class Haystack(System):
    """Its pgvector store with the embedding and the keyword retriever, joined by ranks; its cache checker."""

    name = "Haystack, pgvector"
    keeps_unchanged = True

    def __init__(self, model: Model, url: sa.URL) -> None:
        super().__init__(model, url)
        from haystack.components.caching import CacheChecker
        from haystack.components.joiners import DocumentJoiner
        from haystack.components.preprocessors import DocumentSplitter
        from haystack.utils import Secret
        from haystack_integrations.components.retrievers.pgvector import (
            PgvectorEmbeddingRetriever,
            PgvectorKeywordRetriever,
        )
        from haystack_integrations.document_stores.pgvector import PgvectorDocumentStore

        self.store = PgvectorDocumentStore(
            connection_string=Secret.from_token(self.address()), embedding_dimension=model.dimension
        )
        self.splitter = DocumentSplitter(split_by="word", split_length=WORDS, split_overlap=WORDS // 10)
        self.cache = CacheChecker(self.store, cache_field="id")
        self.vector = PgvectorEmbeddingRetriever(document_store=self.store, top_k=DEPTH)
        self.keyword = PgvectorKeywordRetriever(document_store=self.store, top_k=DEPTH)
        self.joiner = DocumentJoiner(join_mode="reciprocal_rank_fusion", top_k=DEPTH)

    def index(self, pages: Sequence[Page]) -> int:
        from haystack import Document

        titles = {page.id: page.title for page in pages}
        whole = [Document(content=page.text, meta={"page": page.id}) for page in pages if page.text]
        split = self.splitter.run(documents=whole)["documents"]
        chunks = [
            Document(content=titled(titles[one.meta["page"]], one.content), meta={"page": one.meta["page"]})
            for one in split
        ]
        new = set(self.cache.run(items=[chunk.id for chunk in chunks])["misses"])
        added = list({chunk.id: chunk for chunk in chunks if chunk.id in new}.values())
        if added:
            vectors = self.model.texts([one.content for one in added])
            self.store.write_documents(
                [replace(one, embedding=vector.tolist()) for one, vector in zip(added, vectors, strict=True)]
            )
        return len(chunks)

    def search(self, question: str) -> Sequence[str]:
        lists = [
            self.vector.run(query_embedding=self.model.question(question).tolist())["documents"],
            self.keyword.run(query=question)["documents"],
        ]
        return [found.meta["page"] for found in self.joiner.run(documents=lists)["documents"]]
