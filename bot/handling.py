"""The frame around the work behind one receipt: claimed once, delivered once, and never silent about what goes wrong."""

import secrets
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

import structlog

from bot import blocks, wording
from bot.conversation import Asked
from bot.errors import SlackUnavailable, Undeliverable
from bot.outcome import Outcome
from bot.replies import Replies
from knowledge import answers, receipts
from knowledge.answers import Answer, Question
from knowledge.db import Database, is_outage
from knowledge.receipts import Receipt

log = structlog.get_logger()

LAST_ATTEMPT = 5
"""After this many beginnings a question that Slack keeps from being answered is given up."""


class Handling:
    """What every task about a question does the same. Threads share it."""

    def __init__(self, database: Database, replies: Replies) -> None:
        self._database = database
        self._replies = replies

    @contextmanager
    def claimed(self, inbox_id: int) -> Iterator[Receipt | None]:
        """The claimed receipt; None when its work is done. Raises TimeoutError while another process is at it."""
        with self._database.lock(f"inbox:{inbox_id}") as mine:
            if not mine:
                raise TimeoutError(f"receipt {inbox_id} is being worked on by another process")
            with self._database.plain() as connection:
                receipt = receipts.claim(connection, inbox_id)
            with structlog.contextvars.bound_contextvars(inbox=inbox_id):
                yield receipt

    @contextmanager
    def never_silent(self, receipt: Receipt, asked: Asked) -> Iterator[None]:
        """Whatever goes wrong, the asker hears of it once, with an id that is also in the log."""
        error_id = secrets.token_hex(4)
        try:
            yield
        except Undeliverable as error:
            log.warning("no place for the reply", error_id=error_id, error=str(error))
            self.finish(receipt, "failed", error_id=error_id)
        except SlackUnavailable as error:
            if receipt.attempt < LAST_ATTEMPT:
                raise
            log.error("given up", error_id=error_id, error=str(error))
            self.finish(receipt, "failed", error_id=error_id)
        except Exception as error:
            if is_outage(error) and receipt.attempt < LAST_ATTEMPT:
                raise
            # An exception's own text may quote a row or a prompt; where it was raised and its type may not.
            where = "".join(traceback.format_tb(error.__traceback__))
            log.error("answering failed", error_id=error_id, error_type=type(error).__name__, where=where)
            post = blocks.notice(wording.failed(error_id))
            self._replies.send(receipt, asked.channel, asked.thread, (post,))
            self.finish(receipt, "failed", error_id=error_id)

    def deliver(self, receipt: Receipt, asked: Asked, outcome: Outcome) -> bool:
        """False when that was for somebody else to do."""
        if not self._is_still_ours(receipt):
            log.warning("taken over by another process, or forgotten", attempt=receipt.attempt)
            return False
        self.keep(asked, outcome)
        answer_id = outcome.answer.id if outcome.answer else None
        self._replies.send(receipt, asked.channel, asked.thread, outcome.posts, answer_id)
        self.finish(receipt, outcome.state, outcome.answer)
        return True

    def keep(self, asked: Asked, outcome: Outcome) -> None:
        """Store the answer before its buttons are posted."""
        if outcome.answer is None or outcome.decision is None:
            return
        question = Question(outcome.answer.question, asked.asker, asked.channel)
        with self._database.writing() as connection:
            answers.save(connection, outcome.answer, question, outcome.decision.allowed, outcome.decision.denials)
            answers.set_reply(connection, outcome.answer.id, asked.channel, "", asked.thread or None)

    def finish(self, receipt: Receipt, state: str, answer: Answer | None = None, error_id: str | None = None) -> None:
        with self._database.plain() as connection:
            receipts.finish(connection, receipt.id, state, answer_id=answer.id if answer else None, error_id=error_id)

    def _is_still_ours(self, receipt: Receipt) -> bool:
        """The lock goes with its connection: whoever was cut off may find that the question was given out again."""
        with self._database.plain() as connection:
            latest = receipts.load(connection, receipt.id)
        return latest is not None and latest.attempt == receipt.attempt
