"""The work queue's own schema in the same database: built and upgraded here, and lent to one statement at a time.

The queue's library names its tables and functions without a schema, so whoever calls them needs it in the search path.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from knowledge import turns
from knowledge.errors import DatabaseUnusable

SCHEMA = "procrastinate"
SEARCH_PATH = f"{SCHEMA},public"


@dataclass(frozen=True)
class Script:
    """One SQL script of the library. `name` orders the migrations; the newest one's name is the schema's version."""

    name: str
    sql: str


def conninfo(url: str) -> str:
    """The libpq connection string of a SQLAlchemy URL, with the queue's schema first in the search path."""
    plain = sa.make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
    options = str(conninfo_to_dict(plain).get("options") or "")
    return make_conninfo(plain, options=f"{options} -c search_path={SEARCH_PATH}".strip())


def version(connection: sa.Connection) -> str | None:
    """Name of the newest script the schema was built with; None when there is no such schema."""
    comment = sa.func.obj_description(sa.func.to_regnamespace(SCHEMA), "pg_namespace")
    found: str | None = connection.scalar(sa.select(comment))
    return found


def build(connection: sa.Connection, whole: Script, migrations: Sequence[Script]) -> None:
    """Make the schema by `whole`, or apply the `migrations` it lacks. Several processes may call this at once.

    Raises `DatabaseUnusable` when the schema is of a version this program does not know.
    """
    turns.take(connection, "footnote queue schema")
    installed = version(connection)
    if installed is None:
        connection.execute(sa.text(f"create schema {SCHEMA}"))
    scripts = [whole] if installed is None else lacking(installed, migrations)
    with lent(connection):
        for script in scripts:
            raw_connection(connection).execute(script.sql.encode())
    connection.execute(sa.text(f"comment on schema {SCHEMA} is '{migrations[-1].name}'"))


def lacking(installed: str, migrations: Sequence[Script]) -> list[Script]:
    """The migrations after `installed`, in order. Raises `DatabaseUnusable` when it is not among them."""
    names = [script.name for script in migrations]
    if installed not in names:
        raise DatabaseUnusable(
            f"the schema {SCHEMA!r} is of version {installed!r}, newer than this program's {names[-1]!r}; "
            "install the newer footnote-bot, or point FOOTNOTE_DATABASE_URL at another database"
        )
    return list(migrations[names.index(installed) + 1 :])


@contextmanager
def lent(connection: sa.Connection) -> Iterator[None]:
    """The queue's schema first in this transaction's search path, until the block ends (or the transaction, on an error)."""
    before = connection.scalar(sa.select(sa.func.current_setting("search_path")))
    connection.execute(sa.select(sa.func.set_config("search_path", SEARCH_PATH, True)))
    yield
    connection.execute(sa.select(sa.func.set_config("search_path", before, True)))


def raw_connection(connection: sa.Connection) -> Any:
    """The psycopg connection that carries this SQLAlchemy connection's transaction."""
    return connection.connection.driver_connection


def requeue_stalled(connection: sa.Connection, silent_s: float, attempts: int) -> list[int]:
    """Give back the jobs of workers that were not heard of for `silent_s` seconds; their ids.

    A job that has been tried `attempts` times is failed instead.
    Several processes may call this at once; each job is handled by one of them.
    """
    statement = """
        with stalled as (
            select job.* from procrastinate_jobs job left join procrastinate_workers worker on worker.id = job.worker_id
            where job.status = 'doing'
              and (worker.id is null or worker.last_heartbeat < now() - make_interval(secs => :silent_s))
            order by job.id for update of job skip locked
        )
        select id, case
            when attempts + 1 >= :attempts
            then procrastinate_finish_job_v1(id, 'failed', false)::text
            else procrastinate_retry_job_v2(id, now(), null, null, null)::text end
        from stalled"""
    with lent(connection):
        rows = connection.execute(sa.text(statement), {"silent_s": silent_s, "attempts": attempts}).all()
    return [int(row.id) for row in rows]


def forget_failed(connection: sa.Connection, keep_days: int) -> int:
    """Delete failed jobs whose last event is older than `keep_days`; how many."""
    statement = """
        delete from procrastinate_jobs job where job.status in ('failed', 'aborted', 'cancelled') and (
            select max(at) from procrastinate_events event where event.job_id = job.id
        ) < now() - make_interval(days => :days)"""
    with lent(connection):
        return int(connection.execute(sa.text(statement), {"days": keep_days}).rowcount)
