"""Slack's published rate limits per method, counted over a sliding minute.

Tiers: https://docs.slack.dev/apis/web-api/rate-limits ("20+ per minute" and so on; a short burst is allowed, which a
sliding minute grants). chat.postMessage is special: about one message per second and channel.
"""

from collections import defaultdict, deque

from bot.local_slack.errors import RateLimited

PER_MINUTE = {"1": 1, "2": 20, "3": 50, "4": 100, "per channel": 60, "none": 0}


class RateLimiter:
    """Counts only while `enforced`; a busy test suite would otherwise wait for minutes."""

    def __init__(self, *, enforced: bool) -> None:
        self.enforced = enforced
        self._calls: dict[tuple[str, str], deque[float]] = defaultdict(deque)

    def count(self, method: str, tier: str, channel: str, now: float) -> None:
        """Raises RateLimited with the whole seconds until the oldest call of the minute is forgotten."""
        limit = PER_MINUTE[tier]
        if not self.enforced or not limit:
            return
        calls = self._calls[method, channel if tier == "per channel" else ""]
        while calls and now - calls[0] >= 60:
            calls.popleft()
        if len(calls) >= limit:
            raise RateLimited(max(1, int(60 - (now - calls[0])) + 1))
        calls.append(now)
