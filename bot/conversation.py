"""From Slack's events to questions: is this for us, what is asked, and what was said before. Pure.

Answered: every message that mentions the bot; every message in a direct conversation with it; in a thread that began
with a question to it, messages without a mention by people who asked in that thread, until somebody else joins in.
Left alone: the bot itself and other bots (unless trusted by id), people who talk to each other, and thanks.
"""

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from bot.client import Identity
from bot.mrkdwn import bare, mentions, readable, without_mention
from knowledge.answers import Turn

Json = Mapping[str, Any]

SPOKEN = frozenset({None, "file_share", "thread_broadcast", "me_message"})
"""Subtypes of messages in which a person says something."""
COURTESY = re.compile(
    r"((thanks|thank you|many thanks|thx|ty|cheers|so much|very much|a lot|ok|okay|great|perfect|got it|cool|nice|awesome|"
    r"wonderful|(?:that|this|it)(?: really)? (?:helped|helps|works|worked)|(?:very )?helpful|solved|danke|danke dir|vielen dank|merci|gracias|grazie|never mind|nvm) ?)+"
)
"""Remarks that want no answer, in any order; the whole message must consist of them."""
HELP = re.compile(
    r"(?:(?:(?:hello|hi|hey|good (?:morning|afternoon|evening|day)|hallo|moin|guten (?:morgen|tag|abend)|servus|bonjour|salut|hola|"
    r"ciao)(?: (?:there|all|everyone|bot|footnote))?|help(?: me)?|hilfe|aide|ayuda|what (?:can|do) you do|(?:i have|just) a "
    r"question|can you help(?: me)?|how (?:are you|do you work|does this work)|(?:who|what) are you|are you (?:there|(?:a |an )?"
    r"(?:human|person|real person|real|bot|robot|machine|ai)))(?: |$))*"
)
"""What is answered by what the bot can do: a greeting too, to which a search would find nothing."""
TURNS = 10
TURN_CHARS = 2_000


@dataclass(frozen=True)
class Asked:
    """A message for the bot. `text` is Slack's notation; `thread` the ts of the thread's root, its own in a new one."""

    channel: str
    ts: str
    thread: str
    asker: str
    text: str
    direct: bool


@dataclass(frozen=True)
class MaybeAsked(Asked):
    """A message in a thread without a mention: for the bot only when the thread is its own."""


@dataclass(frozen=True)
class Edited:
    """`text` is the message's new text; `seconds` how long after the message it was edited."""

    channel: str
    ts: str
    text: str
    seconds: float


@dataclass(frozen=True)
class Deleted:
    channel: str
    ts: str


@dataclass(frozen=True)
class Ignored:
    reason: str


Heard = Asked | MaybeAsked | Edited | Deleted | Ignored


def understand(event: Json, me: Identity, trusted_bots: Set[str] = frozenset()) -> Heard:
    """What an `app_mention` or `message` event means to the bot."""
    channel, subtype = str(event.get("channel") or ""), event.get("subtype")
    if subtype == "message_deleted":
        return Deleted(channel, str(event.get("deleted_ts")))
    if subtype == "message_changed":
        return _changed(channel, event, me)
    if subtype not in SPOKEN and not (subtype == "bot_message" and event.get("user") in trusted_bots):
        return Ignored(f"a message of subtype {subtype}")
    if me.wrote(dict(event)) or (me.app and event.get("app_id") == me.app):
        return Ignored("written by the bot itself")
    asker = event.get("user")
    if not asker or asker == "USLACKBOT" or (event.get("bot_id") and asker not in trusted_bots):
        return Ignored("written by another bot")
    return _spoken(channel, event, me)


def is_courtesy(text: str) -> bool:
    """Thanks, an emoji, or another remark that wants no answer."""
    words = bare(text)
    return bool(text.strip()) if not words else COURTESY.fullmatch(words) is not None


def is_help(question: str) -> bool:
    return HELP.fullmatch(" ".join(bare(question).replace("?", " ").split())) is not None


def is_small_talk(text: str) -> bool:
    """What is answered without looking into the documents, or not at all."""
    return is_help(text) or is_courtesy(text)


def question_text(asked: Asked, me: Identity, names: Mapping[str, str]) -> str:
    """The question as a person would read it, without the bot's name."""
    return readable(without_mention(asked.text, me.user), names)


def is_addressed(asked: Asked, thread: Sequence[Json], me: Identity, askers: Set[str]) -> bool:
    """Whether a message without a mention in the bot's own thread goes on talking with the bot.

    `thread`: the thread's messages, oldest first. `askers`: who asked the bot in this thread.
    """
    if asked.asker not in askers or mentions(asked.text)[0]:
        return False
    before = [m for m in thread if str(m.get("ts")) < asked.ts]
    for message in reversed(before):
        if me.wrote(dict(message)):
            return True
        if message.get("user") != asked.asker:
            return False
    return bool(before)  # the asker alone so far: the bot is still at work on the question above


def turns(thread: Sequence[Json], asked: Asked, me: Identity, names: Mapping[str, str]) -> tuple[Turn, ...]:
    """What was said in the thread before the question, as everybody in it can read it; at most the last `TURNS`."""
    said = []
    for message in thread:
        if str(message.get("ts")) >= asked.ts or message.get("subtype") not in (*SPOKEN, "bot_message"):
            continue
        text = readable(without_mention(str(message.get("text") or ""), me.user), names)[:TURN_CHARS]
        if text:
            who = str(message.get("user") or message.get("bot_id") or "")
            said.append(Turn("bot" if me.wrote(dict(message)) else "person", who, text))
    return tuple(said[-TURNS:])


def _changed(channel: str, event: Json, me: Identity) -> Heard:
    after, before = event.get("message") or {}, event.get("previous_message") or {}
    if me.wrote(after) or after.get("bot_id"):
        return Ignored("an edit by a bot")
    if after.get("subtype") == "tombstone":
        return Deleted(channel, str(after.get("ts")))
    if after.get("text") == before.get("text") or not (after.get("edited") or {}).get("ts"):
        return Ignored("an edit that leaves the text as it was")
    asked_at, edited_at = str(after.get("ts")), str(after["edited"]["ts"])
    return Edited(channel, asked_at, str(after.get("text") or ""), float(edited_at) - float(asked_at))


def _spoken(channel: str, event: Json, me: Identity) -> Heard:
    text, ts = str(event.get("text") or ""), str(event.get("ts"))
    thread = str(event.get("thread_ts") or ts)
    direct = event.get("channel_type") == "im" or channel.startswith("D")
    mentioned = event.get("type") == "app_mention" or me.user in mentions(text)[0]
    if is_courtesy(without_mention(text, me.user)):
        return Ignored("thanks")
    asked = (channel, ts, thread, str(event["user"]), text, direct)
    if mentioned or direct:
        return Asked(*asked)
    return MaybeAsked(*asked) if thread != ts else Ignored("not for the bot")
