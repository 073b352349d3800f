"""What to ask: the prompts that a person finds when they open the conversation with the bot.

They are made of what this person may read and has asked; the manifest's own prompts are for the moment before that.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

import structlog
from slack_sdk import WebClient

from bot import wording
from bot.blocks import Post, clip
from bot.client import FAILURES, Identity
from bot.conversation import is_small_talk
from bot.directory import Directory
from bot.errors import SlackUnavailable
from bot.handling import Handling
from bot.mrkdwn import readable, without_mention
from knowledge import answer_rows, catalog, receipts
from knowledge.catalog import Entry
from knowledge.db import Database
from knowledge.followups import refers_back
from knowledge.receipts import Receipt

log = structlog.get_logger()

PROMPTS = 4
"""Slack takes no more: https://docs.slack.dev/reference/methods/assistant.threads.setSuggestedPrompts"""
TITLE_CHARS = 70
QUESTION_CHARS = 300
LATEST = 40
"""Documents, newest first, among which those of different sources are looked for; questions, among which for a good one."""

_ASKS = re.compile(
    r"[?？]|^\W*(?:who|whom|whose|what|when|where|why|which|how|is|are|was|were|do|does|did|has|have|can|could|may|must|shall"
    r"|should|will|would|tell|show|explain|describe|list|name|give|find|summari[sz]e|compare)\b",
    re.IGNORECASE,
)
"""A question or a request. Without a question mark only English ones are known for it; others are not offered again."""


@dataclass(frozen=True)
class Prompt:
    """`title` is shown, `message` is what the person says with a tap on it."""

    title: str
    message: str


class Prompts:
    def __init__(
        self, database: Database, directory: Directory, handling: Handling, client: WebClient, me: Identity
    ) -> None:
        self._database = database
        self._directory = directory
        self._handling = handling
        self._client = client
        self._me = me

    @property
    def tasks(self) -> Mapping[str, Callable[[int], None]]:
        return {"prompts": self._handling.task(self.prompts, _untold)}

    def prompts(self, receipt: Receipt) -> str:
        """Offer what fits the person who opened the conversation. That it cannot be offered is logged."""
        offered = [asdict(prompt) for prompt in self._fitting(str(receipt.person))]
        try:
            self._client.assistant_threads_setSuggestedPrompts(
                channel_id=str(receipt.payload["channel"]), prompts=offered, title=wording.PROMPTS
            )
        except FAILURES as error:
            log.info("no prompts shown", error=type(error).__name__)
        return "done"

    def _fitting(self, person: str) -> tuple[Prompt, ...]:
        try:
            allowed = self._directory.decide(person, None).allowed
        except SlackUnavailable:
            return suggested((), ())
        with self._database.reading(allowed) as connection:
            documents = catalog.latest(connection, allowed, LATEST)
        return suggested(self._asked(person), documents)

    def _asked(self, person: str) -> list[str]:
        """This person's latest questions that were answered without doubt; without follow-ups, which say nothing outside of
        their threads."""
        with self._database.plain() as connection:
            asked = receipts.recent(connection, person, LATEST)
        with self._database.writing() as connection:
            good = answer_rows.worth_repeating(connection, [each.answer_id for each in asked if each.answer_id])
        said = [str(each.payload.get("text") or "") for each in asked if each.answer_id in good]
        return [readable(without_mention(text, self._me.user), {}) for text in said]


def _untold(_: Receipt, __: Post) -> None:
    """Nobody asked for prompts, so nobody misses them."""


def suggested(questions: Iterable[str], documents: Sequence[Entry]) -> tuple[Prompt, ...]:
    """The person's latest question, documents, those of different sources first, and what the bot can do; one to four.

    `questions` and `documents` are newest first. Each can be asked by itself: what nobody would understand who did not
    read the thread, what is no question, and one that Slack's limits would cut, is left out.
    """
    again = [Prompt(_clip(question), question) for question in questions if _is_worth_asking(question)]
    titles = [(entry.source, " ".join(entry.title.split())) for entry in documents if entry.title.strip()]
    newest: dict[str, str] = {}
    for source, title in titles:
        newest.setdefault(source, title)
    about = (_about(title) for title in (*newest.values(), *(title for _, title in titles)))
    offered: dict[str, Prompt] = {}
    for prompt in (*again[:1], *about):
        offered.setdefault(prompt.message, prompt)
    return (*[*offered.values()][: PROMPTS - 1], Prompt(wording.ASK_HELP, "help"))


def _about(title: str) -> Prompt:
    if title.endswith("?") and _is_worth_asking(title):
        return Prompt(_clip(title), title)
    return Prompt(wording.ask_about(clip(title, TITLE_CHARS - len(wording.ask_about("")))), wording.ask_about(title))


def _is_worth_asking(question: str) -> bool:
    asks = 0 < len(question) <= QUESTION_CHARS and _ASKS.search(question) is not None
    return asks and not refers_back(question) and not is_small_talk(question)


def _clip(text: str) -> str:
    return clip(" ".join(text.split()), TITLE_CHARS)
