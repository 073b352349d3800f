"""The database as the rest of the engine uses it: one way to write, one way to read text, one way for everything else.

- `writing()` may touch the tables with row-level security; nothing else of the owner may.
- `reading(scopes)` is the only way to document text for an answer: the reader role, the scopes set for this
  transaction, read only. Leaving out a filter there returns nothing that the scopes do not cover.
- `plain()` is for tables without text.
"""

import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Self

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from pydantic import SecretStr
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import NullPool

from knowledge import outages
from knowledge.acls import array_of_ids
from knowledge.errors import DatabaseUnusable
from knowledge.permissions import Scopes
from knowledge.postgres import EmbeddedPostgres
from knowledge.schema_state import SchemaState, gather, schema_problems, server_problems
from knowledge.settings import KnowledgeSettings, postgres
from knowledge.tables import READER

MIGRATIONS = Path(__file__).with_name("migrations")
DRIVER = "postgresql+psycopg"
CONNECT_TIMEOUT_S = 10

_WRITE = sa.text("select set_config('footnote.writing', 'on', true)")


def _read(scopes: Scopes) -> sa.Select[str, str, str, str]:
    """The settings last as long as the transaction, so a pooled connection carries nothing into the next one."""
    held = sa.cast(sorted(scopes), sa.ARRAY(sa.Text))
    return sa.select(
        _setting("footnote.scopes", sa.cast(held, sa.Text)),
        _setting("footnote.acl_ids", sa.cast(array_of_ids(scopes), sa.Text)),
        _setting("transaction_read_only", "on"),
        _setting("role", READER),
    )


def _setting(name: str, value: sa.ColumnElement[str] | str) -> sa.ColumnElement[str]:
    """Sets it for the transaction. The name stands in the statement, so that a log of statements shows it."""
    return sa.func.set_config(sa.literal(name, literal_execute=True), value, True)


