"""What to ask: the prompts that a person finds when they open the conversation with the bot.

They are made of what this person may read and has asked; the manifest's own prompts are for the moment before that.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

import structlog
from slack_sdk import WebClient

from bot import wording
from bot.blocks import Post
from bot.client import FAILURES, Identity
from bot.conversation import is_courtesy, is_help
from bot.directory import Directory
from bot.errors import SlackUnavailable
from bot.handling import Handling
from bot.mrkdwn import readable, without_mention
from knowledge import catalog, receipts
from knowledge.catalog import Entry
from knowledge.db import Database
from knowledge.receipts import Receipt

log = structlog.get_logger()

PROMPTS = 4
"""Slack takes no more: https://docs.slack.dev/reference/methods/assistant.threads.setSuggestedPrompts"""
TITLE_CHARS = 70
QUESTION_CHARS = 300
LATEST = 40
"""Documents, newest first, among which those of different sources are looked for."""


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
        with self._database.plain() as connection:
            asked = receipts.recent(connection, person, PROMPTS)
        texts = (without_mention(str(receipt.payload.get("text") or ""), self._me.user) for receipt in asked)
        return suggested([readable(text, {}) for text in texts], documents)


def _untold(_: Receipt, __: Post) -> None:
    """Nobody asked for prompts, so nobody misses them."""


def suggested(questions: Iterable[str], documents: Sequence[Entry]) -> tuple[Prompt, ...]:
    """The person's latest question, documents of different sources, and what the bot can do; one to four prompts.

    `questions` and `documents` are newest first. A question that Slack's limits would cut is left out.
    """
    again = [Prompt(_clip(question), question) for question in questions if _is_worth_asking(question)]
    newest: dict[str, str] = {}
    for entry in documents:
        if entry.title.strip():
            newest.setdefault(entry.source, entry.title)
    about = [Prompt(_clip(title), wording.ask_about(title)) for title in newest.values()]
    return (*[*again[:1], *about][: PROMPTS - 1], Prompt(wording.ASK_HELP, "help"))


def _is_worth_asking(question: str) -> bool:
    return 0 < len(question) <= QUESTION_CHARS and not is_help(question) and not is_courtesy(question)


def _clip(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= TITLE_CHARS else line[: TITLE_CHARS - 1].rstrip() + "…"
