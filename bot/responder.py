"""Questions answered: the work behind a mention, a direct message, an edit, a deletion and *Show me privately*.

Every accepted question ends in exactly one of answer, refusal or error. Each task takes the id of its receipt and may
be run again after a crash: it goes on with what is there.
"""

import secrets
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import structlog

from bot import blocks, wording
from bot.blocks import Post
from bot.client import Identity
from bot.conversation import Asked, is_addressed, is_courtesy, is_help, question_text, turns
from bot.directory import Directory
from bot.errors import SlackUnavailable, Undeliverable
from bot.mrkdwn import escape, mentions, without_mention
from bot.replies import Replies
from bot.streaming import Stream
from knowledge import answers, catalog, receipts, workspace
from knowledge.answering import Answerer
from knowledge.answers import Answer, Question, StoredAnswer
from knowledge.db import Database, is_outage
from knowledge.permissions import WORKSPACE, Decision
from knowledge.receipts import Receipt
from knowledge.retrieval import Retriever

log = structlog.get_logger()

LAST_ATTEMPT = 5
"""After this many beginnings a question that Slack keeps from being answered is given up."""
ANSWERS_PER_QUESTION = 3
"""How often an answer is begun again because rights or documents changed while it was written."""
EVIDENT = 0.5
"""A passage's least score for telling the asker of it: unrelated ones were seen to stay below 0.4, answers above 0.65."""
CORRECTED_FOR = timedelta(days=7)
"""How long posted answers are corrected when a document they cite is withdrawn."""


@dataclass(frozen=True)
class Outcome:
    """How a question ends: the messages to send, the receipt's state, and the answer behind them if there is one."""

    state: str
    posts: tuple[Post, ...]
    answer: Answer | None = None
    decision: Decision | None = None


