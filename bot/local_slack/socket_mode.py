"""Socket Mode: the app's websockets. Each envelope goes to one of them in turn; at most ten may be open."""

import contextlib
import itertools
import json
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from bot.local_slack.delivery import Delivery, Envelope
from bot.local_slack.state import State

Json = dict[str, Any]

# https://docs.slack.dev/apis/events-api/using-socket-mode
MAX_CONNECTIONS = 10


class SocketMode:
    """The open connections of the app in the order they were opened."""

    def __init__(self, state: State, delivery: Delivery) -> None:
        self._state = state
        self._delivery = delivery
        self._turn = itertools.count()
        self.connections: list[WebSocket] = []

    def ready(self) -> bool:
        return bool(self.connections)

    async def send(self, envelope: Envelope, *, break_connection: bool) -> None:
        connection = self.connections[next(self._turn) % len(self.connections)]
        if break_connection:
            self.connections.remove(connection)
            await connection.close(1011)
            return
        document: Json = {
            "envelope_id": envelope.id,
            "type": envelope.kind,
            "accepts_response_payload": not envelope.is_event,
            "payload": envelope.payload,
        }
        if envelope.is_event:
            document |= {"retry_attempt": envelope.attempt, "retry_reason": envelope.reason}
        with contextlib.suppress(WebSocketDisconnect, RuntimeError):  # gone meanwhile: the ack timeout redelivers
            await connection.send_text(json.dumps(document))

    async def serve(self, connection: WebSocket) -> None:
        """One connection from its first to its last frame."""
        ticket = connection.query_params.get("ticket", "")
        if ticket not in self._state.tickets:
            await connection.close(1008)
            return
        self._state.tickets.discard(ticket)
        await connection.accept()
        if len(self.connections) >= MAX_CONNECTIONS:
            await self._disconnect(connection, "too_many_websockets")
            return
        await connection.send_text(json.dumps(self._hello()))
        self.connections.append(connection)
        self._state.tell()
        self._delivery.wake()
        try:
            while True:
                self._receive(await connection.receive_text())
        except WebSocketDisconnect:
            pass
        finally:
            if connection in self.connections:
                self.connections.remove(connection)

    async def refresh(self, reason: str = "refresh_requested") -> None:
        """Ask every connection to be opened anew, as Slack does every few hours, then close them."""
        for connection in list(self.connections):
            self.connections.remove(connection)
            await self._disconnect(connection, reason)

    async def break_all(self) -> None:
        """The network fails: every connection closes without a word."""
        for connection in list(self.connections):
            self.connections.remove(connection)
            await connection.close(1011)

    def _hello(self) -> Json:
        return {
            "type": "hello",
            "num_connections": len(self.connections) + 1,
            "connection_info": {"app_id": self._state.bot.app_id},
            "debug_info": {"host": "local-slack", "approximate_connection_time": 18060},
        }

    def _receive(self, text: str) -> None:
        try:
            frame = json.loads(text)
        except ValueError:
            return  # the SDK may send plain text pings
        if isinstance(frame, dict) and "envelope_id" in frame:
            self._delivery.acknowledge(frame["envelope_id"], frame.get("payload"))

    async def _disconnect(self, connection: WebSocket, reason: str) -> None:
        frame = {"type": "disconnect", "reason": reason, "debug_info": {"host": "local-slack"}}
        with contextlib.suppress(WebSocketDisconnect, RuntimeError):
            await connection.send_text(json.dumps(frame))
            await connection.close(1000)
