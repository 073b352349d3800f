"""Answers taken back: with the question they answer, and when a document they rest on goes or loses readers."""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from functools import partial

import structlog
from sqlalchemy import Connection

from bot import blocks, wording
from bot.errors import Closed, SlackUnavailable, Undeliverable
from bot.handling import Handling
from bot.inbox import private_key
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
        """The asker deleted a question: its text goes, and its answer, with what was shown privately and shared of it."""
        question_id = int(receipt.payload["question"])
        with self._database.plain() as connection:
            receipts.erase_text(connection, question_id)
            question = receipts.load(connection, question_id)
            belonging = _belonging(connection, question) if question else ()
            there = [receipts.replies_to(connection, each.id) for each in belonging]
        for replies in there:
            try:
                self._take_back([r for r in replies if r.answer_id], replies, wording.WITHDRAWN_QUESTION)
            except Closed as error:
                log.info("an answer stays in a closed channel", error=str(error))
        shown = {r.answer_id for replies in there for r in replies if r.answer_id}
        with self._database.writing() as connection:
            answer_rows.delete(connection, shown | {each.answer_id for each in belonging if each.answer_id})
        return "done"

    def correct(self) -> int:
        """Take back posted answers that cite a document which is gone or has fewer readers now; how many there were.

        One that Slack keeps from being taken back stays for the next time. Raises `SlackUnavailable` when there was one,
        after all others.
        """
        with self._database.writing() as connection:
            since = workspace.moment(connection) - CORRECTED_FOR
            unsupported = catalog.unsupported_answers(connection, since)
        refused: SlackUnavailable | None = None
        for answer_id in unsupported:
            try:
                self._correct(answer_id)
            except SlackUnavailable as error:
                log.warning("an answer could not be taken back", answer=answer_id, error=str(error))
                refused = error
            except Closed as error:
                log.info("an answer stays until its channel is open again", answer=answer_id, error=str(error))
        if refused is not None:
            raise refused
        return len(unsupported)

    def _correct(self, answer_id: str) -> None:
        there = self._posted(answer_id)
        self._take_back(there, there, wording.WITHDRAWN_SOURCE)
        with self._database.writing() as connection:
            catalog.withdraw_answer(connection, answer_id)
        # What was posted meanwhile; whatever comes later finds the answer withdrawn (`Handling.confirm`).
        late = [reply for reply in self._posted(answer_id) if reply not in there]
        self._take_back(late, late, wording.WITHDRAWN_SOURCE)
        log.info("answer withdrawn", answer=answer_id)

    def _posted(self, answer_id: str) -> Sequence[Reply]:
        with self._database.plain() as connection:
            return receipts.replies_with(connection, answer_id)

    def _take_back(self, marked: Sequence[Reply], there: Sequence[Reply], words: str) -> None:
        """The first message says what happened, the others go. Where Slack refuses one of the two, the other may work."""
        for reply in there:
            ways: list[Callable[[Reply], None]] = [partial(self._change, words=words), self._replies.delete]
            first, second = ways if reply in marked[:1] else ways[::-1]
            try:
                first(reply)
            except SlackUnavailable:
                second(reply)

    def _change(self, reply: Reply, words: str) -> None:
        try:
            self._replies.change(reply, blocks.notice(words))
        except Closed:
            raise
        except Undeliverable:
            log.info("reply already gone", channel=reply.channel)


def _belonging(connection: Connection, question: Receipt) -> tuple[Receipt, ...]:
    """A question, its edits, and what was done for its asker alone about the answers to any of them."""
    person = str(question.person)
    sent = receipts.in_thread(connection, str(question.thread_key), person)
    edits = [each for each in sent if each.kind == "revise" and each.payload.get("question") == question.id]
    answers = sorted({each.answer_id for each in (question, *edits) if each.answer_id})
    return (question, *edits, *(c for id in answers for c in receipts.in_thread(connection, private_key(id), person)))
