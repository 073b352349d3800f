"""People and places as Slack tells of them, what they sent, and what they were answered."""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from knowledge.tables.declaration import Moment, Texts, created, metadata, now

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
    created(),
    sa.Index("ix_answers_reply_channel_reply_ts", "reply_channel", "reply_ts"),
    sa.Index("ix_answers_created_at", "created_at"),
)

votes = sa.Table(
    "votes",
    metadata,
    sa.Column("answer_id", sa.Text, sa.ForeignKey("answers.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("person", sa.Text, primary_key=True),
    sa.Column("value", sa.SmallInteger, nullable=False),  # +1 or -1
    created(),
    sa.Column("withdrawn_at", Moment),
)
