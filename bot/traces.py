"""What is in Slack already: a thread's messages, and which of them belong to a reply, noted or not."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from slack_sdk import WebClient

from bot.client import FAILURES, Identity
from bot.errors import SlackUnavailable
from bot.failures import NOWHERE, code, translated
from knowledge import receipts
from knowledge.db import Database
from knowledge.receipts import Receipt, Reply

MARK = "footnote_reply"
"""The type of the metadata that names, in each message of a reply, the event it answers and its part."""
UNFINISHED = ""
"""The answer id of a reply whose text is still being written."""


class Traces:
    """Threads share it."""

    def __init__(self, client: WebClient, database: Database, me: Identity) -> None:
        self._client = client
        self._database = database
        self._me = me

    def thread(self, channel: str, root: str) -> list[Mapping[str, Any]]:
        """The messages of a thread, oldest first. Raises `SlackUnavailable`."""
        try:
            return list(self._thread(channel, root))
        except FAILURES as error:
            if code(error) in NOWHERE:
                return []
            raise SlackUnavailable(f"the thread cannot be read: {code(error)}") from error

    def sent(self, receipt: Receipt, channel: str, thread: str | None) -> dict[int, str]:
        """The messages of this reply that are in Slack, noted or not: their ts by part."""
        messages = self.thread(channel, thread) if thread else self._recent(channel)
        found = {}
        for message in messages:
            payload = (message.get("metadata") or {}).get("event_payload") or {}
            if self._me.wrote(dict(message)) and payload.get("event") == receipt.event_id:
                found[int(payload["part"])] = str(message["ts"])
        return found or self._orphan(receipt, messages)

    def _orphan(self, receipt: Receipt, messages: Sequence[Mapping[str, Any]]) -> dict[int, str]:
        """A stream that was begun but not noted carries no mark: it is taken over as this reply's first message."""
        with self._database.plain() as connection:
            begun = receipts.replies_to(connection, receipt.id)
        asked_at = str(receipt.payload.get("ts") or "") if receipt.kind == "answer" and not begun else ""
        for message in messages:
            unmarked = self._me.wrote(dict(message)) and not message.get("metadata") and str(message["ts"]) > asked_at
            if asked_at and unmarked and self._is_unnoted(str(receipt.payload["channel"]), str(message["ts"])):
                with self._database.plain() as connection:
                    found = Reply(str(receipt.payload["channel"]), str(message["ts"]), receipt.id, 0, UNFINISHED)
                    receipts.add_reply(connection, found)
                return {}
        return {}

    def _is_unnoted(self, channel: str, ts: str) -> bool:
        with self._database.plain() as connection:
            return receipts.reply_at(connection, channel, ts) is None

    def _recent(self, channel: str) -> list[Mapping[str, Any]]:
        try:
            page = self._client.conversations_history(channel=channel, limit=50, include_all_metadata=True)
        except FAILURES as error:
            raise translated(error, "the conversation cannot be read") from error
        return list(page["messages"])

    def _thread(self, channel: str, root: str) -> Iterator[Mapping[str, Any]]:
        cursor: str | None = None
        while True:
            page = self._client.conversations_replies(
                channel=channel, ts=root, limit=200, cursor=cursor, include_all_metadata=True
            )
            yield from page["messages"]
            cursor = (page.get("response_metadata") or {}).get("next_cursor")
            if not cursor:
                return
