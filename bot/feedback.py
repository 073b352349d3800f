"""Votes and what they are good for: 👍 and 👎 by button or reaction, and "which source was right?".

A vote counts when the voter can read the answer; one a person, taken back with the reaction. A label is a proposal:
nothing enters the gold set unreviewed. Guests and people of other workspaces may vote, but propose nothing.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import structlog
from sqlalchemy import Connection

from bot import blocks, right_source, wording
from bot.blocks import Post
from bot.directory import Directory
from bot.errors import SlackUnavailable, Undeliverable
from bot.handling import Handling
from bot.mrkdwn import escape
from bot.replies import Replies
from bot.right_source import Candidate
from knowledge import answer_rows, catalog, proposals, receipts, retrieval, votes
from knowledge.answer_rows import StoredAnswer
from knowledge.catalog import Entry
from knowledge.db import Database
from knowledge.permissions import PersonKind, Scopes
from knowledge.receipts import Receipt
from knowledge.votes import Change

log = structlog.get_logger()

ASKED_PER_DAY = 10
"""After this many votes in a day a person's votes count, but propose nothing and ask for nothing any more."""
LABELS_PER_DAY = 20
NEAREST, TITLE_CHARS = 3, 100
"""Titles that are offered for a misspelt one, and how much of each."""


class Feedback:
    """Threads share it. `tasks` are what a worker runs."""

    def __init__(self, database: Database, directory: Directory, replies: Replies, handling: Handling) -> None:
        self._database = database
        self._directory = directory
        self._replies = replies
        self._handling = handling

    @property
    def tasks(self) -> Mapping[str, Callable[[int], None]]:
        task = self._handling.task
        return {"vote": task(self.vote), "label": task(self.label), "ask_source": task(self.ask_source)}

    def vote(self, receipt: Receipt) -> str:
        """Count what this person's votes on the answer come to, and make the proposal that goes with it.

        A 👍 proposes the cited sources; a 👎 a case that nobody has labelled yet, and asks for the right source.
        """
        answer_id, _ = _vote(receipt)
        answer = self._answer(answer_id)
        person = str(receipt.person)
        if answer is None or not self._can_read(person, answer):
            return "refused"
        with self._database.plain() as connection:
            sent = receipts.in_thread(connection, str(receipt.thread_key), person)
            value = votes.standing(_vote(each)[1] for each in sent)
            changed = votes.cast(connection, answer_id, person, value) or receipt.attempt > 1
            today = votes.cast_today(connection, person)
        if changed:
            proposals.take_back(self._database, answer_id, person)
        if changed and value is not None and self._is_member(person) and today <= ASKED_PER_DAY:
            if value < 0:
                proposals.propose(self._database, answer, person, None, "vote")
                self._ask(receipt, answer, wording.ASK_SOURCE)
            else:
                proposals.propose_cited(self._database, answer, person, "vote")
        return "done"

    def ask_source(self, receipt: Receipt) -> str:
        """The message shortcut: the same question about any answer of ours."""
        with self._database.plain() as connection:
            reply = receipts.reply_at(connection, str(receipt.payload["channel"]), str(receipt.payload["ts"]))
        answer = self._answer(reply.answer_id) if reply and reply.answer_id else None
        person = str(receipt.person)
        if answer is None:
            self._replies.respond(receipt.payload.get("response_url"), blocks.notice(wording.NOT_AN_ANSWER))
        elif self._can_read(person, answer) and self._is_member(person):
            self._ask(receipt, answer, wording.ASK_SOURCE)
        else:
            self._replies.respond(receipt.payload.get("response_url"), blocks.notice(wording.CANNOT_VOTE))
        return "done"

    def label(self, receipt: Receipt) -> str:
        """Somebody says which source was right; their own rights at this moment decide what they may name."""
        answer, person = self._answer(str(receipt.payload.get("value"))), str(receipt.person)
        if answer is None or not self._can_read(person, answer) or not self._is_member(person):
            self._say(receipt, answer, wording.CANNOT_VOTE if answer else wording.ANSWER_GONE)
            return "refused"
        match receipt.payload["action"]:
            case "not_in_documents":
                self._accept(receipt, answer, [])
            case "expected_source":
                with self._reading(person) as (connection, scopes):
                    found = catalog.document(connection, int(receipt.payload["detail"]), scopes)
                if found:
                    self._accept(receipt, answer, [found])
                else:
                    self._say(receipt, answer, wording.CANNOT_VOTE)
            case _:
                self._named(receipt, answer, person, str(receipt.payload["fields"]["document"]))
        return "done"

    def _named(self, receipt: Receipt, answer: StoredAnswer, person: str, name: str) -> None:
        with self._reading(person) as (connection, scopes):
            found = catalog.find(connection, name, scopes)
        if len(found) == 1:
            self._accept(receipt, answer, found)
        elif found:
            choice = [Candidate(entry.document_id, entry.title) for entry in found]
            self._tell(receipt, answer, right_source.ask(answer.id, choice, wording.which_document(escape(name))))
        else:
            self._say(receipt, answer, wording.unknown_document(escape(name)))

    def _ask(self, receipt: Receipt, answer: StoredAnswer, lead: str) -> None:
        """Offer what was found for the answer, as far as this person may open it."""
        with self._reading(str(receipt.person)) as (connection, scopes):
            passages = retrieval.read(connection, answer.stages["passages"], scopes)
        candidates: dict[int, Candidate] = {}
        for chunk_id in answer.stages["passages"]:
            if passage := passages.get(chunk_id):
                candidate = Candidate(passage.document_id, passage.title, passage.heading_path)
                candidates.setdefault(passage.document_id, candidate)
        self._tell(receipt, answer, right_source.ask(answer.id, list(candidates.values()), lead))

    def _accept(self, receipt: Receipt, answer: StoredAnswer, expected: Sequence[Entry]) -> None:
        person = str(receipt.person)
        with self._database.plain() as connection:
            many = receipts.count_today(connection, person, "label") > LABELS_PER_DAY
        if not many:
            proposals.propose(self._database, answer, person, expected, "label")
        self._say(receipt, answer, wording.LABEL_LIMIT if many else wording.LABEL_THANKS)

    def _say(self, receipt: Receipt, answer: StoredAnswer | None, words: str) -> None:
        self._tell(receipt, answer, blocks.notice(words))

    def _tell(self, receipt: Receipt, answer: StoredAnswer | None, post: Post) -> None:
        """Tell the person who clicked, and nobody else: where they clicked, else beside the answer."""
        url = receipt.payload.get("response_url")
        is_prompt = receipt.kind == "label"
        if is_prompt and self._replies.respond(url, post, replace=True):
            return
        try:
            if answer is not None and answer.reply_channel is not None:
                return self._replies.whisper(answer.reply_channel, answer.thread_ts, str(receipt.person), post)
        except (SlackUnavailable, Undeliverable) as error:
            log.info("feedback note not sent beside the answer", error=str(error))
        self._handling.tell_alone(receipt, post)

    def _answer(self, answer_id: str) -> StoredAnswer | None:
        """The answer's row, whoever may read it; what is shown of it is decided by the reader's own scopes."""
        with self._database.writing() as connection:
            return answer_rows.load(connection, answer_id)

    def _can_read(self, person: str, answer: StoredAnswer) -> bool:
        return answer.reply_channel is not None and self._directory.is_member(person, answer.reply_channel)

    def _is_member(self, person: str) -> bool:
        return self._directory.person(person).kind is PersonKind.MEMBER

    @contextmanager
    def _reading(self, person: str) -> Iterator[tuple[Connection, Scopes]]:
        """A transaction that reads what this person may open now."""
        scopes = self._directory.decide(person, None).allowed
        with self._database.reading(scopes) as connection:
            yield connection, scopes


