"""slack_sdk's client against every method that the local Slack has."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

from bot.local_slack import LocalSlack, Server, parse_manifest, serve
from bot.local_slack.methods.registry import METHODS
from tests.integration.test_local_slack_web_api import SCOPES, WORKSPACE, manifest_of

Json = dict[str, Any]

MODAL: Json = {"type": "modal", "title": {"type": "plain_text", "text": "T"}, "blocks": [{"type": "divider"}]}
HOME: Json = {"type": "home", "blocks": [{"type": "divider"}]}
PROMPTS: list[dict[str, str]] = [{"title": "Ask", "message": "What is new?"}]


@dataclass
class Desk:
    """A client, and what calls are about: messages, streams, files, triggers of interactions."""

    client: WebClient
    slack: LocalSlack

    def said(self) -> str:
        return self.slack.say("ana", "general", "a message").ts

    def posted(self) -> str:
        return str(self.client.chat_postMessage(channel="CGENERAL", text="mine")["ts"])

    def stream(self) -> str:
        started = self.client.chat_startStream(
            channel="CGENERAL", thread_ts=self.said(), recipient_user_id="UANA", recipient_team_id="T0LOCAL"
        )
        return str(started["ts"])

    def reacted(self) -> str:
        ts = self.said()
        self.client.reactions_add(channel="CGENERAL", timestamp=ts, name="eyes")
        return ts

    def file(self) -> str:
        return str(self.client.files_upload_v2(channel="CGENERAL", filename="a.txt", content=b"a")["file"]["id"])

    def trigger(self) -> str:
        return self.slack.state.interactions.new_trigger("UANA", self.slack.clock.now())

    def modal(self) -> str:
        return str(self.client.views_open(trigger_id=self.trigger(), view=MODAL)["view"]["id"])


CALLS: dict[str, Callable[[Desk], object]] = {
    "api.test": lambda desk: desk.client.api_test(),
    "apps.connections.open": lambda desk: desk.client.apps_connections_open(app_token="xapp-local"),
    "assistant.threads.setStatus": lambda desk: desk.client.assistant_threads_setStatus(
        channel_id="CGENERAL", thread_ts=desk.said(), status="is reading…"
    ),
    "assistant.threads.setSuggestedPrompts": lambda desk: desk.client.assistant_threads_setSuggestedPrompts(
        channel_id=desk.slack.dm("ana").id, thread_ts="", prompts=PROMPTS
    ),
    "assistant.threads.setTitle": lambda desk: desk.client.assistant_threads_setTitle(
        channel_id="CGENERAL", thread_ts=desk.said(), title="News"
    ),
    "auth.test": lambda desk: desk.client.auth_test(),
    "bots.info": lambda desk: desk.client.bots_info(bot="BFOOTNOTE"),
    "chat.appendStream": lambda desk: desk.client.chat_appendStream(
        channel="CGENERAL", ts=desk.stream(), markdown_text="more"
    ),
    "chat.delete": lambda desk: desk.client.chat_delete(channel="CGENERAL", ts=desk.posted()),
    "chat.getPermalink": lambda desk: desk.client.chat_getPermalink(channel="CGENERAL", message_ts=desk.said()),
    "chat.postEphemeral": lambda desk: desk.client.chat_postEphemeral(channel="CGENERAL", user="UANA", text="psst"),
    "chat.postMessage": lambda desk: desk.client.chat_postMessage(channel="CGENERAL", text="hello"),
    "chat.startStream": lambda desk: desk.stream(),
    "chat.stopStream": lambda desk: desk.client.chat_stopStream(channel="CGENERAL", ts=desk.stream()),
    "chat.update": lambda desk: desk.client.chat_update(channel="CGENERAL", ts=desk.posted(), text="other"),
    "conversations.history": lambda desk: desk.client.conversations_history(channel="CGENERAL"),
    "conversations.info": lambda desk: desk.client.conversations_info(channel="CGENERAL"),
    "conversations.join": lambda desk: desk.client.conversations_join(channel="CRANDOM"),
    "conversations.list": lambda desk: desk.client.conversations_list(),
    "conversations.members": lambda desk: desk.client.conversations_members(channel="CGENERAL"),
    "conversations.open": lambda desk: desk.client.conversations_open(users="UANA"),
    "conversations.replies": lambda desk: desk.client.conversations_replies(channel="CGENERAL", ts=desk.said()),
    "files.completeUploadExternal": lambda desk: desk.file(),
    "files.delete": lambda desk: desk.client.files_delete(file=desk.file()),
    "files.getUploadURLExternal": lambda desk: desk.client.files_getUploadURLExternal(filename="a.txt", length=1),
    "files.info": lambda desk: desk.client.files_info(file=desk.file()),
    "files.list": lambda desk: desk.client.files_list(),
    "reactions.add": lambda desk: desk.reacted(),
    "reactions.get": lambda desk: desk.client.reactions_get(channel="CGENERAL", timestamp=desk.said()),
    "reactions.remove": lambda desk: desk.client.reactions_remove(
        channel="CGENERAL", timestamp=desk.reacted(), name="eyes"
    ),
    "team.info": lambda desk: desk.client.team_info(),
    "users.conversations": lambda desk: desk.client.users_conversations(user="UANA"),
    "users.info": lambda desk: desk.client.users_info(user="UANA"),
    "users.list": lambda desk: desk.client.users_list(),
    "users.lookupByEmail": lambda desk: desk.client.users_lookupByEmail(email="ben@larkfield.example"),
    "views.open": lambda desk: desk.modal(),
    "views.publish": lambda desk: desk.client.views_publish(user_id="UANA", view=HOME),
    "views.push": lambda desk: desk.modal() and desk.client.views_push(trigger_id=desk.trigger(), view=MODAL),
    "views.update": lambda desk: desk.client.views_update(view_id=desk.modal(), view=MODAL),
}

WITHOUT_ARGUMENTS = {
    *("api.test", "apps.connections.open", "auth.test", "bots.info", "conversations.list", "files.list", "team.info"),
    *("users.conversations", "users.list"),
}


@pytest.fixture(scope="module")
def running() -> Iterator[Server]:
    server = serve(WORKSPACE, manifest=parse_manifest(manifest_of(SCOPES)))
    yield server
    server.stop()


@pytest.fixture
def desk(running: Server) -> Desk:
    return Desk(WebClient("xoxb-local", base_url=running.base_url), running.slack)


def test_there_is_a_call_for_every_method() -> None:
    assert sorted(CALLS) == sorted(METHODS)


@pytest.mark.parametrize("name", sorted(METHODS))
def test_the_client_is_answered(desk: Desk, name: str) -> None:
    before = len(desk.slack.calls)
    CALLS[name](desk)
    made = desk.slack.calls[before:]
    assert name in {call.method for call in made}
    assert all(call.ok for call in made)


@pytest.mark.parametrize("name", sorted(METHODS.keys() - WITHOUT_ARGUMENTS))
def test_a_call_without_its_arguments_is_refused(desk: Desk, name: str) -> None:
    with pytest.raises(SlackApiError) as refused:
        desk.client.api_call(name)
    assert refused.value.response["error"] in {"invalid_arguments", "users_list_not_supplied"}


@pytest.mark.parametrize("name", sorted(name for name, method in METHODS.items() if method.scopes))
def test_a_method_needs_the_scope_that_it_names(desk: Desk, name: str) -> None:
    """The same call to a workspace whose app was given no scope at all is refused with the missing one."""
    granted = desk.slack.state.manifest
    desk.slack.state.manifest = parse_manifest(manifest_of([]))
    try:
        with pytest.raises(SlackApiError) as refused:
            desk.client.api_call(name)
    finally:
        desk.slack.state.manifest = granted
    assert refused.value.response["error"] == "missing_scope"
    assert refused.value.response["needed"] in METHODS[name].scopes
