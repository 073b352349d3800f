"""The night's work: the gold set measured, its digest posted to a channel, and what is too old deleted."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import structlog
from slack_sdk import WebClient

from bot import blocks, wording
from bot.client import FAILURES, Identity
from bot.directory import Directory
from bot.errors import SlackUnavailable
from bot.settings import Settings
from jobs import chart, digest, evaluation, retention
from jobs.digest import Digest
from jobs.schedule import Job
from knowledge.answering import Answerer
from knowledge.engine import Engine
from knowledge.settings import Answers
from knowledge.slots import Slot

log = structlog.get_logger()

MARK = "footnote_digest"
RECENT = 100
"""Messages looked through for a digest that an interrupted run has posted already."""


class Nightly:
    """`jobs` are what the scheduler runs. A slot that is run again posts nothing twice."""

    def __init__(
        self, settings: Settings, engine: Engine, directory: Directory, client: WebClient, me: Identity
    ) -> None:
        self._settings = settings
        self._engine = engine
        self._directory = directory
        self._client = client
        self._me = me

    @property
    def jobs(self) -> tuple[Job, ...]:
        schedule = self._settings.schedule
        return (
            Job("nightly", schedule.nightly, schedule.timezone, self.run),
            Job("retention", schedule.retention, schedule.timezone, self.clean),
        )

    def run(self, slot: Slot) -> None:
        """Measure the gold set and post the digest. Raises `SlackUnavailable` when it cannot be posted."""
        self.measure(slot)
        channel = self._settings.schedule.digest_channel
        if channel is not None:
            self.post(channel, slot)

    def measure(self, slot: Slot) -> None:
        """Answers are measured without the model: a night should not spend the day's tokens."""
        engine = self._engine
        quoting = Answerer(engine.database, engine.retriever, engine.embedder, Answers())
        evaluation.run(engine.database, engine.retriever, quoting.answer, at=slot.at)

    def clean(self, slot: Slot) -> None:
        deleted = retention.run(self._engine.database, self._settings.schedule.keep_days, datetime.now(UTC))
        log.info("too old, deleted", **deleted)

    def post(self, channel: str, slot: Slot) -> None:
        since = slot.previous or slot.at - timedelta(days=1)
        facts = digest.gather(
            self._engine.database, self._directory.audience(channel), since, self._engine.embedder.encode_texts
        )
        composed = digest.compose(facts)
        try:
            if not self._is_posted(channel, slot):
                self._send(channel, slot, composed)
        except FAILURES as error:
            raise SlackUnavailable(f"the digest cannot be posted to {channel}: {error}") from error

    def _send(self, channel: str, slot: Slot, composed: Digest) -> None:
        """The chart first: the text, which carries the mark, tells that everything was posted."""
        if composed.series:
            self._client.files_upload_v2(
                channel=channel,
                content=chart.png(composed.series),
                filename=f"recall-{slot.at:%Y-%m-%d}.png",
                title=wording.CHART_TITLE,
                alt_txt=wording.CHART_TITLE,
            )
        mark = {"event_type": MARK, "event_payload": {"slot": slot.at.isoformat()}}
        for post in blocks.written(digest.plain(composed)):
            self._client.chat_postMessage(channel=channel, metadata=mark, **post.arguments())

    def _is_posted(self, channel: str, slot: Slot) -> bool:
        page = self._client.conversations_history(channel=channel, limit=RECENT, include_all_metadata=True)
        return any(self._marks(message, slot) for message in page["messages"])

    def _marks(self, message: Mapping[str, Any], slot: Slot) -> bool:
        payload = (message.get("metadata") or {}).get("event_payload") or {}
        return self._me.wrote(dict(message)) and payload.get("slot") == slot.at.isoformat()
