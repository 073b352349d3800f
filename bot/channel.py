"""One Slack channel as the bot can read it: messages, threads and files, each list to its end or not at all."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

from bot.client import FAILURES
from knowledge.errors import SourceFailed

Json = Mapping[str, Any]

PAGE = 200
"""Slack recommends no more for lists of messages."""
GONE = frozenset({"thread_not_found", "message_not_found"})


class Channel:
    """Every method raises `SourceFailed` when Slack refuses, cannot be reached, or does not hand over a whole list."""

    def __init__(self, client: WebClient, channel_id: str) -> None:
        self._client = client
        self._id = channel_id

    def history(self) -> Iterator[Json]:
        """What the channel shows, newest first: no replies, except those that were also sent to the channel."""
        return self._messages(self._client.conversations_history)

    def thread(self, ts: str) -> tuple[Json, ...]:
        """The messages of the thread that begins at `ts`; empty when it was deleted."""
        try:
            return tuple(self._messages(self._client.conversations_replies, ts=ts))
        except SourceFailed as failed:
            if isinstance(failed.__cause__, SlackApiError) and failed.__cause__.response.get("error") in GONE:
                return ()
            raise

    def permalink(self, ts: str) -> str:
        return str(self._ask(self._client.chat_getPermalink, message_ts=ts)["permalink"])

    def files(self) -> Iterator[Json]:
        """Files shared in the channel or its threads, each once. This list has numbered pages."""
        seen: set[str] = set()
        number = pages = 1
        while number <= pages:
            answer = self._ask(self._client.files_list, count=PAGE, page=number)
            if "paging" not in answer.data:
                raise SourceFailed(f"Slack's list of files in {self._id} was cut short; nothing was deleted")
            for file in answer["files"]:
                if file["id"] not in seen:
                    seen.add(file["id"])
                    yield file
            number, pages = number + 1, int(answer["paging"]["pages"])

    def _messages(self, method: Callable[..., Any], **arguments: str) -> Iterator[Json]:
        cursor: str | None = None
        while cursor != "":
            answer = self._ask(method, limit=PAGE, cursor=cursor, **arguments)
            yield from answer["messages"]
            cursor = str((answer.get("response_metadata") or {}).get("next_cursor") or "")
            if answer.get("has_more") and not cursor:
                raise SourceFailed(f"Slack's list of messages in {self._id} was cut short; nothing was deleted")

    def _ask(self, method: Callable[..., Any], **arguments: object) -> Any:
        try:
            return method(channel=self._id, **arguments)
        except SlackApiError as error:
            raise SourceFailed(f"{refusal(self._id, error)}; nothing was deleted") from error
        except FAILURES as error:
            raise SourceFailed(f"Slack cannot be reached ({type(error).__name__}); nothing was deleted") from error


def refusal(channel: str, error: SlackApiError) -> str:
    """Why Slack does not let a channel be read, and what to do about it."""
    code = str(error.response.get("error") or f"HTTP status {error.response.status_code}")
    if error.response.status_code == 429:
        return f"channel {channel} could not be read to its end, because Slack asks for fewer calls for now"
    invite = "type `/invite @bot` there, with the bot's name"
    if code == "not_in_channel":
        return f"the bot is not in channel {channel} ({code}): {invite}"
    if code == "channel_not_found":
        says = "the id is wrong, or the channel is private and the bot is not in it"
        compare = "compare the id with the one at the end of the channel's About tab"
        return f"Slack shows the bot no channel {channel} ({code}): {says}; {compare}, or {invite}"
    if code == "missing_scope":
        needed = error.response.get("needed")
        return f"channel {channel} cannot be read without the scope {needed}: add it to the app and reinstall the app"
    return f"Slack does not let channel {channel} be read ({code})"
