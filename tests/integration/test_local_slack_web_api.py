"""The local Slack's Web API answers slack_sdk's own client as Slack's reference says."""

import json
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

from bot.local_slack import LocalSlack, Server, load_workspace, parse_manifest, serve

WORKSPACE = Path(__file__).parents[1] / "data" / "workspace.yaml"
SCOPES = [
    *("assistant:write", "channels:history", "channels:join", "channels:read", "chat:write", "files:read"),
    *("files:write", "groups:history", "groups:read", "im:history", "im:read", "im:write", "mpim:history"),
    *("mpim:read", "reactions:read", "reactions:write", "team:read", "users:read", "users:read.email"),
]

Json = dict[str, Any]


def manifest_of(scopes: list[str]) -> Json:
    return {"oauth_config": {"scopes": {"bot": scopes}}, "settings": {"event_subscriptions": {"bot_events": []}}}


@pytest.fixture(scope="module")
def running() -> Iterator[Server]:
    server = serve(WORKSPACE, manifest=parse_manifest(manifest_of(SCOPES)))
    yield server
    server.stop()


@pytest.fixture
def client(running: Server) -> WebClient:
    return WebClient("xoxb-local", base_url=running.base_url)


@pytest.fixture
def slack(running: Server) -> Iterator[LocalSlack]:
    yield running.slack
    running.slack.faults.clear()


def error(call: Callable[[], object]) -> str:
    with pytest.raises(SlackApiError) as caught:
        call()
    return str(caught.value.response["error"])


def test_tokens_are_checked_before_the_method(running: Server) -> None:
    bot, app = "xoxb-local", "xapp-local"
    tried = {
        token: error(lambda token=token: WebClient(token, base_url=running.base_url).users_info(user="UANA"))  # type: ignore[misc]  # bound at once
        for token in ("xoxb-wrong", app)
    }
    assert tried == {"xoxb-wrong": "invalid_auth", app: "not_allowed_token_type"}
    assert error(lambda: WebClient(base_url=running.base_url).auth_test()) == "not_authed"
    assert error(lambda: WebClient(bot, base_url=running.base_url).apps_connections_open(app_token=bot)) == (
        "not_allowed_token_type"
    )
    assert WebClient(bot, base_url=running.base_url).auth_test()["user_id"] == "UFOOTNOTE"


def test_an_unknown_method_says_so(client: WebClient) -> None:
    assert error(lambda: client.api_call("chat.shout")) == "unknown_method"


def test_a_scope_the_manifest_lacks_is_missing() -> None:
    server = serve(WORKSPACE, manifest=parse_manifest(manifest_of(["chat:write"])))
    narrow = WebClient("xoxb-local", base_url=server.base_url)
    try:
        with pytest.raises(SlackApiError) as caught:
            narrow.conversations_info(channel="CLEGAL")
    finally:
        server.stop()
    assert caught.value.response["error"] == "missing_scope"
    assert caught.value.response["needed"] == "groups:read"


def test_get_and_query_arguments_are_understood_too(running: Server) -> None:
    url = f"{running.base_url}users.info?user=UANA"
    request = urllib.request.Request(url, headers={"Authorization": "Bearer xoxb-local"})
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request) as response:
        assert json.load(response)["user"]["name"] == "ana"


@pytest.mark.parametrize(
    ("user", "expected"),
    [
        ("UANA", {"deleted": False, "is_admin": True, "is_restricted": False, "is_ultra_restricted": False}),
        ("UGUS", {"deleted": False, "is_admin": False, "is_restricted": True, "is_ultra_restricted": False}),
        ("USOL", {"deleted": False, "is_admin": False, "is_restricted": True, "is_ultra_restricted": True}),
        ("UEVE", {"team_id": "T0OTHER", "is_restricted": False}),
        ("UBOT2", {"is_bot": True}),
        ("UOLD", {"deleted": True}),
    ],
)
def test_people_carry_the_flags_of_their_kind(client: WebClient, user: str, expected: Json) -> None:
    shown = client.users_info(user=user)["user"]
    assert {key: shown[key] for key in expected} == expected


def test_people_are_listed_in_pages(client: WebClient) -> None:
    pages = [page["members"] for page in client.users_list(limit=3)]
    assert [len(page) for page in pages] == [3, 3, 2]
    assert len({member["id"] for page in pages for member in page}) == 8


def test_bad_pages_are_refused(client: WebClient) -> None:
    assert error(lambda: client.users_list(limit=5000)) == "invalid_limit"
    assert error(lambda: client.users_list(cursor="???")) == "invalid_cursor"


