"""A person's votes are counted one after the other, however many workers count them."""

from concurrent.futures import ThreadPoolExecutor

import sqlalchemy as sa

from knowledge import votes
from knowledge.db import Database
from tests.company import until
from tests.rows import add_answer

EVERYONE = frozenset({"workspace"})
WAITING = """
    select true from pg_locks join pg_database on pg_database.oid = pg_locks.database
    where not granted and datname = current_database()
"""


def test_votes_that_two_workers_count_at_once_are_both_counted(database: Database) -> None:
    with database.writing() as connection:
        for answer in ("first", "second", "of somebody else"):
            add_answer(connection, answer, EVERYONE)

    def cast(answer: str, person: str) -> int:
        with database.plain() as connection:
            votes.cast(connection, answer, person, 1)
            return votes.cast_today(connection, person)

    with ThreadPoolExecutor(1) as pool, database.plain() as connection, database.plain() as looking:
        votes.cast(connection, "first", "UBEN", 1)
        assert cast("of somebody else", "UANA") == 1
        second = pool.submit(cast, "second", "UBEN")
        until(lambda: second.done() or looking.scalar(sa.text(WAITING)))
        connection.commit()
        assert second.result(20) == 2
