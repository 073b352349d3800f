"""Sources, documents and what is indexed of them."""

import sqlalchemy as sa
from pgvector.sqlalchemy import HALFVEC, SPARSEVEC
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

from knowledge.tables.declaration import Moment, Texts, created, metadata, now

TERM_SPACE = 1_000_000_000
"""Terms are hashed into this many dimensions, the most a sparsevec has; there is no dictionary table."""

acls = sa.Table(
    "acls",
    metadata,
    sa.Column("id", sa.Integer, sa.Identity(), primary_key=True),
    sa.Column("scopes", Texts, nullable=False, unique=True),
    sa.Column("chunk_count", sa.Integer, nullable=False, server_default="0"),
    sa.Index("ix_acls_scopes", "scopes", postgresql_using="gin"),
)

sources = sa.Table(
    "sources",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("location", sa.Text, nullable=False),
    sa.Column("scopes", Texts, nullable=False),
    sa.Column("started_at", Moment),
    sa.Column("finished_at", Moment),
    sa.Column("succeeded_at", Moment),
    sa.Column("outcome", JSONB),  # the last sync's counts, failures by document and error, as `footnote sync --json`
    sa.Column("settings_at", Moment),  # when the newest settings were read that it was synced or narrowed with
    sa.Column("settings", JSONB),  # those it was synced with, as far as they say what it has
)

removed_sources = sa.Table(
    "removed_sources",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("removed_at", Moment, nullable=False, server_default=now),
)

documents = sa.Table(
    "documents",
    metadata,
    sa.Column("id", sa.BigInteger, sa.Identity(), primary_key=True),
    sa.Column("source", sa.Text, sa.ForeignKey("sources.name", ondelete="CASCADE"), nullable=False),
    sa.Column("external_id", sa.Text, nullable=False),
    sa.Column("acl_id", sa.Integer, sa.ForeignKey("acls.id"), nullable=False),
    sa.Column("own_scopes", Texts),  # what the document itself narrows its readers to; None = the source's readers
    sa.Column("title", sa.Text, nullable=False),
    sa.Column("url", sa.Text, nullable=False, server_default=""),
    sa.Column("revision", sa.Text, nullable=False),  # the listing's cheap mark: equal means unread and unchanged
    sa.Column("content_hash", sa.Text, nullable=False, server_default=""),
    sa.Column("settings_hash", sa.Text, nullable=False, server_default=""),  # loader, chunker and their versions
    sa.Column("state", sa.Text, nullable=False),  # ok, empty, scanned, encrypted, too_big, unsupported, failed
    sa.Column("reason", sa.Text, nullable=False, server_default=""),
    sa.Column("updated_at", Moment),  # by the source's word, None when it does not say
    sa.Column("synced_at", Moment, nullable=False, server_default=now),
    sa.UniqueConstraint("source", "external_id"),
    sa.Index("ix_documents_acl_id", "acl_id"),
    sa.Index("ix_documents_content_hash", "content_hash"),
)

chunks = sa.Table(
    "chunks",
    metadata,
    sa.Column("id", sa.BigInteger, primary_key=True, autoincrement=False),  # hash of document, path and text
    sa.Column("document_id", sa.BigInteger, sa.ForeignKey("documents.id", ondelete="CASCADE"), nullable=False),
    sa.Column("acl_id", sa.Integer, sa.ForeignKey("acls.id"), nullable=False),
    sa.Column("ordinal", sa.Integer, nullable=False),
    sa.Column("heading_path", Texts, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("prefix", sa.Text, nullable=False, server_default=""),  # a split table's header, repeated
    sa.Column("start", sa.Integer, nullable=False),
    sa.Column("end", sa.Integer, nullable=False),
    sa.Column("page", sa.Integer),
    sa.Column("tokens", sa.Integer, nullable=False),
    sa.Column("embedded_hash", sa.Text, nullable=False),  # of exactly the text that was encoded
    sa.UniqueConstraint("document_id", "ordinal"),
    sa.Index("ix_chunks_acl_id", "acl_id"),
)

generations = sa.Table(
    "generations",
    metadata,
    sa.Column("id", sa.Integer, sa.Identity(), primary_key=True),
    sa.Column("model", sa.Text, nullable=False),
    sa.Column("revision", sa.Text, nullable=False),  # of the weights, the pooling, the prefixes and the backend
    sa.Column("dimension", sa.Integer, nullable=False),
    sa.Column("state", sa.Text, nullable=False),  # building, held, active, retired
    created(),
    sa.Column("activated_at", Moment),
    sa.UniqueConstraint("model", "revision"),
    sa.Index("uq_generations_active", "state", unique=True, postgresql_where=sa.text("state = 'active'")),
)

chunk_vectors = sa.Table(
    "chunk_vectors",
    metadata,
    sa.Column("chunk_id", sa.BigInteger, sa.ForeignKey("chunks.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("generation_id", sa.Integer, sa.ForeignKey("generations.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("acl_id", sa.Integer, nullable=False),
    sa.Column("embedding", HALFVEC(), nullable=False),  # unit length; dimension by generation
    sa.Index("ix_chunk_vectors_generation_id_acl_id", "generation_id", "acl_id"),
)

chunk_tokens = sa.Table(
    "chunk_tokens",
    metadata,
    sa.Column("chunk_id", sa.BigInteger, sa.ForeignKey("chunks.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("generation_id", sa.Integer, sa.ForeignKey("generations.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("acl_id", sa.Integer, nullable=False),
    sa.Column("bits", sa.LargeBinary, nullable=False),  # 24 bytes a token: the signs of 192 projections
)

chunk_terms = sa.Table(
    "chunk_terms",
    metadata,
    sa.Column("chunk_id", sa.BigInteger, sa.ForeignKey("chunks.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("acl_id", sa.Integer, nullable=False),
    sa.Column("length", sa.Integer, nullable=False),
    sa.Column("terms", ARRAY(sa.Integer), nullable=False),
    sa.Column("weights", SPARSEVEC(TERM_SPACE), nullable=False),  # BM25 term weights without the IDF
    sa.Index("ix_chunk_terms_acl_id", "acl_id"),
    sa.Index("ix_chunk_terms_terms", "terms", postgresql_using="gin"),
)

term_counts = sa.Table(
    "term_counts",
    metadata,
    sa.Column("term", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("count", sa.Integer, nullable=False),
)
