"""files.*: the three steps of an upload, reading and listing. The bytes themselves travel over upload and file URLs."""

from typing import Any

from bot.local_slack.arguments import Arguments
from bot.local_slack.changes import FileShared
from bot.local_slack.errors import ApiError
from bot.local_slack.files import StoredFile
from bot.local_slack.methods.registry import method, page, visible_channel, writable_channel
from bot.local_slack.objects import file_object
from bot.local_slack.state import State

Json = dict[str, Any]


@method("files.getUploadURLExternal", "files:write", tier="4")
def files_get_upload_url_external(state: State, arguments: Arguments) -> Json:
    name = arguments.required("filename")
    length = arguments.number("length", 0)
    if length <= 0:
        raise ApiError("invalid_arguments", response_metadata={"messages": ["[ERROR] length must be positive"]})
    file = state.files.announce(name, state.bot.id, state.clock.now(), length, arguments.text("alt_txt"))
    return {"upload_url": f"{state.address}/upload/{file.id}", "file_id": file.id}


@method("files.completeUploadExternal", "files:write", tier="4")
def files_complete_upload_external(state: State, arguments: Arguments) -> Json:
    wanted = arguments.structure("files") or []
    reference = arguments.text("channel_id") or next(iter(arguments.words("channels")), "")
    stored = [_received(state, each) for each in wanted]
    if not stored:
        raise ApiError("invalid_arguments", response_metadata={"messages": ["[ERROR] missing required field: files"]})
    if reference:
        channel = writable_channel(state, reference)
        thread_ts = arguments.text("thread_ts") or None
        message = state.say(
            channel.id,
            state.bot.id,
            arguments.text("initial_comment"),
            thread_ts=thread_ts,
            from_bot=True,
            files=[file.id for file in stored],
        )
        for file, each in zip(stored, wanted, strict=True):
            state.files.share(file.id, each.get("title") or "", channel.id, message.ts)
            state.tell(FileShared(file.id, channel.id, state.bot.id))
        # Told once more, since the message was first seen before its files were shared.
        state.edit(message, lambda _: None, quiet=True)
    return {"files": [_shown(state, file.id) for file in stored]}


@method("files.info", "files:read", tier="4")
def files_info(state: State, arguments: Arguments) -> Json:
    return {"file": _shown(state, _visible(state, arguments.required("file")).id), "comments": []}


@method("files.list", "files:read")
def files_list(state: State, arguments: Arguments) -> Json:
    """Numbered pages (`count`, `page`), as this old method has them, and cursors as the newer ones."""
    channel = arguments.text("channel")
    if channel:
        visible_channel(state, channel)
    files = [file for file in state.files.shared() if _is_visible(state, file) and channel in ("", *file.channels)]
    count, number = arguments.number("count", 100), arguments.number("page", 1)
    if "cursor" in arguments or "limit" in arguments:
        shown, metadata = page(files, arguments)
    else:
        shown, metadata = files[(number - 1) * count : number * count], {"next_cursor": ""}
    paging = {"count": count, "total": len(files), "page": number, "pages": max(1, -(-len(files) // count))}
    return {"files": [file_object(state, each) for each in shown], "paging": paging, "response_metadata": metadata}


@method("files.delete", "files:write")
def files_delete(state: State, arguments: Arguments) -> Json:
    file = _visible(state, arguments.required("file"))
    if file.user != state.bot.id:
        raise ApiError("cant_delete_file")
    state.files.remove(file.id)
    return {}


def _received(state: State, wanted: Json) -> StoredFile:
    file = state.files.get(wanted.get("id", ""))
    if file is None or file.content is None:
        raise ApiError("file_not_found")
    return file


def _visible(state: State, file_id: str) -> StoredFile:
    file = state.files.get(file_id)
    if file is None or not _is_visible(state, file):
        raise ApiError("file_not_found")
    return file


def _is_visible(state: State, file: StoredFile) -> bool:
    channels = [state.channels[each] for each in file.channels]
    return file.user == state.bot.id or any(
        channel.kind == "public" or state.bot.id in channel.members for channel in channels
    )


def _shown(state: State, file_id: str) -> Json:
    file = state.files.get(file_id)
    assert file is not None
    return file_object(state, file)
