"""Questions to Slack about people and channels, answered whole or not at all: a list is never used cut short."""

from collections.abc import Iterator, Mapping
from typing import Any

from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

from bot.channel import refusal
from bot.client import FAILURES, reason
from bot.errors import SlackBusy, SlackUnavailable
from bot.slack_objects import channel_facts, person_facts
from knowledge.permissions import PersonKind, PlaceKind

Json = Mapping[str, Any]

PAGE = 999
"""users.conversations takes fewer than 1,000; conversations.list and .members take 1,000."""
NOBODY = frozenset({"user_not_found", "user_not_visible", "users_not_found"})


class Enquiries:
    """Threads share it. Everything raises `SlackUnavailable` when Slack does not say. `team`: the workspace's id."""

    def __init__(self, client: WebClient, team: str) -> None:
        self._client = client
        self._team = team

    def person(self, person_id: str) -> Json:
        """Name, kind and admin; of the kind that nothing is known of when Slack does not know them."""
        try:
            user = self._call("users.info", user=person_id).get("user")
        except SlackUnavailable as error:
            if isinstance(error.__cause__, SlackApiError) and error.__cause__.response.get("error") in NOBODY:
                return {"name": "", "kind": PersonKind.UNKNOWN, "admin": False}
            raise
        return person_facts(user or {}, self._team)

    def everyone(self) -> dict[str, Json]:
        """As `person`, by id, for everyone of the workspace."""
        return {user["id"]: person_facts(user, self._team) for user in self._pages("users.list", "members")}

    def channel(self, channel_id: str) -> Json:
        """As `slack_objects.channel_facts`."""
        try:
            return channel_facts(self._call("conversations.info", channel=channel_id).get("channel") or {})
        except SlackUnavailable as error:
            cause = error.__cause__
            if isinstance(cause, SlackApiError) and cause.response.get("error") == "channel_not_found":
                raise SlackUnavailable(refusal(channel_id, cause)) from cause
            raise

    def members(self, channel_id: str) -> list[str]:
        """Ids of the people in a channel."""
        return sorted(self._pages("conversations.members", "members", channel=channel_id))

    def channels_of(self, person_id: str) -> list[str]:
        """All public channels the person is in, and the private ones that the bot is in too; nothing else is indexed."""
        kinds = "public_channel,private_channel,mpim"
        pages = self._pages("users.conversations", "channels", user=person_id, types=kinds, exclude_archived=False)
        return sorted(channel["id"] for channel in pages)

    def public_channels(self) -> list[str]:
        """Ids, archived ones included."""
        pages = self._pages("conversations.list", "channels", types="public_channel", exclude_archived=False)
        return sorted(c["id"] for c in pages if channel_facts(c)["kind"] == PlaceKind.PUBLIC)

    def _pages(self, method: str, field: str, **arguments: object) -> Iterator[Any]:
        """Every item of every page. A page that is not whole raises, so that no list is ever used cut short."""
        cursor, seen = "", set[str]()
        while True:
            page = self._call(method, limit=PAGE, **arguments, **({"cursor": cursor} if cursor else {}))
            if not isinstance(page.get(field), list):
                raise SlackUnavailable(f"{method} answered without {field}; nothing is known until it does")
            yield from page[field]
            cursor = (page.get("response_metadata") or {}).get("next_cursor") or ""
            if not cursor:
                return
            if cursor in seen:
                raise SlackUnavailable(f"{method} keeps sending the same page; nothing is known until it stops")
            seen.add(cursor)

    def _call(self, method: str, **arguments: object) -> Json:
        try:
            data = self._client.api_call(method, params=arguments).data
        except FAILURES as error:
            kind = SlackBusy if reason(error) == "ratelimited" else SlackUnavailable
            raise kind(f"{method} failed: {reason(error)}") from error
        if not isinstance(data, dict):
            raise SlackUnavailable(f"{method} did not answer with JSON")
        return data
