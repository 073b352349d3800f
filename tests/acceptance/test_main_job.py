"""The whole product on the sample company: questions asked in a local Slack, answered from real documents, under rights."""

import os
from pathlib import Path

import pytest

from bot.demo import Played, running_demo
from bot.script import Turn, read_script
from bot.service import Part
from knowledge import samples

SCRIPT = read_script(samples.CONVERSATION)


@pytest.fixture(scope="module")
def played(home: Path) -> dict[int, Played]:
    """The demo's conversation, played once."""
    environment = {"PATH": os.environ["PATH"]}
    with running_demo(home / "demo", environment, lambda _: None, parts=(Part.RECEIVER, Part.WORKER)) as demo:
        return {each.turn.number: each for each in demo.play(SCRIPT)}


@pytest.mark.parametrize("turn", SCRIPT, ids=lambda turn: f"{turn.number}: {turn.about}")
def test_the_demo_answers(played: dict[int, Played], turn: Turn) -> None:
    assert played[turn.number].faults == ()


def test_every_reply_is_answered_from_what_its_readers_may_open(played: dict[int, Played]) -> None:
    """No private title or figure appears anywhere outside the place it belongs to."""
    private = {"Harbour House: dispute with the landlord": {"legal", "dm"}, "86,400": {"legal", "dm"}}
    for each in played.values():
        for secret, places in private.items():
            assert secret not in each.reply.text or each.turn.place in places, each.turn.about
