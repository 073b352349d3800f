"""chat.startStream, chat.appendStream, chat.stopStream.

As measured by others on the real service: an open stream refuses chat.update (streaming_state_conflict) and
chat.delete; one that was stopped, or that is older than its lifetime, refuses append and stop.
"""

from typing import Any

from slack_sdk.errors import SlackObjectFormationError
from slack_sdk.models.messages.chunk import Chunk

from bot.local_slack.arguments import Arguments
from bot.local_slack.errors import ApiError
from bot.local_slack.message import Message, Stream
from bot.local_slack.methods.chat import own_message, thread
from bot.local_slack.methods.registry import method, writable_channel
from bot.local_slack.objects import message_object
from bot.local_slack.state import State
from bot.local_slack.validation import MARKDOWN_CHARS, check_message_blocks
from bot.local_slack.views import with_block_ids

Json = dict[str, Any]


@method("chat.startStream", "chat:write", tier="2")
def chat_start_stream(state: State, arguments: Arguments) -> Json:
    channel = writable_channel(state, arguments.required("channel"))
    arguments.required("thread_ts")
    thread_ts = thread(state, channel.id, arguments)
    if channel.kind != "im":
        _recipient(state, arguments)
    stream = Stream(state.clock.now(), _chunks(arguments))
    message = state.say(channel.id, state.bot.id, "", thread_ts=thread_ts, from_bot=True, stream=stream)
    return {"channel": channel.id, "ts": message.ts}


@method("chat.appendStream", "chat:write", tier="4")
def chat_append_stream(state: State, arguments: Arguments) -> Json:
    message, stream = _open_stream(state, arguments)
    chunks = _chunks(arguments)
    if not chunks:
        raise ApiError("no_text")
    state.edit(message, lambda _: stream.chunks.extend(chunks), quiet=True)
    return {"channel": message.channel, "ts": message.ts}


@method("chat.stopStream", "chat:write", tier="2")
def chat_stop_stream(state: State, arguments: Arguments) -> Json:
    message, stream = _open_stream(state, arguments)
    chunks = _chunks(arguments)
    blocks = arguments.structure("blocks", "invalid_blocks_format") or []
    check_message_blocks(blocks)
    metadata = arguments.structure("metadata", "invalid_metadata_format")

    def finish(target: Message) -> None:
        # A copy, so that the message as it was before the edit keeps its own open stream.
        target.stream = Stream(stream.started_at, [*stream.chunks, *chunks], stopped=True)
        target.blocks = with_block_ids(blocks)
        target.metadata = metadata or target.metadata

    state.edit(message, finish)
    shown = message_object(state, message, with_metadata=True)
    return {"channel": message.channel, "ts": message.ts, "message": shown}


def _recipient(state: State, arguments: Arguments) -> None:
    user, team = arguments.text("recipient_user_id"), arguments.text("recipient_team_id")
    if not user:
        raise ApiError("missing_recipient_user_id")
    if not team:
        raise ApiError("missing_recipient_team_id")
    if user not in state.people:
        raise ApiError("user_not_found")


def _open_stream(state: State, arguments: Arguments) -> tuple[Message, Stream]:
    message = own_message(state, arguments, "message_not_owned_by_app")
    if message.stream is None or not message.stream.is_open(state.clock.now()):
        raise ApiError("message_not_in_streaming_state")
    return message, message.stream


def _chunks(arguments: Arguments) -> list[Json]:
    """The chunks given; `markdown_text` is one of them. Raises ApiError("invalid_chunks") or ApiError("msg_too_long")."""
    markdown = arguments.text("markdown_text")
    chunks = arguments.structure("chunks", "invalid_chunks") or []
    if markdown:
        chunks = [{"type": "markdown_text", "text": markdown}, *chunks]
    for chunk in chunks:
        try:
            parsed = Chunk.parse(chunk)
        except (TypeError, SlackObjectFormationError) as error:
            raise ApiError("invalid_chunks") from error
        if parsed is None:
            raise ApiError("invalid_chunks")
        if chunk["type"] == "markdown_text" and len(chunk["text"]) > MARKDOWN_CHARS:
            raise ApiError("msg_too_long")
        if chunk["type"] == "blocks":
            check_message_blocks(chunk["blocks"])
    return list(chunks)
