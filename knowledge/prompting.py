"""What the model is given: instructions, passages and the question, as the Messages API takes them. Pure but for the files.

A document's text goes into data blocks of its own, never into the instructions. In markers mode, where everything is
one text, each passage ends with a key that no document can know, made from all of them.
"""

import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal

from knowledge.answers import Turn, hash_of
from knowledge.evidence import Evidence

PROMPTS = Path(__file__).with_name("prompts")

Style = Literal["native", "markers"]
Block = dict[str, Any]

SEARCH_TOOL: Block = {
    "name": "search",
    "description": (
        "Search the company's documents again, in other words than the question's, for a part of the question that the "
        "passages do not cover. Returns further passages, or says that there are none."
    ),
    "input_schema": {
        "type": "object",
        "properties": {"query": {"type": "string", "description": "What to look for, in a few words"}},
        "required": ["query"],
    },
}


@cache
def instructions(style: Style) -> str:
    """The system prompt of an answer."""
    return _read("answer") + (_read("markers") if style == "markers" else "")


@cache
def follow_up_instructions() -> str:
    return _read("follow_up")


@cache
def rubric() -> str:
    """What a judge of answers goes by."""
    return _read("judge")


def prompt_hash(style: Style) -> str:
    """Changes with any word of the instructions; stored with every answer."""
    return hash_of(instructions(style))


def passages(evidence: Sequence[Evidence], style: Style, first: int = 0) -> list[Block]:
    """Content blocks for passages; `first`: the index of the first one in the whole conversation."""
    if style == "native":
        return [_search_result(given) for given in evidence]
    key = hashlib.sha256("\x00".join(given.passage.body for given in evidence).encode()).hexdigest()[:12]
    texts = [
        f"Passage [{number}] {_title(given)}\nkey {key}\n{given.passage.body}\nend of passage [{number}], key {key}\n"
        for number, given in enumerate(evidence, first + 1)
    ]
    return [{"type": "text", "text": "\n".join(texts)}] if texts else []


def question(text: str) -> Block:
    return {"type": "text", "text": f"Question: {text}"}


def thread(turns: Sequence[Turn], text: str) -> str:
    """A thread and the question below it, for the call that makes the question stand alone."""
    said = "\n".join(f"{'Assistant' if t.role == 'bot' else 'Colleague'}: {' '.join(t.text.split())}" for t in turns)
    return f"Thread:\n{said}\n\nNew question: {text}"


def _search_result(given: Evidence) -> Block:
    return {
        "type": "search_result",
        "source": given.passage.url or f"{given.passage.source}/{given.passage.external_id}",
        "title": _title(given),
        "content": [{"type": "text", "text": piece.text} for piece in given.pieces],
        "citations": {"enabled": True},
    }


def _title(given: Evidence) -> str:
    updated = given.passage.updated_at
    return f"{given.passage.label} (last changed {updated:%Y-%m-%d})" if updated else given.passage.label


def _read(name: str) -> str:
    return (PROMPTS / f"{name}.md").read_text(encoding="utf-8")
