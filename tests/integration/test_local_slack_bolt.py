"""An unmodified Bolt app lives in the local Slack: over the real websocket, and over signed HTTP."""

import gc
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from slack_bolt import Ack, App, Respond, Say
from slack_bolt.adapter.socket_mode import SocketModeHandler
from slack_bolt.adapter.starlette import SlackRequestHandler
from slack_sdk import WebClient
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.local_slack import LocalSlack, Server, serve

WORKSPACE = Path(__file__).parents[1] / "data" / "workspace.yaml"
MENTION = "<@UFOOTNOTE> hello"

# slack_sdk leaves a broken or refreshed websocket to the garbage collector, which then warns.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")

Json = dict[str, Any]


class Echo:
    """A tiny app that answers everything and remembers what it heard."""

    def __init__(self, base_url: str, **options: Any) -> None:
        self.heard: list[Json] = []
        self.app = App(
            client=WebClient("xoxb-local", base_url=base_url),
            listener_executor=ThreadPoolExecutor(16),
            **options,
        )
        self.app.use(self.remember)
        self.app.event("app_mention")(self.answer)
        self.app.event("message")(lambda: None)
        self.app.event("reaction_added")(lambda: None)
        self.app.event("member_joined_channel")(lambda: None)
        self.app.event("app_home_opened")(self.home)
        self.app.command("/reindex")(self.reindex)
        self.app.action("feedback")(lambda ack: ack())
        self.app.action("open")(self.open_modal)
        self.app.view("label")(self.labelled)
        self.app.shortcut("mark_answer_wrong")(self.open_modal)

    def remember(self, body: Json, next: Any) -> None:  # Bolt passes it by this name
        self.heard.append(body)
        next()

    def answer(self, event: Json, say: Say) -> None:
        say(
            text=f"echo: {event['text']}",
            thread_ts=event["ts"],
            blocks=[
                {"type": "markdown", "text": f"echo: {event['text']}"},
                {"type": "context_actions", "elements": [FEEDBACK]},
                {"type": "actions", "elements": [OPEN]},
            ],
        )

    def home(self, event: Json, client: WebClient) -> None:
        view = {"type": "home", "blocks": [{"type": "actions", "elements": [OPEN]}]}
        client.views_publish(user_id=event["user"], view=view)

    def reindex(self, ack: Ack, respond: Respond, command: Json) -> None:
        ack(f"Reindexing {command['text']}")
        respond("Done")

    def open_modal(self, ack: Ack, body: Json, client: WebClient) -> None:
        ack()
        client.views_open(trigger_id=body["trigger_id"], view=MODAL)

    def labelled(self, ack: Ack, view: Json) -> None:
        link = view["state"]["values"]["link"]["url"]["value"]
        ack(response_action="errors", errors={"link": "Not a link"}) if link == "nonsense" else ack()


FEEDBACK = {
    "type": "feedback_buttons",
    "action_id": "feedback",
    "positive_button": {"text": {"type": "plain_text", "text": "Good"}, "value": "up"},
    "negative_button": {"text": {"type": "plain_text", "text": "Bad"}, "value": "down"},
}
OPEN = {"type": "button", "action_id": "open", "text": {"type": "plain_text", "text": "Label"}}
MODAL = {
    "type": "modal",
    "callback_id": "label",
    "title": {"type": "plain_text", "text": "Which source?"},
    "submit": {"type": "plain_text", "text": "Save"},
    "blocks": [
        {
            "type": "input",
            "block_id": "link",
            "label": {"type": "plain_text", "text": "Link"},
            "element": {"type": "plain_text_input", "action_id": "url"},
        }
    ],
}


@pytest.fixture
def server() -> Iterator[Server]:
    running = serve(WORKSPACE)
    yield running
    running.stop()


@pytest.fixture
def slack(server: Server) -> LocalSlack:
    return server.slack


@pytest.fixture
def echo(server: Server) -> Iterator[Echo]:
    app = Echo(server.base_url)
    handler = socket_mode(app)
    server.slack.wait_for_connection()
    yield app
    handler.close()
    app.app.listener_runner.listener_executor.shutdown()
    gc.collect()


def socket_mode(echo: Echo) -> Any:
    """Connected. The short times make the SDK notice a lost connection, and its own end, without a pause."""
    handler: Any = SocketModeHandler(echo.app, "xapp-local", ping_interval=0.5)
    handler.connect()
    handler.client.current_session.sock.settimeout(0.1)
    return handler


def events(echo: Echo, kind: str) -> list[Json]:
    return [body for body in echo.heard if body.get("event", {}).get("type") == kind]


def test_a_mention_is_answered_in_its_thread(slack: LocalSlack, echo: Echo) -> None:
    question = slack.say("ana", "general", MENTION)
    reply = slack.wait_for_reply(question)
    assert reply.text == f"echo: {MENTION}"
    assert reply.thread_ts == question.ts


def test_one_mention_is_two_events_with_different_ids(slack: LocalSlack, echo: Echo) -> None:
    question = slack.say("ana", "general", MENTION)
    slack.wait_for_reply(question)
    slack.wait_until_idle()
    both = [body for body in echo.heard if body.get("event", {}).get("ts") == question.ts]
    assert sorted(body["event"]["type"] for body in both) == ["app_mention", "message"]
    assert len({body["event_id"] for body in both}) == 2


def test_the_bot_does_not_hear_of_channels_it_is_not_in(slack: LocalSlack, echo: Echo) -> None:
    slack.say("ana", "random", MENTION)
    slack.say("ana", "board", MENTION)
    slack.wait_for_reply(slack.say("ana", "general", MENTION))
    slack.wait_until_idle()
    assert {body["event"]["channel"] for body in echo.heard if "event" in body} == {"CGENERAL"}


