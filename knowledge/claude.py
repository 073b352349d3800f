"""The Anthropic side: one request and everything that can go wrong with it, ended in a stated way before a deadline.

1. The stream is read in a thread of its own, so that the deadline holds whatever the socket does.
2. Nothing is retried by the SDK: it obeys any `retry-after` without a cap, and never retries once a stream began. Here
   a passing fault (429, 5xx, overload inside a stream, cut or reset connection, nothing written) is tried again while
   there is time, after the pause that the service asked for; if that pause does not fit, there is no further attempt.
3. A search the model asks for runs in the caller's scopes; its passages join the evidence and are cited like the rest.

Raises `AnsweringFailed` and nothing else.
"""

import queue
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import structlog
from pydantic import BaseModel

from knowledge import prompting
from knowledge.answers import Turn
from knowledge.budget import KINDS, dollars
from knowledge.errors import AnsweringFailed
from knowledge.evidence import Cited, Evidence
from knowledge.grounding import Segment, marked_segments
from knowledge.settings import Answers

if TYPE_CHECKING:
    import anthropic

log = structlog.get_logger(__name__)

API = "https://api.anthropic.com"
ATTEMPTS = 3
FIRST_PAUSE_S = 0.5
CONNECT_S = 5.0
FOLLOW_UP_TOKENS = 400

Stop = Literal["complete", "cut", "declined"]
"""complete: the model ended by itself. cut: it ran out of room, or stopped for a reason unknown here. declined: refusal."""

Search = Callable[[str], Sequence[Evidence]]
"""A query -> passages for it, all readable by whoever will see the answer."""


@dataclass(frozen=True)
class Draft:
    """What the model wrote, unverified, and the evidence it had, extra searches included, in the order of its indexes."""

    segments: tuple[Segment, ...]
    evidence: tuple[Evidence, ...]
    stop: Stop
    usage: Mapping[str, float]
    searches: tuple[str, ...] = ()


class StandAlone(BaseModel):
    """The small model's reading of a follow-up."""

    stands_alone: bool
    question: str


@dataclass
class _Conversation:
    """A request while it grows by the model's searches."""

    messages: list[dict[str, Any]]
    evidence: list[Evidence]
    segments: list[Segment] = field(default_factory=list)
    searches: list[str] = field(default_factory=list)
    usage: dict[str, float] = field(default_factory=dict)


class _Fault(Exception):
    """A failed attempt: whether another may succeed, and the pause in seconds the service asked for."""

    def __init__(self, reason: str, again: bool, pause_s: float | None = None) -> None:
        super().__init__(reason)
        self.again = again
        self.pause_s = pause_s


