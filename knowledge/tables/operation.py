"""What the program measures of itself, when it runs what, and what it may still spend."""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from knowledge.tables.declaration import Moment, Texts, created, metadata, now

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
    created(),
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
    sa.Column("bucket", sa.Text),  # diagnosis of a miss; of a hit `unanswered`, of wrongly_answered `doubtful`, or null
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
