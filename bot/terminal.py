"""Replies as a terminal shows them: plain text, no markup of Slack's. Pure."""

from collections.abc import Sequence

from bot import wording
from bot.blocks import label
from bot.facts import DIRECT
from bot.mrkdwn import unmarked
from bot.script import Reply, Turn, checked
from knowledge.answers import Answer, Citation
from knowledge.passages import Passage


def reply(found: Answer, lead: str) -> str:
    """What came out of answering, with its sources, or with what is missing and the nearest documents.

    `lead`: our own sentence for it, see `blocks.lead`; may be empty.
    """
    if not found.abstained:
        sources = [f"[{cited.n}] {_named(cited)}{_address(cited)}" for cited in found.citations]
        return _paragraphs(lead, found.text, "\n".join(sources))
    nearest = [f"• {_named(passage)}{_address(passage)}" for passage in found.nearest]
    return _paragraphs(lead, found.text, "\n".join([wording.NEAREST, *nearest]) if nearest else "")


def played(turn: Turn, posted: Reply, faults: Sequence[str]) -> str:
    """A turn of a scripted conversation: who asked, what was posted with its sources, and what was checked of it.

    Without addresses: the script's documents are served no longer than it plays.
    """
    sources = [f"[{cited.n}] {_named(cited)}" for cited in posted.citations]
    verdict = [f"✗ {fault}" for fault in faults] or [f"✓ {'; '.join(checked(turn.expect))}"]
    place = "a direct message" if turn.place == DIRECT else f"#{turn.place}"
    head = f"── {turn.number}. {turn.about}\n{turn.asker} in {place}: {turn.asked}"
    return "\n".join(filter(None, [head, unmarked(posted.text), *sources, *verdict]))


def _named(source: Citation | Passage) -> str:
    """`Title › Heading · date`, as far as they are known."""
    name = label(source.title, source.heading_path, source.url.rstrip("/").rpartition("/")[2])
    changed = wording.date(source.updated_at) if source.updated_at else ""
    if source.stale_days is not None:
        changed = wording.last_changed(source.stale_days)
    return " · ".join(filter(None, (name, changed)))


def _address(source: Citation | Passage) -> str:
    return f" · {source.url}" if source.url else ""


def _paragraphs(*texts: str) -> str:
    return "\n\n".join(filter(None, texts))
