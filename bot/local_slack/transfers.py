"""The URLs that carry no method name: uploads, files and answers to interactions."""

from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response

from bot.local_slack.errors import ApiError
from bot.local_slack.objects import mimetype
from bot.local_slack.response_urls import respond
from bot.local_slack.web_api import bearer

if TYPE_CHECKING:
    from bot.local_slack.slack import LocalSlack

LOGIN_PAGE = (
    "<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body><h1>Sign in to your workspace</h1></body></html>\n"
)


class Transfers:
    def __init__(self, slack: "LocalSlack") -> None:
        self._slack = slack

    async def upload(self, request: Request) -> Response:
        """The bytes of a file announced with files.getUploadURLExternal."""
        files = self._slack.state.files
        file = files.get(request.path_params["file_id"])
        if file is None or file.content is not None:
            return PlainTextResponse("no such upload", 404)
        content = await request.body()
        if len(content) != file.expected_length:
            return PlainTextResponse(f"{len(content)} bytes came, {file.expected_length} were announced", 400)
        files.receive(file.id, content)
        return PlainTextResponse(f"OK - {len(content)}")

    async def download(self, request: Request) -> Response:
        """`url_private`, for the app with its token; the page has its own route, which asks who is looking.

        Without the token, or the scope, Slack answers 200 with its login page.
        """
        slack = self._slack
        if bearer(request) != slack.tokens.bot or "files:read" not in slack.state.manifest.scopes:
            return HTMLResponse(LOGIN_PAGE)
        file = slack.state.files.get(request.path_params["file_id"])
        if file is None or file.content is None:
            return PlainTextResponse("not found", 404)
        return Response(file.content, media_type=mimetype(file.name))

    async def answer(self, request: Request) -> Response:
        """A response URL: the app posts, replaces or deletes."""
        state = self._slack.state
        try:
            body = await request.json()
            with state.changed:
                target = state.interactions.use_response_url(request.path_params["key"], state.clock.now())
                respond(state, target, body)
        except ValueError:
            return PlainTextResponse("invalid_payload", 400)
        except ApiError as error:
            return JSONResponse({"ok": False, "error": error.code}, 404 if error.code.endswith("_url") else 400)
        return PlainTextResponse("ok")
