"""The workspace file is strict, and what changes in the workspace reaches the app as Slack's own events."""

import json
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.local_slack import (
    ActionRefused,
    LocalSlack,
    UnknownName,
    WorkspaceError,
    load_workspace,
    parse_workspace,
    serve,
)
from bot.local_slack.manifest import Manifest

WORKSPACE = Path(__file__).parents[1] / "data" / "workspace.yaml"
EVENTS = frozenset(
    {
        *("app_mention", "message.channels", "message.groups", "message.im", "message.mpim", "reaction_added"),
        *("reaction_removed", "member_joined_channel", "member_left_channel", "channel_left", "group_left"),
        *("channel_archive", "channel_unarchive", "group_archive", "channel_rename", "channel_shared"),
        *("channel_unshared", "channel_deleted", "group_deleted", "user_change", "team_join", "file_shared"),
    }
)

Json = dict[str, Any]


@pytest.fixture
def slack() -> LocalSlack:
    """Not served: its events stay in the queue, where the tests read them."""
    return LocalSlack(load_workspace(WORKSPACE), Manifest(frozenset(), EVENTS))


def events(slack: LocalSlack) -> list[Json]:
    return [envelope.payload["event"] for envelope in slack.delivery.queued]


def kinds(slack: LocalSlack) -> list[str]:
    return [f"{event['type']}.{event['subtype']}" if event.get("subtype") else event["type"] for event in events(slack)]


def changed(**parts: Any) -> Json:
    document: Json = yaml.safe_load(WORKSPACE.read_text())
    return document | parts


@pytest.mark.parametrize(
    ("document", "complaint"),
    [
        ([], "must be a mapping"),
        ({"team": {"id": "T1", "name": "x"}}, "both required"),
        (changed(peeple=[]), "found"),
        (changed(people=[{"id": "UANA", "name": "ana", "gest": True}]), "unknown keys"),
        (changed(people=[{"id": "UANA", "name": "ana", "admin": "yes"}]), "true or false"),
        (changed(people=[{"id": "UANA", "name": "ana", "kind": "vip"}]), "not one of"),
        (changed(people=[{"id": "UANA", "name": "ana", "kind": "guest", "admin": True}]), "only a member"),
        (changed(people=[{"id": "UANA", "name": "ana", "kind": "external"}]), "go together"),
        (changed(people=[{"id": "U1", "name": "x"}, {"id": "U1", "name": "y"}]), "more than once"),
        (changed(channels=[{"id": "C1", "name": "c", "members": ["UNOBODY"]}]), "no such people"),
        (changed(channels=[{"id": "C1", "name": "c", "members": ["UEVE"]}]), "shared: true"),
        (changed(channels=[{"id": "C1", "name": "c", "kind": "secret"}]), "not one of"),
        (changed(channels=[{"id": f"C{n}", "name": f"c{n}", "members": ["USOL"]} for n in (1, 2)]), "single-channel"),
        (changed(messages=[{"channel": "CNONE", "user": "UANA", "text": "x"}]), "no channel"),
        (changed(channels=[{"id": "C1", "name": "c", "members": [False]}]), "members of c are ids"),
    ],
)
def test_a_wrong_workspace_is_refused_with_its_reason(document: object, complaint: str) -> None:
    with pytest.raises(WorkspaceError, match=complaint):
        parse_workspace(document)


@pytest.mark.parametrize(
    ("document", "meant"),
    [
        (changed(people=[{"id": "UGUS", "name": "gus", "kind": "gest"}]), "deactivated; did you mean guest?"),
        (changed(people=[{"id": "UGUS", "name": "gus", "knd": "guest"}]), "did you mean kind?"),
        (changed(peeple=[]), "did you mean people?"),
        (changed(channels=[{"id": "C1", "name": "c", "kind": "privat"}]), "group_dm; did you mean private?"),
        (
            changed(channels=[{"id": "C1", "name": "c", "members": ["UGUSS", "UANNA"]}]),
            "channel C1: no such people as UANNA, UGUSS; did you mean UANA, UGUS?",
        ),
        (changed(channels=[{"id": "C1", "name": "c", "members": ["X9"]}]), "no such people as X9; the file has UANA, "),
        (changed(messages=[{"channel": "CGENERL", "user": "UANA", "text": "x"}]), "did you mean CGENERAL?"),
        (changed(messages=[{"channel": "CGENERAL", "user": "UANNA", "text": "x"}]), "did you mean UANA?"),
    ],
)
def test_a_name_that_is_nearly_right_is_told_with_the_one_that_is(document: object, meant: str) -> None:
    with pytest.raises(WorkspaceError) as refused:
        parse_workspace(document)
    assert meant in str(refused.value)


def test_the_past_is_there_from_the_start(slack: LocalSlack) -> None:
    root = slack.state.history("CGENERAL")[0]
    assert [message.text for message in slack.state.thread("CGENERAL", root.ts)] == ["Welcome <@UBEN>!", "Thanks!"]
    assert root.reactions == {"wave": ["UBEN"]}
    assert events(slack) == []


