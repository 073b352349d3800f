"""Log lines are one per event, on one stream, without secrets."""

import io
import json
import logging
import threading
from collections.abc import Iterator

import pytest
import structlog

from bot.client import unlogged
from bot.logs import configure, redact
from knowledge.errors import FootnoteError


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    yield io.StringIO()
    root.handlers, root.level = handlers, level
    structlog.reset_defaults()


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("token xoxb-12-34-abCD refused", "xoxb-12-34-abCD"),
        ("app token xapp-1-A0-b", "xapp-1-A0-b"),
        ("key sk-ant-api03-xyz_1 expired", "sk-ant-api03-xyz_1"),
        ("postgresql+psycopg://bot:hunter2@db/footnote", "hunter2"),
        ("password=hunter2 in the settings", "hunter2"),
        ("Authorization: Bearer abc.def", "abc.def"),
        ("eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl", "eyJzdWIiOiIx"),
        ("ghp_" + "a" * 30, "a" * 30),
    ],
)
def test_secrets_are_blotted_out(text: str, secret: str) -> None:
    assert secret not in redact(text)
    assert "[redacted]" in redact(text)


def test_ordinary_text_is_left_alone() -> None:
    text = "source handbook: 3 added, 1 changed; E4012 at https://docs.example/token-rotation"
    assert redact(text) == text


def test_each_event_is_one_json_line_with_its_fields(stream: io.StringIO) -> None:
    configure(json=True, stream=stream)
    structlog.get_logger("footnote").info("synced", source="handbook", added=3)
    logging.getLogger("other").warning("connecting to %s", "postgresql://bot:hunter2@db")
    first, second = (json.loads(line) for line in stream.getvalue().splitlines())
    assert (first["event"], first["source"], first["added"], first["level"]) == ("synced", "handbook", 3, "info")
    assert second["event"] == "connecting to postgresql://[redacted]@db"


def _fail(error: Exception) -> None:
    try:
        try:
            raise error
        except Exception as cause:
            raise RuntimeError(f"because of {cause}") from cause
    except RuntimeError:
        structlog.get_logger("footnote").exception("failed")
        logging.getLogger("other").exception("failed too")


def test_an_exception_is_logged_with_its_place_and_without_its_text(stream: io.StringIO) -> None:
    """A database's error quotes the row, a model's the prompt."""
    configure(json=True, stream=stream)
    _fail(ValueError("Failing row contains (the roof costs 48,000)"))
    assert "48,000" not in stream.getvalue()
    for line in stream.getvalue().splitlines():
        assert "in _fail" in line
        assert line.index("ValueError") < line.index("RuntimeError")


def test_our_own_errors_keep_their_text_but_for_secrets(stream: io.StringIO) -> None:
    configure(json=True, stream=stream)
    _fail(FootnoteError("xoxb-1-2-3 is revoked"))
    assert "xoxb-1" not in stream.getvalue()
    assert "is revoked" in stream.getvalue()


@pytest.mark.parametrize("name", ["slack_sdk.web.base_client", "slack_bolt"])
def test_only_the_thread_that_raises_the_error_leaves_out_what_slacks_library_logs_of_it(
    caplog: pytest.LogCaptureFixture, name: str
) -> None:
    library = logging.getLogger(name)
    with unlogged():
        library.error("a start that fails")
        other = threading.Thread(target=library.error, args=("a question that fails",))
        other.start()
        other.join()
    library.error("later")
    assert caplog.messages == ["a question that fails", "later"]


def test_what_slacks_library_says_of_every_call_while_slack_is_away_is_said_once_a_minute(stream: io.StringIO) -> None:
    configure(json=True, stream=stream)
    library, ours = logging.getLogger("slack_sdk.web.base_client"), logging.getLogger("bot.inbox")

    def say(logger: logging.Logger, text: str, at_s: float) -> None:
        record = logger.makeRecord(logger.name, logging.ERROR, "", 0, "failed: %s", (text,), None)
        record.created = at_s
        logger.handle(record)

    for at_s in (0.0, 1.0, 59.0, 60.0, 61.0):
        say(library, "refused", at_s)
        say(ours, f"at {at_s}", at_s)
    say(library, "timed out", 61.0)
    said = [json.loads(line)["event"] for line in stream.getvalue().splitlines()]
    assert [text for text in said if " at " not in text] == ["failed: refused", "failed: refused", "failed: timed out"]
    assert len(said) == 3 + 5
