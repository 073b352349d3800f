"""Errors of the clock and the queue."""

from knowledge.errors import FootnoteError


class QueueUnusable(FootnoteError):
    """The work queue's own schema is missing or of another version; the message says which command builds it."""


class TryAgain(FootnoteError):
    """A task could not be done now and may well be later; the queue tries it again after a pause."""
