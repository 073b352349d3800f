"""Every table, declared once. `migrations/` builds the same schema; a test compares the two.

Tables with document text (or with text asked and answered under somebody's rights) have row-level security; see
`ROW_SECURITY` below and `db.Database` for how a transaction says what it may read.
"""

from collections.abc import Mapping

import sqlalchemy as sa
from pgvector.sqlalchemy import HALFVEC, SPARSEVEC
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

TERM_SPACE = 1_000_000_000
"""Terms are hashed into this many dimensions, the most a sparsevec has; there is no dictionary table."""

metadata = sa.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

Texts = ARRAY(sa.Text)
Moment = sa.DateTime(timezone=True)
now = sa.func.now()


def _created() -> sa.Column[object]:
    return sa.Column("created_at", Moment, nullable=False, server_default=now)


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
    _created(),
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

facts = sa.Table(
    "facts",
    metadata,
    sa.Column("key", sa.Text, primary_key=True),  # `person:U1`, `channel:C1`, `members:C1`, `channels_of:U1`, …
    sa.Column("value", JSONB),  # None: known to have changed, must be asked for again
    sa.Column("as_of", Moment, nullable=False),  # when the asking began, or when the change was heard of
)

inbox = sa.Table(
    "inbox",
    metadata,
    sa.Column("id", sa.BigInteger, sa.Identity(), primary_key=True),
    sa.Column("event_id", sa.Text, nullable=False, unique=True),
    sa.Column("message_key", sa.Text, unique=True),  # team+channel+ts of a question; None for other events
    sa.Column("thread_key", sa.Text),  # team+channel+ts of the thread's root
    sa.Column("person", sa.Text),  # who asked, voted or clicked
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("payload", JSONB, nullable=False),
    sa.Column(
        "state", sa.Text, nullable=False
    ),  # received, working; answered, refused, ignored, withdrawn, done, failed
    sa.Column("attempt", sa.Integer, nullable=False, server_default="0"),
    sa.Column("answer_id", sa.Text),
    sa.Column("error_id", sa.Text),
    sa.Column("received_at", Moment, nullable=False, server_default=now),
    sa.Column("finished_at", Moment),
    sa.Index("ix_inbox_state", "state"),
    sa.Index("ix_inbox_thread_key", "thread_key"),
)

replies = sa.Table(
    "replies",
    metadata,
    sa.Column("channel", sa.Text, primary_key=True),
    sa.Column("ts", sa.Text, primary_key=True),
    sa.Column("inbox_id", sa.BigInteger, sa.ForeignKey("inbox.id", ondelete="CASCADE"), nullable=False),
    sa.Column("part", sa.Integer, nullable=False),  # from 0; a long answer is several messages
    sa.Column("answer_id", sa.Text),  # None: not an answer, such as a refusal
    sa.UniqueConstraint("inbox_id", "part"),
)

