"""Review: an administrator accepts, corrects or rejects proposed gold cases, on the Home tab or in the nightly message.

Nobody is shown a case unless they hold all of its scopes, and every click is decided by the rights of its moment.
Afterwards the place where it was clicked shows what still waits.
"""

from collections.abc import Callable, Mapping, Sequence

import structlog

from bot import blocks, gold_lines, review_wording, wording
from bot.blocks import Block, Post, actions, button, clip, context, section
from bot.directory import Directory
from bot.errors import SlackUnavailable
from bot.handling import Handling
from bot.markdown import pieces
from bot.mrkdwn import escape
from bot.replies import Replies
from knowledge import catalog, contradictions, reviews, suggestions
from knowledge.db import Database
from knowledge.errors import FootnoteError, GoldCaseUnknown, GoldCaseUnlabelled
from knowledge.gold import GoldCase
from knowledge.permissions import Scopes
from knowledge.receipts import Receipt, Reply
from knowledge.replied import Replied
from knowledge.reviews import Waiting

log = structlog.get_logger()

SHOWN = 5
"""Cases shown at once; the next ones follow as these are reviewed."""
QUESTION_CHARS, FACTS_CHARS = 600, 900
"""So many of all of them, and no more, fit into one message."""
REPLY_CHARS = 400
"""Of a reply's Markdown."""


class Review:
    """`refresh` shows a person's Home tab anew, with what became of the click (`reviewed`)."""

    def __init__(
        self,
        database: Database,
        directory: Directory,
        replies: Replies,
        handling: Handling,
        refresh: Callable[..., object],
    ) -> None:
        self._database = database
        self._directory = directory
        self._replies = replies
        self._handling = handling
        self._refresh = refresh

    @property
    def tasks(self) -> Mapping[str, Callable[[int], None]]:
        return {"review": self._handling.task(self.review)}

    def review(self, receipt: Receipt) -> str:
        """Carry out a click, or a correction sent with the form."""
        person = str(receipt.person)
        try:
            allowed = self._directory.decide(person, None).allowed if self._directory.is_admin(person) else None
            said = wording.ADMINS_ONLY if allowed is None else self._carry_out(receipt, person, allowed)
        except SlackUnavailable:
            allowed, said = None, wording.FACTS_UNKNOWN
        self._show(receipt, person, said, allowed)
        return "done"

    def _carry_out(self, receipt: Receipt, person: str, allowed: Scopes) -> str:
        """What became of it, in words."""
        action, case_id = str(receipt.payload["action"]), _case_id(receipt)
        try:
            match action:
                case "gold_accept":
                    done = reviews.accept(self._database, case_id, person, allowed)
                case "gold_nowhere":
                    done = reviews.accept(self._database, case_id, person, allowed, ())
                case "gold_reject":
                    done = reviews.refuse(self._database, case_id, person, allowed)
                case _:
                    return self._correct(case_id, person, allowed, str(receipt.payload["fields"]["document"]))
        except GoldCaseUnknown:
            return review_wording.UNKNOWN
        except GoldCaseUnlabelled:
            return review_wording.UNLABELLED
        return self._told(done, person, allowed)

    def _correct(self, case_id: str, person: str, allowed: Scopes, named: str) -> str:
        with self._database.reading(allowed) as connection:
            found = catalog.find(connection, named, allowed)
        if not found:
            return wording.unknown_document(escape(named))
        if len(found) > 1:
            return review_wording.ambiguous(escape(named))
        try:
            done = reviews.accept(self._database, case_id, person, allowed, found)
        except GoldCaseUnlabelled:
            return review_wording.not_theirs(escape(named))
        return self._told(done, person, allowed)

    def _told(self, done: GoldCase | None, person: str, allowed: Scopes) -> str:
        """What became of the case, and which accepted ones contradict it."""
        if done is None:
            return review_wording.ALREADY
        if done.state != "accepted":
            return review_wording.REJECTED
        others = contradictions.of_case(self._database, done, allowed)
        said = [review_wording.contradicted(escape(o.id), gold_lines.differs(done, o), person) for o in others[:SHOWN]]
        return "\n".join([review_wording.ACCEPTED, *said])

    def _show(self, receipt: Receipt, person: str, said: str, allowed: Scopes | None) -> None:
        """Say it where it was clicked, with what still waits; trouble on the Home tab is told in a message too."""
        place, ts = _message(receipt)
        self._refresh(person, reviewed="" if place else said)
        try:
            if place and ts:
                rest = pending(self._database, allowed) if allowed else []
                self._replies.change(Reply(place, ts, receipt.id, 0, None), Post(said, (section(said), *rest)))
            elif said not in review_wording.REVIEWED:
                self._replies.whisper(self._replies.direct(person), None, person, blocks.notice(said))
        except FootnoteError as error:
            log.warning("nobody was told about a review", inbox=receipt.id, error=str(error))


