"""What happened since a moment: questions without an answer, what answers cost, syncs that failed. For the digest."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from knowledge.permissions import Scopes
from knowledge.tables import acls, answers, documents, job_runs, sources

_UNANSWERED = answers.c.outcome.in_(("abstained", "failed"))
_LEANS = answers.c.standalone != answers.c.question


@dataclass(frozen=True)
class Unanswered:
    """A question as it was asked. `leans`: on its thread, without which it says little; `followed`: the question that it went
    on from there, empty when that is not known, or not for whoever reads this."""

    question: str
    leans: bool = False
    followed: str = ""


@dataclass(frozen=True)
class Spent:
    """`questions`: all that were asked, `unanswered` of them without an answer. Tokens of every kind together."""

    questions: int
    unanswered: int
    tokens: int
    dollars: float


@dataclass(frozen=True)
class SourceProblem:
    """A source whose last sync failed (`error`), left out `documents` of its documents, or is `overdue`."""

    name: str
    scopes: Scopes
    error: bool
    documents: int
    overdue: bool = False


@dataclass(frozen=True)
class LastSync:
    """`error`: why it failed or refused to delete; empty when it went well. `outdated`: as in `SyncOutcome`. `indexed`:
    documents of the source that can be searched, `nobodys` and `partly` of them with a fault that was told: that nobody may
    read them, or another. `left_out`: those with a fault that cannot be searched."""

    error: str
    outdated: str
    indexed: int
    nobodys: int
    partly: int
    left_out: int


def followed(connection: sa.Connection, since: datetime) -> dict[str, str]:
    """By id of the answer to each question without one that leans on its thread: the id of the answer there to the latest
    question before it that stands alone, if any was asked of the bot.

    Needs a transaction that writes: it looks at every answer, so that none is passed over for an older one that more people
    may read, and returns no text.
    """
    c, before = answers.c, answers.alias().c
    above = before.reply_channel == c.reply_channel, before.thread_ts == c.thread_ts, before.created_at < c.created_at
    latest = sa.select(before.id).where(*above, before.standalone == before.question).order_by(before.created_at.desc())
    leading = latest.limit(1).scalar_subquery().label("leading")
    query = sa.select(c.id, leading).where(c.created_at > since, _UNANSWERED, _LEANS)
    return {row.id: row.leading for row in connection.execute(query) if row.leading is not None}


def unanswered(
    connection: sa.Connection, since: datetime, scopes: Scopes, led: Mapping[str, str], limit: int = 500
) -> tuple[Unanswered, ...]:
    """The questions that found no answer, newest first, among those that a holder of `scopes` may read, each with the one
    before it under the same rule. `led`: as `followed` gives it. Run it inside `database.reading(scopes)`."""
    c = answers.c
    mine = answers.c.scopes.contained_by(sorted(scopes)), sa.func.cardinality(answers.c.scopes) > 0
    query = sa.select(c.id, c.question, _LEANS.label("leans")).where(c.created_at > since, _UNANSWERED, *mine)
    rows = connection.execute(query.order_by(c.created_at.desc()).limit(limit)).all()
    before = sa.select(c.id, c.question).where(c.id.in_([led[row.id] for row in rows if row.id in led]), *mine)
    texts = {row.id: row.question for row in connection.execute(before)}
    return tuple(Unanswered(row.question, row.leans, texts.get(led.get(row.id, ""), "")) for row in rows)


def spent(connection: sa.Connection, since: datetime) -> Spent:
    """Counts over everybody's questions, without a word of them; in a transaction that writes."""
    usage = answers.c.usage
    kinds = sa.select(sa.func.sum(sa.cast(sa.column("value"), sa.Float))).select_from(
        sa.func.jsonb_each_text(usage).table_valued("key", "value").render_derived()
    ).where(sa.column("key").like("%tokens%"))  # fmt: skip
    query = sa.select(
        sa.func.count(),
        sa.func.count().filter(_UNANSWERED),
        sa.func.coalesce(sa.func.sum(kinds.correlate(answers).scalar_subquery()), 0),
        sa.func.coalesce(sa.func.sum(usage["dollars"].as_float()), 0.0),
    ).where(answers.c.created_at > since)
    asked, without, tokens, dollars = connection.execute(query).one()
    return Spent(asked, without, int(tokens), float(dollars))


def succeeded(connection: sa.Connection) -> dict[str, datetime | None]:
    """When each source was last read to the end; None: never yet."""
    return {name: at for name, at in connection.execute(sa.select(sources.c.name, sources.c.succeeded_at))}


def last_syncs(connection: sa.Connection) -> dict[str, LastSync]:
    """What came of the last sync, by source; in a transaction that writes."""
    query = sa.select(sources.c.name, sources.c.outcome).where(sources.c.outcome.is_not(None))
    return {name: _last_sync(connection, name, outcome) for name, outcome in connection.execute(query).all()}


def _last_sync(connection: sa.Connection, name: str, outcome: Mapping[str, Any]) -> LastSync:
    faulty = sorted({each["document"] for each in outcome.get("failed", [])})
    told = documents.c.external_id == sa.any_(sa.cast(faulty, sa.ARRAY(sa.Text)))
    nobodys = sa.func.cardinality(acls.c.scopes) == 0
    counted = (sa.func.count().filter(told & nobodys), sa.func.count().filter(told & ~nobodys))
    counts = sa.select(sa.func.count(), *counted).join(acls, acls.c.id == documents.c.acl_id)
    searched = documents.c.source == name, documents.c.state == "ok"
    indexed, unread, partly = connection.execute(counts.where(*searched)).one()
    error, outdated = outcome.get("error", ""), outcome.get("outdated", "")
    return LastSync(error, outdated, indexed, unread, partly, len(faulty) - unread - partly)


def source_problems(connection: sa.Connection, overdue: Collection[str] = ()) -> tuple[SourceProblem, ...]:
    """The sources whose last sync left something out, or that are named `overdue`, by name."""
    rows = connection.execute(sa.select(sources.c.name, sources.c.scopes, sources.c.outcome).order_by(sources.c.name))
    found = (_problem(row.name, frozenset(row.scopes), row.outcome or {}, row.name in overdue) for row in rows)
    return tuple(problem for problem in found if problem.error or problem.documents or problem.overdue)


def failed_runs(connection: sa.Connection, since: datetime) -> dict[str, int]:
    """How many scheduled runs failed for good or were given up since then, by job."""
    failed = job_runs.c.state == "failed", job_runs.c.finished_at > since
    query = sa.select(job_runs.c.job, sa.func.count()).where(*failed).group_by(job_runs.c.job).order_by(job_runs.c.job)
    return {job: int(count) for job, count in connection.execute(query)}


def index_state(connection: sa.Connection) -> dict[str, Any]:
    """A mark of all indexed content: equal when no document has changed; in a transaction that writes."""
    ordered = sa.select(documents.c.content_hash).where(documents.c.state == "ok").order_by(documents.c.content_hash)
    rows = ordered.subquery()
    joined = sa.func.coalesce(sa.func.string_agg(rows.c.content_hash, sa.literal(" ")), "")
    count, mark = connection.execute(sa.select(sa.func.count(), sa.func.md5(joined)).select_from(rows)).one()
    return {"documents": int(count), "mark": str(mark)}


def _problem(name: str, scopes: Scopes, outcome: Mapping[str, Any], overdue: bool) -> SourceProblem:
    return SourceProblem(name, scopes, bool(outcome.get("error")), len(outcome.get("failed", [])), overdue)
