"""From a question to an outcome: what to say, under which rights, looked at again before it is said."""

from dataclasses import dataclass, replace

import structlog

from bot import blocks, wording
from bot.blocks import Post
from bot.conversation import Asked
from bot.directory import Directory
from bot.errors import SlackBusy, SlackUnavailable
from bot.replies import Replies
from bot.streaming import Stream
from knowledge import catalog
from knowledge.answering import Answerer
from knowledge.answers import Answer, Question
from knowledge.db import Database
from knowledge.permissions import WORKSPACE, Decision
from knowledge.receipts import Receipt

log = structlog.get_logger()

ANSWERS_PER_QUESTION = 5
"""How often an answer is begun again because rights or documents changed while it was written."""


@dataclass(frozen=True)
class Outcome:
    """How a question ends: the messages to send, the receipt's state, and the answer behind them if there is one."""

    state: str
    posts: tuple[Post, ...]
    answer: Answer | None = None
    decision: Decision | None = None


class Outcomes:
    """Threads share it."""

    def __init__(self, database: Database, directory: Directory, replies: Replies, answerer: Answerer) -> None:
        self._database = database
        self._directory = directory
        self._replies = replies
        self._answerer = answerer

    def of(
        self,
        asked: Asked,
        question: Question,
        place: str | None,
        streamed: Receipt | None = None,
        *,
        patient: bool = False,
    ) -> Outcome:
        """Decide, answer, and look again whether everything the answer rests on may still be shown there.

        `streamed`: the receipt whose reply shows the answer while it is written. `patient`: when Slack wants to be asked
        later who may read what, `SlackBusy` is raised, so that the question can wait; else it is refused.
        """
        try:
            decision = self._directory.decide(asked.asker, place)
            stream = self._stream(streamed, asked, decision) if streamed and decision.allowed else None
            for _ in range(ANSWERS_PER_QUESTION):
                if not decision.allowed:
                    return _refused(decision)
                answer = self._answerer.answer(question, decision.allowed, stream)
                latest = self._directory.decide(asked.asker, place, live=_rests_on_private(answer))
                if self._may_show(answer, latest):
                    shown = blocks.reply(answer, direct=asked.direct)
                    return Outcome("answered", shown, answer, _common(decision, latest))
                if stream is not None and stream.reply is not None:
                    self._replies.hide(stream.reply)
                decision, stream = latest, None
        except SlackUnavailable as error:
            if patient and isinstance(error, SlackBusy):
                raise
            log.warning("facts unknown", channel=asked.channel, error=str(error))
            return Outcome("refused", (blocks.notice(wording.FACTS_UNKNOWN),))
        return Outcome("refused", (blocks.notice(wording.CHANGED_MEANWHILE),))

    def _stream(self, receipt: Receipt, asked: Asked, decision: Decision) -> Stream:
        """A preview, shown only if the rights that the answer is written under still hold when it begins to show."""

        def unchanged() -> bool:
            return decision.allowed == self._directory.decide(asked.asker, asked.channel, live=True).allowed

        return Stream(self._replies, receipt, asked, unchanged)

    def _may_show(self, answer: Answer, latest: Decision) -> bool:
        """What it cites is still there as cited, and everyone who will see the reply may read all that it was written from."""
        used = {passage.document_id for passage in answer.passages}
        cited = {citation.chunk_id for citation in answer.citations}
        if not used:
            return bool(latest.allowed)
        with self._database.reading(latest.allowed) as connection:
            readable = catalog.readable_documents(connection, used, latest.allowed)
            there = catalog.readable_chunks(connection, cited, latest.allowed)
        return used <= readable and cited <= there


def _refused(decision: Decision) -> Outcome:
    words = wording.NOTHING_ALLOWED_PLACE if decision.held else wording.NOTHING_ALLOWED_PERSON
    return Outcome("refused", (blocks.notice(words),), decision=decision)


def _rests_on_private(answer: Answer) -> bool:
    return any(WORKSPACE not in passage.scopes for passage in answer.passages)


def _common(used: Decision, latest: Decision) -> Decision:
    """What the reply was made under: no more than it was allowed when it was begun and when it was sent."""
    return replace(latest, allowed=used.allowed & latest.allowed)
