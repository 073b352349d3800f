"""Short-lived rights that an interaction hands to the app: trigger ids and response URLs."""

import secrets
from dataclasses import dataclass

from bot.local_slack.errors import ApiError

# https://docs.slack.dev/interactivity/handling-user-interaction: "exchanged" once, within three seconds.
TRIGGER_LIFETIME_S = 3.0
# The same page: "up to 5 times within 30 minutes".
RESPONSE_URL_LIFETIME_S = 1800.0
RESPONSE_URL_USES = 5


@dataclass
class Trigger:
    user: str
    made_at: float
    used: bool = False


@dataclass
class ResponseUrl:
    """Where an app may answer an interaction; `message_ts` is the message clicked on, None for a slash command."""

    user: str
    channel: str
    made_at: float
    message_ts: str | None = None
    uses: int = 0


class Interactions:
    def __init__(self) -> None:
        self._triggers: dict[str, Trigger] = {}
        self._response_urls: dict[str, ResponseUrl] = {}

    def new_trigger(self, user: str, now: float) -> str:
        trigger_id = f"{int(now * 1000)}.{secrets.randbelow(10**9)}.{secrets.token_hex(16)}"
        self._triggers[trigger_id] = Trigger(user, now)
        return trigger_id

    def exchange(self, trigger_id: str, now: float) -> str:
        """The user who may be shown a view; the trigger is spent. Raises ApiError with Slack's names."""
        trigger = self._triggers.get(trigger_id)
        if trigger is None:
            raise ApiError("invalid_trigger_id")
        if trigger.used:
            raise ApiError("exchanged_trigger_id")
        if now - trigger.made_at > TRIGGER_LIFETIME_S:
            raise ApiError("expired_trigger_id")
        trigger.used = True
        return trigger.user

    def new_response_url(self, target: ResponseUrl) -> str:
        """The secret last part of a response URL."""
        key = secrets.token_urlsafe(24)
        self._response_urls[key] = target
        return key

    def use_response_url(self, key: str, now: float) -> ResponseUrl:
        """Spend one use. Raises ApiError("used_url") or ApiError("expired_url"), the words Slack answers with."""
        target = self._response_urls.get(key)
        if target is None or now - target.made_at > RESPONSE_URL_LIFETIME_S:
            raise ApiError("expired_url")
        if target.uses >= RESPONSE_URL_USES:
            raise ApiError("used_url")
        target.uses += 1
        return target
