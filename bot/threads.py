"""A thread of a channel as a document: what people wrote in it, as Markdown. Pure.

What the bot wrote is left out. Its answers repeat documents as they were, for the readers they had; in the index they
would outlive a change of either, and an answer would become the source of the next one.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from bot.client import Identity
from bot.conversation import SPOKEN
from bot.mrkdwn import mentions, readable, without_mention

Json = Mapping[str, Any]

TITLE_CHARS = 120
UNTITLED = "Thread"
STRUCTURE = re.compile(r"(?m)^(\s*)(?=#{1,6}\s|={3,}\s*$|-{3,}\s*$)")
"""Line starts that mean something in Markdown and nothing in Slack."""


@dataclass(frozen=True)
class Thread:
    """`updated_at`: the newest message or edit. `messages`: how many people's messages it has."""

    markdown: str
    updated_at: datetime
    messages: int


def named(messages: Iterable[Json]) -> tuple[set[str], set[str]]:
    """Ids of the people and of the channels whose names the document shows."""
    people: set[str] = set()
    channels: set[str] = set()
    for message in messages:
        found = mentions(str(message.get("text") or ""))
        people |= found[0] | {str(message.get("user") or "")}
        channels |= found[1]
    return people - {""}, channels


def written(messages: Sequence[Json], me: Identity, names: Mapping[str, str]) -> Thread | None:
    """The thread as Markdown, the first line of its text the title; None when no person wrote text in it.

    `messages`: of one thread in Slack's form, in any order; one that is there twice counts once. `names`: by id.
    """
    by_ts = {str(m["ts"]): m for m in messages if _is_a_persons(m, me)}
    said = [(m, text) for _, m in sorted(by_ts.items()) if (text := _text(str(m.get("text") or ""), me, names))]
    if not said:
        return None
    lines = (line.strip("`*_~ ").lstrip("\\#=->• ") for line in said[0][1].split("\n"))
    title = next(filter(None, lines), UNTITLED)[:TITLE_CHARS]
    asked, first = said[0]
    body = [(asked, _below(title, first)), *said[1:]]
    shown = [pair for pair in body if pair[1]] or said  # what the title says is not said again, unless that is all
    parts = [f"**{names.get(str(m['user']), m['user'])}:** {text}" for m, text in shown]
    front_matter = f"---\ntitle: {json.dumps(title, ensure_ascii=False)}\n---"
    return Thread("\n\n".join([front_matter, *parts]) + "\n", max(_changed(m) for m, _ in said), len(said))


def _below(title: str, text: str) -> str:
    first, _, rest = text.partition("\n")
    return rest.strip("\n") if first == title else text


def _is_a_persons(message: Json, me: Identity) -> bool:
    spoken = message.get("subtype") in SPOKEN and bool(message.get("user")) and not message.get("bot_id")
    return spoken and not me.wrote(dict(message))


def _text(text: str, me: Identity, names: Mapping[str, str]) -> str:
    """Slack's notation as Markdown: code blocks as they are, on lines of their own, everything else readable."""
    parts = []
    for number, part in enumerate(text.split("```")):
        if number % 2:
            code = part.strip("\n").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
            parts.append(f"```\n{code}\n```")
        else:
            parts.append(STRUCTURE.sub(r"\1\\", readable(without_mention(part, me.user), names)))
    return "\n".join(filter(None, parts))


def _changed(message: Json) -> datetime:
    edited = (message.get("edited") or {}).get("ts")
    return datetime.fromtimestamp(max(float(message["ts"]), float(edited or 0)), UTC)
