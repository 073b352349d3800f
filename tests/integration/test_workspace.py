"""Facts about people and channels when the server's clock was set back: what they say they are from is then still to come."""

from datetime import timedelta

import pytest
import sqlalchemy as sa

from knowledge import workspace
from knowledge.db import Database
from knowledge.tables import facts

KEY = "members:CLEGAL"
LONG = timedelta(days=1)


@pytest.fixture
def set_back(database: Database) -> Database:
    """A member list was known, and then the clock was set back by an hour."""
    with database.plain() as connection:
        assert workspace.write(connection, {KEY: ["UANA"]}, workspace.moment(connection))
        connection.execute(sa.update(facts).values(as_of=facts.c.as_of + timedelta(hours=1)))
    return database


def known(database: Database) -> object:
    with database.plain() as connection:
        return workspace.read(connection, [KEY], workspace.moment(connection) - LONG).values.get(KEY)


def test_what_is_from_the_future_is_not_known(set_back: Database) -> None:
    assert known(set_back) is None


@pytest.mark.parametrize("gone", [KEY, "members:*"])
def test_a_change_that_is_heard_of_counts_also_when_the_clock_has_caught_up(set_back: Database, gone: str) -> None:
    with set_back.plain() as connection:
        workspace.forget(connection, [gone])
        connection.execute(sa.update(facts).values(as_of=facts.c.as_of - timedelta(hours=2)))
    assert known(set_back) is None


@pytest.mark.parametrize("there", [KEY, "members:*"])
def test_what_is_asked_for_now_replaces_what_is_from_the_future(set_back: Database, there: str) -> None:
    with set_back.plain() as connection:
        connection.execute(sa.update(facts).values(key=there))
        assert workspace.write(connection, {KEY: ["UBEN"]}, workspace.moment(connection))
    assert known(set_back) == ["UBEN"]


def test_what_was_asked_for_before_the_clock_was_set_back_is_not_kept(database: Database) -> None:
    with database.plain() as connection:
        assert not workspace.write(connection, {KEY: ["UANA"]}, workspace.moment(connection) + timedelta(hours=1))
    assert known(database) is None
