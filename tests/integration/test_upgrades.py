"""Rows that an earlier version left behind are all there after the upgrade, under the same rights.

For each revision of the schema `tests/data/revisions` has the rows of a small company; see `tests/revision_data.py`.
"""

import re
import uuid
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from knowledge import answer_rows, receipts
from knowledge.db import Database, known_revisions
from knowledge.postgres import EmbeddedPostgres
from knowledge.tables import chunks
from tests.revision_data import FOLDER

FILES = sorted(FOLDER.glob("*.sql"))


@pytest.fixture
def bare(administration: sa.Engine, embedded_postgres: EmbeddedPostgres) -> Iterator[Database]:
    """A database without any schema."""
    name = f"test_{uuid.uuid4().hex}"
    with administration.connect() as connection:
        connection.execute(sa.text(f"create database {name}"))
    with Database(embedded_postgres.url(name)) as database:
        yield database
    with administration.connect() as connection:
        connection.execute(sa.text(f"drop database {name} with (force)"))


def test_rows_of_every_revision_are_kept_for_this_test() -> None:
    assert [file.stem for file in FILES] == sorted(known_revisions()), "run `python -m tests.revision_data`"


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_what_an_earlier_version_left_is_there_after_the_upgrade(bare: Database, file: Path) -> None:
    bare.migrate(to=file.stem)
    statements = file.read_text()
    with bare.writing() as connection:
        connection.execution_options(no_parameters=True).exec_driver_sql(statements)
    bare.migrate()
    bare.check()
    with bare.writing() as connection:
        for table, count in Counter(re.findall(r"^INSERT INTO (\S+)", statements, re.MULTILINE)).items():
            assert connection.scalar(sa.text(f"select count(*) from {table}")) == count, table
        stored = answer_rows.load(connection, "answer0001")
        receipt = receipts.by_message(connection, "T:C:1")
    assert stored is not None
    assert receipt is not None
    assert not receipt.finished
    for scopes, texts in ((frozenset({"workspace"}), 1), (frozenset({"channel:CLAB"}), 0)):
        with bare.reading(scopes) as connection:
            found = connection.scalars(sa.select(chunks.c.text)).all()
        assert len(found) == texts
        assert all("25 days" in text for text in found)
