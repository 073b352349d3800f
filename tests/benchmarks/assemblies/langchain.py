"""LangChain over Postgres."""

from collections.abc import Sequence

import sqlalchemy as sa

from tests.benchmarks.assemblies.system import DEPTH, PIECES, RRF_K, Model, Page, System, cut


class LangChain(System):
    """PGVectorStore in hybrid mode with reciprocal rank fusion; its indexing API with a record manager."""

    name = "LangChain, PGVectorStore hybrid"
    keeps_unchanged = True

    def __init__(self, model: Model, url: sa.URL) -> None:
        super().__init__(model, url)
        from langchain_core.embeddings import Embeddings
        from langchain_core.indexing import InMemoryRecordManager
        from langchain_postgres import PGEngine, PGVectorStore
        from langchain_postgres.v2.hybrid_search_config import HybridSearchConfig, reciprocal_rank_fusion
        from langchain_text_splitters import RecursiveCharacterTextSplitter

        class Local(Embeddings):  # type: ignore[misc]  # the library is optional
            def embed_documents(self, texts: list[str]) -> list[list[float]]:
                return model.texts(texts).tolist()  # type: ignore[no-any-return]

            def embed_query(self, text: str) -> list[float]:
                return model.question(text).tolist()  # type: ignore[no-any-return]

        hybrid = HybridSearchConfig(
            tsv_column="content_tsv",
            tsv_lang="pg_catalog.english",
            fusion_function=reciprocal_rank_fusion,
            fusion_function_parameters={"rrf_k": RRF_K, "fetch_top_k": DEPTH},
            primary_top_k=DEPTH,
            secondary_top_k=DEPTH,
        )
        engine = PGEngine.from_connection_string(self.address("+psycopg"))
        engine.init_vectorstore_table("pages", model.dimension, hybrid_search_config=hybrid)
        self.store = PGVectorStore.create_sync(engine, Local(), "pages", hybrid_search_config=hybrid, k=DEPTH)
        self.records = InMemoryRecordManager("pages")
        self.splitter = RecursiveCharacterTextSplitter(
            chunk_size=PIECES, chunk_overlap=PIECES // 10, length_function=model.embedder.count_tokens
        )

    def index(self, pages: Sequence[Page]) -> int:
        from langchain_core.documents import Document
        from langchain_core.indexing import index

        chunks = cut(pages, self.splitter.split_text)
        documents = [Document(page_content=chunk.text, metadata={"page": chunk.page}) for chunk in chunks]
        index(documents, self.records, self.store, cleanup="full", source_id_key="page")
        return len(chunks)

    def search(self, question: str) -> Sequence[str]:
        return [found.metadata["page"] for found in self.store.similarity_search(question, k=DEPTH)]
