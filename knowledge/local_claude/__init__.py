"""A local stand-in for the Claude Messages API: an ASGI application for tests and the demo, over real HTTP.

It answers by quoting, with true citations, the blocks of the request's `search_result`s that share most words with the
question, and streams them in the API's order of events. What it assumes about the real API, all in one place:

1.  A key comes as `Authorization: Bearer` or `x-api-key`; without one the answer is 401 `authentication_error`.
2.  `temperature`, `top_p`, `top_k` are refused (400) at version 2026-10-21, as is a last message by the assistant.
3.  Search results with and without citations in one request, or citations with `output_config.format`, are 400;
    so are empty or blank text blocks, and citations on a user's text block.
4.  Sonnet, Opus and Fable 5.x refuse a forced `tool_choice`, and thinking `enabled` or `disabled`; Haiku `enabled`.
5.  `tool_use` blocks in the messages need `tools`, and a `tool_result` for each in the next message.
6.  `search_result_index` counts from 0 over all search results of the request, tool results included; block ranges
    exclude their end; `cited_text` is the joined text of the range.
7.  A stream is: message_start, ping, then per block content_block_start, its deltas (citations_delta before the text),
    content_block_stop; then message_delta with stop_reason and usage, message_stop.
8.  An overload after the start is an `error` event inside the 200 stream. A cut stream simply ends.
9.  A refusal is a 200 with stop_reason `refusal` and `stop_details`; it may come after text.
10. With `output_config.format` the text is JSON of that schema.
11. A model is described at /v1/models/NAME with its lifecycle: active, deprecated or retired; unknown names are 404.

Each request takes the next `Step` of the script, if there is one. Requests are kept for tests to read.
"""

from knowledge.local_claude.application import LocalClaude
from knowledge.local_claude.server import serve
from knowledge.local_claude.step import Step

__all__ = ["LocalClaude", "Step", "serve"]
