"""Slack's objects and events as facts: what is kept of them, and what they make doubtful."""

from typing import Any

import pytest

from bot.slack_objects import channel_facts, doubtful, person_facts
from knowledge.permissions import PersonKind, PlaceKind

TEAM = "T1"
MEMBER = {"id": "U1", "team_id": TEAM, "deleted": False, "is_bot": False, "is_restricted": False, "name": "ana"}
CHANNEL = {"id": "C1", "is_channel": True, "is_private": False, "name": "general"}


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({}, PersonKind.MEMBER),
        ({"is_restricted": True}, PersonKind.GUEST),
        ({"is_ultra_restricted": True}, PersonKind.GUEST),
        ({"is_stranger": True}, PersonKind.EXTERNAL),
        ({"team_id": "T2"}, PersonKind.EXTERNAL),
        ({"team_id": "T2", "is_restricted": True}, PersonKind.EXTERNAL),
        ({"team_id": "T2", "enterprise_user": {"teams": [TEAM]}}, PersonKind.MEMBER),
        ({"deleted": True}, PersonKind.DEACTIVATED),
        ({"deleted": True, "team_id": "T2"}, PersonKind.DEACTIVATED),
        ({"is_bot": True}, PersonKind.BOT),
        ({"id": "USLACKBOT"}, PersonKind.BOT),
        ({"id": None}, PersonKind.UNKNOWN),
        ({"team_id": None}, PersonKind.UNKNOWN),
    ],
)
def test_a_person_is_of_the_kind_that_slack_says(fields: dict[str, Any], kind: PersonKind) -> None:
    assert person_facts(MEMBER | fields, TEAM)["kind"] == kind


@pytest.mark.parametrize("missing", ["id", "team_id", "deleted", "is_restricted"])
def test_a_person_of_whom_slack_does_not_say_enough_is_unknown(missing: str) -> None:
    told = {key: value for key, value in MEMBER.items() if key != missing}
    assert person_facts(told, TEAM)["kind"] is PersonKind.UNKNOWN


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({}, PlaceKind.PUBLIC),
        ({"is_private": True}, PlaceKind.PRIVATE),
        ({"is_channel": False, "is_group": True, "is_private": None}, PlaceKind.PRIVATE),
        ({"is_mpim": True, "is_private": True}, PlaceKind.GROUP_DM),
        ({"is_im": True}, PlaceKind.DIRECT),
        ({"is_private": None}, PlaceKind.UNKNOWN),
        ({"is_channel": False}, PlaceKind.UNKNOWN),
    ],
)
def test_a_place_is_of_the_kind_that_slack_says_and_public_only_in_so_many_words(
    fields: dict[str, Any], kind: PlaceKind
) -> None:
    assert channel_facts(CHANNEL | fields)["kind"] is kind
    assert channel_facts({key: value for key, value in CHANNEL.items() if key != "is_private"})["kind"] == "unknown"


@pytest.mark.parametrize(
    "share",
    [
        {"is_shared": True},
        {"is_ext_shared": True},
        {"is_org_shared": True},
        {"is_pending_ext_shared": True},
        {"pending_shared": ["T2"]},
        {"pending_connected_team_ids": ["T2"]},
    ],
    ids=str,
)
def test_a_channel_is_shared_from_the_moment_it_is_offered(share: dict[str, Any]) -> None:
    assert channel_facts(CHANNEL | share)["shared"] is True
    assert channel_facts(CHANNEL)["shared"] is False


@pytest.mark.parametrize(
    ("event", "keys"),
    [
        ({"type": "member_joined_channel", "channel": "C1", "user": "U1"}, {"members:C1", "channels_of:U1"}),
        ({"type": "member_left_channel", "channel": "C1", "user": "U1"}, {"members:C1", "channels_of:U1"}),
        ({"type": "user_change", "user": {"id": "U1"}}, {"person:U1", "channels_of:U1"}),
        ({"type": "team_join", "user": {"id": "U1"}}, {"person:U1", "channels_of:U1"}),
        ({"type": "channel_left", "channel": "C1"}, {"channel:C1", "members:C1", "public_channels:", "channels_of:*"}),
        ({"type": "group_deleted", "channel": "C1"}, {"members:C1", "channels_of:*"}),
        ({"type": "channel_created", "channel": {"id": "C1"}}, {"public_channels:"}),
        ({"type": "channel_shared", "channel": "C1"}, {"channel:C1", "members:C1"}),
        ({"type": "channel_unshared", "channel": "C1"}, {"channel:C1"}),
        ({"type": "channel_archive", "channel": "C1"}, {"channel:C1"}),
        ({"type": "message", "subtype": "channel_convert_to_private", "channel": "C1"}, {"channel:C1", "public_channels:"}),
        ({"type": "message", "subtype": "channel_convert_to_public", "channel": "C1"}, {"channel:C1", "public_channels:"}),
        (
            {"type": "channel_id_changed", "old_channel_id": "C1", "new_channel_id": "G1"},
            {"channel:C1", "members:C1", "channel:G1", "members:G1", "channels_of:*", "public_channels:"},
        ),
    ],
)  # fmt: skip
def test_an_event_makes_doubtful_what_it_is_about(event: dict[str, Any], keys: set[str]) -> None:
    assert keys <= set(doubtful(event))


def test_an_ordinary_message_makes_nothing_doubtful() -> None:
    assert doubtful({"type": "message", "channel": "C1", "user": "U1"}) == ()
