"""Which facts of a claim its evidence supports."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.figures import readings, unsupported


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("It costs EUR 1,200.", "above EUR 1200 wait"),
        ("It costs 1.200 Euro.", "above EUR 1,200 wait"),
        ("It costs 1 200 euros.", "above EUR 1,200 wait"),
        ("You get 135.00 a night.", "up to EUR 135, breakfast included"),
        ("The file may have 10GB.", "up to 10 GB"),
        ("Wait 90s.", "expires after 90 seconds"),
        ("It takes 3-5 days.", "between 3 and 5 days"),
        ("It takes 3–5 days.", "takes 3-5 days"),
        ("A 5-day week.", "five days"),
        ("Book 2 weeks ahead.", "Book two weeks ahead."),
        ("Since 8 January 2026.", "updated 2026-01-08"),
        ("Since January 8, 2026.", "from 8 January 2026"),
        ("Am 8. Januar 2026.", "from 8 January 2026"),
        ("Since 2026-01-08.", "in force from 8 January 2026"),
        ("In January 2026.", "from 8 January 2026"),
        ("Open from 9:30.", "09:30-17:00"),
        ("Version v4.7 has it.", "since 4.7"),
        ("E4012 means locked.", "| E4012 | the tour is locked |"),
        ("Call `releaseTourLock`.", "or call `releaseTourLock(id)`"),
        ("Use `--effort`.", "Send it again with `--effort=low`."),
        ("Needs `tours:write`.", "lacks the scope `tours:write`"),
        ("Write to it@acme.example.", "mail it@acme.example today"),
        ("1. Open the door\n2. Close it", "open the door, close it"),
        ("Each of us, e.g. a guest, and/or his host.", ""),
        ("每月52元。", "the allowance is 52 per month"),
        ("It is 20 %.", "20%"),
        ("Das kostet ٥٢.", "costs 52"),
    ],
)
def test_a_fact_may_be_written_differently(claim: str, evidence: str) -> None:
    assert unsupported(claim, readings(evidence)) == ()


@pytest.mark.parametrize(
    ("claim", "evidence", "loose"),
    [
        ("You get 185.", "up to EUR 135 and 190", ("185",)),
        ("E4013 means locked.", "| E4012 | locked | 4013", ("E4013",)),
        ("See ABC-4012.", "See INC-4012.", ("ABC-4012",)),
        ("Since 8 March 2026.", "from 8 January 2026", ("2026-03-08",)),
        ("Since 2026-01-09.", "2026-01-08, page 9", ("2026-01-09",)),
        ("Version 4.7.2 has it.", "since 4.7.1", ("4.7.2",)),
        ("Set `max_retries`.", "set max_attempts", ("max_retries",)),
        ("Call `releaseLock`.", "call releaseTourLock", ("releaseLock",)),
        ("Edit config.yaml.", "edit config.toml", ("config.yaml",)),
        ("Use --force.", "use --effort", ("--force",)),
        ("Write to ceo@acme.example.", "mail it@acme.example", ("ceo@acme.example",)),
        ("It is -5 degrees.", "5 degrees", ("-5",)),
        ("Doors close at 9:30.", "doors close at 9:45", ("9:30",)),
        ("Es kostet 1.250 Euro.", "EUR 1,200", ("1.250",)),
        ("Look in /etc/passwd.", "look in /etc/footnote", ("/etc/passwd",)),
    ],
)
def test_a_fact_that_is_not_in_the_evidence_is_named(claim: str, evidence: str, loose: tuple[str, ...]) -> None:
    assert unsupported(claim, readings(evidence)) == loose


@given(st.text(max_size=60))
def test_every_text_supports_itself(text: str) -> None:
    assert unsupported(text, readings(text)) == ()


@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_two_different_numbers_never_support_each_other(one: int, other: int) -> None:
    assert (unsupported(f"It is {one}.", readings(f"It is {other}.")) == ()) == (one == other)
