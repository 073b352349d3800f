"""What is said, as Slack's Block Kit, within every limit of Slack. Pure: no call, no clock, no reading.

A message holds at most 50 blocks, 13,200 characters and one native table; further tables in it are text. Long answers
become several messages, cut between paragraphs. The sources and the feedback buttons are on the last one.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from bot import wording
from bot.markdown import Piece, pieces
from bot.mrkdwn import escape, link
from knowledge.answers import Answer, Citation
from knowledge.passages import Passage

Block = dict[str, Any]

MESSAGE_CHARS = 11_500
SECTION_CHARS = 3_000
FALLBACK_CHARS = 3_900
"""chat.update refuses a longer `text`; it is what notifications and screen readers get."""
BUTTON_CHARS = 75
LABEL_CHARS = 200
PART_CHARS = 100
MESSAGE_BLOCKS = 45
NOTATION = re.compile(r"[<>&`*_~|]")
"""What means something in Slack; words of the asker are said again without it."""


@dataclass(frozen=True)
class Post:
    """One message. `text` is the plain version for notifications, screen readers and later questions in the thread."""

    text: str
    blocks: tuple[Block, ...]

    def arguments(self) -> dict[str, Any]:
        return {"text": self.text, "blocks": list(self.blocks), "unfurl_links": False, "unfurl_media": False}


def answer(answer_id: str, text: str, citations: Sequence[Citation], notice: str | None = None) -> tuple[Post, ...]:
    """An answer in Markdown with [n] marks, as the messages to send in order. Only cited addresses become links."""
    known = {citation.url for citation in citations}
    messages = _packed(pieces(text, known.__contains__, MESSAGE_CHARS), _joined(sources(citations)))
    posts = []
    for number, message in enumerate(messages, start=1):
        blocks = [*([context(notice)] if notice and number == 1 else []), *_body(message.pieces)]
        if len(messages) > 1:
            blocks.append(context(wording.part(number, len(messages))))
        blocks += map(context, message.sources)
        blocks += [feedback(answer_id)] if number == len(messages) else []
        posts.append(Post(_fallback(piece.plain for piece in message.pieces), tuple(blocks)))
    return tuple(posts)


def written(text: str) -> tuple[Post, ...]:
    """Markdown of ours, which may quote people: no address in it becomes a link."""
    messages = _packed(pieces(text, lambda _: False, MESSAGE_CHARS), [])
    return tuple(Post(_fallback(p.plain for p in each.pieces), tuple(_body(each.pieces))) for each in messages)


def reply(found: Answer, *, direct: bool) -> tuple[Post, ...]:
    """Whatever came out of answering, as messages. `direct`: only the asker reads them."""
    said = lead(found, direct=direct)
    return (without_answer(found, said),) if found.abstained else answer(found.id, found.text, found.citations, said)


def lead(found: Answer, *, direct: bool) -> str:
    """Our own sentence before an answer, or instead of one; empty where the answer needs none."""
    notice = wording.NOTICES.get(found.notice or "", "")
    match found.outcome:
        case "answered":
            return notice
        case "quoted":
            quotes = _doubt(found) if found.is_doubtful else wording.QUOTED
            return f"{notice} {quotes}" if notice else quotes
        case "abstained":
            said = wording.ABSTAINED_DIRECT if direct else wording.ABSTAINED
            return f"{said} {wording.IN_ENGLISH}" if found.in_another_language else said
        case _:
            return wording.SERVICE_FAILED


def _doubt(found: Answer) -> str:
    strength = found.strength
    unanswered = (
        [clip(NOTATION.sub("", part).strip(" ?"), PART_CHARS) for part in strength.unanswered] if strength else []
    )
    return wording.doubtful(strength.missing if strength else (), unanswered)


def without_answer(found: Answer, lead: str) -> Post:
    """No answer: what is missing, as far as the model said it, and the nearest documents that may be shown here."""
    missing = [section(escape(clip(found.text, SECTION_CHARS // 2)))] if found.text else []
    nearest = "\n".join([wording.NEAREST, *(f"• {_passage(passage)}" for passage in found.nearest)])
    shown = [context(nearest)] if found.nearest else []
    text = f"{lead}\n{nearest}" if found.nearest else lead
    return Post(text, (section(lead), *missing, *shown, feedback(found.id)))


def plain(answer_id: str | None, text: str) -> Post:
    """A message without any structure, for the case that Slack refuses the real one."""
    shown = clip(text, SECTION_CHARS)
    return Post(shown, (section(shown), *([feedback(answer_id)] if answer_id else ())))


def notice(text: str) -> Post:
    """One sentence of ours."""
    return Post(text, (section(text),))


def sources(citations: Sequence[Citation]) -> tuple[str, ...]:
    """One line a source: its number, its linked title and path, and when it was last changed."""
    return tuple(_source(citation) for citation in citations)


def label(title: str, heading_path: Sequence[str], fallback: str = "") -> str:
    """`Title › Heading`, without a first heading that only repeats the title."""
    path = heading_path[1:] if tuple(heading_path[:1]) == (title,) else heading_path
    return " › ".join(part for part in ((title or fallback).strip(), *path) if part)


def section(text: str, accessory: Block | None = None) -> Block:
    shown = {"type": "section", "text": {"type": "mrkdwn", "text": clip(text, SECTION_CHARS)}}
    return {**shown, "accessory": accessory} if accessory else shown


def context(text: str) -> Block:
    return {"type": "context", "elements": [{"type": "mrkdwn", "text": clip(text, SECTION_CHARS)}]}


def header(text: str) -> Block:
    return {"type": "header", "text": {"type": "plain_text", "text": clip(text, 150), "emoji": True}}


def button(text: str, action: str, value: str, style: str | None = None) -> Block:
    shown = {"type": "plain_text", "text": clip(text, BUTTON_CHARS), "emoji": False}
    made = {"type": "button", "action_id": action, "value": value, "text": shown}
    return {**made, "style": style} if style else made


def actions(elements: Sequence[Block]) -> Block:
    return {"type": "actions", "elements": list(elements)}


def feedback(answer_id: str) -> Block:
    buttons = {
        name: {
            "text": {"type": "plain_text", "text": text},
            "accessibility_label": text,
            "value": f"{sign}:{answer_id}",
        }
        for name, text, sign in (
            ("positive_button", wording.FEEDBACK_YES, "+1"),
            ("negative_button", wording.FEEDBACK_NO, "-1"),
        )
    }
    return {"type": "context_actions", "elements": [{"type": "feedback_buttons", "action_id": "feedback", **buttons}]}


def private_remainder(answer_id: str) -> Post:
    """The offer that only the asker sees. It names nothing; the button carries the answer's id alone."""
    show = button(wording.SHOW_PRIVATELY, "show_privately", answer_id)
    return Post(wording.PRIVATE_REMAINDER, (section(wording.PRIVATE_REMAINDER), actions([show])))