class Responder:
    """Threads share it. `tasks` are what a worker runs."""

    def __init__(
        self,
        database: Database,
        directory: Directory,
        replies: Replies,
        *,
        retriever: Retriever,
        answerer: Answerer,
        me: Identity,
        streaming: bool = False,
    ) -> None:
        self._database = database
        self._directory = directory
        self._replies = replies
        self._retriever = retriever
        self._answerer = answerer
        self._me = me
        self._streaming = streaming

    @property
    def tasks(self) -> Mapping[str, Callable[[int], None]]:
        return {
            "answer": self.answer,
            "revise": self.revise,
            "withdraw": self.withdraw,
            "show_privately": self.show_privately,
            "share": self.share,
        }

    def answer(self, inbox_id: int) -> None:
        """Answer a question in its thread."""
        with self._working(inbox_id) as receipt:
            if receipt is None:
                return
            asked = _asked(receipt.payload)
            with self._never_silent(receipt, asked):
                outcome = self._outcome(receipt, asked)
                if self._deliver(receipt, asked, outcome):
                    self._offer_private(asked, outcome)

    def revise(self, inbox_id: int) -> None:
        """The asker edited a question: its answer says what the new text asks for."""
        with self._working(inbox_id) as receipt:
            if receipt is None:
                return
            with self._database.plain() as connection:
                question = receipts.load(connection, int(receipt.payload["question"]))
            text = str(receipt.payload["text"])
            if question is None or question.state not in ("answered", "refused") or is_courtesy(text):
                return self._finish(receipt, "ignored")
            asked = replace(_asked(question.payload), text=text)
            with self._database.plain() as connection:
                receipts.change_text(connection, question.id, {**question.payload, "text": text})
            with self._never_silent(receipt, asked):
                outcome = self._outcome(question, asked)
                self._keep(question, asked, outcome)
                answer_id = outcome.answer.id if outcome.answer else None
                self._replies.replace(question, asked.channel, asked.thread, outcome.posts, answer_id)
                self._finish(question, outcome.state, outcome.answer)
                self._finish(receipt, "done")

    def withdraw(self, inbox_id: int) -> None:
        """The asker deleted a question: its text and its answer go too."""
        with self._working(inbox_id) as receipt:
            if receipt is None:
                return
            question_id = int(receipt.payload["question"])
            with self._database.plain() as connection:
                there = receipts.replies_to(connection, question_id)
                receipts.erase_text(connection, question_id)
            self._take_back([r for r in there if r.answer_id], there, wording.WITHDRAWN_QUESTION)
            with self._database.writing() as connection:
                answers.delete(connection, {r.answer_id for r in there if r.answer_id})
            self._finish(receipt, "done")

    def show_privately(self, inbox_id: int) -> None:
        """Answer the asker alone, under the rights of this moment, in the direct conversation."""
        with self._working(inbox_id) as receipt:
            if receipt is None:
                return
            url, person = receipt.payload.get("response_url"), str(receipt.person)
            with self._database.writing() as connection:
                stored = answers.load(connection, str(receipt.payload.get("value")))
            if stored is None or stored.asker != person:
                self._replies.respond(url, blocks.notice(wording.NOT_YOURS))
                return self._finish(receipt, "refused")
            channel = self._replies.direct(person)
            asked = Asked(channel, "", "", person, stored.question, direct=True)
            outcome = self._answered(asked, Question(stored.standalone, person, channel), None)
            self._keep(receipt, asked, outcome)
            lead = blocks.notice(wording.private_answer(escape(stored.question)))
            posts = (lead, *outcome.posts)
            if outcome.answer is not None and outcome.answer.citations:
                posts = blocks.shareable(posts, stored.id)
            self._replies.send(receipt, channel, None, posts, outcome.answer.id if outcome.answer else None)
            self._replies.respond(url, blocks.notice(wording.SENT_PRIVATELY), replace=True)
            self._finish(receipt, outcome.state, outcome.answer)

    def share(self, inbox_id: int) -> None:
        """Answer a privately answered question again for everyone in its channel; the private answer goes nowhere."""
        with self._working(inbox_id) as receipt:
            if receipt is None:
                return
            with self._database.writing() as connection:
                stored = answers.load(connection, str(receipt.payload.get("value")))
            if stored is None or stored.asker != receipt.person:
                words = wording.NOT_YOURS
            else:
                with self._database.lock(f"share:{stored.id}") as alone:
                    if not alone:
                        raise TimeoutError(f"answer {stored.id} is being shared already")
                    words = self._shared(receipt, stored)
            self._replies.respond(receipt.payload.get("response_url"), blocks.notice(words))
            if words != wording.SHARED:
                self._finish(receipt, "refused")

    def _shared(self, receipt: Receipt, stored: StoredAnswer) -> str:
        """Post what everyone in the channel may read, if it adds to what was said there; what to tell the asker."""
        channel, thread, person = str(stored.reply_channel), stored.thread_ts or "", stored.asker
        asked = Asked(channel, "", thread, person, stored.question, direct=False)
        try:
            if not self._directory.is_member(person, channel, live=True):
                return wording.CANNOT_SHARE
            outcome = self._answered(asked, Question(stored.standalone, person, channel), channel)
            if outcome.answer is None:
                return outcome.posts[0].text
            with self._database.writing() as connection:
                said = answers.posted_citations(connection, stored, receipt.id)
            if {citation.document_id for citation in outcome.answer.citations} <= said:
                return wording.NOTHING_TO_SHARE
            self._deliver(receipt, asked, outcome)
        except SlackUnavailable:
            if receipt.attempt < LAST_ATTEMPT:
                raise
            return wording.FACTS_UNKNOWN
        except Undeliverable:
            return wording.CANNOT_SHARE
        return wording.SHARED

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

    # from a question to an outcome

    def _outcome(self, receipt: Receipt, asked: Asked) -> Outcome:
        thread = self._thread(asked)
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
        first_time = receipt.attempt == 1 and receipt.state == "working"
        return self._answered(asked, question, asked.channel, receipt if self._streaming and first_time else None)

    def _answered(
        self, asked: Asked, question: Question, place: str | None, streamed: Receipt | None = None
    ) -> Outcome:
        """Decide, answer, and look again whether everything the answer rests on may still be shown there.

        `streamed`: the receipt whose reply shows the answer while it is written.
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
                    return Outcome("answered", shown, answer, replace_allowed(decision, latest))
                if stream is not None and stream.reply is not None:
                    self._replies.hide(stream.reply)
                decision, stream = latest, None
        except SlackUnavailable as error:
            log.warning("facts unknown", channel=asked.channel, error=str(error))
            return Outcome("refused", (blocks.notice(wording.FACTS_UNKNOWN),))
        return Outcome("refused", (blocks.notice(wording.CHANGED_MEANWHILE),))

    def _stream(self, receipt: Receipt, asked: Asked, decision: Decision) -> Stream:
        """A preview, shown only if the rights that the answer is written under still hold when it begins to show."""

        def unchanged() -> bool:
            return decision.allowed == self._directory.decide(asked.asker, asked.channel, live=True).allowed

        return Stream(self._replies, receipt, asked, unchanged)

    def _may_show(self, answer: Answer, latest: Decision) -> bool:
        """Every passage the answer could use is still there and still readable by everyone who will see the reply."""
        used = {passage.chunk_id for passage in answer.passages}
        if not used:
            return bool(latest.allowed)
        with self._database.reading(latest.allowed) as connection:
            return used <= catalog.readable_chunks(connection, used, latest.allowed)

    def _thread(self, asked: Asked) -> Sequence[Mapping[str, Any]]:
        return self._replies.thread(asked.channel, asked.thread) if asked.thread != asked.ts else ()

    def _askers(self, receipt: Receipt) -> frozenset[str]:
        with self._database.plain() as connection:
            return receipts.askers(connection, str(receipt.thread_key))

    def _question_above(self, asked: Asked, thread: Sequence[Mapping[str, Any]], names: Mapping[str, str]) -> str:
        """A bare mention in a thread is about the last thing a person said there."""
        said = [m for m in thread if str(m.get("ts")) < asked.ts and not self._me.wrote(dict(m))]
        text = str(said[-1].get("text") or "") if said else ""
        return question_text(replace(asked, text=without_mention(text, self._me.user)), self._me, names)

    # from an outcome to Slack

    def _deliver(self, receipt: Receipt, asked: Asked, outcome: Outcome) -> bool:
        """False when that was for somebody else to do."""
        if not self._is_still_ours(receipt):
            log.warning("taken over by another process, or forgotten", attempt=receipt.attempt)
            return False
        self._keep(receipt, asked, outcome)
        answer_id = outcome.answer.id if outcome.answer else None
        self._replies.send(receipt, asked.channel, asked.thread, outcome.posts, answer_id)
        self._finish(receipt, outcome.state, outcome.answer)
        return True

    def _is_still_ours(self, receipt: Receipt) -> bool:
        """The lock goes with its connection: whoever was cut off may find that the question was given out again."""
        with self._database.plain() as connection:
            latest = receipts.load(connection, receipt.id)
        return latest is not None and latest.attempt == receipt.attempt

    def _keep(self, receipt: Receipt, asked: Asked, outcome: Outcome) -> None:
        """Store the answer before its buttons are posted."""
        if outcome.answer is None or outcome.decision is None:
            return
        question = Question(outcome.answer.question, asked.asker, asked.channel)
        with self._database.writing() as connection:
            answers.save(connection, outcome.answer, question, outcome.decision.allowed)
            answers.set_reply(connection, outcome.answer.id, asked.channel, "", asked.thread or None)

    def _offer_private(self, asked: Asked, outcome: Outcome) -> None:
        """Tell the asker alone when documents that are withheld here would answer better."""
        answer, decision = outcome.answer, outcome.decision
        if answer is None or decision is None or asked.direct or not decision.withheld:
            return
        try:
            if self._is_better(answer, decision):
                self._replies.whisper(asked.channel, asked.thread, asked.asker, blocks.private_remainder(answer.id))
        except (SlackUnavailable, Undeliverable) as error:
            log.warning("private note not sent", answer=answer.id, error=str(error))

    def _is_better(self, answer: Answer, decision: Decision) -> bool:
        """Whether the best passage for the asker alone is one that this place may not see, and beats what was found."""
        best = self._retriever.search(answer.standalone, decision.held, limit=1).passages
        shown = max((passage.score for passage in answer.passages), default=0.0)
        return bool(best) and not best[0].scopes & decision.allowed and best[0].score > max(shown, EVIDENT)

    def _take_back(self, marked: Sequence[receipts.Reply], there: Sequence[receipts.Reply], words: str) -> None:
        """The first message says what happened, the others go."""
        for reply in (each for each in there if each not in marked[:1]):
            self._replies.delete(reply)
        for reply in marked[:1]:
            try:
                self._replies.change(reply, blocks.notice(words))
            except Undeliverable:
                log.info("reply already gone", channel=reply.channel)

    # the frame around every task

    @contextmanager
    def _working(self, inbox_id: int) -> Iterator[Receipt | None]:
        """The claimed receipt; None when its work is done. Raises TimeoutError while another process is at it."""
        with self._database.lock(f"inbox:{inbox_id}") as mine:
            if not mine:
                raise TimeoutError(f"receipt {inbox_id} is being worked on by another process")
            with self._database.plain() as connection:
                receipt = receipts.claim(connection, inbox_id)
            with structlog.contextvars.bound_contextvars(inbox=inbox_id):
                yield receipt

    @contextmanager
    def _never_silent(self, receipt: Receipt, asked: Asked) -> Iterator[None]:
        """Whatever goes wrong, the asker hears of it once, with an id that is also in the log."""
        error_id = secrets.token_hex(4)
        try:
            yield
        except Undeliverable as error:
            log.warning("no place for the reply", error_id=error_id, error=str(error))
            self._finish(receipt, "failed", error_id=error_id)
        except SlackUnavailable as error:
            if receipt.attempt < LAST_ATTEMPT:
                raise
            log.error("given up", error_id=error_id, error=str(error))
            self._finish(receipt, "failed", error_id=error_id)
        except Exception as error:
            if is_outage(error) and receipt.attempt < LAST_ATTEMPT:
                raise
            # An exception's own text may quote a row or a prompt; where it was raised and its type may not.
            where = "".join(traceback.format_tb(error.__traceback__))
            log.error("answering failed", error_id=error_id, error_type=type(error).__name__, where=where)
            post = blocks.notice(wording.failed(error_id))
            self._replies.send(receipt, asked.channel, asked.thread, (post,))
            self._finish(receipt, "failed", error_id=error_id)

    def _finish(self, receipt: Receipt, state: str, answer: Answer | None = None, error_id: str | None = None) -> None:
        with self._database.plain() as connection:
            receipts.finish(connection, receipt.id, state, answer_id=answer.id if answer else None, error_id=error_id)


def _asked(payload: Mapping[str, Any]) -> Asked:
    return Asked(**{key: value for key, value in payload.items() if key != "follow_up"})


def _refused(decision: Decision) -> Outcome:
    words = wording.NOTHING_ALLOWED_PLACE if decision.held else wording.NOTHING_ALLOWED_PERSON
    return Outcome("refused", (blocks.notice(words),), decision=decision)


def _rests_on_private(answer: Answer) -> bool:
    return any(WORKSPACE not in passage.scopes for passage in answer.passages)


def replace_allowed(used: Decision, latest: Decision) -> Decision:
    """What the reply was made under: no more than it was allowed when it was begun and when it was sent."""
    return replace(latest, allowed=used.allowed & latest.allowed)
