"""Calls to Slack that failed: Slack's code for it, and the error of ours that it means."""

from slack_sdk.errors import SlackApiError

from bot.errors import SlackUnavailable, Undeliverable

NOWHERE = frozenset(
    [
        "channel_not_found",
        "is_archived",
        "not_in_channel",
        "restricted_action",
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
"""There is no place any more where the reply could go."""


def translated(error: BaseException, what: str) -> Undeliverable | SlackUnavailable:
    kind = Undeliverable if code(error) in NOWHERE else SlackUnavailable
    return kind(f"{what}: {code(error)}")


def code(error: BaseException) -> str:
    """Slack's error code, or the kind of failure; never the text of a message."""
    return str(error.response.get("error")) if isinstance(error, SlackApiError) else type(error).__name__