def pending(database: Database, allowed: Scopes, *, on_tab: bool = False) -> list[Block]:
    """What waits for a reviewer who holds `allowed`, with its buttons; nothing when nothing does.

    `on_tab`: for the Home tab, which is made anew each time it is opened. There alone stand the replies: in a message they
    would outlast the answer, and the reviewer's rights to it.
    """
    waiting, total = reviews.waiting(database, allowed, SHOWN)
    return pending_blocks(waiting, total, on_tab=on_tab)


def hidden(database: Database, allowed: Scopes) -> list[Block]:
    """That proposals wait which a reviewer who holds `allowed` may not read; nothing when there are none."""
    count = reviews.hidden(database, allowed)
    return [context(review_wording.hidden(count))] if count else []


def pending_blocks(waiting: Sequence[Waiting], total: int, *, on_tab: bool) -> list[Block]:
    if not total:
        return []
    shown = [block for each in waiting for block in _case(each, on_tab)]
    more = [context(review_wording.more(total - len(waiting)))] if total > len(waiting) else []
    elsewhere = any(each.reply for each in waiting) and not on_tab
    lead = f"{review_wording.LEAD} {review_wording.REPLIES_ON_TAB}" if elsewhere else review_wording.LEAD
    return [context(lead), *shown, *more]


def _case(each: Waiting, on_tab: bool) -> list[Block]:
    case = each.case
    question = f"*{clip(escape(case.question), QUESTION_CHARS)}*"
    if case.standalone != case.question:
        question += f"\n{clip(escape(review_wording.standalone(case.standalone)), QUESTION_CHARS)}"
    if each.reply is not None and on_tab:
        question += f"\n{_reply(each.reply)}"
    people = set(case.proposed_by) - {suggestions.BY}
    facts = [review_wording.votes(len(people), each.tally.up, each.tally.down, case.origin), _expected(each)]
    if case.is_unchecked:
        facts.append(review_wording.UNCHECKED)
    if each.diagnosis:
        facts.append(review_wording.DIAGNOSES[each.diagnosis.cause])
    return [section(question), context(clip("\n".join(facts), FACTS_CHARS)), actions(_buttons(each))]


def _reply(reply: Replied) -> str:
    """What I replied as a quotation, shortened; in Slack's older notation, with no link in it."""
    if not reply.text:
        return review_wording.NO_ANSWER
    written = pieces(clip(reply.text, REPLY_CHARS), lambda _: False, blocks.SECTION_CHARS)
    lines = [line.strip().removeprefix("> ") for piece in written for line in piece.plain.split("\n")]
    return "\n".join([review_wording.replied(reply.is_doubtful), *(f"> {line}" for line in lines if line.strip("`"))])


def _expected(each: Waiting) -> str:
    if each.case.expected is None:
        return review_wording.UNSAID
    if not each.case.expected:
        return review_wording.NOWHERE[each.case.origin]
    places = [escape(" › ".join((f"{p.source}/{p.external_id}", *p.heading_path))) for p in each.expected]
    said = review_wording.expected(places, each.gone, review_wording.NAMES[each.case.origin])
    return said if places else f"{said}\n{review_wording.GONE}"


def _buttons(each: Waiting) -> list[Block]:
    """Without *Accept* when nobody has said what is expected, or none of it can be found today."""
    case = each.case
    words = review_wording.NAME if case.expected is None else review_wording.CORRECT
    buttons = [button(words, f"gold_correct:{case.id}", case.id)]
    if each.expected or case.expected == ():
        buttons.insert(0, button(review_wording.ACCEPT, f"gold_accept:{case.id}", case.id, "primary"))
    if case.expected != ():
        buttons.append(button(wording.NOT_IN_DOCUMENTS, f"gold_nowhere:{case.id}", case.id))
    return [*buttons, button(wording.REJECT, f"gold_reject:{case.id}", case.id, "danger")]


def _case_id(receipt: Receipt) -> str:
    return str(receipt.payload["value"]).partition(" ")[0]


def _message(receipt: Receipt) -> tuple[str, str]:
    """Channel and ts of the message that was clicked, or from which the form was opened; empty on the Home tab."""
    if receipt.payload["action"] == "gold_correct":
        _, place, ts = (*str(receipt.payload["value"]).split(" "), "", "")[:3]
        return place, ts
    return str(receipt.payload["channel"] or ""), str(receipt.payload["ts"] or "")
