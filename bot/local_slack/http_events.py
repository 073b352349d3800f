"""The other way to the app: signed HTTP requests, as Slack sends them to a request URL."""

import asyncio
import hashlib
import hmac
import json
import urllib.error
import urllib.parse
import urllib.request

from bot.local_slack.clock import Clock
from bot.local_slack.delivery import Delivery, Envelope


def signature(secret: str, timestamp: int, body: str) -> str:
    """https://docs.slack.dev/authentication/verifying-requests-from-slack"""
    return "v0=" + hmac.new(secret.encode(), f"v0:{timestamp}:{body}".encode(), hashlib.sha256).hexdigest()


class HttpEvents:
    """Posts each envelope to `url`; a 2xx answer within the ack timeout acknowledges it, its JSON is the payload."""

    def __init__(self, url: str, signing_secret: str, clock: Clock, delivery: Delivery) -> None:
        self._url = url
        self._secret = signing_secret
        self._clock = clock
        self._delivery = delivery
        self._running: set[asyncio.Task[None]] = set()

    def ready(self) -> bool:
        return True

    async def send(self, envelope: Envelope, *, break_connection: bool) -> None:
        if break_connection:
            return
        task = asyncio.create_task(asyncio.to_thread(self._post, envelope, asyncio.get_running_loop()))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    def _post(self, envelope: Envelope, loop: asyncio.AbstractEventLoop) -> None:
        request = self._request(envelope)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=self._delivery.ack_timeout_s) as response:
                answer = response.read().decode()
        except (urllib.error.URLError, OSError):
            return  # not acknowledged: the timeout redelivers
        is_json = answer.startswith("{")
        payload = json.loads(answer) if is_json else ({"text": answer} if answer and not envelope.is_event else None)
        loop.call_soon_threadsafe(self._delivery.acknowledge, envelope.id, payload)

    def _request(self, envelope: Envelope) -> urllib.request.Request:
        content_type = "application/json" if envelope.is_event else "application/x-www-form-urlencoded"
        if envelope.is_event:
            body = json.dumps(envelope.payload)
        elif envelope.kind == "interactive":
            body = urllib.parse.urlencode({"payload": json.dumps(envelope.payload)})
        else:
            body = urllib.parse.urlencode(envelope.payload)
        timestamp = int(self._clock.now())
        headers = {
            "Content-Type": content_type,
            "X-Slack-Request-Timestamp": str(timestamp),
            "X-Slack-Signature": signature(self._secret, timestamp, body),
        }
        if envelope.attempt:
            headers |= {"X-Slack-Retry-Num": str(envelope.attempt), "X-Slack-Retry-Reason": "http_timeout"}
        return urllib.request.Request(self._url, body.encode(), headers)
