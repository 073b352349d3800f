"""The local Claude speaks the real API's language: the real SDK reads it, and what the real API refuses it refuses."""

from collections.abc import Iterator
from typing import Any

import anthropic
import httpx2
import pytest
from anthropic.types import Message

from knowledge.local_claude import LocalClaude, Step, serve

MODEL = "claude-sonnet-5-5"


def result(text: str, *more: str, cited: bool = True) -> dict[str, Any]:
    content = [{"type": "text", "text": t} for t in (text, *more)]
    return {
        "type": "search_result",
        "source": "s",
        "title": "Rooms",
        "content": content,
        "citations": {"enabled": cited},
    }


ROOMS = result("The big room seats forty. ", "The small room seats six.")


def asking(*blocks: dict[str, Any], text: str = "How many seats has the small room?") -> list[Any]:
    return [{"role": "user", "content": [*blocks, {"type": "text", "text": text}]}]


@pytest.fixture
def claude() -> LocalClaude:
    return LocalClaude()


@pytest.fixture
def client(claude: LocalClaude) -> Iterator[anthropic.Anthropic]:
    with (
        serve(claude) as url,
        anthropic.Anthropic(api_key="k", base_url=url, max_retries=0, _strict_response_validation=True) as connected,
    ):
        yield connected


def test_a_message_is_valid_and_cites_truly(client: anthropic.Anthropic) -> None:
    message = client.messages.create(model=MODEL, max_tokens=500, messages=asking(ROOMS))
    assert Message.model_validate(message.to_dict(), strict=False) == message
    block = message.content[0]
    assert block.type == "text"
    [citation] = block.citations or []
    assert citation.type == "search_result_location"
    assert citation.cited_text == "The small room seats six."
    assert (citation.search_result_index, citation.start_block_index, citation.end_block_index) == (0, 1, 2)
    assert message.stop_reason == "end_turn"


def test_a_stream_gives_the_same_message_as_no_stream(client: anthropic.Anthropic) -> None:
    plain = client.messages.create(model=MODEL, max_tokens=500, messages=asking(ROOMS))
    with client.messages.stream(model=MODEL, max_tokens=500, messages=asking(ROOMS)) as stream:
        events = [event.type for event in stream]
        streamed = stream.get_final_message()
    assert [b.to_dict() for b in streamed.content] == [b.to_dict() for b in plain.content]
    assert events[0] == "message_start"
    assert events[-1] == "message_stop"
    assert events.index("citation") < events.index("text")


def test_nothing_found_is_said_in_the_agreed_line(client: anthropic.Anthropic) -> None:
    message = client.messages.create(model=MODEL, max_tokens=500, messages=asking(ROOMS, text="Where is the canteen?"))
    assert str(message.content[0].to_dict()["text"]).startswith("NOT COVERED:")


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        ({"extra_body": {"temperature": 1.0}}, "temperature"),
        ({"messages": asking(ROOMS, result("x y", cited=False))}, "all or none"),
        (
            {
                "messages": asking(ROOMS),
                "output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}},
            },
            "incompatible",
        ),
        ({"messages": [*asking(ROOMS), {"role": "assistant", "content": "The"}]}, "prefill"),
        ({"messages": asking(result("\n"))}, "blank"),
        ({"thinking": {"type": "disabled"}}, "thinking"),
        ({"tools": [{"name": "t", "input_schema": {"type": "object"}}], "tool_choice": {"type": "any"}}, "tool_choice"),
        (
            {
                "messages": [
                    *asking(ROOMS),
                    {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "search", "input": {}}]},
                    {"role": "user", "content": "and?"},
                ]
            },
            "tool_",
        ),
        ({"messages": asking({"type": "text", "text": "x", "citations": [{"type": "char_location"}]})}, "citations"),
    ],
)
def test_what_the_api_refuses_is_refused(client: anthropic.Anthropic, request_: dict[str, Any], words: str) -> None:
    with pytest.raises(anthropic.BadRequestError, match=words):
        client.messages.create(**{"model": MODEL, "max_tokens": 500, "messages": asking(ROOMS), **request_})


