"""Calls to Slack that failed: Slack's code for it, and the error of ours that it means."""

from slack_sdk.errors import SlackApiError

from bot.errors import Closed, SlackUnavailable, Undeliverable

CLOSED = frozenset(
    [
        "channel_not_found",
        "is_archived",
        "not_in_channel",
        "restricted_action",
        "restricted_action_non_threadable_channel",
        "restricted_action_read_only_channel",
        "restricted_action_thread_locked",
        "restricted_action_thread_only_channel",
    ]
)
"""The bot may not write there. A private channel that it was removed from is not found."""
GONE = frozenset(
    [
        "user_disabled",
        "invalid_thread_ts",
        "thread_not_found",
        "messages_tab_disabled",
        "cannot_reply_to_message",
        "user_not_in_channel",
        "message_not_found",
        "cant_update_message",
    ]
)
NOWHERE = CLOSED | GONE
"""There is no place any more where the reply could go."""


def translated(error: BaseException, what: str) -> Undeliverable | SlackUnavailable:
    name = code(error)
    kind = Closed if name in CLOSED else Undeliverable if name in GONE else SlackUnavailable
    return kind(f"{what}: {name}")


def code(error: BaseException) -> str:
    """Slack's error code, or the kind of failure; never the text of a message."""
    return str(error.response.get("error")) if isinstance(error, SlackApiError) else type(error).__name__