class Claude:
    """The answering service under one set of settings. Threads may share it."""

    def __init__(self, settings: Answers) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._connected: anthropic.Anthropic | None = None

    def write(
        self,
        question: str,
        evidence: Sequence[Evidence],
        deadline: float,
        search: Search | None = None,
        on_draft: Callable[[Sequence[Segment], Sequence[Evidence]], None] | None = None,
    ) -> Draft:
        """A draft from the passages. `deadline`: a value of `time.monotonic()`.

        `search=None`: no second look. `on_draft` sees the text so far after each finished block.
        """
        style = self._settings.citations
        content = [*prompting.passages(evidence, style), prompting.question(question)]
        talk = _Conversation([{"role": "user", "content": content}], list(evidence))
        searching = search is not None and self._settings.extra_searches > 0
        while True:
            request = self._request(talk, searching)
            message = self._complete(request, talk, deadline, on_draft)
            _add_usage(talk.usage, message, self._settings.model)
            if (
                message.stop_reason != "tool_use"
                or search is None
                or request.get("tool_choice", {}).get("type") == "none"
            ):
                return Draft(
                    tuple(talk.segments),
                    tuple(talk.evidence),
                    _stop(message.stop_reason),
                    talk.usage,
                    tuple(talk.searches),
                )
            self._look_again(talk, message, search)

    def stand_alone(self, question: str, thread: Sequence[Turn], deadline: float) -> tuple[str, dict[str, float]]:
        """The question as somebody who has not read the thread would ask it, and the call's usage."""
        request = {
            "model": self._settings.small_model,
            "max_tokens": FOLLOW_UP_TOKENS,
            "system": prompting.follow_up_instructions(),
            "messages": [{"role": "user", "content": prompting.thread(thread, question)}],
            "output_format": StandAlone,
        }
        message = self._attempts(request, deadline, lambda _: None)
        usage: dict[str, float] = {}
        _add_usage(usage, message, self._settings.small_model)
        read = next((b.parsed_output for b in message.content if b.type == "text" and b.parsed_output), None)
        if message.stop_reason != "end_turn" or read is None:
            raise AnsweringFailed(f"the follow-up was not rewritten: the model stopped for {message.stop_reason!r}")
        return (question if read.stands_alone else read.question), usage

    def _request(self, talk: _Conversation, searching: bool) -> dict[str, Any]:
        settings = self._settings
        request: dict[str, Any] = {
            "model": settings.model,
            "max_tokens": settings.max_tokens,
            # The instructions are all that repeats between questions; too short ones are simply not cached.
            "system": [
                {
                    "type": "text",
                    "text": prompting.instructions(settings.citations),
                    "cache_control": {"type": "ephemeral"},
                }
            ],
            "messages": talk.messages,
        }
        if settings.effort:
            request["output_config"] = {"effort": settings.effort}
        if searching:
            request["tools"] = [prompting.SEARCH_TOOL]
            if len(talk.searches) >= settings.extra_searches:
                request["tool_choice"] = {"type": "none"}
        return request

    def _complete(self, request: dict[str, Any], talk: _Conversation, deadline: float, on_draft: Any) -> Any:
        """One message; its text blocks are added to the conversation when it is complete."""

        def show(blocks: Sequence[Any]) -> None:
            if on_draft:
                on_draft([*talk.segments, *self._segments(blocks, talk.evidence)], talk.evidence)

        message = self._attempts(request, deadline, show)
        talk.segments += self._segments(message.content, talk.evidence)
        return message

    def _segments(self, blocks: Sequence[Any], evidence: Sequence[Evidence]) -> list[Segment]:
        texts = [block for block in blocks if block.type == "text" and block.text]
        if self._settings.citations == "markers":
            return list(marked_segments("".join(block.text for block in texts), evidence))
        return [Segment(block.text, _cited(block.citations)) for block in texts]

    def _look_again(self, talk: _Conversation, message: Any, search: Search) -> None:
        """Answer the model's searches; passages that it has already are not given twice."""
        results = []
        for call in (block for block in message.content if block.type == "tool_use"):
            query = str(call.input.get("query", "")).strip() if isinstance(call.input, dict) else ""
            allowed = query and call.name == "search" and len(talk.searches) < self._settings.extra_searches
            known = {given.passage.chunk_id for given in talk.evidence}
            new = [given for given in search(query) if given.passage.chunk_id not in known] if allowed else []
            content = prompting.passages(new, self._settings.citations, len(talk.evidence))
            talk.evidence += new
            talk.searches += [query] if allowed else []
            nothing = "No further passages." if allowed else "No more searches; answer from the passages."
            results.append(
                {
                    "type": "tool_result",
                    "tool_use_id": call.id,
                    "content": content or [{"type": "text", "text": nothing}],
                }
            )
        said = [_without_citations(block) for block in message.content if block.type != "text" or block.text.strip()]
        talk.messages += [{"role": "assistant", "content": said}, {"role": "user", "content": results}]

    def _attempts(self, request: dict[str, Any], deadline: float, show: Callable[[Sequence[Any]], None]) -> Any:
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
        client = self._client()
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

    def _client(self) -> "anthropic.Anthropic":
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

    def describe(self) -> str:
        """The answering model as the service knows it, and when it retires. Raises `AnsweringFailed` with the reason."""
        import anthropic
        import httpx2

        try:
            model = self._client().models.retrieve(self._settings.model, timeout=CONNECT_S)
        except (anthropic.APIError, httpx2.HTTPError) as error:
            raise AnsweringFailed(f"{self._settings.model}: {_fault(error)}") from error
        retires = getattr(model, "retires_at", None)
        return f"{model.id}, {model.display_name}" + (f", retires {retires:%Y-%m-%d}" if retires else "")

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
    return _Fault(f"{type(error).__name__}: unexpected", again=isinstance(error, RuntimeError | ValueError | AssertionError))


def _pause(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait by `retry-after-ms` or `retry-after`; a date counts as no answer, since it may be far away."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name, "")
        if re.fullmatch(r"\d{1,12}(?:\.\d+)?", value):
            return float(value) * unit
    return None


def _stop(reason: str | None) -> Stop:
    if reason in ("end_turn", "stop_sequence"):
        return "complete"
    return "declined" if reason == "refusal" else "cut"


def _cited(citations: Any) -> tuple[Cited, ...]:
    return tuple(
        Cited(c.search_result_index, c.start_block_index, c.end_block_index, c.cited_text)
        if c.type == "search_result_location"
        else Cited(-1, 0, 0, c.cited_text or "")
        for c in citations or ()
    )


def _without_citations(block: Any) -> dict[str, Any]:
    """An assistant's block as it goes back: what it cited is in the conversation already."""
    sent = dict(block.to_dict())
    for name in ("citations", "parsed_output"):
        sent.pop(name, None)
    return sent


def _add_usage(usage: dict[str, float], message: Any, model: str) -> None:
    """Adds a message's tokens and their price; without a known price the sum has none."""
    now = {kind: getattr(message.usage, kind, None) or 0 for kind in KINDS}
    price = dollars(model, now)
    for kind, amount in now.items():
        usage[kind] = usage.get(kind, 0) + amount
    if price is not None:
        usage["dollars"] = usage.get("dollars", 0.0) + price
