"""Fixtures for every test: a real server for the session, and a database of its own for each test that asks for one.

The server is started when the first test needs it. Each database is a clone of one migrated template.
"""

import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from knowledge.db import Database
from knowledge.postgres import EmbeddedPostgres
from knowledge.postgres.binaries import wheel_binaries

IMPATIENT = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "shared_buffers": "64MB",
    "max_connections": "200",
    "autovacuum": "off",
}
"""A test's data need not survive a power cut, and its database is gone before a vacuum is worth its while."""


def pytest_report_header() -> str:
    version = subprocess.run([wheel_binaries() / "postgres", "--version"], capture_output=True, text=True, check=True)
    return f"database: {version.stdout.strip()}, embedded"


@pytest.fixture(scope="session")
def home() -> Iterator[Path]:
    """A directory that the server's own account can reach; pytest's are private to the user who runs it."""
    path = Path(tempfile.mkdtemp(prefix="footnote-tests-"))
    path.chmod(0o711)
    yield path
    shutil.rmtree(path)


@pytest.fixture(scope="session")
def embedded_postgres(home: Path) -> Iterator[EmbeddedPostgres]:
    """The session's server."""
    server = EmbeddedPostgres(home / "postgres", IMPATIENT).start()
    yield server
    server.release()


@pytest.fixture(scope="session")
def administration(embedded_postgres: EmbeddedPostgres) -> Iterator[sa.Engine]:
    """Makes and drops databases; the database `footnote` is the migrated template of all others."""
    with Database(embedded_postgres.url()) as template:
        template.migrate()
    engine = sa.create_engine(embedded_postgres.url("postgres"), isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
    yield engine
    engine.dispose()


@pytest.fixture
def postgres_url(administration: sa.Engine, embedded_postgres: EmbeddedPostgres) -> Iterator[str]:
    """URL of this test's own migrated, empty database; the same one as `database`."""
    name = f"test_{uuid.uuid4().hex}"
    with administration.connect() as connection:
        connection.execute(sa.text(f"create database {name} template footnote"))
    yield embedded_postgres.url(name)
    with administration.connect() as connection:
        connection.execute(sa.text(f"drop database {name} with (force)"))


@pytest.fixture
def database(postgres_url: str) -> Iterator[Database]:
    """This test's own migrated, empty database."""
    with Database(postgres_url) as opened:
        yield opened
