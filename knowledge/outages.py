"""Errors that are the server's state and not a statement's fault: the same may work later."""

import psycopg
import sqlalchemy as sa

from knowledge.errors import DatabaseUnusable, FootnoteError

OUTAGES = (psycopg.OperationalError, psycopg.errors.ReadOnlySqlTransaction)
"""Of a server that is away, restarting, full, or a standby that cannot write yet."""


def is_outage(error: BaseException | None) -> bool:
    """Whether the error, or one that it was raised from, is an outage."""
    return caused_by(error, OUTAGES) is not None


def caused_by(error: BaseException | None, kinds: tuple[type[BaseException], ...]) -> BaseException | None:
    """The first of these kinds among the error and those that it was raised from."""
    while error is not None and not isinstance(error, kinds):
        error = error.__cause__
    return error


def in_words(error: BaseException | None, address: sa.URL) -> DatabaseUnusable | None:
    """What to raise from an outage, for somebody who does not try again; None for any other error, and for one that has
    words already.
    """
    outage = caused_by(error, OUTAGES)
    if outage is None or isinstance(error, FootnoteError):
        return None
    return DatabaseUnusable(
        f"the database {shown(address)} failed: {reason(outage)}. See that its server runs, has room on its disk and is "
        "no standby, then run the command again; what was finished before is kept"
    )


def shown(address: sa.URL) -> str:
    """The address without its secrets, which may stand among its options too."""
    secret = [name for name in address.query if "password" in name]
    return address.difference_update_query(secret).render_as_string(hide_password=True)


def reason(error: BaseException) -> str:
    """The server's words; the lines after the first are hints and places in the statement."""
    return (str(error).splitlines() or [type(error).__name__])[0]
