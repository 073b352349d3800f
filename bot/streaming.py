"""An answer shown while it is written: whole paragraphs at a time, as far as Slack's limits for the workspace allow.

It is a preview. The finished reply replaces it in the same message, with links, tables and sources; when anything goes
wrong with the stream, that reply is all there is to see.
"""

from collections.abc import Callable

import structlog

from bot.conversation import Asked
from bot.errors import SlackUnavailable, Undeliverable
from bot.markdown import pieces
from bot.replies import Replies
from knowledge.receipts import Receipt, Reply

log = structlog.get_logger()

FIRST_CHARS = 200
"""So much must be there before a stream is worth one of the 20 that a workspace has a minute."""
NEXT_CHARS = 800
"""At 100 additions a minute for all answers together, smaller ones would run out within a few answers."""
PIECE_CHARS = 10_000


class Stream:
    """Call it with each piece of text. `may_start` is asked once, just before anything is shown."""

    def __init__(self, replies: Replies, receipt: Receipt, asked: Asked, may_start: Callable[[], bool]) -> None:
        self.reply: Reply | None = None
        self._replies = replies
        self._receipt = receipt
        self._asked = asked
        self._may_start = may_start
        self._waiting = ""
        self._over = False

    def __call__(self, text: str) -> None:
        if self._over:
            return
        self._waiting += text
        ready, rest = whole_paragraphs(self._waiting)
        if len(ready) >= (NEXT_CHARS if self.reply else FIRST_CHARS):
            self._waiting = rest
            self._show("\n\n".join(piece.markdown for piece in pieces(ready, lambda url: False, PIECE_CHARS)))

    def _show(self, markdown: str) -> None:
        try:
            if self.reply is not None:
                self._over = not self._replies.append(self.reply, f"\n\n{markdown}")
            elif self._may_start():
                self.reply = self._replies.open_stream(self._receipt, self._asked, markdown)
                self._over = self.reply is None
            else:
                self._over = True
        except (SlackUnavailable, Undeliverable) as error:
            self._over = True
            log.info("the answer is not shown while it is written", error=str(error))


def whole_paragraphs(text: str) -> tuple[str, str]:
    """The paragraphs that are finished, and the rest. A code block or table is finished when what follows has begun."""
    end, fenced, position = 0, False, 0
    for line in text.splitlines(keepends=True):
        position += len(line)
        fenced ^= line.lstrip().startswith("```")
        if not line.strip() and not fenced:
            end = position
    return text[:end].strip(), text[end:]
