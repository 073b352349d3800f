"""What a server offers and what it lacks: gathered in one query, judged by pure functions, worded for an administrator."""

from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from knowledge.tables import READER, ROW_SECURITY

OLDEST_SERVER = 15
"""Since 15 the owner of a database may make tables in its `public` schema, and nobody else."""
OLDEST_EXTENSION = (0, 8)
"""Iterative index scans, half-precision and sparse vectors with more than 16,000 dimensions' worth of indexes."""


@dataclass(frozen=True)
class SchemaState:
    """Facts about a server. `extension` is None where it is not made, `available` where it is not installed either."""

    role: str
    database: str
    server_version: int
    extension: str | None
    available: str | None
    may_make_extension: bool
    may_make_roles: bool
    above_row_security: bool
    reader_exists: bool
    reader_usable: bool
    reader_above_row_security: bool
    unsecured: tuple[str, ...]
    revision: str | None
    known_revisions: tuple[str, ...]


_FACTS = sa.text(
    """
    select
        current_user::text as role,
        current_database()::text as database,
        current_setting('server_version_num')::int / 10000 as server_version,
        (select extversion from pg_extension where extname = 'vector') as extension,
        (select default_version from pg_available_extensions where name = 'vector') as available,
        me.rolsuper or coalesce((
            select trusted from pg_available_extension_versions v
            join pg_available_extensions e on e.name = v.name and e.default_version = v.version
            where v.name = 'vector'
        ), false) as may_make_extension,
        me.rolsuper or me.rolcreaterole as may_make_roles,
        me.rolsuper or me.rolbypassrls as above_row_security,
        reader.oid is not null as reader_exists,
        coalesce(pg_has_role(current_user, reader.oid, 'member'), false) as reader_usable,
        coalesce(reader.rolsuper or reader.rolbypassrls, false) as reader_above_row_security,
        array(
            select wanted from unnest(cast(:secured as text[])) as wanted
            where not exists (
                select from pg_class c
                where c.oid = to_regclass(wanted) and c.relrowsecurity and c.relforcerowsecurity
            )
            order by wanted
        ) as unsecured,
        to_regclass('alembic_version') is not null as migrated
    from pg_roles me left join pg_roles reader on reader.rolname = :reader
    where me.rolname = current_user
    """
)


def gather(connection: sa.Connection, known_revisions: Sequence[str]) -> SchemaState:
    """Read the facts. `known_revisions`: every schema revision of this program, newest first."""
    facts = dict(connection.execute(_FACTS, {"secured": sorted(ROW_SECURITY), "reader": READER}).mappings().one())
    migrated = facts.pop("migrated")
    revision = connection.scalar(sa.text("select version_num from alembic_version")) if migrated else None
    unsecured = tuple(facts.pop("unsecured"))
    return SchemaState(**facts, unsecured=unsecured, revision=revision, known_revisions=tuple(known_revisions))


def server_problems(state: SchemaState) -> list[str]:
    """What keeps the schema from being made or brought up to date."""
    problems = []
    if state.server_version < OLDEST_SERVER:
        problems.append(f"the server is PostgreSQL {state.server_version}; {OLDEST_SERVER} or newer is needed")
    if state.above_row_security:
        problems.append(
            f"the role {state.role} is a superuser or bypasses row-level security, so the database could not keep "
            f"documents apart: connect as an ordinary role that owns the database {state.database}"
        )
    problems += _extension_problems(state)
    if not state.reader_usable and not state.may_make_roles:
        make = "" if state.reader_exists else f"create role {READER} nologin; "
        problems.append(f"a superuser must run once: {make}grant {READER} to {state.role};")
    if state.reader_above_row_security:
        problems.append(f"a superuser must run: alter role {READER} nosuperuser nobypassrls;")
    if state.revision is not None and state.revision not in state.known_revisions:
        problems.append(
            f"the schema is at revision {state.revision}, newer than this program's {state.known_revisions[0]}: "
            "update the program"
        )
    return problems


def _extension_problems(state: SchemaState) -> list[str]:
    wanted = ".".join(map(str, OLDEST_EXTENSION))
    version = state.extension or state.available
    if version is None:
        return [f"the server has no pgvector: install version {wanted} or newer on it"]
    if _version(version) < OLDEST_EXTENSION:
        update = (
            f"; then, as a superuser: alter extension vector update; in {state.database}" if state.extension else ""
        )
        return [f"pgvector is version {version}: install {wanted} or newer on the server{update}"]
    if state.extension is None and not state.may_make_extension:
        return [f"a superuser must run once, in the database {state.database}: create extension vector;"]
    return []


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".") if part.isdigit())


def schema_problems(state: SchemaState) -> list[str]:
    """What is wrong with a schema that should be finished."""
    if state.revision is None:
        return [f"the database {state.database} has no schema yet: it is made by `footnote run` or `footnote sync`"]
    if state.revision in state.known_revisions[1:]:
        return [f"the schema is at revision {state.revision}, older than this program's {state.known_revisions[0]}"]
    problems = []
    if not state.reader_usable:
        problems.append(f"the role {READER} is missing: create role {READER} nologin; grant {READER} to {state.role};")
    if state.unsecured:
        problems.append(
            f"row-level security is not forced on {', '.join(state.unsecured)}: restore it from a migration"
        )
    return problems
