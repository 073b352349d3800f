"""Logging for people and machines: one line an event on standard error, ids instead of text, secrets blotted out.

Modules log with `structlog.get_logger()`; a composition root calls `configure` once. Question or document text never
belongs in a log line; ids, counts and reasons do.
"""

import logging
import re
import sys
import traceback
from collections.abc import MutableMapping
from typing import Any, TextIO

import structlog
from structlog.typing import ExcInfo

from knowledge.errors import FootnoteError

SECRETS = re.compile(
    r"xox[abeprs]-[\w-]+|xapp-[\w-]+|sk-ant-[\w-]+|\bsk-[\w-]{16,}"  # Slack, Anthropic, other model services
    r"|\bgh[pousr]_\w{20,}|\bAKIA[A-Z0-9]{16}\b"  # GitHub, AWS
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----.*?-----END [A-Z ]*PRIVATE KEY-----"
    r"|\beyJ[\w-]{8,}\.[\w-]+\.[\w-]+"  # JSON web tokens
    r"|(?<=://)[^/@\s:]+:[^/@\s]+(?=@)"  # user:password in an address
    r"|(?i:\b(?:password|passwd|secret|token|authorization)\b\s*[=:]\s*)(?:Bearer\s+)?\S+",
    re.DOTALL,
)
"""Shapes of secrets that may reach a log line through an exception's text."""


REPEATED_S = 60.0


def _told(exc_info: ExcInfo) -> str:
    """Where an exception came from, and its text if it is one of ours: others quote rows, prompts and questions."""
    error: BaseException | None = exc_info[1]
    chain: list[BaseException] = []
    while error is not None and error not in chain:
        chain.append(error)
        error = error.__cause__ or error.__context__
    told = []
    for each in reversed(chain):
        words = f": {each}" if isinstance(each, FootnoteError) else ""
        told.append("".join(traceback.format_tb(each.__traceback__)) + type(each).__name__ + words)
    return "\n".join(told)


def redact(text: str) -> str:
    return SECRETS.sub("[redacted]", text)


def redact_event(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """structlog processor: blots out secrets in every string of the event."""
    for key, value in event.items():
        if isinstance(value, str):
            event[key] = redact(value)
    return event


class SaidOnce(logging.Filter):
    """Drops what Slack's library says again, word for word, within `REPEATED_S`: while Slack is away it is said of every
    call, and ours say what came of them."""

    def __init__(self) -> None:
        super().__init__("slack_sdk")
        self._said: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        if not super().filter(record):
            return True
        text, now = record.getMessage(), record.created
        self._said = {said: at for said, at in self._said.items() if now - at < REPEATED_S}
        return self._said.setdefault(text, now) == now


def configure(level: str = "INFO", json: bool | None = None, stream: TextIO | None = None) -> None:
    """Route structlog and the standard library's loggers through one chain to `stream` (None: standard error).

    `json`: None chooses JSON unless the stream is a terminal.
    """
    target = stream or sys.stderr
    as_json = not target.isatty() if json is None else json
    chain: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.ExceptionRenderer(_told),
        redact_event,
    ]
    renderer: structlog.typing.Processor = (
        structlog.processors.JSONRenderer() if as_json else structlog.dev.ConsoleRenderer(colors=target.isatty())
    )
    structlog.configure(
        processors=[*chain, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level]),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(target)
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(processor=renderer, foreign_pre_chain=chain))
    handler.addFilter(SaidOnce())
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level)
    for chatty in (
        "slack_sdk",
        "slack_bolt",
        "procrastinate",
        "apscheduler",
        "httpx2",
        "alembic",
        "sentence_transformers",
    ):
        logging.getLogger(chatty).setLevel(max(logging.WARNING, root.level))
