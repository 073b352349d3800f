"""LlamaIndex over Postgres."""

from collections.abc import Sequence

import sqlalchemy as sa

from tests.benchmarks.assemblies.system import DEPTH, PIECES, Model, Page, System


class LlamaIndex(System):
    """Its Postgres store in hybrid mode, the two lists joined by its fusion retriever; its ingestion pipeline."""

    name = "LlamaIndex, PGVectorStore hybrid"
    keeps_unchanged = True

    def __init__(self, model: Model, url: sa.URL) -> None:
        super().__init__(model, url)
        from llama_index.core import MockEmbedding, VectorStoreIndex
        from llama_index.core.ingestion import DocstoreStrategy, IngestionPipeline
        from llama_index.core.llms import MockLLM
        from llama_index.core.node_parser import SentenceSplitter
        from llama_index.core.retrievers import QueryFusionRetriever
        from llama_index.core.storage.docstore import SimpleDocumentStore
        from llama_index.vector_stores.postgres import PGVectorStore

        class Local(MockEmbedding):  # type: ignore[misc]  # the library is optional
            def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
                return model.texts(texts).tolist()  # type: ignore[no-any-return]

            def _get_query_embedding(self, query: str) -> list[float]:
                return model.question(query).tolist()  # type: ignore[no-any-return]

        store = PGVectorStore.from_params(
            connection_string=self.address("+psycopg2"),
            async_connection_string=self.address("+asyncpg"),
            hybrid_search=True,
            embed_dim=model.dimension,
        )
        local = Local(embed_dim=model.dimension)
        splitter = SentenceSplitter(
            chunk_size=PIECES, chunk_overlap=PIECES // 10, tokenizer=model.embedder._model.tokenizer.tokenize
        )
        self.pipeline = IngestionPipeline(
            transformations=[splitter, local],
            vector_store=store,
            docstore=SimpleDocumentStore(),
            docstore_strategy=DocstoreStrategy.UPSERTS,
        )
        index = VectorStoreIndex.from_vector_store(store, embed_model=local)
        arms = [
            index.as_retriever(vector_store_query_mode=mode, similarity_top_k=DEPTH, sparse_top_k=DEPTH)
            for mode in ("default", "sparse")
        ]
        self.retriever = QueryFusionRetriever(
            arms, llm=MockLLM(), mode="reciprocal_rerank", similarity_top_k=DEPTH, num_queries=1, use_async=False
        )
        self.chunks = 0

    def index(self, pages: Sequence[Page]) -> int:
        from llama_index.core import Document

        documents = [Document(id_=page.id, text=page.text, metadata={"title": page.title}) for page in pages]
        self.chunks += len(self.pipeline.run(documents=documents))
        return self.chunks

    def search(self, question: str) -> Sequence[str]:
        return [found.node.ref_doc_id for found in self.retriever.retrieve(question)]
