"""Payloads of Slack as work to be done."""

import pytest

from bot.inbox import clicked


@pytest.mark.parametrize("name", ["/reindex", "/footnote-reindex"])
def test_the_command_is_known_by_whatever_name_it_was_installed(name: str) -> None:
    work = clicked({"command": name, "text": "all", "user_id": "UANA", "channel_id": "C1", "trigger_id": "1.2"})
    assert work is not None
    assert (work.kind, work.person, work.payload["text"]) == ("reindex", "UANA", "all")


@pytest.mark.parametrize(
    ("action", "value", "key"),
    [
        ("feedback", "+1:abc", "votes:abc"),
        ("show_privately", "abc", "private:abc"),
        ("share", "abc", "private:abc"),
        ("gold_accept:g1", "g1", None),
    ],
)
def test_clicks_on_one_answer_are_worked_off_in_order(action: str, value: str, key: str | None) -> None:
    work = clicked(
        {"type": "block_actions", "user": {"id": "UANA"}, "actions": [{"action_id": action, "value": value}]}
    )
    assert work is not None
    assert work.thread_key == key


def test_a_button_that_is_a_link_is_no_work() -> None:
    assert clicked({"type": "block_actions", "user": {"id": "UANA"}, "actions": [{"action_id": "open"}]}) is None
