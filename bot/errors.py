"""Errors of the Slack side. As in `knowledge.errors`, a message names the value and the remedy."""

from knowledge.errors import FootnoteError


class SlackUnavailable(FootnoteError):
    """Slack did not answer, or refused, a question whose answer is needed to decide who may read what."""


class SlackMisconfigured(FootnoteError):
    """A token or a scope is missing or wrong; the message names it."""
