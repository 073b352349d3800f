"""Errors of the Slack side. As in `knowledge.errors`, a message names the value and the remedy."""

from knowledge.errors import FootnoteError


class SlackUnavailable(FootnoteError):
    """Slack did not answer, or refused, a question whose answer is needed to decide who may read what."""


class SlackBusy(SlackUnavailable):
    """Slack has had enough calls for this minute; the same call will be answered later."""


class SlackMisconfigured(FootnoteError):
    """A token or a scope is missing or wrong; the message names it."""


class PortUnusable(FootnoteError):
    """A port cannot be listened at, because it is taken or not allowed; the message names its setting."""


class Undeliverable(FootnoteError):
    """The place of a reply is gone or closed: the channel was archived or deleted, the bot removed, the thread deleted."""


class Closed(Undeliverable):
    """The place may still be there, with what was said in it, but the bot may not write there: archived, or removed from it."""


class DemoFailed(FootnoteError):
    """The demo's bot did not do what the script waits for."""


class UsageWrong(FootnoteError):
    """A command was called in a way that cannot work, such as a sync without any source; the exit status is 2."""
