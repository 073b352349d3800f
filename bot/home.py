"""App Home: what I can search for you, how to ask, what you asked lately; for administrators health and failures."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import structlog
from slack_sdk import WebClient

from bot import source_state, wording
from bot.blocks import Block, Post, actions, button, context, header, section
from bot.client import FAILURES, Identity
from bot.directory import Directory
from bot.errors import SlackUnavailable
from bot.handling import Handling
from bot.mrkdwn import escape, readable, without_mention
from bot.review import hidden, pending
from knowledge import catalog, receipts
from knowledge.catalog import SourceState
from knowledge.db import Database
from knowledge.gold import same_question
from knowledge.receipts import Receipt

log = structlog.get_logger()

RECENT, LOOKED_BACK = 5, 50
"""So many different questions are listed, out of so many."""


class Home:
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
        return {"home": self._handling.task(self.home, self._trouble)}

    def home(self, receipt: Receipt) -> str:
        """Publish the tab as this person may see it now."""
        self.publish(str(receipt.person))
        return "done"

    def publish(self, person: str, *, reviewed: str = "", told: str = "") -> None:
        """Show the tab to this person anew. That Slack does not show it is logged.

        `reviewed`, `told`: what became of a click on a question to review, or on a button of an administrator.
        """
        self._publish(person, self._view(person, reviewed, told))

    def _trouble(self, receipt: Receipt, post: Post) -> None:
        """On the tab: whoever opens it should not find a message for it."""
        self._publish(str(receipt.person), {"type": "home", "blocks": list(post.blocks)})

    def _publish(self, person: str, view: dict[str, Any]) -> None:
        try:
            self._client.views_publish(user_id=person, view=view)
        except FAILURES as error:
            log.warning("home not shown", error=type(error).__name__)

    def _view(self, person: str, reviewed: str, told: str) -> dict[str, Any]:
        try:
            allowed = self._directory.decide(person, None).allowed
            admin = self._directory.is_admin(person)
        except SlackUnavailable:
            return {"type": "home", "blocks": [section(wording.FACTS_UNKNOWN)]}
        with self._database.reading(allowed) as connection:
            states = catalog.source_states(connection, allowed)
        with self._database.plain() as connection:
            asked = receipts.recent(connection, person, LOOKED_BACK)
            health = receipts.health(connection) if admin else None
        waiting = [*pending(self._database, allowed, on_tab=True), *hidden(self._database, allowed)] if admin else []
        waiting = [*([section(reviewed)] if admin and reviewed else []), *waiting]
        now = datetime.now(UTC)
        questions = different(_question(receipt, self._me) for receipt in asked)[:RECENT]
        return {"type": "home", "blocks": view_blocks(states, questions, health, now, waiting, told)}


def view_blocks(
    states: Sequence[SourceState],
    questions: Sequence[str],
    health: tuple[int, int] | None,
    now: datetime,
    waiting: Sequence[Block] = (),
    told: str = "",
) -> list[Block]:
    """The tab's blocks. `health`: questions waiting and questions failed in the last day; None for others than admins.

    `waiting`: the gold cases to review, empty for others than admins. `told`: what became of an administrator's click.
    """
    sources = [section(source_state.summary(state, now)) for state in states[:40]] or [section(wording.HOME_NO_ACCESS)]
    recent = [section("\n".join(f"• {question}" for question in questions) or wording.HOME_NONE)]
    shown = [header(wording.HOME_TITLE), *sources, context(wording.HOME_CHANNELS_NOTE), {"type": "divider"}]
    shown += [header(wording.HOME_HOW), section(wording.HELP), header(wording.HOME_RECENT), *recent]
    if waiting:
        shown += [{"type": "divider"}, header(wording.HOME_REVIEW), *waiting]
    if health is not None:
        failures = [section(line) for state in states for line in source_state.faults(state)][:20]
        again = button(wording.HOME_REINDEX, "home_reindex", "all")
        shown += [{"type": "divider"}, header(wording.HOME_ADMIN), section(wording.home_health(*health)), *failures]
        shown.append(actions([again, button(wording.HOME_NIGHTLY, "home_nightly", "now")]))
        shown += [section(told)] if told else []
    return shown


def different(questions: Iterable[str]) -> list[str]:
    """The questions in their order, the first alone of those that ask the same."""
    kept: list[str] = []
    for question in questions:
        if not any(same_question(question, other) for other in kept):
            kept.append(question)
    return kept


def _question(receipt: Receipt, me: Identity) -> str:
    text = readable(without_mention(str(receipt.payload.get("text") or ""), me.user), {})
    return escape(text[:200]) or "…"
