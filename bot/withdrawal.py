"""Answers taken back: with the question they answer, and when a document they rest on goes or loses readers."""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta

import structlog

from bot import blocks, wording
from bot.errors import Undeliverable
from bot.handling import Handling
from bot.replies import Replies
from knowledge import answer_rows, catalog, receipts, workspace
from knowledge.db import Database
from knowledge.receipts import Receipt, Reply

log = structlog.get_logger()

CORRECTED_FOR = timedelta(days=7)
"""How long posted answers are corrected when a document they cite is withdrawn."""


class Withdrawals:
    """Threads share it. `tasks` are what a worker runs."""

    def __init__(self, database: Database, replies: Replies, handling: Handling) -> None:
        self._database = database
        self._replies = replies
        self._handling = handling

    @property
    def tasks(self) -> Mapping[str, Callable[[int], None]]:
        return {"withdraw": self._handling.task(self.withdraw)}

    def withdraw(self, receipt: Receipt) -> str:
        """The asker deleted a question: its text and its answer go too."""
        question_id = int(receipt.payload["question"])
        with self._database.plain() as connection:
            there = receipts.replies_to(connection, question_id)
            receipts.erase_text(connection, question_id)
        self._take_back([r for r in there if r.answer_id], there, wording.WITHDRAWN_QUESTION)
        with self._database.writing() as connection:
            answer_rows.delete(connection, {r.answer_id for r in there if r.answer_id})
        return "done"

    def correct(self) -> int:
        """Take back posted answers that cite a document which is gone or has fewer readers now; how many there were."""
        with self._database.writing() as connection:
            since = workspace.moment(connection) - CORRECTED_FOR
            unsupported = catalog.unsupported_answers(connection, since)
        for answer_id in unsupported:
            with self._database.plain() as connection:
                there = receipts.replies_with(connection, answer_id)
            self._take_back(there, there, wording.WITHDRAWN_SOURCE)
            with self._database.writing() as connection:
                catalog.withdraw_answer(connection, answer_id)
            log.info("answer withdrawn", answer=answer_id)
        return len(unsupported)

    def _take_back(self, marked: Sequence[Reply], there: Sequence[Reply], words: str) -> None:
        """The first message says what happened, the others go."""
        for reply in (each for each in there if each not in marked[:1]):
            self._replies.delete(reply)
        for reply in marked[:1]:
            try:
                self._replies.change(reply, blocks.notice(words))
            except Undeliverable:
                log.info("reply already gone", channel=reply.channel)
