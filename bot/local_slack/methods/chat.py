"""chat.* but for the streams: posting, updating, deleting, ephemeral messages, permalinks."""

from typing import Any

from bot.local_slack.arguments import Arguments
from bot.local_slack.errors import ApiError
from bot.local_slack.message import Message
from bot.local_slack.methods.registry import method, visible_channel, visible_message, writable_channel
from bot.local_slack.objects import message_object
from bot.local_slack.state import State
from bot.local_slack.validation import MARKDOWN_CHARS, TEXT_CHARS, UPDATE_TEXT_CHARS, check_message_blocks
from bot.local_slack.views import with_block_ids

Json = dict[str, Any]


@method("chat.postMessage", "chat:write", tier="per channel")
def chat_post_message(state: State, arguments: Arguments) -> Json:
    channel = writable_channel(state, arguments.required("channel"))
    text, blocks = content(arguments)
    thread_ts = thread(state, channel.id, arguments)
    message = state.say(
        channel.id,
        state.bot.id,
        text[:TEXT_CHARS],
        blocks=blocks,
        thread_ts=thread_ts,
        from_bot=True,
        metadata=arguments.structure("metadata", "invalid_metadata_format"),
    )
    answer = {"channel": channel.id, "ts": message.ts, "message": message_object(state, message, with_metadata=True)}
    if len(text) > TEXT_CHARS:
        answer |= {"warning": "message_truncated", "response_metadata": {"warnings": ["message_truncated"]}}
    return answer


@method("chat.postEphemeral", "chat:write", tier="4")
def chat_post_ephemeral(state: State, arguments: Arguments) -> Json:
    channel = writable_channel(state, arguments.required("channel"))
    user = arguments.required("user")
    if user not in channel.members:
        raise ApiError("user_not_in_channel")
    text, blocks = content(arguments)
    thread_ts = arguments.text("thread_ts") or None
    message = state.say(
        channel.id, state.bot.id, text, blocks=blocks, thread_ts=thread_ts, from_bot=True, only_for=user
    )
    return {"message_ts": message.ts}


@method("chat.update", "chat:write")
def chat_update(state: State, arguments: Arguments) -> Json:
    message = own_message(state, arguments, "cant_update_message")
    if message.stream and message.stream.is_open(state.clock.now()):
        raise ApiError("streaming_state_conflict")
    text, blocks = content(arguments)
    if len(text) > UPDATE_TEXT_CHARS and not arguments.text("markdown_text"):
        raise ApiError("msg_too_long")
    metadata = arguments.structure("metadata", "invalid_metadata_format")
    edited_ts = state.clock.timestamp()

    def apply(target: Message) -> None:
        target.text = text
        if "blocks" in arguments or "markdown_text" in arguments or target.stream:
            target.blocks = blocks
        target.metadata = metadata or target.metadata
        target.edited_ts, target.edited_by = edited_ts, state.bot.id
        target.stream = None

    state.edit(message, apply)
    shown = message_object(state, message, with_metadata=True)
    return {"channel": message.channel, "ts": message.ts, "text": text, "message": shown}


@method("chat.delete", "chat:write")
def chat_delete(state: State, arguments: Arguments) -> Json:
    message = own_message(state, arguments, "cant_delete_message")
    if message.stream and message.stream.is_open(state.clock.now()):
        raise ApiError("cant_delete_message")
    state.delete(message)
    return {"channel": message.channel, "ts": message.ts}


@method("chat.getPermalink", tier="none")
def chat_get_permalink(state: State, arguments: Arguments) -> Json:
    channel = visible_channel(state, arguments.required("channel"))
    message = visible_message(state, channel, arguments.required("message_ts"))
    link = f"{state.address}/archives/{channel.id}/p{message.ts.replace('.', '')}"
    if message.is_reply:
        link += f"?thread_ts={message.thread_ts}&cid={channel.id}"
    return {"channel": channel.id, "permalink": link}


def content(arguments: Arguments) -> tuple[str, list[Json]]:
    """Text and blocks of a message to be; `markdown_text` becomes a markdown block.

    Raises ApiError: markdown_text_conflict, msg_too_long, no_text, and those of the block check.
    """
    text = arguments.text("text")
    markdown = arguments.text("markdown_text")
    blocks = arguments.structure("blocks", "invalid_blocks_format") or []
    if not isinstance(blocks, list):
        raise ApiError("invalid_blocks_format")
    if markdown and (text or blocks):
        raise ApiError("markdown_text_conflict")
    if len(markdown) > MARKDOWN_CHARS:
        raise ApiError("msg_too_long")
    if markdown:
        text, blocks = markdown, [{"type": "markdown", "text": markdown}]
    if not text and not blocks and not arguments.structure("attachments"):
        raise ApiError("no_text")
    check_message_blocks(blocks)
    return text, with_block_ids(blocks)


def thread(state: State, channel: str, arguments: Arguments) -> str | None:
    """The root's ts for a reply. Raises ApiError("invalid_thread_ts") for a thread that is not there."""
    thread_ts = arguments.text("thread_ts")
    if not thread_ts:
        return None
    root = state.messages.get(channel, {}).get(thread_ts)
    if root is None:
        raise ApiError("invalid_thread_ts")
    return root.root


def own_message(state: State, arguments: Arguments, refusal: str) -> Message:
    channel = visible_channel(state, arguments.required("channel"))
    message = visible_message(state, channel, arguments.required("ts"))
    if not message.from_bot:
        raise ApiError(refusal)
    if channel.archived:
        raise ApiError("is_archived")
    return message
