"""What can go wrong in the local Slack."""


class LocalSlackError(Exception):
    """Base of everything the local Slack raises to the Python code that drives it."""


class WorkspaceError(LocalSlackError):
    """The workspace file breaks its format; the message names the entry and what to write instead."""


class UnknownName(LocalSlackError):
    """A driver named a person, channel, message or element that does not exist; the message lists what does."""


class ActionRefused(LocalSlackError):
    """A person tried something Slack would not let them do, such as posting in an archived channel."""


class WaitTimeout(LocalSlackError):
    """`wait_for` gave up; the message shows the last API calls, which usually name the reason."""


class ApiError(LocalSlackError):
    """A Web API method refuses: becomes `{"ok": false, "error": code}` with Slack's own error name."""

    def __init__(self, code: str, **details: object) -> None:
        super().__init__(code)
        self.code = code
        self.details = details


class RateLimited(LocalSlackError):
    """The Web API answers 429; `retry_after` is in whole seconds, as in Slack's header."""

    def __init__(self, retry_after: int) -> None:
        super().__init__(f"rate limited, retry after {retry_after} s")
        self.retry_after = retry_after
