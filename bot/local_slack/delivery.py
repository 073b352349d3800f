"""Getting payloads to the app: order, acknowledgement, redelivery. Runs in the server's event loop.

Slack waits three seconds for the acknowledgement of an envelope, then redelivers an event at most three times (over any
connection, `retry_attempt` counting up). Commands and interactions are never redelivered; the person sees a failure.
"""

import asyncio
import heapq
import itertools
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from bot.local_slack.clock import Clock
from bot.local_slack.faults import EVENT_FAULTS, Faults

Json = dict[str, Any]

ACK_TIMEOUT_S = 3.0
RETRIES = 3


def _ignore(_: Json | None) -> None:
    return None


@dataclass
class Envelope:
    """One payload on its way. `kind` is events_api, slash_commands or interactive.

    `state` is "waiting", "sent", "acked" or "lost"; `on_ack` gets the payload the app acknowledged with. `sent_at` and
    `acked_at` are monotonic seconds.
    """

    kind: str
    payload: Json
    on_ack: Callable[[Json | None], None] = _ignore
    on_lost: Callable[[], None] = lambda: None
    id: str = field(default_factory=lambda: str(uuid.uuid4()))
    attempt: int = 0
    reason: str = ""
    state: str = "waiting"
    sent_at: float | None = None
    acked_at: float | None = None

    @property
    def is_event(self) -> bool:
        return self.kind == "events_api"


class Transport(Protocol):
    """Where envelopes go: the open websockets, or the app's HTTP address."""

    def ready(self) -> bool: ...

    async def send(self, envelope: Envelope, *, break_connection: bool) -> None: ...


class Delivery:
    """`push` may be called from any thread; everything else happens in the loop that runs `run`."""

    def __init__(self, clock: Clock, faults: Faults, changed: Callable[[], None]) -> None:
        self.sent: list[Envelope] = []
        self.ack_timeout_s = ACK_TIMEOUT_S
        self._clock = clock
        self._faults = faults
        self._changed = changed
        self._transport: Transport | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._wake = asyncio.Event()
        self._due: list[tuple[float, int, Envelope]] = []
        self._order = itertools.count()
        self._pending: dict[str, Envelope] = {}
        self._held: Envelope | None = None
        self._moving = threading.Lock()  # held while an envelope is neither due nor pending

    @property
    def idle(self) -> bool:
        """Nothing is waiting to be sent or to be acknowledged. May be asked from any thread."""
        with self._moving:
            waiting = any(envelope.state == "waiting" for _, _, envelope in list(self._due))
            return not waiting and not self._pending and self._held is None

    @property
    def queued(self) -> list[Envelope]:
        """What waits to be sent, in the order it will be."""
        return [
            envelope for _, _, envelope in sorted(self._due, key=lambda due: due[:2]) if envelope.state == "waiting"
        ]

    def push(self, envelope: Envelope) -> None:
        delay = 0.0
        fault = self._faults.take(EVENT_FAULTS - {"dead_socket"}) if envelope.is_event else None
        if fault and fault.kind == "reordered" and self._held is None:
            self._held = envelope
            return
        if fault and fault.kind == "late":
            delay = fault.seconds
        self._schedule(envelope, delay)
        if fault and fault.kind == "duplicate":
            self._schedule(Envelope(envelope.kind, envelope.payload), delay)
        if self._held is not None:
            self._schedule(self._held, delay)
            self._held = None

    def use(self, transport: Transport) -> None:
        self._transport = transport

    def wake(self) -> None:
        """Look again at what is due: after a new connection, or after the clock was moved."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._wake.set)

    def acknowledge(self, envelope_id: str, payload: Json | None) -> None:
        """Late and repeated acknowledgements change nothing."""
        envelope = self._pending.pop(envelope_id, None)
        if envelope is not None:
            envelope.state, envelope.acked_at = "acked", time.monotonic()
            envelope.on_ack(payload)
            self._changed()

    async def run(self) -> None:
        """Send what is due, until cancelled."""
        self._loop = asyncio.get_running_loop()
        while True:
            self._wake.clear()
            await self._send_due()
            try:
                await asyncio.wait_for(self._wake.wait(), self._seconds_to_next())
            except TimeoutError:
                continue

    def _schedule(self, envelope: Envelope, delay: float) -> None:
        heapq.heappush(self._due, (self._clock.now() + delay, next(self._order), envelope))
        self.wake()

    def _seconds_to_next(self) -> float | None:
        if not self._due or self._transport is None or not self._transport.ready():
            return None
        return max(0.0, self._due[0][0] - self._clock.now())

    async def _send_due(self) -> None:
        while self._due and self._due[0][0] <= self._clock.now():
            if self._transport is None or not self._transport.ready():
                return
            with self._moving:
                _, _, envelope = heapq.heappop(self._due)
                if is_waiting := envelope.state == "waiting":
                    self._pending[envelope.id] = envelope
            if is_waiting:
                await self._send(envelope)
            elif envelope.state == "sent":
                self._not_acknowledged(envelope)

    async def _send(self, envelope: Envelope) -> None:
        assert self._transport is not None
        envelope.state, envelope.sent_at = "sent", time.monotonic()
        self.sent.append(envelope)
        self._schedule(envelope, self.ack_timeout_s)
        dead = envelope.is_event and self._faults.take(frozenset({"dead_socket"})) is not None
        await self._transport.send(envelope, break_connection=dead)
        self._changed()

    def _not_acknowledged(self, envelope: Envelope) -> None:
        if envelope.is_event and envelope.attempt < RETRIES:
            again = Envelope(envelope.kind, envelope.payload, envelope.on_ack, envelope.on_lost, envelope.id)
            again.attempt, again.reason = envelope.attempt + 1, "timeout"
            envelope.state = "lost"
            self._schedule(again, 0.0)
            self._pending.pop(envelope.id, None)
        else:
            envelope.state = "lost"
            self._pending.pop(envelope.id, None)
            envelope.on_lost()
        self._changed()