def unknown(database: Database, directory: Directory, person: str, named: str) -> str | None:
    """What to say when no document that this person may open now is called that, with the nearest titles.

    None when there is one, and while Slack does not say what they may open: whoever does the work says that.
    """
    try:
        scopes = directory.decide(person, None).allowed
    except SlackUnavailable:
        return None
    with database.reading(scopes) as connection:
        if catalog.find(connection, named, scopes, limit=1):
            return None
        near = catalog.nearest(connection, named, scopes, NEAREST)
    titles = dict.fromkeys(blocks.clip(entry.title or entry.external_id, TITLE_CHARS) for entry in near)
    return wording.unknown_document(blocks.clip(named, TITLE_CHARS), list(titles))


def _vote(receipt: Receipt) -> tuple[str, Change]:
    """The answer, and what was changed about it with a button or a reaction.

    Slack sends what happens within milliseconds in any order, so the time is the event's own, where it has one.
    """
    payload = receipt.payload
    at = float(payload.get("at") or receipt.received_at.timestamp())
    if "answer" in payload:
        return str(payload["answer"]), Change(at, int(payload["value"]), bool(payload["added"]))
    value, _, answer_id = str(payload.get("value")).partition(":")
    return answer_id, Change(at, -1 if value == "-1" else 1, True)