def test_a_request_without_a_key_is_refused(claude: LocalClaude) -> None:
    with serve(claude) as url:
        answer = httpx2.post(f"{url}/v1/messages", json={"model": MODEL, "max_tokens": 10, "messages": asking(ROOMS)})
    assert (answer.status_code, answer.json()["error"]["type"]) == (401, "authentication_error")


def test_steps_are_taken_in_order_and_then_it_answers_again(claude: LocalClaude, client: anthropic.Anthropic) -> None:
    claude.script.extend([Step(status=529, error="overloaded_error"), Step(status=429, error="rate_limit_error")])
    for expected in (anthropic.OverloadedError, anthropic.RateLimitError):
        with pytest.raises(expected):
            client.messages.create(model=MODEL, max_tokens=500, messages=asking(ROOMS))
    assert client.messages.create(model=MODEL, max_tokens=500, messages=asking(ROOMS)).stop_reason == "end_turn"
    assert len(claude.requests) == 3


def test_an_overload_inside_a_stream_has_the_streams_status(claude: LocalClaude, client: anthropic.Anthropic) -> None:
    claude.script.append(Step(error_after=4, error="overloaded_error"))
    with (
        client.messages.stream(model=MODEL, max_tokens=500, messages=asking(ROOMS)) as stream,
        pytest.raises(anthropic.APIStatusError) as raised,
    ):
        stream.get_final_message()
    assert (raised.value.status_code, raised.value.type) == (200, "overloaded_error")


def test_a_cut_stream_has_no_stop_reason(claude: LocalClaude, client: anthropic.Anthropic) -> None:
    claude.script.append(Step(cut_after=5))
    with client.messages.stream(model=MODEL, max_tokens=500, messages=asking(ROOMS)) as stream:
        assert stream.get_final_message().stop_reason is None


def test_a_refusal_says_so(claude: LocalClaude, client: anthropic.Anthropic) -> None:
    claude.script.append(Step(stop_reason="refusal"))
    message = client.messages.create(model=MODEL, max_tokens=500, messages=asking(ROOMS))
    assert message.stop_reason == "refusal"
    assert message.stop_details is not None


def test_too_little_room_cuts_the_text(client: anthropic.Anthropic) -> None:
    message = client.messages.create(model=MODEL, max_tokens=3, messages=asking(ROOMS))
    assert message.stop_reason == "max_tokens"


def test_a_search_is_asked_for_and_its_results_are_numbered_on(
    claude: LocalClaude, client: anthropic.Anthropic
) -> None:
    tool: Any = {"name": "search", "input_schema": {"type": "object"}}
    claude.script.append(Step(search=("attic",)))
    first = client.messages.create(model=MODEL, max_tokens=500, messages=asking(ROOMS), tools=[tool])
    assert first.stop_reason == "tool_use"
    call = first.content[0]
    assert call.type == "tool_use"
    assert call.input == {"query": "attic"}
    answered = {"type": "tool_result", "tool_use_id": call.id, "content": [result("The attic seats two.")]}
    messages: Any = [
        *asking(ROOMS, text="How many seats has the attic?"),
        {"role": "assistant", "content": [call.to_dict()]},
        {"role": "user", "content": [answered]},
    ]
    second = client.messages.create(model=MODEL, max_tokens=500, messages=messages, tools=[tool])
    cited = [c for b in second.content if b.type == "text" for c in b.citations or []]
    assert [c.search_result_index for c in cited if c.type == "search_result_location"] == [1]


def test_tokens_are_counted(client: anthropic.Anthropic) -> None:
    assert client.messages.count_tokens(model=MODEL, messages=asking(ROOMS)).input_tokens > 10
