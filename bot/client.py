"""The Web API client of the bot, patient with rate limits and lost connections, and who the bot is."""

import logging
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPException

from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.http_retry.builtin_handlers import ConnectionErrorRetryHandler, RateLimitErrorRetryHandler
from slack_sdk.http_retry.request import HttpRequest
from slack_sdk.http_retry.response import HttpResponse
from slack_sdk.http_retry.state import RetryState

from bot.errors import SlackMisconfigured, SlackUnavailable
from bot.settings import Slack

PATIENCE_S = 30
"""The longest that a person waits for a call because Slack asked for it; it names up to a minute for the strictest tier."""

SHOWN = 100
"""Characters that are repeated of an answer which is not Slack's; it may be a whole page."""

NOT_REPEATABLE = ("chat.postMessage", "chat.postEphemeral", "chat.startStream", "chat.appendStream")
"""Calls that may have worked although their answer was lost; the caller looks before it repeats one."""

FAILURES = (SlackClientError, OSError, HTTPException)
"""Everything a call may raise when Slack refuses, is unreachable or answers with something that is not an answer."""

LIBRARIES = ("slack_sdk.web.base_client", "slack_bolt")
"""Their loggers; the second one is that of the client for Socket Mode as well, which has the app's."""

RIGHT_TOKEN = {
    "SLACK_BOT_TOKEN": "reinstall the app and copy its xoxb- token",
    "SLACK_APP_TOKEN": "copy the app-level token that begins with xapp- and has connections:write",
}
"""What to do about the token in a variable that Slack refuses."""


class ObeyRateLimit(RateLimitErrorRetryHandler):
    """Waits as long as Slack says, unless that is longer than `patience_s`."""

    def __init__(self, max_retry_count: int, patience_s: int) -> None:
        super().__init__(max_retry_count=max_retry_count)
        self._patience_s = patience_s

    def _can_retry(
        self,
        *,
        state: RetryState,
        request: HttpRequest,
        response: HttpResponse | None = None,
        error: Exception | None = None,
    ) -> bool:
        return response is not None and response.status_code == 429 and _retry_after_s(response) <= self._patience_s

    def prepare_for_next_attempt(
        self,
        *,
        state: RetryState,
        request: HttpRequest,
        response: HttpResponse | None = None,
        error: Exception | None = None,
    ) -> None:
        state.next_attempt_requested = True
        time.sleep(_retry_after_s(response) if response else 1)
        state.increment_current_attempt()


class ReconnectWhenHarmless(ConnectionErrorRetryHandler):
    """Repeats a call whose connection broke, unless it may have posted something."""

    def _can_retry(
        self,
        *,
        state: RetryState,
        request: HttpRequest,
        response: HttpResponse | None = None,
        error: Exception | None = None,
    ) -> bool:
        if request.url.endswith(NOT_REPEATABLE):
            return False
        return super()._can_retry(state=state, request=request, response=response, error=error)


@dataclass(frozen=True)
class Identity:
    """The bot itself, in its workspace."""

    team: str
    user: str
    bot: str
    app: str = ""

    def wrote(self, message: dict[str, object]) -> bool:
        return message.get("user") == self.user or (bool(self.bot) and message.get("bot_id") == self.bot)


def web_client(settings: Slack, patience_s: int = PATIENCE_S) -> WebClient:
    """A client for the configured workspace. `patience_s`: a call waits for its turn no longer, and three times at most.

    Raises `SlackMisconfigured` without a bot token.
    """
    if settings.bot_token is None:
        raise SlackMisconfigured("no bot token: set SLACK_BOT_TOKEN to the app's token that begins with xoxb-")
    handlers = [ObeyRateLimit(3, patience_s), ReconnectWhenHarmless(max_retry_count=2)]
    return WebClient(
        settings.bot_token.get_secret_value(), base_url=settings.api_url, timeout=30, retry_handlers=list(handlers)
    )


def identify(client: WebClient) -> Identity:
    """Ask Slack whose token this is. Raises `SlackMisconfigured` or `SlackUnavailable`."""
    try:
        with unlogged():
            answer = client.auth_test()
    except SlackApiError as error:
        raise refused("SLACK_BOT_TOKEN", error) from error
    except FAILURES as error:
        says, remedy = out_of_reach(client, error)
        raise SlackUnavailable(f"Slack cannot be reached {says}; {remedy}") from error
    return Identity(answer["team_id"], answer["user_id"], answer.get("bot_id") or "", answer.get("app_id") or "")


def out_of_reach(client: WebClient, error: Exception) -> tuple[str, str]:
    """Where Slack cannot be reached, with the reason, and what to do about it."""
    where = "" if client.base_url == WebClient.BASE_URL else " and the address in SLACK_API_URL"
    return f"at {client.base_url}: {reason(error)}", f"check the network{where}"


def reason(error: Exception) -> str:
    """Why a call failed: Slack's word for it, or the system's words."""
    if isinstance(error, SlackApiError):
        return str(error.response.get("error") or error)
    inner = getattr(error, "reason", error)  # what urllib puts around it says nothing
    return str(getattr(inner, "strerror", None) or inner)


def refused(variable: str, error: SlackApiError) -> SlackMisconfigured:
    """What to say when Slack does not take the token in `variable`, which `RIGHT_TOKEN` has, or is not what answers."""
    code = error.response.get("error", "")
    if not re.fullmatch(r"\w*", code):  # Slack's reasons are one word; its library says what else came in a sentence
        where = getattr(error.response, "api_url", "the address of Slack")
        return SlackMisconfigured(
            f"{where} does not answer as Slack's Web API does ({code[:SHOWN]}): SLACK_API_URL has to end in /api/; without "
            "it Slack itself is asked"
        )
    return SlackMisconfigured(f"Slack refused {variable} ({code}): {RIGHT_TOKEN[variable]}")


@contextmanager
def unlogged() -> Iterator[None]:
    """In this thread Slack's libraries log nothing of calls that fail: the error that they end in says it."""
    thread, loggers = threading.get_ident(), [logging.getLogger(name) for name in LIBRARIES]

    def of_others(record: logging.LogRecord) -> bool:
        return record.thread != thread

    for logger in loggers:
        logger.addFilter(of_others)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(of_others)


def _retry_after_s(response: HttpResponse) -> int:
    """Seconds of the Retry-After header; a second when there is none or it is not a number."""
    values = next((v for k, v in response.headers.items() if k.lower() == "retry-after"), ["1"])
    first = values[0] if isinstance(values, list) else values
    return int(first) if str(first).isdigit() else 1
