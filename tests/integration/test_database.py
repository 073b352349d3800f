"""The database: what its transactions allow, how it is migrated, and what it says about a server that will not do."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from knowledge.db import Database, open_database
from knowledge.errors import DatabaseUnusable
from knowledge.postgres import EmbeddedPostgres
from knowledge.settings import KnowledgeSettings
from knowledge.tables import acls, chunks, facts
from tests.company import until
from tests.rows import add_chunk

EVERYBODY = frozenset({"workspace"})


@pytest.fixture
def superuser(embedded_postgres: EmbeddedPostgres) -> Iterator[sa.Engine]:
    """The session's server as an administrator sees it."""
    password = (embedded_postgres.home / "postgres.password").read_text()
    url = sa.make_url(embedded_postgres.url("postgres")).set(username="postgres", password=password)
    engine = sa.create_engine(url, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
    yield engine
    engine.dispose()


@pytest.fixture
def bare_url(superuser: sa.Engine) -> Iterator[str]:
    """An empty database without the extension, owned by a role that may do nothing else."""
    with superuser.connect() as connection:
        connection.exec_driver_sql("create role ordinary login password 'secret'")
        connection.exec_driver_sql("create database bare owner ordinary template template0")
    yield superuser.url.set(username="ordinary", password="secret", database="bare").render_as_string(False)
    with superuser.connect() as connection:
        connection.exec_driver_sql("drop database bare with (force)")
        connection.exec_driver_sql("drop role ordinary")


def in_database(engine: sa.Engine, database: str, statement: str) -> None:
    there = sa.create_engine(engine.url.set(database=database), isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
    with there.connect() as connection:
        connection.exec_driver_sql(statement)


def name_of(database: Database) -> str:
    return str(database.engine.url.database)


def sessions_end(superuser: sa.Engine, database: Database) -> None:
    """Every connection of this database breaks, as when the server restarts."""
    with superuser.connect() as connection:
        ended = sa.text("select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = :name")
        assert connection.scalars(ended, {"name": name_of(database)}).all()


def test_a_transaction_keeps_all_or_nothing(database: Database) -> None:
    with pytest.raises(DBAPIError, match="duplicate key"), database.writing() as connection:
        connection.execute(sa.insert(acls).values([{"scopes": ["workspace"]}, {"scopes": ["workspace"]}]))
    with database.plain() as connection:
        assert connection.scalars(sa.select(acls.c.id)).all() == []


def test_reading_is_done_by_the_reader_role_in_a_read_only_transaction(database: Database) -> None:
    with database.reading(EVERYBODY) as connection:
        assert connection.execute(sa.text("select current_user, session_user")).one() == ("footnote_reader", "footnote")
        with pytest.raises(DBAPIError, match="read-only transaction"):
            connection.execute(sa.insert(acls).values(scopes=["workspace"]))


def test_the_reader_has_no_business_with_facts_about_people(database: Database) -> None:
    with pytest.raises(DBAPIError, match="permission denied"), database.reading(EVERYBODY) as connection:
        connection.execute(sa.select(facts))


@pytest.mark.parametrize("scope", ['say "hi"', "a,b", "{}", "back\\slash", "it's", "NULL", " "])
def test_a_scope_of_any_characters_reads_its_own_rows_and_no_others(database: Database, scope: str) -> None:
    with database.writing() as connection:
        add_chunk(connection, 1, [scope])
        add_chunk(connection, 2, ["workspace"])
    with database.reading(frozenset({scope})) as connection:
        assert connection.scalars(sa.select(chunks.c.id)).all() == [1]
        held = sa.text("select current_setting('footnote.scopes')::text[]")
        assert connection.scalar(held) == [scope]


def test_a_read_survives_the_loss_of_every_pooled_connection(database: Database, superuser: sa.Engine) -> None:
    with database.writing() as connection:
        add_chunk(connection, 1, EVERYBODY)
    sessions_end(superuser, database)
    with database.reading(EVERYBODY) as connection:
        assert connection.scalars(sa.select(chunks.c.id)).all() == [1]


def test_a_statement_keeps_its_custom_plan_however_often_it_runs(database: Database) -> None:
    with database.plain() as connection:
        for number in range(8):
            connection.execute(sa.select(acls.c.id).where(acls.c.id == number))
        assert connection.scalar(sa.text("select count(*) from pg_prepared_statements")) == 0


def test_a_lock_has_one_holder_until_it_is_let_go(database: Database) -> None:
    with database.lock("sync of handbook") as first, database.lock("sync of handbook") as second:
        assert (bool(first), bool(second)) == (True, False)
        with database.lock("sync of wiki") as other:
            assert other
    with database.lock("sync of handbook") as again:
        assert again


def test_a_lock_knows_when_its_connection_is_lost(database: Database, superuser: sa.Engine) -> None:
    with database.lock("leader") as lock:
        assert lock.held()
        sessions_end(superuser, database)
        assert not lock.held()
        with database.lock("leader") as next_leader:
            assert next_leader


def test_several_processes_may_migrate_an_empty_database_at_once(
    administration: sa.Engine, embedded_postgres: EmbeddedPostgres
) -> None:
    with administration.connect() as connection:
        connection.exec_driver_sql("create database raced")
    program = "import sys; from knowledge.db import Database; Database(sys.argv[1]).migrate()"
    command = [sys.executable, "-c", program, embedded_postgres.url("raced")]
    processes = [subprocess.Popen(command, cwd=Path(__file__).parents[2]) for _ in range(3)]
    assert [process.wait() for process in processes] == [0, 0, 0]
    with Database(embedded_postgres.url("raced")) as database:
        database.check()
    with administration.connect() as connection:
        connection.exec_driver_sql("drop database raced")


def test_a_scratch_database_is_migrated_empty_and_gone_afterwards(database: Database) -> None:
    with database.scratch() as scratch:
        scratch.check()
        name = name_of(scratch)
        assert name != name_of(database)
    with database.plain() as connection:
        found = sa.text("select count(*) from pg_database where datname = :name")
        assert connection.scalar(found, {"name": name}) == 0


def test_a_scratch_database_goes_while_the_server_vacuums_it_and_a_session_of_it_is_left(home: Path) -> None:
    lingering = {
        "autovacuum_naptime": "1s",
        "autovacuum_vacuum_cost_delay": "100ms",
        "autovacuum_vacuum_cost_limit": "1",
    }
    server = EmbeddedPostgres(home / "vacuumed", lingering).start()
    try:
        with Database(server.url("postgres")) as database:
            with database.scratch() as scratch:
                left = sa.create_engine(scratch.url, poolclass=sa.NullPool).connect()
                left.execute(sa.text("create table worn as select repeat('x', 1000) from generate_series(1, 20000)"))
                left.commit()
                until(lambda: vacuums(scratch))
                name = name_of(scratch)
            left.invalidate()
            left.close()
            with database.plain() as connection:
                assert name not in connection.scalars(sa.text("select datname from pg_database")).all()
    finally:
        server.release()


def vacuums(database: Database) -> bool:
    """Whether the server's own process is at work there."""
    its_own = sa.text(
        "select count(*) from pg_stat_activity where datname = :name and usename is distinct from current_user"
    )
    with database.plain() as connection:
        return bool(connection.scalar(its_own, {"name": name_of(database)}))


def test_without_a_url_the_embedded_server_is_used_and_released(home: Path) -> None:
    settings = KnowledgeSettings(home=home / "footnote")
    with open_database(settings) as database:
        database.check()
    assert not (home / "footnote" / "postgres" / "data" / "postmaster.pid").exists()


def test_with_a_url_that_server_is_used(postgres_url: str) -> None:
    plain = postgres_url.replace("postgresql+psycopg://", "postgres://")
    with open_database(KnowledgeSettings.model_validate({"home": ".", "database_url": plain})) as database:
        database.check()
        assert database.url == postgres_url


def test_a_healthy_database_passes(database: Database) -> None:
    database.check()


def test_a_database_without_a_schema_is_named(embedded_postgres: EmbeddedPostgres) -> None:
    with (
        Database(embedded_postgres.url("template1")) as database,
        pytest.raises(DatabaseUnusable, match="template1 has no schema"),
    ):
        database.check()


def test_an_ordinary_role_is_told_what_a_superuser_must_prepare(bare_url: str, superuser: sa.Engine) -> None:
    with Database(bare_url) as database:
        with pytest.raises(DatabaseUnusable) as refusal:
            database.migrate()
        asked = [part.split(": ", 1)[1] for part in str(refusal.value).split("; ")]
        assert asked == ["create extension vector;", "grant footnote_reader to ordinary;"]
        in_database(superuser, "bare", asked[0])
        in_database(superuser, "bare", asked[1])
        database.migrate()
        database.check()


def test_a_superuser_is_refused_because_row_security_would_not_hold(database: Database, superuser: sa.Engine) -> None:
    url = superuser.url.set(database=name_of(database)).render_as_string(False)
    with Database(url) as above, pytest.raises(DatabaseUnusable, match="the role postgres is a superuser"):
        above.migrate()


@pytest.mark.parametrize(
    ("statement", "complaint"),
    [
        ("update pg_extension set extversion = '0.7.4' where extname = 'vector'", r"pgvector is version 0\.7\.4"),
        ("alter table chunks no force row level security", "row-level security is not forced on chunks"),
        ("alter table answers disable row level security", "row-level security is not forced on answers"),
        ("update alembic_version set version_num = '9999'", "revision 9999, newer than this program's"),
        ("delete from alembic_version", "has no schema yet"),
    ],
)
def test_what_is_wrong_is_named(database: Database, superuser: sa.Engine, statement: str, complaint: str) -> None:
    in_database(superuser, name_of(database), statement)
    with pytest.raises(DatabaseUnusable, match=complaint):
        database.check()


def test_a_newer_schema_is_left_alone(database: Database) -> None:
    with database.plain() as connection:
        connection.execute(sa.text("update alembic_version set version_num = '9999'"))
    with pytest.raises(DatabaseUnusable, match="update the program"):
        database.migrate()


def test_a_server_that_is_not_there_is_named_without_the_password(tmp_path: Path) -> None:
    with (
        Database(f"postgresql://footnote:hunter2@/footnote?host={tmp_path}") as database,
        pytest.raises(DatabaseUnusable, match=r"cannot connect to .*: .* failed: No such file") as refusal,
    ):
        database.check()
    assert "hunter2" not in str(refusal.value)


@pytest.mark.parametrize("url", ["hunter2", "mysql://root:hunter2@localhost/x", "sqlite:///hunter2.db"])
def test_another_kind_of_url_is_refused_without_quoting_it(url: str) -> None:
    with pytest.raises(DatabaseUnusable, match=r"write postgresql:|only PostgreSQL will do") as refusal:
        Database(url)
    assert "hunter2" not in str(refusal.value)
