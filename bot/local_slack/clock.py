"""Time as the local Slack tells it: the real clock plus whatever a test has advanced it by."""

import threading
import time


class Clock:
    """Seconds since the epoch, and message timestamps that never repeat and only grow."""

    def __init__(self) -> None:
        self._ahead = 0.0
        self._last_micros = 0
        self._lock = threading.Lock()

    def now(self) -> float:
        return time.time() + self._ahead

    def advance(self, seconds: float) -> None:
        """Move forward; streams, triggers, statuses and redeliveries that fall due become due at once."""
        if seconds < 0:
            raise ValueError(f"time only moves forward, got {seconds} s")
        self._ahead += seconds

    def timestamp(self) -> str:
        """A fresh message timestamp such as "1790000000.000100", unique within this workspace."""
        with self._lock:
            self._last_micros = max(int(self.now() * 1_000_000), self._last_micros + 1)
            return format_timestamp(self._last_micros / 1_000_000)


def format_timestamp(seconds: float) -> str:
    return f"{seconds:.6f}"
