"""The scripted conversation: what is offered to ask, and how replies are judged."""

from bot.script import Edit, Expectation, Reply, Turn, faults, openers, read_script
from knowledge import samples

ANSWERED = Expectation("answered", must_cite=("Leave",), must_not_contain=("secret",))
CITATION = {"title": "Leave"}


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
