"""The frame around the work behind one receipt: claimed once, delivered once, and never silent about what goes wrong."""

import secrets
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import structlog
from sqlalchemy.exc import SQLAlchemyError

from bot import blocks, wording
from bot.blocks import Post
from bot.conversation import Asked
from bot.errors import SlackUnavailable, Undeliverable
from bot.outcome import Outcome
from bot.replies import Replies
from knowledge import answer_rows, receipts
from knowledge.answers import Answer, Question
from knowledge.db import Database
from knowledge.errors import FootnoteError
from knowledge.outages import is_outage
from knowledge.receipts import Receipt

log = structlog.get_logger()

LAST_ATTEMPT = 5
"""After this many beginnings a task that Slack or the database keeps from its end is given up."""


class Handling:
    """What every task behind a receipt does the same. Threads share it."""

    def __init__(self, database: Database, replies: Replies) -> None:
        self._database = database
        self._replies = replies

    def task(
        self, work: Callable[[Receipt], str | None], tell: Callable[[Receipt, Post], object] | None = None
    ) -> Callable[[int], None]:
        """`work` as a task, framed. It returns the state in which its receipt ends, None when that is noted already.

        `tell`: how trouble is told; None: as `tell_alone` does.
        """
        telling = tell or self.tell_alone

        def task(inbox_id: int) -> None:
            with self.claimed(inbox_id) as receipt:
                if receipt is None:
                    return
                with self.never_silent(receipt, lambda post: telling(receipt, post)):
                    if state := work(receipt):
                        self.finish(receipt, state)

        return task

    def tell_alone(self, receipt: Receipt, post: Post, *, replace: bool = False) -> None:
        """Tell the person behind a receipt where they clicked, in a direct message when that is not possible.

        `replace`: in place of what was clicked. When nobody can be told, that is logged.
        """
        person = receipt.person
        if person is None or self._replies.respond(receipt.payload.get("response_url"), post, replace=replace):
            return
        try:
            self._replies.whisper(self._replies.direct(person), None, person, post)
        except FootnoteError as error:
            log.warning("nobody was told", inbox=receipt.id, error=str(error))

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
    def never_silent(self, receipt: Receipt, tell: Callable[[Post], object]) -> Iterator[None]:
        """Whatever goes wrong, the person hears of it once, by `tell`, with an id that is also in the log."""
        error_id = secrets.token_hex(4)
        try:
            yield
        except Exception as error:
            if receipt.attempt < LAST_ATTEMPT and _may_pass(error):
                raise
            _log(receipt, error, error_id)
            try:
                tell(blocks.notice(wording.failed(error_id)))
            except (Undeliverable, SlackUnavailable) as silent:
                if receipt.attempt < LAST_ATTEMPT and _may_pass(silent):
                    raise
                log.error("nobody was told", error_id=error_id, error=str(silent))
            self.finish(receipt, "failed", error_id=error_id)

    @contextmanager
    def unmissed(self, receipt: Receipt) -> Iterator[None]:
        """What is done beside a reply: when it goes wrong that is logged, and the reply stays what it is."""
        try:
            yield
        except (FootnoteError, SQLAlchemyError, OSError) as error:
            _log(receipt, error, secrets.token_hex(4))

    def deliver(self, receipt: Receipt, asked: Asked, outcome: Outcome) -> bool:
        """False when that was for somebody else to do."""
        if not self._is_still_ours(receipt):
            log.warning("taken over by another process, or forgotten", attempt=receipt.attempt)
            return False
        self.keep(asked, outcome)
        answer_id = outcome.answer.id if outcome.answer else None
        self._replies.send(receipt, asked.channel, asked.thread, outcome.posts, answer_id)
        self.confirm(receipt, asked, outcome)
        self.finish(receipt, outcome.state, outcome.answer)
        return True

    def confirm(self, receipt: Receipt, asked: Asked, outcome: Outcome) -> None:
        """Take back what was withdrawn between its last check and its posting, when there was nothing to take back yet."""
        if outcome.answer is None:
            return
        with self._database.writing() as connection:
            stored = answer_rows.load(connection, outcome.answer.id)
        if stored is not None and str(stored.outcome) == "withdrawn":
            gone = (blocks.notice(wording.WITHDRAWN_SOURCE),)
            self._replies.send(receipt, asked.channel, asked.thread or None, gone, outcome.answer.id, anew=True)

    def keep(self, asked: Asked, outcome: Outcome) -> None:
        """Store the answer before its buttons are posted."""
        if outcome.answer is None or outcome.decision is None:
            return
        question = Question(outcome.answer.question, asked.asker, asked.channel)
        with self._database.writing() as connection:
            answer_rows.save(connection, outcome.answer, question, outcome.decision.allowed, outcome.decision.denials)
            answer_rows.set_reply(connection, outcome.answer.id, asked.channel, "", asked.thread or None)

    def finish(self, receipt: Receipt, state: str, answer: Answer | None = None, error_id: str | None = None) -> None:
        with self._database.plain() as connection:
            receipts.finish(connection, receipt.id, state, answer_id=answer.id if answer else None, error_id=error_id)

    def _is_still_ours(self, receipt: Receipt) -> bool:
        """The lock goes with its connection: whoever was cut off may find that the question was given out again."""
        with self._database.plain() as connection:
            latest = receipts.load(connection, receipt.id)
        return latest is not None and latest.attempt == receipt.attempt


def _log(receipt: Receipt, error: Exception, error_id: str) -> None:
    """An exception's own text may quote a row or a prompt; where it was raised and its type may not."""
    where = "".join(traceback.format_tb(error.__traceback__))
    log.error("a task failed", kind=receipt.kind, error_id=error_id, error_type=type(error).__name__, where=where)


def _may_pass(error: Exception) -> bool:
    """Whether the same work may succeed later: Slack or the database is away, or somebody else is at it."""
    return isinstance(error, SlackUnavailable | TimeoutError) or is_outage(error)
