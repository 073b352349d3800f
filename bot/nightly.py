"""The night's work: the gold set measured, its digest posted to a channel, and what is too old deleted."""

import secrets
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import structlog
from slack_sdk import WebClient

from bot import blocks, digest_wording, review_wording, wording
from bot.blocks import Post
from bot.client import FAILURES, Identity
from bot.directory import Directory
from bot.errors import SlackUnavailable
from bot.handling import Handling
from bot.replies import Replies
from bot.review import pending
from bot.settings import Settings
from jobs import chart, digest, evaluation, retention, sync
from jobs.digest import Digest
from jobs.schedule import Job
from knowledge import activity, evals, prompting, reviews
from knowledge.answering import Answerer
from knowledge.engine import Engine
from knowledge.errors import FootnoteError
from knowledge.judge import judge
from knowledge.receipts import Receipt
from knowledge.settings import Answers
from knowledge.slots import Slot

log = structlog.get_logger()

MARK = "footnote_digest"
ON_REQUEST = "footnote nightly on request"
RECENT = 100
"""Messages looked through for a digest that an interrupted run has posted already."""


class Nightly:
    """`jobs` are what the scheduler runs, `tasks` what a worker does on request. A slot that is run again posts nothing twice.

    `refresh` shows a person's Home tab anew, with how it goes (`told`).
    """

    def __init__(
        self,
        settings: Settings,
        engine: Engine,
        directory: Directory,
        replies: Replies,
        handling: Handling,
        client: WebClient,
        me: Identity,
        refresh: Callable[..., object],
    ) -> None:
        self._refresh = refresh
        self._settings = settings
        self._engine = engine
        self._directory = directory
        self._replies = replies
        self._handling = handling
        self._client = client
        self._me = me

    @property
    def jobs(self) -> tuple[Job, ...]:
        schedule = self._settings.schedule
        return (
            Job("nightly", schedule.nightly, schedule.timezone, self.run),
            Job("retention", schedule.retention, schedule.timezone, self.clean),
        )

    @property
    def tasks(self) -> Mapping[str, Callable[[int], None]]:
        return {"nightly": self._handling.task(self.run_for)}

    def run_for(self, receipt: Receipt) -> str:
        """Do the night's measuring now, because an administrator pressed the button, and tell them how it went."""
        try:
            admin = self._directory.is_admin(str(receipt.person))
        except SlackUnavailable:
            self._tell(receipt, wording.FACTS_UNKNOWN)
            return "done"
        if admin:
            self._tell(receipt, wording.NIGHTLY_BEGUN)
        self._tell(receipt, self._carry_out(receipt) if admin else wording.ADMINS_ONLY)
        return "done"

    def _carry_out(self, receipt: Receipt) -> str:
        """What to say in the end. Begun again after a crash, it is the same slot, whose digest is posted once."""
        slot = Slot("nightly", receipt.received_at, receipt.attempt, "on request")
        with self._engine.database.lock(ON_REQUEST) as alone:
            if not alone:
                return wording.NIGHTLY_RUNNING
            try:
                self.run(slot)
            except (FootnoteError, OSError) as error:
                error_id = secrets.token_hex(4)
                log.warning("the evaluation on request failed", error_id=error_id, error=str(error))
                return wording.nightly_failed(error_id)
        channel = self._settings.schedule.digest_channel
        return wording.nightly_posted(channel) if channel else self._figures()

    def _figures(self) -> str:
        """Of the last evaluation: the recall, and over how many questions. No text of any of them."""
        with self._engine.database.writing() as connection:
            figures = next(run.metrics for run in reversed(evals.runs(connection)) if run.metrics)
        questions = figures["cases"]["used"] - figures["cases"]["absent"]
        return wording.nightly_measured(figures["stages"]["reranked"].get("recall@5"), questions)

    def _tell(self, receipt: Receipt, words: str) -> None:
        self._refresh(str(receipt.person), told=words)
        self._handling.tell_alone(receipt, blocks.notice(words))

    def run(self, slot: Slot) -> None:
        """Measure the gold set, tell who reviews of new proposals, post the digest.

        Raises `SlackUnavailable` when it cannot be posted.
        """
        self.measure(slot)
        for admin in self._settings.slack.admins:
            self.ask_for_review(admin, slot)
        channel = self._settings.schedule.digest_channel
        if channel is not None:
            self.post(channel, slot)

    def measure(self, slot: Slot) -> None:
        """Answers are measured without the model: a night should not spend the day's tokens. A few of those that the
        model gave are judged, where there is a budget."""
        engine, settings = self._engine, self._settings.answers
        quoting = Answerer(engine.database, engine.retriever, engine.embedder, Answers())
        judged = judge(engine.database, settings, _since(slot))
        evaluation.run(
            engine.database,
            engine.retriever,
            quoting.answer,
            {"prompt": prompting.prompt_hash(settings.citations), "answers": "quotes"},
            slot.at,
            judged.to_json() if judged else None,
        )

    def clean(self, slot: Slot) -> None:
        deleted = retention.run(self._engine.database, self._settings.schedule.keep_days, datetime.now(UTC))
        log.info("too old, deleted", **deleted)

    def ask_for_review(self, admin: str, slot: Slot) -> None:
        """Tell an administrator of the settings what was proposed since the last night, as far as they may read it."""
        try:
            if not self._directory.is_admin(admin):
                return
            allowed = self._directory.decide(admin, None).allowed
            newest = reviews.newest(self._engine.database, allowed)
            if newest is None or newest < _since(slot):
                return
            channel = self._replies.direct(admin)
            if not any(_marks(message, slot) for message in self._mine(channel)):
                shown = blocks.section(review_wording.TOLD), *pending(self._engine.database, allowed)
                self._post(channel, slot, Post(review_wording.TOLD, shown))
        except (FootnoteError, *FAILURES) as error:
            log.warning("nobody was asked to review", person=admin, error=str(error))

    def post(self, channel: str, slot: Slot) -> None:
        engine, settings = self._engine, self._settings
        with engine.database.plain() as connection:
            succeeded = activity.succeeded(connection)
        facts = digest.gather(
            engine.database,
            self._directory.audience(channel),
            _since(slot),
            sync.overdue(settings.schedule, settings.sources, succeeded, datetime.now(UTC)),
        )
        composed = digest.compose(facts)
        try:
            mine = self._mine(channel)
            if not any(_marks(message, slot) for message in mine):
                self._send(channel, slot, composed, mine)
        except FAILURES as error:
            raise SlackUnavailable(f"the digest cannot be posted to {channel}: {error}") from error

    def _send(self, channel: str, slot: Slot, composed: Digest, mine: Sequence[Mapping[str, Any]]) -> None:
        """The chart first: the text, which carries the mark, tells that everything was posted. `mine`: what I said there.

        A file carries no mark but its name, by which the chart of an interrupted run is known.
        """
        name = f"recall-{slot.at.astimezone(UTC):%Y-%m-%dT%H%M%S}.png"
        if composed.series and not any(file.get("name") == name for m in mine for file in m.get("files") or ()):
            self._client.files_upload_v2(
                channel=channel,
                content=chart.png(composed.series),
                filename=name,
                title=wording.CHART_TITLE,
                alt_txt=wording.CHART_TITLE,
            )
        for post in blocks.written(digest_wording.markdown(composed)):
            self._post(channel, slot, post)

    def _post(self, channel: str, slot: Slot, post: Post) -> None:
        mark = {"event_type": MARK, "event_payload": {"slot": slot.at.isoformat()}}
        self._client.chat_postMessage(channel=channel, metadata=mark, **post.arguments())

    def _mine(self, channel: str) -> list[Mapping[str, Any]]:
        """What this bot said there lately."""
        page = self._client.conversations_history(channel=channel, limit=RECENT, include_all_metadata=True)
        return [message for message in page["messages"] if self._me.wrote(dict(message))]


def _marks(message: Mapping[str, Any], slot: Slot) -> bool:
    payload = (message.get("metadata") or {}).get("event_payload") or {}
    return bool(payload.get("slot") == slot.at.isoformat())


def _since(slot: Slot) -> datetime:
    """The time that the slot's messages tell of begins here."""
    return slot.previous or slot.at - timedelta(days=1)
