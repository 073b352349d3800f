"""What the asker alone may read: offered beside a channel's answer, shown in the direct conversation, shared again."""

from collections.abc import Callable, Iterator, Mapping

import structlog

from bot import blocks, wording
from bot.conversation import Asked
from bot.directory import Directory
from bot.errors import SlackUnavailable, Undeliverable
from bot.handling import LAST_ATTEMPT, Handling
from bot.mrkdwn import escape
from bot.outcome import Outcome, Outcomes
from bot.replies import Replies
from knowledge import answer_rows, catalog, receipts
from knowledge.answer_rows import StoredAnswer
from knowledge.answers import Answer, Question
from knowledge.db import Database
from knowledge.permissions import Decision
from knowledge.receipts import Receipt
from knowledge.retrieval import Retriever

log = structlog.get_logger()

EVIDENT = 0.5
"""A passage's least score for telling the asker of it: unrelated ones were seen to stay below 0.4, answers above 0.65."""


class Private:
    """Threads share it. `tasks` are what a worker runs."""

    def __init__(
        self,
        database: Database,
        directory: Directory,
        replies: Replies,
        handling: Handling,
        outcomes: Outcomes,
        retriever: Retriever,
    ) -> None:
        self._database = database
        self._directory = directory
        self._replies = replies
        self._handling = handling
        self._outcomes = outcomes
        self._retriever = retriever

    @property
    def tasks(self) -> Mapping[str, Callable[[int], None]]:
        task = self._handling.task
        return {"show_privately": task(self.show_privately), "share": task(self.share)}

    def offer(self, asked: Asked, outcome: Outcome) -> None:
        """Tell the asker alone when documents that are withheld here would answer better."""
        answer, decision = outcome.answer, outcome.decision
        if answer is None or decision is None or asked.direct or not decision.withheld:
            return
        try:
            if self._is_better(answer, decision):
                self._replies.whisper(asked.channel, asked.thread, asked.asker, blocks.private_remainder(answer.id))
        except (SlackUnavailable, Undeliverable) as error:
            log.warning("private note not sent", answer=answer.id, error=str(error))

    def show_privately(self, receipt: Receipt) -> str | None:
        """Answer the asker alone, under the rights of this moment, in the direct conversation."""
        person = str(receipt.person)
        stored = self._stored(receipt)
        if stored is None or stored.asker != person:
            self._tell(receipt, wording.NOT_YOURS if stored else wording.ANSWER_GONE)
            return "refused"
        if self._is_answered(receipt):
            self._tell(receipt, wording.SENT_PRIVATELY, replace=True)
            return "done"
        channel = self._replies.direct(person)
        asked = Asked(channel, "", "", person, stored.question, direct=True)
        outcome = self._outcomes.of(asked, Question(stored.standalone, person, channel), None)
        self._handling.keep(asked, outcome)
        lead = blocks.notice(wording.private_answer(escape(stored.question)))
        posts = (lead, *outcome.posts)
        if outcome.answer is not None and self._can_share(receipt, stored, outcome.answer):
            posts = blocks.shareable(posts, stored.id)
        self._replies.send(receipt, channel, None, posts, outcome.answer.id if outcome.answer else None)
        self._handling.confirm(receipt, asked, outcome)
        self._replies.respond(receipt.payload.get("response_url"), blocks.notice(wording.SENT_PRIVATELY), replace=True)
        self._handling.finish(receipt, outcome.state, outcome.answer)
        return None

    def share(self, receipt: Receipt) -> str | None:
        """Answer a privately answered question again for everyone in its channel; the private answer goes nowhere."""
        stored = self._stored(receipt)
        if stored is None or stored.asker != receipt.person:
            self._tell(receipt, wording.NOT_YOURS if stored else wording.ANSWER_GONE)
            return "refused"
        with self._database.lock(f"share:{stored.id}") as alone:
            if not alone:
                raise TimeoutError(f"answer {stored.id} is being shared already")
            words = self._shared(receipt, stored)
        self._note(receipt, words)
        return None if words == wording.SHARED else "done"

    def _shared(self, receipt: Receipt, stored: StoredAnswer) -> str:
        """Post what everyone in the channel may read, if it adds to what was said there; what to tell the asker."""
        channel, thread, person = str(stored.reply_channel), stored.thread_ts or "", stored.asker
        asked = Asked(channel, "", thread, person, stored.question, direct=False)
        try:
            if not self._directory.is_member(person, channel, live=True):
                return wording.CANNOT_SHARE
            outcome = self._outcomes.of(asked, Question(stored.standalone, person, channel), channel)
            if outcome.answer is None:
                return outcome.posts[0].text
            with self._database.writing() as connection:
                said = answer_rows.posted_citations(connection, stored, receipt.id)
            if {citation.document_id for citation in outcome.answer.citations} <= said:
                return wording.NOTHING_TO_SHARE
            self._handling.deliver(receipt, asked, outcome)
        except SlackUnavailable:
            if receipt.attempt < LAST_ATTEMPT:
                raise
            return wording.FACTS_UNKNOWN
        except Undeliverable:
            return wording.CANNOT_SHARE
        return wording.SHARED

    def _can_share(self, receipt: Receipt, stored: StoredAnswer, answer: Answer) -> bool:
        """Whether at this moment everyone in the channel may read something that the private answer cites and nothing
        there did.
        """
        person, channel = stored.asker, str(stored.reply_channel)
        try:
            if not self._directory.is_member(person, channel):
                return False
            allowed = self._directory.decide(person, channel).allowed
        except SlackUnavailable:
            return False
        cited = {citation.document_id for citation in answer.citations}
        with self._database.reading(allowed) as connection:
            readable = catalog.readable_documents(connection, cited, allowed)
        with self._database.writing() as connection:
            return not readable <= answer_rows.posted_citations(connection, stored, receipt.id)

    def _note(self, receipt: Receipt, words: str) -> None:
        """Say below the private answer what came of its button: one line, which a press changes that comes later."""
        line = next(self._clicks(receipt, "done"), None)
        if line is None and words == wording.SHARED:
            self._tell(receipt, words)
        else:
            place = self._replies.direct(str(receipt.person))
            self._replies.send(line or receipt, place, None, (blocks.notice(words),), anew=True)

    def _stored(self, receipt: Receipt) -> StoredAnswer | None:
        """The channel's answer under which the button was; None when its question was deleted."""
        with self._database.writing() as connection:
            return answer_rows.load(connection, str(receipt.payload.get("value")))

    def _is_answered(self, receipt: Receipt) -> bool:
        """Whether another click on the same button was answered already: whoever waits may press twice."""
        return any(self._clicks(receipt, "answered"))

    def _clicks(self, receipt: Receipt, state: str) -> Iterator[Receipt]:
        """Those on the same button by the same person that ended in this state, the first one first."""
        with self._database.plain() as connection:
            clicks = receipts.in_thread(connection, str(receipt.thread_key), str(receipt.person))
        return (each for each in clicks if each.kind == receipt.kind and each.state == state)

    def _tell(self, receipt: Receipt, words: str, *, replace: bool = False) -> None:
        self._handling.tell_alone(receipt, blocks.notice(words), replace=replace)

    def _is_better(self, answer: Answer, decision: Decision) -> bool:
        """Whether the best passage for the asker alone is one that this place may not see, and beats what was found."""
        best = self._retriever.search(answer.standalone, decision.held, limit=1).passages
        shown = max((passage.score for passage in answer.passages), default=0.0)
        return bool(best) and not best[0].scopes & decision.allowed and best[0].score > max(shown, EVIDENT)