def test_a_bot_token_sees_a_persons_private_channels_only_where_it_is_itself(client: WebClient) -> None:
    types = "public_channel,private_channel,mpim"
    channels = client.users_conversations(user="UANA", types=types)["channels"]
    names = {channel["name"] for channel in channels}
    assert names == {"general", "random", "legal", "guests", "partner", "lunch", "old-project"}
    assert {channel["name"] for channel in client.users_conversations(user="USOL", types=types)["channels"]} == {
        "guests"
    }


def test_conversations_of_a_user_are_public_ones_unless_asked_otherwise(client: WebClient) -> None:
    names = {channel["name"] for channel in client.users_conversations(user="UBEN", exclude_archived=True)["channels"]}
    assert names == {"general", "random"}


def test_a_private_channel_without_the_bot_does_not_exist_for_it(client: WebClient) -> None:
    calls: list[Callable[[], object]] = [
        lambda: client.conversations_info(channel="CBOARD"),
        lambda: client.conversations_members(channel="CBOARD"),
        lambda: client.conversations_history(channel="CBOARD"),
        lambda: client.chat_postMessage(channel="CBOARD", text="hi"),
    ]
    assert {error(call) for call in calls} == {"channel_not_found"}


def test_posting_needs_membership_and_an_open_channel(client: WebClient) -> None:
    assert error(lambda: client.chat_postMessage(channel="CRANDOM", text="hi")) == "not_in_channel"
    assert error(lambda: client.chat_postMessage(channel="COLD", text="hi")) == "is_archived"
    assert error(lambda: client.api_call("chat.postMessage", params={"channel": "CGENERAL"})) == "no_text"
    assert error(lambda: client.chat_postMessage(channel="CGENERAL", text="hi", thread_ts="1.1")) == "invalid_thread_ts"


@pytest.mark.parametrize(
    ("channel", "expected"),
    [
        ("CGENERAL", {"is_channel": True, "is_private": False, "is_ext_shared": False, "is_member": True}),
        ("CLEGAL", {"is_group": True, "is_private": True}),
        ("CPARTNER", {"is_ext_shared": True, "shared_team_ids": ["T0LOCAL", "T0OTHER"]}),
        ("GLUNCH", {"is_mpim": True, "is_private": True}),
        ("COLD", {"is_archived": True}),
    ],
)
def test_channels_carry_the_flags_of_their_kind(client: WebClient, channel: str, expected: Json) -> None:
    shown = client.conversations_info(channel=channel)["channel"]
    assert {key: shown[key] for key in expected} == expected


def test_members_and_channels_are_listed(client: WebClient) -> None:
    assert client.conversations_members(channel="CPARTNER")["members"] == ["UANA", "UEVE", "UFOOTNOTE"]
    listed = client.conversations_list(types="public_channel,private_channel", exclude_archived=True)["channels"]
    assert {channel["name"] for channel in listed} == {"general", "random", "legal", "guests", "partner"}


def test_the_bot_joins_public_channels_only(client: WebClient, slack: LocalSlack) -> None:
    assert error(lambda: client.conversations_join(channel="CLEGAL")) == "method_not_supported_for_channel_type"
    assert client.conversations_join(channel="CRANDOM")["channel"]["is_member"]
    slack.leave("footnote", "random")


def test_a_thread_reads_back_as_it_was_posted(client: WebClient) -> None:
    root = client.chat_postMessage(channel="CGENERAL", text="root")["ts"]
    replies = [client.chat_postMessage(channel="CGENERAL", text=f"r{n}", thread_ts=root)["ts"] for n in range(3)]
    read = client.conversations_replies(channel="CGENERAL", ts=replies[1])["messages"]
    assert [message["text"] for message in read] == ["root", "r0", "r1", "r2"]
    assert read[0]["reply_count"] == 3
    history = client.conversations_history(channel="CGENERAL", limit=1)
    assert history["messages"][0]["ts"] == root
    assert history["has_more"]
    older = client.conversations_history(channel="CGENERAL", latest=root, limit=1)["messages"]
    assert older[0]["ts"] < root


