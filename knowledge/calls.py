"""One call to the Messages API and everything that can go wrong with it, ended in a stated way before a deadline.

1. The stream is read in a thread of its own, so that the deadline holds whatever the socket does.
2. Nothing is retried by the SDK: it obeys any `retry-after` without a cap, and never retries once a stream began. Here
   a passing fault (429, 5xx, overload inside a stream, cut or reset connection, nothing written) is tried again while
   there is time, after the pause that the service asked for; if that pause does not fit, there is no further attempt.
"""

import queue
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import structlog

from knowledge.errors import AnsweringFailed
from knowledge.settings import Answers

if TYPE_CHECKING:
    import anthropic
    from anthropic.types import ModelInfo

log = structlog.get_logger(__name__)

API = "https://api.anthropic.com"
ATTEMPTS = 3
FIRST_PAUSE_S = 0.5
CONNECT_S = 5.0


class _Fault(Exception):
    """A failed attempt: whether another may succeed, and the pause in seconds the service asked for."""

    def __init__(self, reason: str, again: bool, pause_s: float | None = None) -> None:
        super().__init__(reason)
        self.again = again
        self.pause_s = pause_s


class Calls:
    """The connection to the service under one set of settings. Threads may share it."""

    def __init__(self, settings: Answers) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._connected: anthropic.Anthropic | None = None

    def complete(self, request: dict[str, Any], deadline: float, show: Callable[[Sequence[Any]], None]) -> Any:
        """The complete message to `request` before `deadline` (of `time.monotonic()`); `show` sees its blocks so far.

        Raises `AnsweringFailed`.
        """
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return self._attempt(request, deadline, show)
            except _Fault as fault:
                pause = FIRST_PAUSE_S * 2 ** (attempt - 1) if fault.pause_s is None else fault.pause_s
                left = deadline - time.monotonic()
                log.warning("answering service", fault=str(fault), attempt=attempt, again=fault.again, pause_s=pause)
                if not fault.again or attempt == ATTEMPTS or pause >= left:
                    raise AnsweringFailed(f"the answering service failed: {fault} (attempt {attempt})") from fault
                time.sleep(pause)
        raise AssertionError("the last attempt returns or raises")

    def _attempt(self, request: dict[str, Any], deadline: float, show: Callable[[Sequence[Any]], None]) -> Any:
        blocks: list[Any] = []
        for item in self._stream(request, deadline):
            if item[0] == "block":
                blocks.append(item[1])
                show(blocks)
            elif item[0] == "error":
                raise _fault(item[1]) from item[1]
            else:
                return _checked(item[1])
        raise AssertionError("a stream ends with its message or an error")

    def _stream(self, request: dict[str, Any], deadline: float) -> Iterator[tuple[str, Any]]:
        """("block", block) for each finished block, then ("message", message) or ("error", exception)."""
        client = self.connect()
        left = deadline - time.monotonic()
        if left <= 0:
            raise AnsweringFailed(f"no answer within {self._settings.timeout_s:g} s")
        items: queue.Queue[tuple[str, Any]] = queue.Queue()
        import httpx2

        def read() -> None:
            try:
                timeout = httpx2.Timeout(left, connect=min(CONNECT_S, left))
                with client.messages.stream(**request, timeout=timeout) as stream:
                    for event in stream:
                        if event.type == "content_block_stop":
                            items.put(("block", event.content_block))
                    items.put(("message", stream.get_final_message()))
            except Exception as error:  # noqa: BLE001  handed to the waiting thread, which sorts it
                items.put(("error", error))

        threading.Thread(target=read, name="claude-stream", daemon=True).start()
        while True:
            try:
                item = items.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise AnsweringFailed(f"no answer within {self._settings.timeout_s:g} s") from None
            yield item

    def connect(self) -> "anthropic.Anthropic":
        """The SDK's client, made on first use; sends nothing."""
        with self._lock:
            if self._connected is None:
                import anthropic  # three seconds; a command that writes no answer does not pay them

                key = self._settings.api_key
                self._connected = anthropic.Anthropic(
                    api_key=key.get_secret_value() if key else None,
                    base_url=str(self._settings.base_url or API).rstrip("/"),
                    max_retries=0,
                    open_telemetry=False,
                )
            return self._connected

    def model(self, name: str) -> "ModelInfo":
        """A model as the service knows it, and its place in its life. Raises `AnsweringFailed` with the reason."""
        import anthropic
        import httpx2

        try:
            return self.connect().models.retrieve(name, timeout=CONNECT_S)
        except (anthropic.APIError, httpx2.HTTPError) as error:
            raise AnsweringFailed(f"{name}: {_fault(error)}") from error

    def close(self) -> None:
        with self._lock:
            if self._connected is not None:
                self._connected.close()
                self._connected = None


def _checked(message: Any) -> Any:
    """The message, unless it is none: cut off without a reason, or ended with nothing written."""
    if message.stop_reason is None:
        raise _Fault("the stream ended before the message did", again=True)
    written = any(b.type == "tool_use" or (b.type == "text" and b.text.strip()) for b in message.content)
    if not written and message.stop_reason != "refusal":
        raise _Fault(f"nothing was written (stop reason {message.stop_reason!r})", again=True)
    return message


def _fault(error: Exception) -> _Fault:
    """What an exception of the SDK, or of the HTTP library below it, means for another attempt."""
    import anthropic
    import httpx2

    if isinstance(error, anthropic.APIStatusError):
        kind = error.type or error.status_code
        # An error inside a stream that began well carries the stream's status, 200, and tells itself by its type.
        passing = error.status_code in (408, 409, 429) or error.status_code >= 500
        passing = passing or error.type in ("overloaded_error", "api_error", "rate_limit_error", "timeout_error")
        return _Fault(f"{kind} (status {error.status_code})", passing, _pause(error.response.headers))
    if isinstance(error, anthropic.APIError | httpx2.HTTPError | OSError):
        return _Fault(type(error).__name__, again=True)
    return _Fault(
        f"{type(error).__name__}: unexpected", again=isinstance(error, RuntimeError | ValueError | AssertionError)
    )


def _pause(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait by `retry-after-ms` or `retry-after`; a date counts as no answer, since it may be far away."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name, "")
        if re.fullmatch(r"\d{1,12}(?:\.\d+)?", value):
            return float(value) * unit
    return None
