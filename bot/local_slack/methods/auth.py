"""auth.*, apps.*, team.info, bots.info."""

from typing import Any

from bot.local_slack.arguments import Arguments
from bot.local_slack.errors import ApiError
from bot.local_slack.methods.registry import method
from bot.local_slack.state import State

Json = dict[str, Any]


@method("api.test", tier="none")
def api_test(state: State, arguments: Arguments) -> Json:
    if error := arguments.text("error"):
        raise ApiError(error)
    return {"args": {key: value for key, value in arguments.items() if key != "token"}}


@method("auth.test", tier="none")
def auth_test(state: State, arguments: Arguments) -> Json:
    return {
        "url": f"{state.address}/",
        "team": state.team.name,
        "team_id": state.team.id,
        "user": state.bot.name,
        "user_id": state.bot.id,
        "bot_id": state.bot.bot_id,
        "is_enterprise_install": False,
    }


@method("apps.connections.open", tier="1", token="app")
def apps_connections_open(state: State, arguments: Arguments) -> Json:
    address = state.address.replace("http://", "ws://", 1)
    return {"url": f"{address}/_socket?ticket={state.new_ticket()}&app_id={state.bot.app_id}"}


@method("team.info", "team:read")
def team_info(state: State, arguments: Arguments) -> Json:
    if arguments.text("team") not in ("", state.team.id):
        raise ApiError("team_not_found")
    team = state.team
    return {"team": {"id": team.id, "name": team.name, "domain": team.domain, "email_domain": "", "icon": {}}}


@method("bots.info", "users:read")
def bots_info(state: State, arguments: Arguments) -> Json:
    bot = state.bot
    if arguments.text("bot") not in ("", bot.bot_id):
        raise ApiError("bot_not_found")
    return {
        "bot": {
            "id": bot.bot_id,
            "deleted": False,
            "name": bot.name,
            "app_id": bot.app_id,
            "user_id": bot.id,
            "updated": 0,
            "icons": {},
        }
    }