answers = sa.Table(
    "answers",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("asker", sa.Text, nullable=False),
    sa.Column("place", sa.Text, nullable=False),
    sa.Column("scopes", Texts, nullable=False),  # allowed for that reply; who holds them all may read this row
    sa.Column("question", sa.Text, nullable=False),
    sa.Column("standalone", sa.Text, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("outcome", sa.Text, nullable=False),  # answered, quoted, abstained, refused, failed
    sa.Column("citations", JSONB, nullable=False),
    sa.Column("stages", JSONB, nullable=False),  # chunk ids, scores and ranks of each stage; no text
    sa.Column("removed", JSONB, nullable=False),  # what grounding took out, and why
    sa.Column("model", sa.Text, nullable=False),
    sa.Column("prompt_hash", sa.Text, nullable=False),
    sa.Column("usage", JSONB, nullable=False),  # tokens by kind and dollars
    sa.Column("ms", JSONB, nullable=False),  # milliseconds by stage
    sa.Column("reply_channel", sa.Text),
    sa.Column("reply_ts", sa.Text),
    sa.Column("thread_ts", sa.Text),
    _created(),
    sa.Index("ix_answers_reply_channel_reply_ts", "reply_channel", "reply_ts"),
    sa.Index("ix_answers_created_at", "created_at"),
)

votes = sa.Table(
    "votes",
    metadata,
    sa.Column("answer_id", sa.Text, sa.ForeignKey("answers.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("person", sa.Text, primary_key=True),
    sa.Column("value", sa.SmallInteger, nullable=False),  # +1 or -1
    _created(),
    sa.Column("withdrawn_at", Moment),
)

gold_cases = sa.Table(
    "gold_cases",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("question", sa.Text, nullable=False),
    sa.Column("standalone", sa.Text, nullable=False),
    sa.Column("scopes", Texts, nullable=False),
    sa.Column(
        "expected", JSONB, nullable=False
    ),  # [{source, external_id, heading_path, quote}]; [] = not in the documents, JSON null = not said yet
    sa.Column("state", sa.Text, nullable=False),  # proposed, accepted, retired
    sa.Column("origin", sa.Text, nullable=False),  # vote, label, import, suggestion
    sa.Column("answer_id", sa.Text),
    sa.Column("proposed_by", Texts, nullable=False),
    sa.Column("history", JSONB, nullable=False),  # [{at, by, what}]
    _created(),
)

eval_runs = sa.Table(
    "eval_runs",
    metadata,
    sa.Column("id", sa.BigInteger, sa.Identity(), primary_key=True),
    sa.Column("started_at", Moment, nullable=False, server_default=now),
    sa.Column("finished_at", Moment),
    sa.Column("configuration", JSONB, nullable=False),  # code version, prompt hash, models, settings
    sa.Column("metrics", JSONB),  # numbers only; None while it runs or when it failed
    sa.Column("error", sa.Text),
)

eval_results = sa.Table(
    "eval_results",
    metadata,
    sa.Column("run_id", sa.BigInteger, sa.ForeignKey("eval_runs.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("case_id", sa.Text, sa.ForeignKey("gold_cases.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("scopes", Texts, nullable=False),
    sa.Column("outcome", sa.Text, nullable=False),  # hit, miss, stale, abstained, wrongly_answered, failed
    sa.Column("ranks", JSONB, nullable=False),  # best rank of an expected passage by stage; null = absent
    sa.Column("bucket", sa.Text),  # diagnosis of a miss
)

job_runs = sa.Table(
    "job_runs",
    metadata,
    sa.Column("job", sa.Text, primary_key=True),
    sa.Column("slot", Moment, primary_key=True),
    sa.Column("state", sa.Text, nullable=False),  # running, done, failed; skipped: before the job's first slot
    sa.Column("worker", sa.Text, nullable=False),
    sa.Column("attempt", sa.Integer, nullable=False, server_default="1"),
    sa.Column("started_at", Moment, nullable=False, server_default=now),
    sa.Column("heartbeat_at", Moment, nullable=False, server_default=now),
    sa.Column("finished_at", Moment),
    sa.Column("error", sa.Text),
)

buckets = sa.Table(
    "buckets",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),  # a rate limit or budget shared by all processes
    sa.Column("tokens", sa.Float, nullable=False),
    sa.Column("refilled_at", Moment, nullable=False),
)

READER = "footnote_reader"
"""The role that reads document text: it owns nothing, and row-level security is forced for owners too."""

_by_acl = "acl_id in (select unnest(nullif(current_setting('footnote.acl_ids', true), '')::int[]))"
_by_scopes = "scopes <> '{}' and scopes <@ nullif(current_setting('footnote.scopes', true), '')::text[]"

ROW_SECURITY: Mapping[str, str] = {
    "documents": _by_acl,
    "chunks": _by_acl,
    "chunk_vectors": _by_acl,
    "chunk_tokens": _by_acl,
    "answers": _by_scopes,
    "gold_cases": _by_scopes,
    "eval_results": _by_scopes,
}
"""Table -> which rows the reader role sees, from the settings of the running transaction. Unset settings see nothing.

`chunk_terms` holds hashed terms only and is left out: its `terms &&` index cannot be used below a policy, because the
operator is not leakproof (measured: 7 -> 71 ms at 100,000 chunks). What it returns is ids, whose text is behind the wall.
"""

WRITER_POLICY = "current_setting('footnote.writing', true) = 'on'"
"""For the owner alone, who works on those tables only inside a transaction that says it writes."""
