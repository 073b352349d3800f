"""A local Slack: a workspace in memory that an unmodified Bolt app can live in, with a page to use it.

    server = serve(Path("workspace.yaml"))
    app = App(client=WebClient("xoxb-local", base_url=server.base_url))
    SocketModeHandler(app, "xapp-local").connect()
    question = server.slack.say("ana", "general", "<@UFOOTNOTE> hello?")
    server.slack.wait_for_reply(question)

`LocalSlack` is state plus ASGI app, `serve` runs it on 127.0.0.1. What people do are its methods (say, click, submit,
command, join, convert …), the same over HTTP under `/_control/`; the page is at `/`.

Known differences from the real service
---------------------------------------
Nothing here was compared with a live workspace; it follows Slack's public reference, the SDK's models and reports of
others. Where those are silent the choice is listed.

- One workspace, one app, one bot token and one app token; no OAuth, no Enterprise Grid, no user tokens.
- Rate limits are counted over a sliding minute and are off unless asked for; Slack's own counting is not published.
- Redelivery of an event follows the three-second acknowledgement at once each time; Slack waits one and five minutes
  before the second and third retry. Payloads that no connection can take wait for one; Slack drops them after a while.
- Every delivered event is acknowledged by envelope, no `app_rate_limited` and no `url_verification` are sent.
- A stream ends after five minutes, as developers measured; their reports of an earlier end when idle are not modelled.
  `chat.appendStream` causes no `message_changed`, `chat.stopStream` causes one; the real events are not documented.
  The text of a stream reads back as mrkdwn by four rules (bold, headings, bullets, links). Task cards keep only the
  last `details` and `output`.
- Text formatting is not turned into `rich_text` blocks, as Slack does for what people type.
- Ephemeral messages and notices survive a reload of the page; in Slack they vanish.
- Block checks are slack_sdk's models plus documented limits; the total of 13,200 characters for all blocks of a
  message is a measurement by others. Error texts in `response_metadata` differ.
- `conversations.open` opens one-to-one DMs only. Slack Connect is a flag: no invitations, no second workspace's view.
- An edit that adds a mention sends `app_mention`; removing members by deactivation sends no member_left_channel.
- `is_stranger` is never sent. Emoji names are not checked against a list. Files get no thumbnails or previews.
- Slash commands of the page (`/invite`, `/leave`) act at once and are not the app's.
"""

from bot.local_slack.errors import (
    ActionRefused,
    LocalSlackError,
    UnknownName,
    WaitTimeout,
    WorkspaceError,
)
from bot.local_slack.manifest import Manifest, load_manifest, parse_manifest
from bot.local_slack.message import Message
from bot.local_slack.server import Server, serve
from bot.local_slack.slack import LocalSlack
from bot.local_slack.web_api import Call, Tokens
from bot.local_slack.workspace import Bot, Channel, Person, Team, Workspace, load_workspace, parse_workspace

__all__ = [
    "ActionRefused",
    "Bot",
    "Call",
    "Channel",
    "LocalSlack",
    "LocalSlackError",
    "Manifest",
    "Message",
    "Person",
    "Server",
    "Team",
    "Tokens",
    "UnknownName",
    "WaitTimeout",
    "Workspace",
    "WorkspaceError",
    "load_manifest",
    "load_workspace",
    "parse_manifest",
    "parse_workspace",
    "serve",
]
