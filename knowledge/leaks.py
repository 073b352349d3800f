"""The probe that looks at a search's result from outside the search."""

from collections.abc import Iterable

import sqlalchemy as sa

from knowledge.permissions import Scopes
from knowledge.tables import acls, chunks


def leaked(connection: sa.Connection, chunk_ids: Iterable[int], scopes: Scopes) -> frozenset[int]:
    """Those of the chunks that exist and that a holder of `scopes` may not read; in a transaction that writes.

    It goes by the access list's scopes, not by the ids and policies that the search uses.
    """
    query = sa.select(chunks.c.id, acls.c.scopes).join(acls, acls.c.id == chunks.c.acl_id)
    rows = connection.execute(query.where(chunks.c.id.in_(list(chunk_ids))))
    return frozenset(row.id for row in rows if not scopes & frozenset(row.scopes))
