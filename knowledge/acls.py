"""Access lists in the database: each distinct set of scopes once, and the one predicate that every read carries."""

from collections.abc import Iterable

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import array, insert

from knowledge.permissions import Scopes
from knowledge.tables import acls


def visible(acl_id: sa.ColumnElement[int], scopes: Scopes) -> sa.ColumnElement[bool]:
    """The rows whose access list shares a scope with `scopes`; an empty set compiles to no rows.

    The sub-select is evaluated once per statement, so the filter on the row is one integer comparison.
    """
    return acl_id == sa.any_(array_of_ids(scopes))


def lists(scopes: Scopes) -> sa.CTE:
    """The access lists a holder of `scopes` may read, looked up once for a statement that filters by them in many places."""
    return sa.select(array_of_ids(scopes).label("ids")).cte("readable")


def among(acl_id: sa.ColumnElement[int], readable: sa.CTE) -> sa.ColumnElement[bool]:
    """`visible` by the access lists that the statement has looked up already."""
    return acl_id == sa.any_(sa.cast(sa.select(readable.c.ids).scalar_subquery(), sa.ARRAY(sa.Integer)))


def array_of_ids(scopes: Scopes) -> sa.ColumnElement[list[int]]:
    """The ids of the access lists a holder of `scopes` may read, as one value of a statement.

    One look into the index for each scope; the planner prefers to compare `scopes &&` with every list, which takes
    seven times as long for 40 scopes and 2,000 lists.
    """
    held = sa.func.unnest(sa.cast(sorted(scopes), sa.ARRAY(sa.Text))).table_valued("scope").render_derived()
    shares = acls.c.scopes.contains(array([held.c.scope]))
    return sa.func.array(sa.select(acls.c.id).distinct().select_from(held).join(acls, shares).scalar_subquery())


def intern(connection: sa.Connection, scopes: Iterable[str]) -> int:
    """The id of this set of scopes, made on first use. An empty set gets an id too; nobody can read it."""
    key = sorted(set(scopes))
    found = connection.scalar(sa.select(acls.c.id).where(acls.c.scopes == key))
    if found is not None:
        return int(found)
    connection.execute(insert(acls).values(scopes=key).on_conflict_do_nothing())
    return int(connection.execute(sa.select(acls.c.id).where(acls.c.scopes == key)).scalar_one())
