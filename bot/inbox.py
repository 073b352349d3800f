"""What Slack sends is written down once, with its work deferred in the same transaction, before Slack is told so.

When the writing fails the exception reaches Bolt, no acknowledgement leaves, and Slack sends an event again. Messages
that want nothing from the bot are not kept at all.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from sqlalchemy import Connection

from bot.client import Identity
from bot.conversation import Asked, Deleted, Edited, Ignored, MaybeAsked, understand
from bot.settings import Slack
from bot.slack_objects import doubtful
from knowledge import receipts, workspace
from knowledge.db import Database

Json = Mapping[str, Any]

EDIT_WINDOW_S = 60.0
"""A question edited within this time is answered anew; later edits are left alone."""

BUTTONS = {
    "feedback": "vote",
    "show_privately": "show_privately",
    "share": "share",
    "expected_source": "label",
    "not_in_documents": "label",
    "gold_accept": "review",
    "gold_nowhere": "review",
    "gold_reject": "review",
    "home_reindex": "reindex",
    "home_nightly": "nightly",
}
"""action_id (before a colon) -> kind of work. Other buttons are links, or open a view at once."""

VIEWS = {"name_source": "label", "gold_correct": "review"}
COMMAND = "reindex"
"""The only one, by whatever name: where another app has the name already, an administrator gives it another."""
SHORTCUTS = {"mark_answer_wrong": "ask_source"}
THUMBS = {"+1": 1, "thumbsup": 1, "-1": -1, "thumbsdown": -1}


class Defer(Protocol):
    """Puts a job into the queue within the caller's transaction."""

    def __call__(
        self,
        task: str,
        connection: Connection | None,
        *,
        lock: str | None = None,
        **arguments: Any,
    ) -> None: ...


@dataclass(frozen=True)
class Work:
    """Something to be done. Work with the same thread is done in the order in which it came."""

    kind: str
    event_id: str
    payload: Json
    person: str | None = None
    message_key: str | None = None
    thread_key: str | None = None


class Inbox:
    """`receive` is safe to call from several threads and processes with the same payload."""

    def __init__(self, database: Database, defer: Defer, settings: Slack, me: Identity) -> None:
        self._database = database
        self._defer = defer
        self._settings = settings
        self._me = me

    def receive(self, body: Json) -> None:
        """Write down what is to be done about `body`, if anything; whatever it made doubtful is forgotten."""
        event = body.get("event") or {}
        with self._database.plain() as connection:
            workspace.forget(connection, doubtful(event))
            work = self._heard(connection, body, event) if event else clicked(body)
            if work is not None:
                self._keep(connection, work)

    def _keep(self, connection: Connection, work: Work) -> None:
        inbox_id = receipts.record(
            connection,
            work.event_id,
            work.kind,
            storable(work.payload),
            person=work.person,
            message_key=work.message_key,
            thread_key=work.thread_key,
        )
        if inbox_id is not None:
            self._defer(work.kind, connection, lock=work.thread_key, inbox_id=inbox_id)

    def _heard(self, connection: Connection, body: Json, event: Json) -> Work | None:
        event_id = str(body.get("event_id") or _digest(body))
        match event.get("type"):
            case "message" | "app_mention":
                return self._said(connection, event_id, event)
            case "reaction_added" | "reaction_removed":
                return self._reacted(connection, event_id, event)
            case "app_home_opened" if event.get("tab") == "home":
                return Work("home", event_id, {}, person=str(event["user"]))
            case "app_home_opened" if event.get("tab") == "messages":
                return Work("prompts", event_id, {"channel": event["channel"]}, person=str(event["user"]))
            case _:
                return None

    def _said(self, connection: Connection, event_id: str, event: Json) -> Work | None:
        heard = understand(event, self._me, frozenset(self._settings.trusted_bots))
        match heard:
            case Ignored():
                return None
            case Edited() | Deleted():
                return self._changed(connection, event_id, heard)
            case MaybeAsked() if not (
                self._settings.follow_ups
                and heard.asker in receipts.askers(connection, self._key(heard.channel, heard.thread))
            ):
                return None
            case Asked():
                return Work(
                    "answer",
                    event_id,
                    {**asdict(heard), "follow_up": isinstance(heard, MaybeAsked)},
                    person=heard.asker,
                    message_key=self._key(heard.channel, heard.ts),
                    thread_key=self._key(heard.channel, heard.thread),
                )

    def _changed(self, connection: Connection, event_id: str, heard: Edited | Deleted) -> Work | None:
        question = receipts.by_message(connection, self._key(heard.channel, heard.ts))
        if question is None:
            return None
        if isinstance(heard, Deleted):
            return Work("withdraw", event_id, {"question": question.id}, thread_key=question.thread_key)
        if heard.seconds > EDIT_WINDOW_S:
            return None
        edit = {"question": question.id, "text": heard.text}
        return Work("revise", event_id, edit, person=question.person, thread_key=question.thread_key)

    def _reacted(self, connection: Connection, event_id: str, event: Json) -> Work | None:
        item, value = event.get("item") or {}, thumb(str(event.get("reaction")))
        if value is None or item.get("type") != "message" or event.get("user") == self._me.user:
            return None
        reply = receipts.reply_at(connection, str(item.get("channel")), str(item.get("ts")))
        if reply is None or not reply.answer_id:
            return None
        vote = {"answer": reply.answer_id, "channel": reply.channel, "ts": reply.ts, "value": value}
        vote |= {"added": event["type"] == "reaction_added", "at": event.get("event_ts")}
        return Work("vote", event_id, vote, person=str(event["user"]), thread_key=f"votes:{reply.answer_id}")

    def _key(self, channel: str, ts: str) -> str:
        return f"{self._me.team}:{channel}:{ts}"