class Database:
    """A pool of connections to one database. Threads share it; `close()` it at the end.

    A connection that broke while it lay in the pool (the server was restarted) is replaced before it is used.
    """

    def __init__(self, url: str, pool_size: int = 10, embedded: EmbeddedPostgres | None = None) -> None:
        """`url`: any PostgreSQL URL. `embedded`: the server behind it, to be released by `close()`.

        Connects on first use. Raises `DatabaseUnusable` when the URL is not one of PostgreSQL.
        """
        target = _parsed(url)
        self.url = target.render_as_string(hide_password=False)
        # A prepared statement's generic plan loses the filter's selectivity: 2.8 -> 27 ms was measured.
        arguments = {"prepare_threshold": None, "connect_timeout": CONNECT_TIMEOUT_S, "application_name": "footnote"}
        # Values are documents and questions, and an exception's text is logged.
        common: dict[str, Any] = {"connect_args": arguments, "hide_parameters": True}
        self.engine = sa.create_engine(
            target, pool_size=pool_size, max_overflow=pool_size, pool_pre_ping=True, **common
        )
        self._unpooled = sa.create_engine(target, poolclass=NullPool, **common)
        self._embedded = embedded

    def close(self) -> None:
        self.engine.dispose()
        if self._embedded is not None:
            self._embedded.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _: object, error: BaseException | None, trace: object) -> None:
        """Raises `DatabaseUnusable` when it was lost inside the block."""
        self.close()
        if lost := outages.in_words(error, self.engine.url):
            raise lost from error

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """One transaction that may change everything."""
        with self._transaction(_WRITE) as connection:
            yield connection

    @contextmanager
    def reading(self, scopes: Scopes) -> Iterator[sa.Connection]:
        """One transaction that reads what a holder of `scopes` may read, as the reader role; writing in it fails."""
        with self._transaction(_read(scopes)) as connection:
            yield connection

    @contextmanager
    def plain(self) -> Iterator[sa.Connection]:
        """One transaction for tables without document text; the others look empty in it."""
        with self.engine.begin() as connection:
            yield connection

    @contextmanager
    def lock(self, name: str) -> Iterator["Lock"]:
        """Try to be the only holder of `name` among all processes on this database; the lock is true when it was got.

        It has a connection of its own and no transaction, so it can be held for hours. The server frees it when that
        connection ends, however it ends; `held()` finds out.
        """
        key = sa.func.hashtextextended(name, 0)
        with self._unpooled.execution_options(isolation_level="AUTOCOMMIT").connect() as connection:
            got = bool(connection.scalar(sa.select(sa.func.pg_try_advisory_lock(key))))
            lock = Lock(connection, got)
            try:
                yield lock
            finally:
                if lock and not connection.invalidated:
                    # The server notices a closed connection a moment later; whoever tries next should not have to wait.
                    with suppress(OperationalError):
                        connection.execute(sa.select(sa.func.pg_advisory_unlock(key)))

    @contextmanager
    def scratch(self) -> Iterator["Database"]:
        """An empty, migrated database on the same server, dropped at the end. The role must be able to make databases."""
        name = f"footnote_scratch_{uuid.uuid4().hex}"
        self._administer(f'create database "{name}"')
        try:
            with Database(self.engine.url.set(database=name).render_as_string(hide_password=False)) as database:
                database.migrate()
                yield database
        finally:
            # `with (force)` is refused to an ordinary role while the server's own vacuum is at work there.
            self._administer(
                f"select pg_terminate_backend(pid) from pg_stat_activity where datname = '{name}' and usename = current_user"
            )
            self._administer(f'drop database "{name}"')

    def migrate(self, migrations: Path = MIGRATIONS, to: str = "head") -> None:
        """Bring the schema to this version's; does nothing when it is there. Several processes may call it at once.

        `migrations`, `to`: another version's, and an earlier revision, for tests of upgrades. Raises
        `DatabaseUnusable` when the server cannot carry the schema or its schema is newer than this program.
        """
        with self._connected() as connection:
            _refuse(server_problems(gather(connection, known_revisions(migrations))))
            config = Config()
            config.set_main_option("script_location", str(migrations).replace("%", "%%"))
            config.attributes["connection"] = connection
            command.upgrade(config, to)

    def check(self) -> SchemaState:
        """What the server offers. Raises `DatabaseUnusable` that names everything wrong with it, the extension, the schema
        or the roles.
        """
        with self._connected() as connection:
            state = gather(connection, known_revisions())
        _refuse([*server_problems(state), *schema_problems(state)])
        return state

    @contextmanager
    def _transaction(self, first: sa.Executable) -> Iterator[sa.Connection]:
        with self.engine.begin() as connection:
            connection.execute(first)
            yield connection

    @contextmanager
    def _connected(self) -> Iterator[sa.Connection]:
        try:
            connection = self.engine.connect()
        except OperationalError as error:
            why = outages.reason(error.orig or error)
            raise DatabaseUnusable(
                f"cannot connect to {outages.shown(self.engine.url)}: {why}. Check that the server runs and that the setting database_url "
                "(or the variable FOOTNOTE_DATABASE_URL, which goes before it) names it"
            ) from error
        with connection, connection.begin():
            yield connection

    def _administer(self, statement: str) -> None:
        with self._unpooled.execution_options(isolation_level="AUTOCOMMIT").connect() as connection:
            connection.execute(sa.text(statement))


class Lock:
    """What a try for a lock came to: true when it was got. `connection`: the one it hangs on, without a transaction."""

    def __init__(self, connection: sa.Connection, got: bool) -> None:
        self.connection = connection
        self._got = got

    def __bool__(self) -> bool:
        return self._got

    def held(self) -> bool:
        """Whether it is still ours: the connection it hangs on is alive."""
        try:
            self.connection.execute(sa.select(1))
        except OperationalError:
            self._got = False
        return self._got


def open_database(settings: KnowledgeSettings) -> Database:
    """The configured database, migrated and checked; the embedded server when no URL is set.

    Raises `EmbeddedPostgresFailed` or `DatabaseUnusable`.
    """
    if settings.database_url is not None:
        database = Database(settings.database_url.get_secret_value())
    else:
        embedded = EmbeddedPostgres(settings.home / "postgres").start()
        embedded.stay_up()
        database = Database(embedded.url(), embedded=embedded)
    with ExitStack() as stack:
        stack.enter_context(database)
        database.migrate()
        database.check()
        stack.pop_all()
    return database


def _parsed(url: str) -> sa.URL:
    try:
        postgres(SecretStr(url))
    except ValueError as error:
        raise DatabaseUnusable(f"the database's address {error}") from None
    return sa.make_url(url).set(drivername=DRIVER)


def known_revisions(migrations: Path = MIGRATIONS) -> tuple[str, ...]:
    """Every schema revision this program knows, newest first."""
    return tuple(script.revision for script in ScriptDirectory(str(migrations)).walk_revisions())


def _refuse(problems: list[str]) -> None:
    if problems:
        raise DatabaseUnusable("; ".join(problems))
