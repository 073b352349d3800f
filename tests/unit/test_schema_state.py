"""What is said about a server, from the facts alone."""

from dataclasses import replace

import pytest

from knowledge.schema_state import SchemaState, schema_problems, server_problems

HEALTHY = SchemaState(
    role="footnote",
    database="company",
    server_version=18,
    extension="0.8.6",
    available="0.8.6",
    may_make_extension=False,
    may_make_roles=False,
    above_row_security=False,
    reader_exists=True,
    reader_usable=True,
    reader_above_row_security=False,
    unsecured=(),
    revision="0002",
    known_revisions=("0002", "0001"),
)
EMPTY = replace(HEALTHY, revision=None, unsecured=("chunks",))


def test_a_healthy_database_has_no_problems() -> None:
    assert server_problems(HEALTHY) == []
    assert schema_problems(HEALTHY) == []


def test_an_empty_database_can_be_migrated_but_is_not_finished() -> None:
    assert server_problems(EMPTY) == []
    assert len(schema_problems(EMPTY)) == 1


@pytest.mark.parametrize(
    ("state", "complaint"),
    [
        (replace(HEALTHY, server_version=14), "the server is PostgreSQL 14; 15 or newer is needed"),
        (
            replace(HEALTHY, extension=None, available=None),
            "the server has no pgvector: install version 0.8 or newer on it",
        ),
        (
            replace(HEALTHY, extension=None, available="0.7.4"),
            "pgvector is version 0.7.4: install 0.8 or newer on the server",
        ),
        (
            replace(HEALTHY, extension="0.5.1"),
            "pgvector is version 0.5.1: install 0.8 or newer on the server; "
            "then, as a superuser: alter extension vector update; in company",
        ),
        (
            replace(HEALTHY, extension=None),
            "a superuser must run once, in the database company: create extension vector;",
        ),
        (
            replace(HEALTHY, reader_exists=False, reader_usable=False),
            "a superuser must run once: create role footnote_reader nologin; grant footnote_reader to footnote;",
        ),
        (
            replace(HEALTHY, reader_usable=False),
            "a superuser must run once: grant footnote_reader to footnote;",
        ),
        (
            replace(HEALTHY, reader_above_row_security=True),
            "a superuser must run: alter role footnote_reader nosuperuser nobypassrls;",
        ),
        (
            replace(HEALTHY, above_row_security=True),
            "the role footnote is a superuser or bypasses row-level security, so the database could not keep documents "
            "apart: connect as an ordinary role that owns the database company",
        ),
        (
            replace(HEALTHY, revision="0003"),
            "the schema is at revision 0003, newer than this program's 0002: update the program",
        ),
    ],
)
def test_each_fault_of_a_server_is_named_with_its_remedy(state: SchemaState, complaint: str) -> None:
    assert server_problems(state) == [complaint]


@pytest.mark.parametrize(
    ("state", "complaint"),
    [
        (replace(HEALTHY, revision="0001"), "the schema is at revision 0001, older than this program's 0002"),
        (
            replace(HEALTHY, unsecured=("answers", "chunks")),
            "row-level security is not forced on answers, chunks: restore it from a migration",
        ),
    ],
)
def test_each_fault_of_a_schema_is_named(state: SchemaState, complaint: str) -> None:
    assert schema_problems(state) == [complaint]


def test_what_a_role_may_do_itself_is_not_asked_of_a_superuser() -> None:
    able = replace(
        EMPTY, extension=None, may_make_extension=True, reader_exists=False, reader_usable=False, may_make_roles=True
    )
    assert server_problems(able) == []


def test_all_problems_are_named_at_once() -> None:
    broken = replace(HEALTHY, server_version=13, extension=None, available=None, reader_usable=False)
    assert len(server_problems(broken)) == 3


@pytest.mark.parametrize("version", ["0.8", "0.8.0", "0.10.1", "1.0"])
def test_newer_extensions_are_welcome(version: str) -> None:
    assert server_problems(replace(HEALTHY, extension=version)) == []