def shareable(posts: Sequence[Post], answer_id: str) -> tuple[Post, ...]:
    """A private answer with a button to share it. The button carries the id of the answer that the channel got."""
    share = actions([button(wording.SHARE, "share", answer_id)])
    return (*posts[:-1], replace(posts[-1], blocks=(*posts[-1].blocks, share)))


def _source(citation: Citation) -> str:
    return f"[{citation.n}] {_titled(citation.title, citation.heading_path, citation.url)}{_changed(citation)}"


def _passage(passage: Passage) -> str:
    return _titled(passage.title, passage.heading_path, passage.url) + _changed(passage)


def _titled(title: str, heading_path: Sequence[str], url: str) -> str:
    return link(url, clip(label(title, heading_path, url.rstrip("/").rpartition("/")[2]), LABEL_CHARS))


def _changed(cited: Citation | Passage) -> str:
    if cited.stale_days is not None:
        return f" · :warning: {wording.last_changed(cited.stale_days)}"
    return f" · {wording.date(cited.updated_at)}" if cited.updated_at else ""


@dataclass
class _Message:
    """What one message will hold."""

    pieces: list[Piece] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)

    @property
    def room(self) -> int:
        return MESSAGE_CHARS - sum(piece.size + 2 for piece in self.pieces) - sum(map(len, self.sources))

    def fitting(self, piece: Piece) -> Piece | None:
        """The piece as this message takes it, a second table as text; None when it has no room for it."""
        shown = replace(piece, table=None) if any(each.table for each in self.pieces) else piece
        fits = shown.size <= self.room and len(_body([*self.pieces, shown])) <= MESSAGE_BLOCKS
        return shown if fits or not self.pieces else None


def _packed(parts: Sequence[Piece], source_texts: Sequence[str]) -> list[_Message]:
    """The pieces in as few messages as hold them, then the sources."""
    messages = [_Message()]
    for piece in parts:
        shown = messages[-1].fitting(piece)
        if shown is None:
            messages.append(_Message())
        messages[-1].pieces.append(shown or piece)
    for text in source_texts:
        if len(text) > messages[-1].room:
            messages.append(_Message())
        messages[-1].sources.append(text)
    return messages


def _body(parts: Sequence[Piece]) -> list[Block]:
    """Neighbouring Markdown pieces as one block, tables as blocks of their own."""
    blocks: list[Block] = []
    for piece in parts:
        if piece.table:
            blocks.append(piece.table)
        elif blocks and blocks[-1]["type"] == "markdown":
            blocks[-1] = {"type": "markdown", "text": f"{blocks[-1]['text']}\n\n{piece.markdown}"}
        else:
            blocks.append({"type": "markdown", "text": piece.markdown})
    return blocks


def _joined(lines: Sequence[str]) -> list[str]:
    """Lines put together into as few texts as the limit of one text allows."""
    texts: list[str] = []
    for line in lines:
        if texts and len(texts[-1]) + 1 + len(line) <= SECTION_CHARS:
            texts[-1] += "\n" + line
        else:
            texts.append(clip(line, SECTION_CHARS))
    return texts


def _fallback(texts: Iterable[str]) -> str:
    return clip("\n".join(texts), FALLBACK_CHARS) or wording.SOURCES


def clip(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"
