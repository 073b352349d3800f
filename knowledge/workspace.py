"""What is known about people, channels and memberships, each fact with the moment from which it is known.

A fact's key is `kind:id`. A change that was heard of is written as a fact without a value, so that an answer which was
already under way when the change came cannot bring the old state back: a fact never replaces a younger one. The id `*`
is the tombstone of a whole kind: every older fact of that kind counts as unknown. A fact from the future, which there is
when the clock was set back, is of unknown age: it is not known, and whatever is written takes its place.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from knowledge.tables import facts

ANY = "*"


@dataclass(frozen=True)
class Known:
    """`values` holds the keys that are known; `moment` is the database's clock at the time of reading."""

    values: Mapping[str, Any]
    moment: datetime


def moment(connection: sa.Connection) -> datetime:
    """The one clock that all processes share."""
    now: datetime = connection.execute(sa.select(sa.func.clock_timestamp())).scalar_one()
    return now


def read(connection: sa.Connection, keys: Iterable[str], not_before: datetime) -> Known:
    """The facts of `keys` that were established at or after `not_before`; the others are left out."""
    wanted = list(keys)
    everything = {*wanted, *map(_tombstone, wanted)}
    rows = connection.execute(sa.select(facts.c.key, facts.c.value, facts.c.as_of).where(facts.c.key.in_(everything)))
    stored = {row.key: row for row in rows}
    now = moment(connection)
    values = {}
    for key in wanted:
        row, tombstone = stored.get(key), stored.get(_tombstone(key))
        if row is None or row.value is None or not not_before <= row.as_of <= now:
            continue
        if tombstone is None or row.as_of > tombstone.as_of:
            values[key] = row.value
    return Known(values, now)


def write(connection: sa.Connection, values: Mapping[str, Any], as_of: datetime) -> bool:
    """Keep facts whose asking began at `as_of`. False when one of them is older than what is already known, or from a
    time that has not come yet.
    """
    if not values:
        return True
    if as_of > moment(connection):
        return False
    _drop_future(connection, facts.c.key.in_({*values, *map(_tombstone, values)}))
    tombstones = sa.select(facts.c.key).where(facts.c.key.in_(set(map(_tombstone, values))), facts.c.as_of >= as_of)
    if connection.execute(tombstones).first() is not None:
        return False
    return _upsert(connection, values, as_of) == len(values)


def forget(connection: sa.Connection, keys: Iterable[str]) -> None:
    """Something about these changed; `kind:*` stands for every fact of a kind."""
    if gone := dict.fromkeys(keys):
        kinds = [key.removesuffix(ANY) for key in gone if key.endswith(f":{ANY}")]
        of_them = (facts.c.key.startswith(kind, autoescape=True) for kind in kinds)
        _drop_future(connection, sa.or_(facts.c.key.in_(gone), *of_them))
        _upsert(connection, gone, moment(connection))


def find(connection: sa.Connection, kind: str, name: str) -> str | None:
    """The id of the person or channel last known by `name`; None when nobody or more than one is."""
    rows = connection.scalars(sa.select(facts.c.key).where(facts.c.key.startswith(f"{kind}:"), _name == name)).all()
    return rows[0].partition(":")[2] if len(rows) == 1 else None


_name = facts.c.value["name"].astext


def _tombstone(key: str) -> str:
    return f"{key.partition(':')[0]}:{ANY}"


def _drop_future(connection: sa.Connection, which: sa.ColumnElement[bool]) -> None:
    connection.execute(sa.delete(facts).where(which, facts.c.as_of > sa.func.clock_timestamp()))


def _upsert(connection: sa.Connection, values: Mapping[str, Any], as_of: datetime) -> int:
    rows = [{"key": key, "value": value, "as_of": as_of} for key, value in sorted(values.items())]
    new = insert(facts)
    statement = new.on_conflict_do_update(
        index_elements=[facts.c.key],
        set_={"value": new.excluded.value, "as_of": new.excluded.as_of},
        where=facts.c.as_of <= new.excluded.as_of,
    )
    return len(connection.scalars(statement.returning(facts.c.key), rows).all())
