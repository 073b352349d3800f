"""Questions answered: the work behind a mention, a direct message, a follow-up and an edit of any of them.

Every accepted question ends in exactly one of answer, refusal or error. Each task takes the id of its receipt and may
be run again after a crash: it goes on with what is there.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from bot import blocks, wording
from bot.blocks import Post
from bot.client import Identity
from bot.conversation import Asked, is_addressed, is_courtesy, is_help, question_text, turns
from bot.directory import Directory
from bot.errors import Closed
from bot.handling import LAST_ATTEMPT, Handling
from bot.mrkdwn import mentions, without_mention
from bot.outcome import Outcome, Outcomes
from bot.private import Private
from bot.replies import Replies
from knowledge import followups, receipts
from knowledge.answers import Question
from knowledge.db import Database
from knowledge.receipts import Receipt

TALK = timedelta(minutes=30)
"""For so long a question in the main field of a direct message may go on with the one before it."""

THREADS = 3
"""So many of those before it are read at most."""


class Responder:
    """Threads share it. `tasks` are what a worker runs."""

    def __init__(
        self,
        database: Database,
        directory: Directory,
        replies: Replies,
        handling: Handling,
        outcomes: Outcomes,
        private: Private,
        *,
        me: Identity,
        streaming: bool = False,
    ) -> None:
        self._database = database
        self._directory = directory
        self._replies = replies
        self._handling = handling
        self._outcomes = outcomes
        self._private = private
        self._me = me
        self._streaming = streaming

    @property
    def tasks(self) -> Mapping[str, Callable[[int], None]]:
        return {"answer": self.answer, "revise": self.revise}

    def answer(self, inbox_id: int) -> None:
        """Answer a question in its thread."""
        with self._handling.claimed(inbox_id) as receipt:
            if receipt is None:
                return
            asked = _asked(receipt.payload)
            delivered: Outcome | None = None
            with self._handling.never_silent(receipt, self._in_thread(receipt, asked)):
                outcome = self._outcome(receipt, asked)
                delivered = outcome if self._handling.deliver(receipt, asked, outcome) else None
            self._offer(receipt, asked, delivered)

    def revise(self, inbox_id: int) -> None:
        """The asker edited a question: its answer says what the new text asks for."""
        with self._handling.claimed(inbox_id) as receipt:
            if receipt is None:
                return
            with self._database.plain() as connection:
                question = receipts.load(connection, int(receipt.payload["question"]))
            text = str(receipt.payload["text"])
            if question is None or question.state not in ("answered", "refused", "failed") or is_courtesy(text):
                return self._handling.finish(receipt, "ignored")
            asked = replace(_asked(question.payload), text=text)
            with self._database.plain() as connection:
                receipts.change_text(connection, question.id, {**question.payload, "text": text})
            delivered: Outcome | None = None
            with self._handling.never_silent(receipt, self._in_thread(receipt, asked)):
                outcome = self._outcome(question, asked)
                self._handling.keep(asked, outcome)
                answer_id = outcome.answer.id if outcome.answer else None
                self._replies.send(question, asked.channel, asked.thread, outcome.posts, answer_id, anew=True)
                self._handling.confirm(question, asked, outcome)
                self._handling.finish(question, outcome.state, outcome.answer)
                with self._database.plain() as connection:  # the answer that this one replaces is found by it again
                    receipts.finish(connection, receipt.id, "done", answer_id=question.answer_id)
                delivered = outcome
            self._offer(receipt, asked, delivered)

    def _offer(self, receipt: Receipt, asked: Asked, delivered: Outcome | None) -> None:
        if delivered is not None:
            with self._handling.unmissed(receipt):
                self._private.offer(asked, delivered)

    def _outcome(self, receipt: Receipt, asked: Asked) -> Outcome:
        thread = self._conversation(receipt, asked)
        follow_up = bool(receipt.payload.get("follow_up"))
        if follow_up and not is_addressed(asked, thread, self._me, self._askers(receipt)):
            return Outcome("ignored", ())
        people, channels = mentions(" ".join([asked.text, *(str(m.get("text")) for m in thread)]))
        names = self._directory.names(people, channels, asked.channel, asked.asker)
        text = question_text(asked, self._me, names) or self._question_above(asked, thread, names)
        if is_help(text):
            return Outcome("answered", (blocks.notice(wording.HELP),))
        self._replies.status(asked.channel, asked.thread)
        self._replies.title(asked, text)
        question = Question(text, asked.asker, asked.channel, turns(thread, asked, self._me, names))
        working = receipt.state == "working"
        streamed = receipt if self._streaming and working and receipt.attempt == 1 else None
        patient = working and receipt.attempt < LAST_ATTEMPT
        return self._outcomes.of(asked, question, asked.channel, streamed, patient=patient)

    def _in_thread(self, receipt: Receipt, asked: Asked) -> Callable[[Post], None]:
        def tell(post: Post) -> None:
            try:
                self._replies.send(receipt, asked.channel, asked.thread, (post,))
            except Closed:
                self._handling.tell_alone(receipt, blocks.notice(wording.CANNOT_REPLY))

        return tell

    def _conversation(self, receipt: Receipt, asked: Asked) -> Sequence[Mapping[str, Any]]:
        """The messages of the thread. In a direct message people also ask on in the main field: a thread that begins with
        a question which cannot stand alone goes on with the one before, and so on.
        """
        said = self._replies.thread(asked.channel, asked.thread) if asked.thread != asked.ts else []
        first, thread_key = str(said[0].get("text") or "") if said else asked.text, str(receipt.thread_key)
        for _ in range(THREADS if asked.direct else 0):
            if not first or not followups.refers_back(first):
                break
            with self._database.plain() as connection:
                root = receipts.by_message(connection, thread_key)
                before = receipts.asked_before(connection, root, TALK) if root else None
            if before is None:
                break
            earlier = self._replies.thread(asked.channel, str(before.payload["thread"]))
            said = [*earlier, *said]
            first, thread_key = str(earlier[0].get("text") or "") if earlier else "", str(before.thread_key)
        return said

    def _askers(self, receipt: Receipt) -> frozenset[str]:
        with self._database.plain() as connection:
            return receipts.askers(connection, str(receipt.thread_key))

    def _question_above(self, asked: Asked, thread: Sequence[Mapping[str, Any]], names: Mapping[str, str]) -> str:
        """A bare mention in a thread is about the last thing a person said there."""
        said = [m for m in thread if str(m.get("ts")) < asked.ts and not self._me.wrote(dict(m))]
        text = str(said[-1].get("text") or "") if said else ""
        return question_text(replace(asked, text=without_mention(text, self._me.user)), self._me, names)


def _asked(payload: Mapping[str, Any]) -> Asked:
    return Asked(**{key: value for key, value in payload.items() if key != "follow_up"})
