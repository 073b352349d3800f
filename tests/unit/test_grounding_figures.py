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
        ("It takes 2 weeks.", "It takes two-week sprints."),
        ("You get 25 days.", "You get twenty-five working days."),
        ("Keep it for 180 days.", "kept for one hundred and eighty days"),
        ("Es dauert 2 Wochen.", "Es dauert zwei Wochen."),
        ("Book two weeks ahead.", "Book 2 weeks ahead."),
        ("It costs 1.5 million.", "above EUR 1,500,000"),
        ("It costs $1.5M.", "about $1.5 million"),
        ("Up to 5k requests.", "up to 5,000 requests"),
        ("It costs EUR 5 million.", "| Costs in EUR million | 5 |"),
        ("Open until 5 pm.", "open until 17:00"),
        ("Open until 17:00.", "open until 5 p.m."),
        ("Open from 9 am.", "open from 9 to 5 pm"),
        ("64 GB and EUR 2,460.", "| Memory (GB) | Price (EUR) |\n| 64 | 2460 |"),
        ("A 30-day notice.", "a notice of 30 days"),
        ("It is 20 percent.", "20 %"),
        ("190 euros.", "€190"),
        ("Since 08.01.2026.", "from 8 January 2026"),
        ("Since 01/08/2026.", "from 8 January 2026"),
        ("Since 2026/01/08.", "from 8 January 2026"),
        ("Closed May 1-5.", "closed from 1 to 5 May"),
        ("Closed from 1 May 2026 to 5 May 2026.", "closed 1–5 May 2026"),
        ("Closed on 8 January 2026.", "In 2026: closed on 8 January."),
        ("Zu vom 24.12. bis 1.1.", "closed from 24 December to 1 January"),
        ("Jusqu'à 17h30.", "until 17:30"),
        ("Up to 12 may come.", "up to 12 people"),
        ("On the 1st floor.", "on the first floor"),
        ("It is -5 °C.", "minus 5 °C"),
        ("It takes 1.5 hours.", "1½ hours"),
        ("A room of 30m².", "30 m²"),
        ("It costs 1 234,50.", "EUR 1,234.50"),
        ("**1.** Open the door\n(2) Close it\nStep 3: Go", "open the door, close it, go"),
        ("The two of them, one day.", ""),
        ("It costs EUR 1\u200b90.", "EUR 190"),
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
        ("Book two months ahead.", "book two weeks ahead", ("2 months",)),
        ("Book three weeks ahead.", "book two weeks ahead", ("3",)),
        ("It costs CHF 190.", "we pay EUR 190", ("190",)),
        ("It is 5 %.", "it is EUR 5", ("5 %",)),
        ("It costs 5 million.", "costs 5 thousand", ("5 million",)),
        ("It has 10GB.", "has 10 MB", ("10GB",)),
        ("Open until 9 pm.", "open until 9 am", ("9 pm",)),
        ("It costs EUR 20.", "updated 2026-01-20", ("20",)),
        ("It costs EUR 30.", "opens at 10:30", ("30",)),
        ("It takes 3 months.", "since 8 March 2026", ("3 months",)),
        ("You get 1.2 days.", "you get 1,200 points", ("1.2",)),
        ("Since 8 March 2026.", "from 8 March 2025, planned in 2026", ("2026-03-08",)),
        ("Version 4.7 has it.", "since 4 June, version 4.8", ("4.7",)),
        ("It costs 4.7.", "from 8 July", ("4.7",)),
        ("Since 03/05/2026.", "from 3 June 2026", ("03/05/2026",)),
    ],
)
def test_a_fact_that_is_not_in_the_evidence_is_named(claim: str, evidence: str, loose: tuple[str, ...]) -> None:
    assert unsupported(claim, readings(evidence)) == loose


VOCABULARY = (
    "two twenty hundred and thousand 5 1,200 0,500 9:30 -5 ½ – - EUR $ % days week pm am may May 2026 first "
    "1-5 08.01.2026 GB m million to . fünf working"
)
WORDS = st.sampled_from(VOCABULARY.split())


@given(st.text(max_size=60) | st.lists(WORDS, max_size=9).map(" ".join) | st.lists(WORDS, max_size=5).map("".join))
def test_every_text_supports_itself(text: str) -> None:
    assert unsupported(text, readings(text)) == ()


@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_two_different_numbers_never_support_each_other(one: int, other: int) -> None:
    assert (unsupported(f"It is {one}.", readings(f"It is {other}.")) == ()) == (one == other)
