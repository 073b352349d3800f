"""Faults to inject: what Slack and the network do on a bad day, each for a number of times."""

import threading
from dataclasses import dataclass

API_FAULTS = frozenset({"rate_limited", "server_error", "slow", "api_error"})
EVENT_FAULTS = frozenset({"duplicate", "late", "reordered", "dead_socket"})


@dataclass
class Fault:
    """`kind` for the next `times` API calls of `method` (every method when empty) or event deliveries.

    rate_limited: 429 with Retry-After `seconds`. server_error: HTTP 500. slow: the answer takes `seconds`.
    api_error: `{"ok": false, "error": error}`. duplicate: an event is delivered twice under one event id.
    late: it is delivered `seconds` later. reordered: it changes places with the next one. dead_socket: the
    connection it was sent on swallows it and breaks.
    """

    kind: str
    method: str = ""
    times: int = 1
    seconds: float = 1.0
    error: str = "internal_error"


class Faults:
    def __init__(self) -> None:
        self._faults: list[Fault] = []
        self._lock = threading.Lock()

    def add(self, fault: Fault) -> None:
        """Raises ValueError for a kind that does not exist."""
        if fault.kind not in API_FAULTS | EVENT_FAULTS:
            raise ValueError(f"no fault {fault.kind!r}; there are {sorted(API_FAULTS | EVENT_FAULTS)}")
        with self._lock:
            self._faults.append(fault)

    def clear(self) -> None:
        with self._lock:
            self._faults.clear()

    def take(self, kinds: frozenset[str], method: str = "") -> Fault | None:
        """The first waiting fault of these kinds that fits `method`, counted down by one."""
        with self._lock:
            for fault in self._faults:
                if fault.kind in kinds and fault.times > 0 and fault.method in ("", method):
                    fault.times -= 1
                    return fault
            return None
