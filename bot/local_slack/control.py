"""The control API: every action of LocalSlack over HTTP, `POST /_control/{action}` with its arguments as JSON.

For drivers in other languages, and for the page. Answers 200 with the result, or 400 with `{"error": "..."}`.
"""

import base64
import dataclasses
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from bot.local_slack.errors import LocalSlackError
from bot.local_slack.message import Message
from bot.local_slack.objects import channel_object, message_object
from bot.local_slack.workspace import Channel, Person

if TYPE_CHECKING:
    from bot.local_slack.slack import LocalSlack

Json = dict[str, Any]

ACTIONS = frozenset(
    {
        *("say", "type", "edit", "delete", "react", "unreact", "upload"),
        *("command", "shortcut", "click", "click_view", "submit", "close_view", "open_home"),
        *("join", "leave", "invite_guest", "make_guest", "make_member", "deactivate"),
        *("share_channel", "offer_sharing", "convert", "archive", "rename", "delete_channel"),
        *("suggest", "advance", "fault", "deliver_to", "dm"),
    }
)


class Control:
    def __init__(self, slack: "LocalSlack") -> None:
        self._slack = slack

    async def act(self, request: Request) -> Response:
        name: str = request.path_params["action"]
        if name not in ACTIONS:
            return JSONResponse({"error": f"no action {name!r}; there are {sorted(ACTIONS)}"}, 404)
        arguments = await request.json() if await request.body() else {}
        if name == "upload":
            arguments["content"] = base64.b64decode(arguments["content"])
        try:
            result = getattr(self._slack, name)(**arguments)
        except (LocalSlackError, TypeError, ValueError) as error:
            return JSONResponse({"error": str(error)}, 400)
        return JSONResponse(self._shown(result))

    async def calls(self, request: Request) -> Response:
        """`GET /_control/calls`: the record of all Web API calls."""
        return JSONResponse([dataclasses.asdict(call) for call in self._slack.calls])

    async def refresh(self, request: Request) -> Response:
        """`POST /_control/refresh`: ask the app to reconnect. `?dead=1` breaks the connections instead."""
        if request.query_params.get("dead"):
            await self._slack.socket_mode.break_all()
        else:
            await self._slack.socket_mode.refresh()
        return JSONResponse({})

    def _shown(self, result: object) -> Json:
        state = self._slack.state
        match result:
            case Message():
                return message_object(state, result) | {"channel": result.channel}
            case Channel():
                return channel_object(state, result)
            case Person():
                return dataclasses.asdict(result)
            case dict():
                return result
            case _:
                return {}
