"""Replies as a terminal shows them: plain text, no markup of Slack's. Pure."""

from bot import wording
from bot.blocks import label
from knowledge.answers import Answer, Citation
from knowledge.passages import Passage


def reply(found: Answer, lead: str) -> str:
    """What came out of answering, with its sources, or with what is missing and the nearest documents.

    `lead`: our own sentence for it, see `blocks.lead`; may be empty.
    """
    if not found.abstained:
        sources = "\n".join(f"[{cited.n}] {named(cited)}" for cited in found.citations)
        return _paragraphs(lead, found.text, sources)
    nearest = [f"• {named(passage)}" for passage in found.nearest]
    return _paragraphs(lead, found.text, "\n".join([wording.NEAREST, *nearest]) if nearest else "")


def named(source: Citation | Passage) -> str:
    """`Title › Heading · date · address`, as far as they are known."""
    name = label(source.title, source.heading_path, source.url.rstrip("/").rpartition("/")[2])
    changed = wording.date(source.updated_at) if source.updated_at else ""
    if source.stale_days is not None:
        changed = wording.last_changed(source.stale_days)
    return " · ".join(filter(None, (name, changed, source.url)))


def _paragraphs(*texts: str) -> str:
    return "\n\n".join(filter(None, texts))
