"""The schema that the migrations build is the one that `knowledge/tables.py` declares."""

from collections.abc import Iterator

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from knowledge.db import Database
from knowledge.tables import READER, ROW_SECURITY, WRITER_POLICY, metadata

INDEXES = (
    "select tablename, indexname, replace(indexdef, 'declared.', 'public.') from pg_indexes where schemaname = :schema"
)
CONSTRAINTS = """
    select conrelid::regclass::text, conname, contype, replace(pg_get_constraintdef(oid), 'declared.', '')
    from pg_constraint where connamespace = cast(:schema as regnamespace) and contype <> 'n'
"""
COLUMNS = """
    select attrelid::regclass::text, attname, format_type(atttypid, atttypmod), attnotnull, attidentity,
           pg_get_expr(adbin, adrelid)
    from pg_attribute join pg_class on pg_class.oid = attrelid left join pg_attrdef on adrelid = attrelid and adnum = attnum
    where relnamespace = cast(:schema as regnamespace) and relkind = 'r' and attnum > 0 and not attisdropped
"""
POLICIES = (
    "select tablename, policyname, permissive, roles, cmd, qual, with_check from pg_policies where schemaname = :schema"
)
SECURED = """
    select relname, relrowsecurity, relforcerowsecurity from pg_class
    where relnamespace = cast(:schema as regnamespace) and relkind = 'r' and relrowsecurity
"""


@pytest.fixture
def both(database: Database) -> Iterator[sa.Connection]:
    """The migrated schema is `public`; beside it, `declared` is built from the declarations."""
    with database.plain() as connection:
        connection.execute(sa.text("create schema declared"))
        connection.execute(sa.text("set local search_path to declared, public"))
        metadata.create_all(connection, checkfirst=False)
        for table, readable in ROW_SECURITY.items():
            for statement in (
                f"alter table {table} enable row level security",
                f"alter table {table} force row level security",
                f"create policy writer on {table} to current_user using ({WRITER_POLICY})",
                f"create policy reader on {table} for select to {READER} using ({readable})",
            ):
                connection.exec_driver_sql(statement)
        yield connection


def described(connection: sa.Connection, query: str, schema: str) -> set[tuple[object, ...]]:
    """The rows of a catalog query, as they read from inside the schema."""
    connection.execute(sa.text(f"set local search_path to {schema}, public"))
    rows = connection.execute(sa.text(query), {"schema": schema})
    return {tuple(str(value) for value in row) for row in rows if "alembic_version" not in row}


@pytest.mark.parametrize(
    "query",
    [
        pytest.param(COLUMNS, id="columns"),
        pytest.param(CONSTRAINTS, id="constraints"),
        pytest.param(INDEXES, id="indexes"),
        pytest.param(SECURED, id="row security"),
        pytest.param(POLICIES, id="policies"),
    ],
)
def test_the_catalog_describes_both_alike(both: sa.Connection, query: str) -> None:
    declared = described(both, query, "declared")
    assert declared
    assert described(both, query, "public") == declared


def test_alembic_sees_no_difference(database: Database) -> None:
    with database.plain() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "compare_server_default": True})
        assert compare_metadata(context, metadata) == []