def test_joining_and_leaving_are_told_where_the_bot_is_only(slack: LocalSlack) -> None:
    slack.join("gus", "general", inviter="ana")
    slack.leave("ben", "general")
    slack.join("gus", "random")
    assert kinds(slack) == [
        *("member_joined_channel", "message.channel_join"),
        *("member_left_channel", "message.channel_leave"),
    ]
    assert events(slack)[0]["inviter"] == "UANA"


def test_the_bot_hears_that_it_was_removed_and_then_nothing(slack: LocalSlack) -> None:
    slack.leave("footnote", "legal")
    slack.say("ana", "legal", "it is gone")
    assert kinds(slack) == ["group_left"]


def test_a_channel_made_private_is_a_message_subtype(slack: LocalSlack) -> None:
    slack.convert("general", "private", by="ana")
    assert kinds(slack) == ["message.channel_convert_to_private"]
    assert events(slack)[0]["channel_type"] == "group"
    slack.convert("random", "private")
    assert len(events(slack)) == 1


def test_archiving_sharing_renaming_and_deleting_are_told(slack: LocalSlack) -> None:
    slack.archive("general")
    slack.archive("general", archived=False)
    slack.share_channel("general")
    slack.rename("general", "town")
    slack.delete_channel("legal")
    slack.archive("board")
    expected = ["channel_archive", "channel_unarchive", "channel_shared", "channel_rename", "group_deleted"]
    assert kinds(slack) == expected


def test_ending_a_shared_channel_takes_the_outsiders_out(slack: LocalSlack) -> None:
    slack.share_channel("partner", shared=False)
    assert "UEVE" not in slack.state.channel("partner").members
    with pytest.raises(ActionRefused, match="not shared"):
        slack.join("eve", "partner")


def test_a_changed_account_is_told_with_its_new_flags(slack: LocalSlack) -> None:
    slack.make_guest("ben")
    slack.deactivate("ana")
    guest, gone = [event["user"] for event in events(slack)]
    assert (guest["is_restricted"], gone["deleted"]) == (True, True)
    assert all("UANA" not in channel.members for channel in slack.state.channels.values())


def test_edits_and_deletions_name_the_message_as_it_was(slack: LocalSlack) -> None:
    message = slack.say("ana", "general", "first")
    slack.edit("ana", "general", message.ts, "<@UFOOTNOTE> second")
    slack.delete("ana", "general", message.ts)
    assert kinds(slack) == ["message", "app_mention", "message.message_changed", "message.message_deleted"]
    edited, deleted = events(slack)[2:]
    assert (edited["previous_message"]["text"], edited["message"]["text"]) == ("first", "<@UFOOTNOTE> second")
    assert deleted["deleted_ts"] == message.ts


def test_a_shared_file_is_told_as_message_and_as_file(slack: LocalSlack) -> None:
    slack.upload("ana", "general", "plan.txt", b"hello", text="the plan")
    assert kinds(slack) == ["message.file_share", "file_shared"]


@pytest.mark.parametrize(
    ("user", "channel", "complaint"),
    [
        ("ben", "legal", "cannot open"),
        ("gus", "general", "cannot open"),
        ("eve", "general", "cannot open"),
        ("old", "general", "cannot open"),
        ("ana", "old-project", "archived"),
    ],
)
def test_people_cannot_do_what_slack_would_not_let_them(
    slack: LocalSlack, user: str, channel: str, complaint: str
) -> None:
    with pytest.raises(ActionRefused, match=complaint):
        slack.say(user, channel, "hello")


def test_what_is_typed_becomes_references_and_is_escaped(slack: LocalSlack) -> None:
    typed = slack.type("ana", "general", "@footnote is #random <b>open</b>? mail a@footnote & @nobody")
    assert typed.text == ("<@UFOOTNOTE> is <#CRANDOM|random> &lt;b&gt;open&lt;/b&gt;? mail a@footnote &amp; @nobody")


def test_a_mention_where_the_bot_is_not_gets_a_private_notice(slack: LocalSlack) -> None:
    slack.say("ana", "random", "<@UFOOTNOTE> hello")
    assert "not in this channel" in slack.ephemerals("ana")[0].text
    assert events(slack) == []


def test_names_that_do_not_exist_are_answered_with_those_that_do(slack: LocalSlack) -> None:
    with pytest.raises(UnknownName, match="'general'"):
        slack.say("ana", "genral", "hello")


def test_the_control_api_is_the_same_over_http() -> None:
    server = serve(WORKSPACE)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def act(action: str, /, **arguments: object) -> Json:
        request = urllib.request.Request(f"{server.url}_control/{action}", json.dumps(arguments).encode())
        with opener.open(request) as response:
            answer: Json = json.load(response)
        return answer

    try:
        said = act("say", user="ana", channel="general", text="hello")
        act("react", user="ben", channel="general", ts=said["ts"], name="eyes")
        message = server.slack.state.find("CGENERAL", said["ts"])
        with pytest.raises(urllib.error.HTTPError) as refused:
            act("say", user="ben", channel="legal", text="hello")
        reason = json.load(refused.value)["error"]
        refused.value.close()
    finally:
        server.stop()
    assert message is not None
    assert message.reactions == {"eyes": ["UBEN"]}
    assert reason == "ben cannot open legal"
