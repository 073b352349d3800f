"""A source in a line, and what is wrong with it, for those who may know of it. Pure."""

from datetime import datetime, timedelta

from bot import wording
from bot.mrkdwn import escape
from knowledge.catalog import SourceState

FAILURES_SHOWN = 5
STALE_AFTER = timedelta(days=2)
"""A source that was not read for this long is marked."""


def summary(state: SourceState, now: datetime) -> str:
    stale = state.succeeded_at is None or now - state.succeeded_at > STALE_AFTER
    line = wording.home_source(state.name, state.documents, wording.ago(state.succeeded_at, now))
    return f"{line} :warning:" if stale else line


def faults(state: SourceState) -> list[str]:
    """What its last sync could not do or read, a line each."""
    lines = [escape(state.error)] if state.error else []
    lines += [escape(f"{document}: {reason}") for document, reason in state.failures.known[:FAILURES_SHOWN]]
    lines += [wording.hidden_failures(state.failures.hidden)] if state.failures.hidden else []
    return [wording.home_failure(state.name, line) for line in lines]
