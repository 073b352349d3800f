"""The scripted conversation: what is offered to ask, and how replies are judged."""

from datetime import UTC, datetime

from bot import terminal
from bot.script import Edit, Expectation, Reply, Turn, faults, openers, read_script
from knowledge import samples
from knowledge.answers import Citation

ANSWERED = Expectation("answered", must_cite=("Leave",), must_not_contain=("secret",))
CITATION = Citation(1, 1, 1, "Leave", "", ("Leave", "Carrying over"), "", datetime(2026, 3, 4, tzinfo=UTC), frozenset())


def turn(number: int, asked: str, place: str = "general", **more: object) -> Turn:
    return Turn(number, "", "ana", place, asked, ANSWERED, **more)  # type: ignore[arg-type]  # the test's own names


def test_questions_that_begin_a_thread_are_offered_where_they_are_asked() -> None:
    script = (
        turn(1, "One?"),
        turn(2, "And two?", thread=1),
        turn(3, "Three?", place="legal"),
        turn(4, "Four?", before=(Edit("leave.md"),)),
        turn(5, "One?"),
        turn(6, "Six?"),
        turn(7, "Seven?"),
    )
    assert openers(script, each=2) == {"general": ("One?", "Six?"), "legal": ("Three?",)}


def test_every_channel_of_the_sample_conversation_has_something_to_ask() -> None:
    script = read_script(samples.CONVERSATION)
    assert openers(script).keys() == {turn.place for turn in script}


def test_a_reply_as_expected_has_no_faults() -> None:
    assert faults(ANSWERED, Reply("27 days [1]", "answered", (CITATION,))) == ()
    assert faults(Expectation("abstained"), Reply("I found no answer", "abstained", ())) == ()


def test_each_fault_of_a_reply_is_named() -> None:
    found = faults(ANSWERED, Reply("A SECRET", "abstained", ()))
    assert found == ("abstained, expected answered", "does not cite 'Leave'", "says 'secret'")
    assert faults(ANSWERED, Reply("27 days", "answered", ())) == (
        "does not cite 'Leave'",
        "answered with 0 citations",
    )


def test_a_turn_is_printed_as_it_is_read_in_slack_with_its_sources_and_what_was_checked() -> None:
    reply = Reply("```\n27 &amp;  more days [1]\n```", "answered", (CITATION,))
    assert terminal.played(turn(3, "How many?", place="dm"), reply, ()).splitlines() == [
        "── 3. ",
        "ana in a direct message: How many?",
        "27 &  more days [1]",
        "[1] Leave › Carrying over · 4 Mar 2026",
        "✓ answered with sources; cites Leave; does not say “secret”",
    ]


def test_a_turn_that_went_wrong_says_so_and_shows_no_markup() -> None:
    reply = Reply("Nothing.\n• <http://127.0.0.1:1/leave.md|Leave › Carrying over> · 4 Mar 2026", "abstained", ())
    assert terminal.played(turn(1, "How many?"), reply, ("abstained, expected answered",)).splitlines()[1:] == [
        "ana in #general: How many?",
        "Nothing.",
        "• Leave › Carrying over · 4 Mar 2026",
        "✗ abstained, expected answered",
    ]
