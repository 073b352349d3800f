"""One message as the workspace keeps it, and the stream that may still be writing it."""

from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]

# Reported by developers, undocumented by Slack: a stream ends about five minutes after its start, however active.
STREAM_LIFETIME_S = 300.0


@dataclass
class Stream:
    """Text that arrives in pieces. `open` turns false when stopped; after STREAM_LIFETIME_S it counts as stopped."""

    started_at: float
    chunks: list[Json] = field(default_factory=list)
    stopped: bool = False

    def is_open(self, now: float) -> bool:
        return not self.stopped and now - self.started_at < STREAM_LIFETIME_S

    def markdown(self) -> str:
        return "".join(chunk["text"] for chunk in self.chunks if chunk["type"] == "markdown_text")


@dataclass
class Message:
    """`user` wrote `text` in `channel` at `ts`; `thread_ts` is the root's ts in a reply and None in a root.

    `only_for` is the one reader of an ephemeral message, None for everybody in the channel.
    """

    channel: str
    ts: str
    user: str
    text: str
    blocks: list[Json] = field(default_factory=list)
    thread_ts: str | None = None
    subtype: str | None = None
    from_bot: bool = False
    only_for: str | None = None
    edited_ts: str | None = None
    edited_by: str = ""
    reactions: dict[str, list[str]] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)
    attachments: list[Json] = field(default_factory=list)
    metadata: Json | None = None
    stream: Stream | None = None

    @property
    def root(self) -> str:
        """The ts of the thread this message belongs to, its own when it starts one."""
        return self.thread_ts or self.ts

    @property
    def is_reply(self) -> bool:
        return self.thread_ts is not None and self.thread_ts != self.ts