def test_a_slash_command_is_acknowledged_to_the_person_alone_and_answered_later(slack: LocalSlack, echo: Echo) -> None:
    slack.command("ana", "general", "/reindex handbook")
    slack.wait_for(lambda s: len(s.ephemerals("ana")) == 2)
    assert {message.text for message in slack.ephemerals("ana")} == {"Reindexing handbook", "Done"}
    assert slack.ephemerals("ben") == []


def test_a_feedback_click_reaches_the_app_with_its_value(slack: LocalSlack, echo: Echo) -> None:
    reply = slack.wait_for_reply(slack.say("ana", "general", MENTION))
    slack.click("ben", "general", reply.ts, "feedback", "negative")
    slack.wait_until_idle()
    body = next(body for body in echo.heard if body["type"] == "block_actions")
    assert body["actions"][0]["value"] == "down"
    assert body["user"]["id"] == "UBEN"
    assert body["message"]["ts"] == reply.ts


def test_a_modal_opens_shows_errors_and_closes_after_a_good_submission(slack: LocalSlack, echo: Echo) -> None:
    reply = slack.wait_for_reply(slack.say("ana", "general", MENTION))
    slack.click("ana", "general", reply.ts, "open")
    slack.wait_for(lambda s: s.modal("ana"))
    slack.submit("ana", {"url": "nonsense"})
    slack.wait_for(lambda s: (s.modal("ana") or {}).get("errors") == {"link": "Not a link"})
    slack.submit("ana", {"link": "https://docs.example"})
    slack.wait_for(lambda s: s.modal("ana") is None)


def test_opening_the_home_tab_publishes_it(slack: LocalSlack, echo: Echo) -> None:
    slack.open_home("ben")
    home = slack.wait_for(lambda s: s.home("ben"))
    assert home["type"] == "home"
    slack.click_view("ben", home["id"], "open")
    slack.wait_for(lambda s: s.modal("ben"))


def test_a_reaction_names_the_author_of_the_message(slack: LocalSlack, echo: Echo) -> None:
    reply = slack.wait_for_reply(slack.say("ana", "general", MENTION))
    slack.react("ben", "general", reply.ts, "-1")
    slack.wait_until_idle()
    event = events(echo, "reaction_added")[0]["event"]
    assert (event["user"], event["reaction"], event["item_user"]) == ("UBEN", "-1", "UFOOTNOTE")


def test_an_event_that_is_not_acknowledged_is_delivered_again_under_the_same_id(slack: LocalSlack, echo: Echo) -> None:
    slack.fault("dead_socket")
    question = slack.say("ana", "general", MENTION)
    slack.wait_for_connection()
    slack.advance(3)
    slack.wait_for_reply(question)
    slack.wait_until_idle()
    mentions = [each for each in slack.delivery.sent if each.payload["event"]["type"] == "app_mention"]
    assert [each.attempt for each in mentions] == [0, 1]
    assert len({each.payload["event_id"] for each in mentions}) == 1


def test_the_app_reconnects_when_slack_asks_it_to(server: Server, slack: LocalSlack, echo: Echo) -> None:
    before = [call.method for call in slack.calls].count("apps.connections.open")
    server.refresh()
    slack.wait_for(lambda s: [call.method for call in s.calls].count("apps.connections.open") > before)
    slack.wait_for_connection()
    slack.wait_for_reply(slack.say("ana", "general", MENTION))


def test_a_duplicated_event_arrives_twice_with_one_id(slack: LocalSlack, echo: Echo) -> None:
    slack.fault("duplicate")
    slack.wait_for_reply(slack.say("ana", "general", MENTION), number=2)
    slack.wait_until_idle()
    ids = [body["event_id"] for body in events(echo, "app_mention")]
    assert len(ids) == 2
    assert len(set(ids)) == 1


def test_envelopes_go_round_the_connections(server: Server, slack: LocalSlack, echo: Echo) -> None:
    second = Echo(server.base_url)
    handler = socket_mode(second)
    slack.wait_for_connection(2)
    for _ in range(4):
        slack.wait_for_reply(slack.say("ana", "general", MENTION))
    slack.wait_until_idle()
    handler.close()
    second.app.listener_runner.listener_executor.shutdown()
    assert len(echo.heard) == len(second.heard) > 0


def test_signed_http_requests_are_the_other_way_in(server: Server, slack: LocalSlack) -> None:
    echo = Echo(server.base_url, signing_secret="local-signing-secret")
    handler = SlackRequestHandler(echo.app)

    async def endpoint(request: Request) -> Response:
        return await handler.handle(request)

    receiver = Receiver(Starlette(routes=[Route("/slack/events", endpoint, methods=["POST"])]))
    slack.deliver_to(f"{receiver.url}/slack/events")
    slack.wait_for_reply(slack.say("ana", "general", MENTION))
    slack.command("ana", "general", "/reindex all")
    slack.wait_for(lambda s: [m.text for m in s.ephemerals("ana")] and len(s.ephemerals("ana")) == 2)
    slack.wait_until_idle()
    receiver.stop()
    echo.app.listener_runner.listener_executor.shutdown()


class Receiver:
    """An app's own HTTP server."""

    def __init__(self, app: Starlette) -> None:
        listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        self._server = uvicorn.Server(uvicorn.Config(app, log_config=None, lifespan="off"))
        self._thread = threading.Thread(target=self._server.run, args=([listening],))
        self._thread.start()

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join()