def test_messages_are_updated_and_deleted_by_their_author_only(client: WebClient, slack: LocalSlack) -> None:
    ts = client.chat_postMessage(channel="CGENERAL", text="first")["ts"]
    theirs = slack.say("ana", "general", "mine").ts
    assert client.chat_update(channel="CGENERAL", ts=ts, text="second")["message"]["text"] == "second"
    assert error(lambda: client.chat_update(channel="CGENERAL", ts=theirs, text="x")) == "cant_update_message"
    assert error(lambda: client.chat_delete(channel="CGENERAL", ts=theirs)) == "cant_delete_message"
    assert error(lambda: client.chat_update(channel="CGENERAL", ts=ts, text="x" * 4001)) == "msg_too_long"
    client.chat_delete(channel="CGENERAL", ts=ts)
    assert error(lambda: client.chat_delete(channel="CGENERAL", ts=ts)) == "message_not_found"


def test_metadata_comes_back_only_when_asked_for(client: WebClient) -> None:
    metadata = {"event_type": "answer", "event_payload": {"id": "7"}}
    ts = client.chat_postMessage(channel="CGENERAL", text="with metadata", metadata=metadata)["ts"]
    plain = client.conversations_replies(channel="CGENERAL", ts=ts)["messages"][0]
    full = client.conversations_replies(channel="CGENERAL", ts=ts, include_all_metadata=True)["messages"][0]
    assert "metadata" not in plain
    assert full["metadata"] == metadata


def test_an_ephemeral_message_is_seen_by_one_person_and_in_no_history(client: WebClient, slack: LocalSlack) -> None:
    ts = client.chat_postEphemeral(channel="CGENERAL", user="UBEN", text="psst")["message_ts"]
    assert slack.ephemerals("ben")[-1].ts == ts
    assert all(m["ts"] != ts for m in client.conversations_history(channel="CGENERAL")["messages"])
    assert error(lambda: client.chat_postEphemeral(channel="CGENERAL", user="UGUS", text="x")) == "user_not_in_channel"


def test_a_permalink_points_at_the_message(client: WebClient, running: Server) -> None:
    ts = client.chat_postMessage(channel="CGENERAL", text="here")["ts"]
    link = client.chat_getPermalink(channel="CGENERAL", message_ts=ts)["permalink"]
    assert link == f"{running.url}archives/CGENERAL/p{ts.replace('.', '')}"


BUTTON = {"type": "button", "action_id": "a", "text": {"type": "plain_text", "text": "Go"}}


@pytest.mark.parametrize(
    ("blocks", "expected"),
    [
        ([{"type": "divider"}] * 51, "invalid_blocks"),
        ([{"type": "markdown", "text": "x" * 12_001}], "invalid_blocks"),
        ([{"type": "section", "text": {"type": "mrkdwn", "text": "x" * 3_001}}], "invalid_blocks"),
        ([{"type": "section", "text": {"type": "mrkdwn", "text": ""}}], "invalid_blocks"),
        ([{"type": "markdown", "text": "x" * 7_000}, {"type": "markdown", "text": "y" * 7_000}], "msg_blocks_too_long"),
        ([{"type": "nonsense"}], "invalid_blocks"),
        ([{"type": "divider", "colour": "red"}], "invalid_blocks"),
        ([{"type": "actions", "elements": [BUTTON, BUTTON]}], "invalid_blocks"),
        ([{"type": "table", "rows": [[{"type": "raw_text", "text": "x"}]] * 101}], "invalid_blocks"),
        ([{"type": "table", "rows": [[{"type": "raw_text", "text": "x"}]]}] * 2, "invalid_attachments"),
        ([{"type": "divider", "block_id": "b"}, {"type": "divider", "block_id": "b"}], "invalid_blocks"),
    ],
)
def test_blocks_beyond_the_limits_are_refused(client: WebClient, blocks: list[Json], expected: str) -> None:
    assert error(lambda: client.chat_postMessage(channel="CGENERAL", text="x", blocks=blocks)) == expected


def test_blocks_at_the_limits_are_accepted(client: WebClient) -> None:
    table = {"type": "table", "rows": [[{"type": "raw_text", "text": "x"}] * 20] * 100}
    for blocks in ([{"type": "divider"}] * 50, [{"type": "markdown", "text": "x" * 12_000}], [table]):
        assert client.chat_postMessage(channel="CGENERAL", text="x", blocks=blocks)["ok"]


def test_text_too_long_is_cut_with_a_warning(client: WebClient) -> None:
    answer = client.chat_postMessage(channel="CGENERAL", text="x" * 40_001)
    assert answer["warning"] == "message_truncated"
    assert len(answer["message"]["text"]) == 40_000


