"""The question which source would have been right, and the form to name it with, as blocks. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot import wording
from bot.blocks import Block, Post, actions, button, clip, context, label, section
from bot.mrkdwn import escape

CANDIDATES, CANDIDATE_CHARS = 5, 500
FORMS = ("name_source", "gold_correct")
"""What is done with the document that the form names."""


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


def form(about: str, callback: str = FORMS[0], response_url: str = "", told: Sequence[Block] = ()) -> dict[str, Any]:
    """The form for a title or a link, below what is `told`. `about` and `callback` come back with it, and the click's
    `response_url`, which a form of Slack's has not: with it the question that was clicked gives way to what is said about
    the form.
    """
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
        "private_metadata": f"{about}\n{response_url}",
        "title": {"type": "plain_text", "text": wording.NAME_SOURCE_TITLE},
        "submit": {"type": "plain_text", "text": wording.SAVE},
        "close": {"type": "plain_text", "text": wording.CANCEL},
        "blocks": [*told, field],
    }


def above(body: Mapping[str, Any], action_id: str) -> list[Block]:
    """What stands above a button in the message or on the tab where it was clicked, from the last section on.

    It is the click's own, and so nothing that its sender has not been shown there.
    """
    place = body.get("message") or body.get("view") or {}
    found: list[Block] = []
    for block in place.get("blocks", ()):
        match block["type"]:
            case "section":
                found = [section(block["text"]["text"])]
            case "context":
                found.append(context("\n".join(element.get("text", "") for element in block["elements"])))
            case "actions" if any(element.get("action_id") == action_id for element in block["elements"]):
                return found
            case _:
                found = []
    return []


def named(body: Mapping[str, Any]) -> str | None:
    """What was typed in the form, when `body` is one that was sent; None for everything else."""
    view = body.get("view") or {}
    if body.get("type") != "view_submission" or view.get("callback_id") not in FORMS:
        return None
    return str(view["state"]["values"]["document"]["document"]["value"] or "")


def still_open(said: str) -> dict[str, Any]:
    """The answer to a form that stays open, with what was typed and what is wrong with it."""
    return {"response_action": "errors", "errors": {"document": said}}
