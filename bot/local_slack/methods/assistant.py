"""assistant.threads.*: status line, title, suggested prompts."""

from typing import Any

from bot.local_slack.arguments import Arguments
from bot.local_slack.changes import StatusChanged
from bot.local_slack.errors import ApiError
from bot.local_slack.methods.registry import method, writable_channel
from bot.local_slack.state import State
from bot.local_slack.statuses import Status

Json = dict[str, Any]

LOADING_MESSAGES = 10
PROMPTS = 4


@method("assistant.threads.setStatus", "chat:write", tier="4")
def set_status(state: State, arguments: Arguments) -> Json:
    channel = writable_channel(state, arguments.required("channel_id"))
    thread_ts = arguments.required("thread_ts")
    loading = arguments.structure("loading_messages") or []
    if len(loading) > LOADING_MESSAGES:
        raise ApiError("invalid_arguments")
    status = Status(arguments.text("status"), tuple(loading), state.clock.now())
    state.statuses.set(channel.id, thread_ts, status)
    state.tell(StatusChanged(channel.id, thread_ts))
    return {}


@method("assistant.threads.setTitle", "assistant:write", tier="4")
def set_title(state: State, arguments: Arguments) -> Json:
    channel = writable_channel(state, arguments.required("channel_id"))
    thread_ts = arguments.required("thread_ts")
    state.statuses.titles[channel.id, thread_ts] = arguments.required("title")
    state.tell(StatusChanged(channel.id, thread_ts))
    return {}


@method("assistant.threads.setSuggestedPrompts", "assistant:write", tier="4")
def set_suggested_prompts(state: State, arguments: Arguments) -> Json:
    """`thread_ts` may be left out in the DM, as agents do since 2026."""
    channel = writable_channel(state, arguments.required("channel_id"))
    prompts = arguments.structure("prompts") or []
    if not 1 <= len(prompts) <= PROMPTS or any(not {"title", "message"} <= set(each) for each in prompts):
        raise ApiError("invalid_arguments")
    thread_ts = arguments.text("thread_ts")
    state.statuses.prompts[channel.id, thread_ts] = prompts
    state.tell(StatusChanged(channel.id, thread_ts))
    return {}