def test_markdown_text_excludes_text_and_blocks(client: WebClient) -> None:
    assert error(lambda: client.chat_postMessage(channel="CGENERAL", text="a", markdown_text="b")) == (
        "markdown_text_conflict"
    )
    assert error(lambda: client.chat_postMessage(channel="CGENERAL", markdown_text="b" * 12_001)) == "msg_too_long"


def open_stream(client: WebClient, slack: LocalSlack) -> str:
    root = slack.say("ana", "general", "stream, please").ts
    answer = client.chat_startStream(
        channel="CGENERAL",
        thread_ts=root,
        recipient_user_id="UANA",
        recipient_team_id="T0LOCAL",
        markdown_text="**One** ",
    )
    return str(answer["ts"])


def test_a_stream_grows_and_ends(client: WebClient, slack: LocalSlack) -> None:
    ts = open_stream(client, slack)
    client.chat_appendStream(channel="CGENERAL", ts=ts, markdown_text="two")
    assert client.conversations_replies(channel="CGENERAL", ts=ts)["messages"][1]["streaming_state"] == "in_progress"
    stopped = client.chat_stopStream(channel="CGENERAL", ts=ts, blocks=[{"type": "divider"}])
    assert stopped["message"]["text"] == "*One* two"
    assert stopped["message"]["streaming_state"] == "completed"
    assert error(lambda: client.chat_appendStream(channel="CGENERAL", ts=ts, markdown_text="x")) == (
        "message_not_in_streaming_state"
    )


def test_an_open_stream_refuses_update_and_delete(client: WebClient, slack: LocalSlack) -> None:
    ts = open_stream(client, slack)
    assert error(lambda: client.chat_update(channel="CGENERAL", ts=ts, text="x")) == "streaming_state_conflict"
    assert error(lambda: client.chat_delete(channel="CGENERAL", ts=ts)) == "cant_delete_message"


def test_a_stream_lives_five_minutes_and_can_be_updated_afterwards(client: WebClient, slack: LocalSlack) -> None:
    ts = open_stream(client, slack)
    slack.advance(300)
    calls = (client.chat_appendStream, client.chat_stopStream)
    for call in calls:
        assert error(lambda call=call: call(channel="CGENERAL", ts=ts, markdown_text="x")) == (  # type: ignore[misc]  # bound at once
            "message_not_in_streaming_state"
        )
    assert client.chat_update(channel="CGENERAL", ts=ts, text="whole")["ok"]


def test_a_stream_in_a_channel_needs_its_recipient(client: WebClient, slack: LocalSlack) -> None:
    root = slack.say("ana", "general", "stream").ts
    assert error(lambda: client.chat_startStream(channel="CGENERAL", thread_ts=root)) == "missing_recipient_user_id"


def test_reactions_are_added_once_and_removed_once(client: WebClient, slack: LocalSlack) -> None:
    ts = slack.say("ana", "general", "nice").ts
    client.reactions_add(channel="CGENERAL", timestamp=ts, name="eyes")
    assert error(lambda: client.reactions_add(channel="CGENERAL", timestamp=ts, name="eyes")) == "already_reacted"
    reactions = client.reactions_get(channel="CGENERAL", timestamp=ts)["message"]["reactions"]
    assert reactions == [{"name": "eyes", "users": ["UFOOTNOTE"], "count": 1}]
    client.reactions_remove(channel="CGENERAL", timestamp=ts, name="eyes")
    assert error(lambda: client.reactions_remove(channel="CGENERAL", timestamp=ts, name="eyes")) == "no_reaction"


def test_a_file_travels_in_three_steps_and_back(client: WebClient, slack: LocalSlack) -> None:
    sent = client.files_upload_v2(channel="CGENERAL", filename="chart.png", content=b"\x89PNG", title="Chart")
    file = sent["file"]
    assert client.files_info(file=file["id"])["file"]["title"] == "Chart"
    assert file["id"] in [each["id"] for each in client.files_list(channel="CGENERAL")["files"]]
    request = urllib.request.Request(file["url_private"], headers={"Authorization": "Bearer xoxb-local"})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request) as response:
        assert response.read() == b"\x89PNG"
    with opener.open(file["url_private"]) as without_token:
        assert without_token.status == 200
        assert "Sign in" in without_token.read().decode()


def test_the_status_lasts_two_minutes_or_until_the_bot_replies(client: WebClient, slack: LocalSlack) -> None:
    root = slack.say("ana", "general", "think").ts
    client.assistant_threads_setStatus(channel_id="CGENERAL", thread_ts=root, status="is thinking…")
    assert slack.status("general", root) == "is thinking…"
    client.chat_postMessage(channel="CGENERAL", thread_ts=root, text="done")
    assert slack.status("general", root) == ""
    client.assistant_threads_setStatus(channel_id="CGENERAL", thread_ts=root, status="again")
    slack.advance(120)
    assert slack.status("general", root) == ""


