"""The answering model: passages and a question -> a draft with its citations; a follow-up -> a question that stands alone.

A search that the model asks for runs in the caller's scopes; its passages join the evidence and are cited like the rest.
Raises `AnsweringFailed` and nothing else; `calls.py` knows how a call may fail.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import BaseModel

from knowledge import analysis, prompting
from knowledge.answers import Turn
from knowledge.budget import KINDS, dollars
from knowledge.calls import Calls
from knowledge.claims import Segment
from knowledge.errors import AnsweringFailed
from knowledge.evidence import Cited, Evidence
from knowledge.markers import marked_segments
from knowledge.settings import Answers

FOLLOW_UP_TOKENS = 400

LONGEST_QUERY = 400
"""Characters of a query of the model's own; it is stored with the answer, and more than a few words finds nothing more."""

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


class Claude:
    """The answering service under one set of settings. Threads may share it."""

    def __init__(self, settings: Answers) -> None:
        self._settings = settings
        self._calls = Calls(settings)

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
        message = self._calls.complete(request, deadline, lambda _: None)
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

        message = self._calls.complete(request, deadline, show)
        written = self._segments(message.content, talk.evidence)
        if message.stop_reason != "tool_use" or any(segment.citations for segment in written):
            talk.segments += written  # "I don't see it here, let me search" is no part of the answer
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
            query = _query(call.input)
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

    def warm(self) -> None:
        """Load the SDK now, so that the first question does not spend seconds of its time on that."""
        self._calls.connect()

    def close(self) -> None:
        self._calls.close()


def _query(given: Any) -> str:
    """What the model wants to look for; empty when it asked with anything but a text."""
    query = given.get("query") if isinstance(given, dict) else None
    return " ".join(analysis.clean(query).split())[:LONGEST_QUERY] if isinstance(query, str) else ""


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
