"""What the superuser prepares once: the roles, the extension, the application's database."""

from collections.abc import Callable

import psycopg
from psycopg import sql

from knowledge.tables import READER

OWNER = "footnote"
"""The application's role and its database. It may make databases, so that tests can clone a template."""

Connect = Callable[[str], psycopg.Connection]
"""A superuser's connection, in autocommit, to the database of that name."""


def is_prepared(connect: Connect) -> bool:
    """The database is made last, so where it exists everything else does too."""
    with connect("postgres") as connection:
        found = connection.execute("select 1 from pg_database where datname = %s", [OWNER]).fetchone()
    return found is not None


def prepare(connect: Connect, password: str) -> None:
    """Make what is missing and give the application's role this password. May be repeated after a crash halfway."""
    with connect("template1") as connection:
        connection.execute("create extension if not exists vector")
    with connect("postgres") as connection:
        roles = {name for (name,) in connection.execute("select rolname from pg_roles")}
        for role in {OWNER, READER} - roles:
            connection.execute(sql.SQL("create role {}").format(sql.Identifier(role)))
        owner, reader = sql.Identifier(OWNER), sql.Identifier(READER)
        connection.execute(sql.SQL("alter role {} login createdb password {}").format(owner, sql.Literal(password)))
        # The owner becomes the reader on purpose only; inheriting would apply the reader's policies to it as well.
        connection.execute(sql.SQL("grant {} to {} with inherit false, set true").format(reader, owner))
    if not is_prepared(connect):
        with connect("postgres") as connection:
            connection.execute(sql.SQL("create database {0} owner {0}").format(sql.Identifier(OWNER)))


def update_extension(connect: Connect) -> None:
    """Bring the extension to the version of the installed binaries, which may be newer than the data."""
    for database in ("template1", OWNER):
        with connect(database) as connection:
            connection.execute("alter extension vector update")
