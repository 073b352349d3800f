"""The hybrid search of tutorials."""

from collections.abc import Sequence

import sqlalchemy as sa

from tests.benchmarks.assemblies.system import DEPTH, RRF_K, Model, Page, System, cut, windows


class Tutorial(System):
    """One table: vector and `websearch_to_tsquery`, reciprocal rank fusion in one statement."""

    name = "plain: pgvector + tsquery + RRF"

    SCHEMA = """
        drop table if exists passage;
        create table passage (
            id bigserial primary key, page text, content text, embedding vector({dimension}),
            words tsvector generated always as (to_tsvector('english', content)) stored
        );
        create index on passage using gin (words)
    """
    SEARCH = """
        with meaning as (
            select id, row_number() over (order by embedding <=> cast(:vector as vector)) as rank from passage
            order by embedding <=> cast(:vector as vector) limit :depth
        ), keywords as (
            select id, row_number() over (order by ts_rank_cd(words, query) desc) as rank
            from passage, websearch_to_tsquery('english', :question) as query
            where words @@ query order by ts_rank_cd(words, query) desc limit :depth
        )
        select page from passage join (
            select id, sum(1.0 / (:k + rank)) as score from (table meaning union all table keywords) as both_lists
            group by id
        ) as fused using (id) order by score desc, id limit :depth
    """

    def __init__(self, model: Model, url: sa.URL) -> None:
        super().__init__(model, url)
        self.engine = sa.create_engine(url)

    def index(self, pages: Sequence[Page]) -> int:
        chunks = cut(pages, windows)
        vectors = self.model.texts([chunk.text for chunk in chunks])
        rows = [
            {"page": chunk.page, "content": chunk.text, "embedding": str(vector.tolist())}
            for chunk, vector in zip(chunks, vectors, strict=True)
        ]
        with self.engine.begin() as connection:
            connection.exec_driver_sql(self.SCHEMA.format(dimension=self.model.dimension))
            connection.execute(
                sa.text("insert into passage (page, content, embedding) values (:page, :content, :embedding)"), rows
            )
        return len(chunks)

    def search(self, question: str) -> Sequence[str]:
        values = {"vector": str(self.model.question(question).tolist()), "question": question}
        with self.engine.connect() as connection:
            found = connection.execute(sa.text(self.SEARCH), values | {"depth": DEPTH, "k": RRF_K})
            return list(found.scalars())
