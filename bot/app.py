"""The Bolt app: a middleware writes everything down before it is acknowledged, and the listeners only acknowledge.
A form with a misspelt title is handed back instead.

Socket Mode and HTTP serve the same app. The work itself is done by whoever runs the deferred tasks.
"""

import logging
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from slack_bolt import Ack, App, BoltResponse
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

from bot import right_source
from bot.inbox import Inbox, storable
from bot.settings import Slack

LISTENERS = 32
"""Threads for listeners. With Bolt's own 5 a click waits behind five slow events for longer than the 3 s it has."""

ANYTHING = re.compile(".*", re.DOTALL)


def build_app(settings: Slack, client: WebClient, inbox: Inbox, unknown: Callable[[str, str], str | None]) -> App:
    """An app that receives for `inbox`. Verifies the token (`auth.test`), so Slack must be reachable.

    `unknown`: what to say when a person names a document that is not there for them, see `feedback.unknown`.
    """
    secret = settings.signing_secret.get_secret_value() if settings.signing_secret else None
    # At lower levels Bolt logs whole payloads, and it gives its loggers the root's level unless it is handed one.
    quiet = logging.getLogger("slack_bolt")
    quiet.setLevel(logging.ERROR)  # it warns when the client's token stands in the environment as well
    app = App(
        logger=quiet,
        client=client,
        signing_secret=secret,
        process_before_response=False,
        listener_executor=ThreadPoolExecutor(LISTENERS, thread_name_prefix="footnote-listener"),
        attaching_conversation_kwargs_enabled=False,
    )
    quiet.setLevel(logging.WARNING)

    @app.use
    def hand_back(body: dict[str, Any], next: Callable[[], BoltResponse]) -> BoltResponse:
        """A form that names no document is not written down: whoever sent it has it before them still."""
        named = right_source.named(body)
        said = unknown(body["user"]["id"], storable(named)) if named is not None else None
        return BoltResponse(status=200, body=right_source.still_open(said)) if said else next()

    @app.use
    def write_down(body: dict[str, Any], next: Callable[[], BoltResponse]) -> BoltResponse:
        inbox.receive(body)
        return next()

    app.event(ANYTHING)(_nothing_more)
    app.command(ANYTHING)(_received)
    app.shortcut(ANYTHING)(_received)
    app.view(ANYTHING)(_received)
    app.action(re.compile("(name_source|gold_correct)(:.*)?"))(_name_source)
    app.action(ANYTHING)(_received)
    return app


def _nothing_more() -> None:
    return None


def _received(ack: Ack) -> None:
    ack()


def _name_source(ack: Ack, body: dict[str, Any], action: dict[str, Any], client: WebClient) -> None:
    """A view must be opened within three seconds, so it is not left to a worker; it holds nothing that was read, but
    repeats what stands above the button."""
    ack()
    container = body.get("container") or {}
    place = f"{container.get('channel_id', '')} {container.get('message_ts', '')}"
    about = str(action.get("value"))
    view = (
        right_source.form(f"{about} {place}", "gold_correct", told=right_source.above(body, action["action_id"]))
        if action["action_id"].startswith("gold_correct")
        else right_source.form(about, response_url=str(body.get("response_url") or ""))
    )
    try:
        client.views_open(trigger_id=body["trigger_id"], view=view)
    except SlackApiError as error:
        # The person clicked, waited and went away; there is nobody to tell.
        if error.response.get("error") not in ("expired_trigger_id", "exchanged_trigger_id"):
            raise
