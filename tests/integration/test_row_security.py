"""The second wall: what the database refuses, whatever the statement says."""

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from knowledge import acls
from knowledge.db import Database
from knowledge.permissions import NOTHING, Scopes
from knowledge.tables import READER, ROW_SECURITY, chunk_vectors, chunks, documents, metadata
from tests.rows import add_answer, add_chunk, add_eval_result, add_gold_case

WORKSPACE: Scopes = frozenset({"workspace"})
LEGAL: Scopes = frozenset({"workspace", "channel:CLEGAL"})
MANY: Scopes = frozenset(f"channel:C{number}" for number in range(50))

every_secured_table = pytest.mark.parametrize("table", sorted(ROW_SECURITY))


@pytest.fixture
def filled(database: Database) -> Database:
    """Each secured table has one row for the workspace, one for #legal and one that is nobody's."""
    with database.writing() as connection:
        for number, scopes in enumerate((["workspace"], ["channel:CLEGAL"], [])):
            add_chunk(connection, number, scopes)
            add_answer(connection, f"answer-{number}", scopes)
            add_gold_case(connection, f"case-{number}", scopes)
            add_eval_result(connection, f"case-{number}", scopes)
    return database


def count(connection: sa.Connection, table: str) -> int:
    """All rows that a statement without any filter finds."""
    return connection.execute(sa.select(sa.func.count()).select_from(metadata.tables[table])).scalar_one()


@every_secured_table
def test_a_statement_without_a_filter_finds_the_rows_of_the_scopes_only(filled: Database, table: str) -> None:
    with filled.reading(WORKSPACE) as connection:
        assert count(connection, table) == 1
    with filled.reading(LEGAL) as connection:
        assert count(connection, table) == 2
    with filled.writing() as connection:
        assert count(connection, table) == 3


@every_secured_table
@pytest.mark.parametrize(
    "scopes", [NOTHING, frozenset({"channel:COTHER"}), frozenset({""})], ids=["none", "wrong", "an empty name"]
)
def test_no_scopes_or_wrong_ones_find_nothing(filled: Database, table: str, scopes: Scopes) -> None:
    with filled.reading(scopes) as connection:
        assert count(connection, table) == 0


@every_secured_table
def test_the_owner_finds_nothing_unless_it_says_that_it_writes(filled: Database, table: str) -> None:
    with filled.plain() as connection:
        assert count(connection, table) == 0


@every_secured_table
def test_the_reader_finds_nothing_when_no_scopes_were_ever_set(filled: Database, table: str) -> None:
    with filled.plain() as connection:
        connection.execute(sa.text(f"set local role {READER}"))
        assert count(connection, table) == 0


@every_secured_table
def test_the_reader_gains_nothing_by_saying_that_it_writes(filled: Database, table: str) -> None:
    with filled.reading(WORKSPACE) as connection:
        connection.execute(sa.select(sa.func.set_config("footnote.writing", "on", True)))
        assert count(connection, table) == 1


@every_secured_table
def test_scopes_do_not_outlive_their_transaction_on_the_pooled_connection(filled: Database, table: str) -> None:
    with Database(filled.url, pool_size=1) as narrow:
        with narrow.reading(LEGAL) as connection:
            session = connection.scalar(sa.text("select pg_backend_pid()"))
        with narrow.writing():
            pass
        with narrow.plain() as connection:
            assert connection.scalar(sa.text("select pg_backend_pid()")) == session
            assert count(connection, table) == 0
        with narrow.plain() as connection:
            connection.execute(sa.text(f"set local role {READER}"))
            assert count(connection, table) == 0


def test_an_answer_under_several_scopes_needs_all_of_them(database: Database) -> None:
    with database.writing() as connection:
        add_answer(connection, "both", LEGAL)
    with database.reading(WORKSPACE) as connection:
        assert count(connection, "answers") == 0
    with database.reading(LEGAL) as connection:
        assert count(connection, "answers") == 1


def test_the_predicate_and_the_policies_agree(filled: Database) -> None:
    for scopes in (NOTHING, WORKSPACE, LEGAL, frozenset({"channel:CLEGAL"}), LEGAL | MANY):
        filtered = sa.select(chunks.c.id).where(acls.visible(chunks.c.acl_id, scopes)).order_by(chunks.c.id)
        with filled.writing() as connection:
            by_the_predicate = connection.scalars(filtered).all()
        with filled.reading(scopes) as connection:
            by_the_policies = connection.scalars(sa.select(chunks.c.id).order_by(chunks.c.id)).all()
        assert by_the_predicate == by_the_policies


def test_text_behind_a_ranking_that_forgot_its_filter_stays_hidden(filled: Database) -> None:
    """The nearest vectors of everybody, joined to their text: what the search does, with the predicate removed."""
    nearest = (
        sa.select(chunks.c.text)
        .join(chunk_vectors, chunk_vectors.c.chunk_id == chunks.c.id)
        .join(documents, documents.c.id == chunks.c.document_id)
        .order_by(chunk_vectors.c.embedding.max_inner_product([1.0, 0.0]))
    )
    with filled.reading(WORKSPACE) as connection:
        assert connection.scalars(nearest).all() == ["text 0"]
    with filled.reading(NOTHING) as connection:
        assert connection.scalars(nearest).all() == []


def test_a_narrowed_document_is_gone_from_the_next_read(filled: Database) -> None:
    with filled.writing() as connection:
        narrow = acls.intern(connection, ["channel:CLEGAL"])
        connection.execute(sa.update(chunks).where(chunks.c.id == 0).values(acl_id=narrow))
    with filled.reading(WORKSPACE) as connection:
        assert count(connection, "chunks") == 0


@every_secured_table
def test_a_reading_transaction_changes_nothing(filled: Database, table: str) -> None:
    with pytest.raises(DBAPIError, match="read-only transaction"), filled.reading(LEGAL) as connection:
        connection.execute(sa.delete(metadata.tables[table]))


@pytest.mark.parametrize("table", sorted(metadata.tables))
def test_the_reader_role_may_write_no_table_at_all(filled: Database, table: str) -> None:
    with filled.plain() as connection:
        privileges = sa.func.has_table_privilege(READER, table, "insert, update, delete, truncate, references, trigger")
        assert connection.scalar(sa.select(privileges)) is False


def test_the_owner_adds_no_text_unless_it_says_that_it_writes(database: Database) -> None:
    with pytest.raises(DBAPIError, match="violates row-level security"), database.plain() as connection:
        add_answer(connection, "answer", ["workspace"])


def test_deleting_a_source_takes_all_its_rows_with_it(filled: Database) -> None:
    with filled.plain() as connection:
        connection.execute(sa.text("delete from sources"))
    with filled.writing() as connection:
        left = [count(connection, table) for table in ("documents", "chunks", "chunk_vectors", "chunk_tokens")]
    assert left == [0, 0, 0, 0]
