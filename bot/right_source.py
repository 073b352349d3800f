"""The question which source would have been right, and the form to name it with, as blocks. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bot import wording
from bot.blocks import Post, actions, button, clip, label, section
from bot.mrkdwn import escape

CANDIDATES, CANDIDATE_CHARS = 5, 500


@dataclass(frozen=True)
class Candidate:
    """A document that may have been the right source."""

    document_id: int
    title: str
    heading_path: tuple[str, ...] = ()


def ask(answer_id: str, candidates: Sequence[Candidate], lead: str) -> Post:
    """Which source was right? One button a candidate, another document, or none at all."""
    rows = [
        section(
            clip(escape(label(candidate.title, candidate.heading_path)), CANDIDATE_CHARS),
            button("This one", f"expected_source:{candidate.document_id}", answer_id),
        )
        for candidate in candidates[:CANDIDATES]
    ]
    rest = [button(wording.OTHER_SOURCE, "name_source", answer_id)]
    rest.append(button(wording.NOT_IN_DOCUMENTS, "not_in_documents", answer_id))
    return Post(lead, (section(lead), *rows, actions(rest)))


def form(about: str, callback: str = "name_source") -> dict[str, Any]:
    """The form for a title or a link. `about` and `callback` come back with it."""
    field = {
        "type": "input",
        "block_id": "document",
        "label": {"type": "plain_text", "text": wording.NAME_SOURCE_LABEL},
        "hint": {"type": "plain_text", "text": wording.NAME_SOURCE_HINT},
        "element": {"type": "plain_text_input", "action_id": "document", "max_length": 500},
    }
    return {
        "type": "modal",
        "callback_id": callback,
        "private_metadata": about,
        "title": {"type": "plain_text", "text": wording.NAME_SOURCE_TITLE},
        "submit": {"type": "plain_text", "text": wording.SAVE},
        "close": {"type": "plain_text", "text": wording.CANCEL},
        "blocks": [field],
    }
