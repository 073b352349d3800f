"""The permission rule, cell by cell: who asks, where, and what the reply may use."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge.permissions import (
    NOTHING,
    WORKSPACE,
    Person,
    PersonKind,
    Place,
    PlaceKind,
    channel_scope,
    decide,
    held_scopes,
    user_scope,
)

PUBLIC = frozenset({"C1", "C2"})
EVERYONE = frozenset({WORKSPACE, "channel:C1", "channel:C2"})
MEMBER = Person("U1", PersonKind.MEMBER, frozenset({"C1", "P1", "P2"}))
GUEST = Person("U2", PersonKind.GUEST, frozenset({"C2"}))
EXTERNAL = Person("U3", PersonKind.EXTERNAL, frozenset({"C9"}))


def test_a_member_holds_the_workspace_every_public_channel_and_their_own_private_ones() -> None:
    assert held_scopes(MEMBER, PUBLIC) == EVERYONE | {"channel:P1", "channel:P2", "user:U1"}


def test_a_guest_holds_only_the_channels_they_are_in() -> None:
    assert held_scopes(GUEST, PUBLIC) == {"channel:C2", "user:U2"}
    assert held_scopes(Person("U5", PersonKind.GUEST), PUBLIC) == {"user:U5"}


def test_an_external_person_holds_only_the_channels_they_are_in_and_no_personal_scope() -> None:
    assert held_scopes(EXTERNAL, PUBLIC) == {"channel:C9"}


@pytest.mark.parametrize("kind", [PersonKind.DEACTIVATED, PersonKind.BOT, PersonKind.UNKNOWN])
def test_nobody_else_holds_anything(kind: PersonKind) -> None:
    decision = decide(Person("U4", kind, frozenset({"C1", "P1"})), Place("C1", PlaceKind.PUBLIC), PUBLIC)
    assert (decision.held, decision.allowed, decision.withheld) == (NOTHING, NOTHING, NOTHING)
    assert [(d.scope, kind.value in d.reason) for d in decision.denials] == [("*", True)]


@pytest.mark.parametrize(
    ("place", "allowed"),
    [
        (Place("D1", PlaceKind.DIRECT), EVERYONE | {"channel:P1", "channel:P2", "user:U1"}),
        (Place("C1", PlaceKind.PUBLIC), EVERYONE),
        (Place("P1", PlaceKind.PRIVATE), EVERYONE | {"channel:P1"}),
        (Place("P1", PlaceKind.GROUP_DM), EVERYONE | {"channel:P1"}),
        (Place("C1", PlaceKind.PUBLIC, has_guests=True), {"channel:C1"}),
        (Place("P1", PlaceKind.PRIVATE, has_guests=True), {"channel:P1"}),
        (Place("P1", PlaceKind.PRIVATE, shared=True), {"channel:P1"}),
        (Place("C1", PlaceKind.PUBLIC, members_known=False), NOTHING),
        (Place("P1", PlaceKind.PRIVATE, members_known=False), NOTHING),
        (Place("X1", PlaceKind.UNKNOWN), NOTHING),
    ],
    ids=lambda value: str(value) if isinstance(value, Place) else ",".join(sorted(value)),
)
def test_a_reply_to_a_member_uses_what_its_audience_may_read(place: Place, allowed: frozenset[str]) -> None:
    assert decide(MEMBER, place, PUBLIC).allowed == allowed


@pytest.mark.parametrize("kind", [PlaceKind.PUBLIC, PlaceKind.PRIVATE, PlaceKind.GROUP_DM])
@pytest.mark.parametrize(("has_guests", "shared"), [(True, False), (False, True), (True, True)])
def test_beside_guests_or_another_workspace_a_reply_uses_the_places_own_documents_only(
    kind: PlaceKind, has_guests: bool, shared: bool
) -> None:
    place = Place("P1", kind, has_guests=has_guests, shared=shared)
    assert decide(MEMBER, place, PUBLIC).allowed == {"channel:P1"}
    assert decide(MEMBER, replace(place, members_known=False), PUBLIC).allowed == NOTHING


def test_another_private_channel_is_never_allowed_even_when_the_asker_is_in_both() -> None:
    decision = decide(MEMBER, Place("P1", PlaceKind.PRIVATE), PUBLIC)
    assert "channel:P2" not in decision.allowed
    assert "channel:P2" in decision.withheld
    assert any(d.scope == "channel:P2" and "join this channel later" in d.reason for d in decision.denials)


def test_a_guest_asking_in_a_public_channel_gets_that_channel_only() -> None:
    assert decide(GUEST, Place("C2", PlaceKind.PUBLIC, has_guests=True), PUBLIC).allowed == {"channel:C2"}


def test_an_external_person_gets_the_shared_channel_only() -> None:
    assert decide(EXTERNAL, Place("C9", PlaceKind.PRIVATE, shared=True), PUBLIC).allowed == {"channel:C9"}


def test_someone_outside_the_channel_does_not_get_its_documents() -> None:
    assert decide(GUEST, Place("P1", PlaceKind.PRIVATE, has_guests=True), PUBLIC).allowed == NOTHING


def test_a_trusted_bot_reads_the_channels_own_documents_and_nothing_in_a_direct_message() -> None:
    bot = Person("B1", PersonKind.BOT)
    assert decide(bot, Place("C1", PlaceKind.PUBLIC), PUBLIC, frozenset({"B1"})).allowed == {"channel:C1"}
    assert decide(bot, Place("D1", PlaceKind.DIRECT), PUBLIC, frozenset({"B1"})).allowed == NOTHING
    assert decide(bot, Place("C1", PlaceKind.PUBLIC), PUBLIC).allowed == NOTHING


@pytest.mark.parametrize(
    ("place", "rule"),
    [
        (Place("P1", PlaceKind.PRIVATE, members_known=False), "member list"),
        (Place("P1", PlaceKind.PRIVATE, shared=True), "another workspace"),
        (Place("P1", PlaceKind.PRIVATE, has_guests=True), "guest"),
        (Place("C1", PlaceKind.PUBLIC), "everyone"),
        (Place("P1", PlaceKind.PRIVATE), "later"),
        (Place("X1", PlaceKind.UNKNOWN), "not known"),
    ],
    ids=str,
)
def test_every_denied_scope_carries_the_rule_behind_it(place: Place, rule: str) -> None:
    decision = decide(MEMBER, place, PUBLIC)
    assert {d.scope for d in decision.denials} == decision.withheld
    assert all(rule in d.reason for d in decision.denials)


ids = st.sampled_from(["C1", "C2", "C3", "P1", "P2", "P3"])
people = st.builds(
    Person, id=st.sampled_from(["U1", "U2"]), kind=st.sampled_from(PersonKind), channels=st.frozensets(ids)
)
places = st.builds(
    Place,
    id=ids,
    kind=st.sampled_from(PlaceKind),
    has_guests=st.booleans(),
    shared=st.booleans(),
    members_known=st.booleans(),
)


@settings(max_examples=500)
@given(asker=people, place=places, public=st.frozensets(st.sampled_from(["C1", "C2", "C3"])))
def test_a_reply_never_uses_what_the_asker_or_a_reader_of_the_place_may_not_read(
    asker: Person, place: Place, public: frozenset[str]
) -> None:
    allowed = decide(asker, place, public).allowed
    assert allowed <= held_scopes(asker, public)
    if place.kind is PlaceKind.DIRECT:
        return
    newcomer = Person("U9", PersonKind.MEMBER, frozenset({place.id}))
    assert allowed <= held_scopes(newcomer, public)
    assert user_scope(asker.id) not in allowed
    if place.has_guests or place.shared:
        assert allowed <= {channel_scope(place.id)}
    if not place.members_known:
        assert not allowed