def thumb(reaction: str) -> int | None:
    """+1 or -1 for a thumb of any skin tone, by its exact name; None for every other reaction."""
    return THUMBS.get(reaction.split("::", maxsplit=1)[0])


def clicked(body: Json) -> Work | None:
    """The work behind a button, a submitted view, a shortcut or a command; None when there is none to defer."""
    person = str((body.get("user") or {}).get("id") or body.get("user_id") or "")
    event_id = f"{body.get('trigger_id') or _digest(body)}"
    place = {
        "channel": (body.get("channel") or {}).get("id") or (body.get("container") or {}).get("channel_id"),
        "ts": (body.get("message") or {}).get("ts") or (body.get("container") or {}).get("message_ts"),
        "thread": (body.get("message") or {}).get("thread_ts") or (body.get("container") or {}).get("thread_ts"),
        "response_url": body.get("response_url"),
    }
    match body.get("type"):
        case "block_actions" if body.get("actions"):
            action = body["actions"][0]
            name, _, rest = str(action.get("action_id")).partition(":")
            kind = BUTTONS.get(name)
            payload = {**place, "action": name, "detail": rest, "value": action.get("value")}
            payload["at"] = action.get("action_ts")
        case "view_submission":
            view = body.get("view") or {}
            kind = VIEWS.get(str(view.get("callback_id")))
            about, _, response_url = str(view.get("private_metadata") or "").partition("\n")
            payload = {
                "action": view.get("callback_id"),
                "value": about,
                "fields": _fields(view),
                "response_url": response_url or None,
            }
        case "message_action" | "shortcut":
            kind, payload = SHORTCUTS.get(str(body.get("callback_id"))), place
        case _ if body.get("command"):
            payload = {"text": body.get("text") or "", "response_url": body.get("response_url")}
            payload["channel"] = body.get("channel_id")
            kind = COMMAND
        case _:
            return None
    if not kind:
        return None
    return Work(kind, event_id, payload, person=person, thread_key=_clicks_key(kind, str(payload.get("value"))))


def private_key(answer_id: str) -> str:
    """The thread key of what is done about an answer for its asker alone: shown, and shared from there."""
    return f"private:{answer_id}"


def _clicks_key(kind: str, value: str) -> str | None:
    """Clicks with the same key are worked off in the order in which they came."""
    match kind:
        case "vote":
            return f"votes:{value.partition(':')[2]}"
        case "show_privately" | "share":
            return private_key(value)
        case _:
            return None


def _fields(view: Json) -> dict[str, str]:
    """What was typed, by action id."""
    values = (view.get("state") or {}).get("values") or {}
    return {name: str(field.get("value") or "") for block in values.values() for name, field in block.items()}


def storable(value: Any) -> Any:
    """The same without what a database's text cannot hold: NUL, and halves of a character that was cut in two."""
    match value:
        case str():
            return value.replace("\x00", "").encode(errors="replace").decode()
        case dict():
            return {key: storable(each) for key, each in value.items()}
        case _:
            return value


def _digest(body: Json) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True, default=str).encode()).hexdigest()
