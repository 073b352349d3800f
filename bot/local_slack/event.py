"""One event as Slack sends it to an app. Pure but for a fresh event id."""

import secrets
from dataclasses import dataclass
from typing import Any

from bot.local_slack.state import State
from bot.local_slack.workspace import Channel

Json = dict[str, Any]


@dataclass(frozen=True)
class Event:
    """`subscription` is the name in the manifest that asks for it."""

    subscription: str
    body: Json
    channel: Channel | None = None


def event_callback(event: Event, state: State, event_id: str | None = None) -> Json:
    """The outer payload around an event."""
    now = int(state.clock.now())
    return {
        "token": "verification-token-is-deprecated",
        "team_id": state.team.id,
        "context_team_id": state.team.id,
        "api_app_id": state.bot.app_id,
        "type": "event_callback",
        "event_id": event_id or "Ev" + secrets.token_hex(5).upper(),
        "event_time": now,
        "event_context": secrets.token_urlsafe(12),
        "is_ext_shared_channel": bool(event.channel and event.channel.shared),
        "authorizations": [
            {
                "enterprise_id": None,
                "team_id": state.team.id,
                "user_id": state.bot.id,
                "is_bot": True,
                "is_enterprise_install": False,
            }
        ],
        "event": event.body,
    }