def test_titles_and_prompts_are_kept_for_the_dm(client: WebClient, slack: LocalSlack) -> None:
    dm = client.conversations_open(users="UANA")["channel"]["id"]
    prompts: list[dict[str, str]] = [{"title": "Ask", "message": "What is new?"}]
    assert client.assistant_threads_setSuggestedPrompts(channel_id=dm, thread_ts="", prompts=prompts)["ok"]
    ts = client.chat_postMessage(channel=dm, text="hi")["ts"]
    assert client.assistant_threads_setTitle(channel_id=dm, thread_ts=ts, title="News")["ok"]
    assert slack.state.statuses.titles[dm, ts] == "News"


def test_a_message_to_a_user_goes_to_their_dm(client: WebClient, slack: LocalSlack) -> None:
    assert client.chat_postMessage(channel="UBEN", text="hi")["channel"] == slack.dm("ben").id
    assert error(lambda: client.conversations_open(users="UOLD")) == "user_disabled"


def test_team_and_bot_are_described(client: WebClient) -> None:
    assert client.team_info()["team"]["name"] == "Larkfield"
    assert client.bots_info(bot="BFOOTNOTE")["bot"]["user_id"] == "UFOOTNOTE"
    assert client.users_lookupByEmail(email="ben@larkfield.example")["user"]["id"] == "UBEN"


def test_views_need_a_trigger_and_a_valid_view(client: WebClient) -> None:
    view = {"type": "modal", "title": {"type": "plain_text", "text": "T"}, "blocks": [{"type": "divider"}]}
    assert error(lambda: client.views_open(trigger_id="1.2.3", view=view)) == "invalid_trigger_id"
    long = {**view, "title": {"type": "plain_text", "text": "x" * 25}}
    assert error(lambda: client.views_open(trigger_id="1.2.3", view=long)) == "invalid_arguments"


def test_a_home_tab_is_published_under_its_hash(client: WebClient) -> None:
    view = {"type": "home", "blocks": [{"type": "divider"}]}
    first = client.views_publish(user_id="UANA", view=view)["view"]
    client.views_publish(user_id="UANA", view=view, hash=first["hash"])
    assert error(lambda: client.views_publish(user_id="UANA", view=view, hash=first["hash"])) == "hash_conflict"


def test_faults_hit_the_method_they_name_and_then_are_over(client: WebClient, slack: LocalSlack) -> None:
    slack.fault("rate_limited", method="users.info", seconds=7)
    with pytest.raises(SlackApiError) as limited:
        client.users_info(user="UANA")
    assert limited.value.response.status_code == 429
    assert limited.value.response.headers["Retry-After"] == "7"
    slack.fault("server_error", method="users.info")
    assert client.auth_test()["ok"]
    with pytest.raises(SlackApiError):
        client.users_info(user="UANA")
    slack.fault("api_error", method="users.info", error="internal_error")
    assert error(lambda: client.users_info(user="UANA")) == "internal_error"
    assert client.users_info(user="UANA")["ok"]


def test_published_limits_are_kept_when_asked_for() -> None:
    slack = LocalSlack(load_workspace(WORKSPACE), parse_manifest(manifest_of(SCOPES)), rate_limits=True)
    server = serve(slack)
    client = WebClient("xoxb-local", base_url=server.base_url)
    try:
        for _ in range(20):
            client.users_list()
        with pytest.raises(SlackApiError) as limited:
            client.users_list()
        slack.advance(61)
        assert client.users_list()["ok"]
    finally:
        server.stop()
    assert limited.value.response.status_code == 429


def test_every_call_is_on_record(client: WebClient, slack: LocalSlack) -> None:
    client.chat_postMessage(channel="CGENERAL", text="a secret?")
    call = slack.calls[-1]
    assert (call.method, call.arguments["text"], call.ok) == ("chat.postMessage", "a secret?", True)
    assert "token" not in call.arguments


def test_other_hosts_and_origins_are_refused(running: Server) -> None:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    for headers in ({"Host": "evil.example"}, {"Origin": "https://evil.example"}):
        request = urllib.request.Request(f"{running.url}_control/say", b"{}", headers)
        with pytest.raises(urllib.error.HTTPError) as refused:
            opener.open(request)
        refused.value.close()
        assert refused.value.code == 403
