"""What an app answers to an interaction: in the acknowledgement of a command, or later over a response URL."""

from typing import Any

from bot.local_slack.arguments import Arguments
from bot.local_slack.errors import ApiError
from bot.local_slack.interactions import ResponseUrl
from bot.local_slack.message import Message
from bot.local_slack.methods.chat import content
from bot.local_slack.state import State

Json = dict[str, Any]


def respond(state: State, target: ResponseUrl, body: Json) -> Message | None:
    """Apply one answer: post it (to the person alone unless `response_type` is "in_channel"), replace or delete.

    Returns the message that now shows it, None when it was deleted. Raises ApiError as chat.postMessage does.
    """
    arguments = Arguments(body)
    original = state.find(target.channel, target.message_ts) if target.message_ts else None
    if arguments.flag("delete_original") and original:
        state.delete(original)
        return None
    text, blocks = content(arguments)
    if arguments.flag("replace_original") and original:

        def apply(message: Message) -> None:
            message.text, message.blocks, message.stream = text, blocks, None

        state.edit(original, apply)
        return original
    response_type = arguments.text("response_type") or "ephemeral"
    if response_type not in ("ephemeral", "in_channel"):
        raise ApiError("invalid_response_type")
    return state.say(
        target.channel,
        state.bot.id,
        text,
        blocks=blocks,
        thread_ts=arguments.text("thread_ts") or None,
        from_bot=True,
        only_for=target.user if response_type == "ephemeral" else None,
    )
