"""Cron with Unix meaning, through both daylight-saving changes."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.crontab import Crontab
from jobs.settings import cron


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def slots(expression: str, zone: str, start: str, end: str) -> list[str]:
    """Wall-clock times of every slot after `start` until `end`, both in UTC."""
    crontab, found = Crontab(expression, zone), []
    slot = crontab.after(utc(start))
    while slot is not None and slot <= utc(end):
        found.append(slot.astimezone(crontab.zone).isoformat(timespec="minutes"))
        slot = crontab.after(slot)
    return found


def test_half_past_two_runs_once_a_night_around_the_missing_hour_of_berlin() -> None:
    assert slots("30 2 * * *", "Europe/Berlin", "2031-03-29T00:00Z", "2031-04-01T00:00Z") == [
        "2031-03-29T02:30+01:00",
        "2031-03-30T03:00+02:00",
        "2031-03-31T02:30+02:00",
    ]


def test_half_past_two_runs_once_in_the_night_that_has_it_twice() -> None:
    assert slots("30 2 * * *", "Europe/Berlin", "2031-10-25T00:00Z", "2031-10-28T00:00Z") == [
        "2031-10-25T02:30+02:00",
        "2031-10-26T02:30+02:00",
        "2031-10-27T02:30+01:00",
    ]


def test_midnight_in_los_angeles_skips_no_day_after_the_change() -> None:
    assert slots("0 0 * * *", "America/Los_Angeles", "2031-03-08T00:00Z", "2031-03-12T00:00Z") == [
        "2031-03-08T00:00-08:00",
        "2031-03-09T00:00-08:00",
        "2031-03-10T00:00-07:00",
        "2031-03-11T00:00-07:00",
    ]


def test_half_past_two_in_new_york_around_both_changes() -> None:
    assert slots("30 2 * * *", "America/New_York", "2026-03-07T12:00Z", "2026-03-09T12:00Z") == [
        "2026-03-08T03:00-04:00",
        "2026-03-09T02:30-04:00",
    ]
    assert slots("30 1 * * *", "America/New_York", "2026-10-31T12:00Z", "2026-11-02T12:00Z") == [
        "2026-11-01T01:30-04:00",
        "2026-11-02T01:30-05:00",
    ]


def test_every_half_hour_runs_in_both_repeated_hours() -> None:
    found = slots("*/30 * * * *", "Europe/Berlin", "2026-10-24T23:59Z", "2026-10-25T02:00Z")
    assert found == [
        "2026-10-25T02:00+02:00",
        "2026-10-25T02:30+02:00",
        "2026-10-25T02:00+01:00",
        "2026-10-25T02:30+01:00",
        "2026-10-25T03:00+01:00",
    ]


@pytest.mark.parametrize("weekdays", ["1-5", "MON-FRI"])
def test_one_to_five_means_monday_to_friday(weekdays: str) -> None:
    found = slots(f"0 9 * * {weekdays}", "UTC", "2026-11-27T12:00Z", "2026-12-05T12:00Z")
    assert [datetime.fromisoformat(s).strftime("%a") for s in found] == ["Mon", "Tue", "Wed", "Thu", "Fri"]


@pytest.mark.parametrize("sunday", ["0", "7"])
def test_sunday_is_zero_and_seven(sunday: str) -> None:
    assert slots(f"0 9 * * {sunday}", "UTC", "2026-11-27T12:00Z", "2026-12-05T12:00Z") == ["2026-11-29T09:00+00:00"]


def test_day_of_month_or_day_of_week() -> None:
    found = slots("0 0 13 * 5", "UTC", "2026-03-01T00:00Z", "2026-03-31T00:00Z")
    assert [s[8:10] for s in found] == ["06", "13", "20", "27"]
    found = slots("0 0 15 * 5", "UTC", "2026-03-01T00:00Z", "2026-03-31T00:00Z")
    assert [s[8:10] for s in found] == ["06", "13", "15", "20", "27"]


def test_a_date_that_never_comes_has_no_slot() -> None:
    crontab = Crontab("0 0 29 2 *", "UTC")
    assert crontab.after(utc("2097-01-01T00:00Z")) == utc("2104-02-29T00:00Z")
    assert crontab.between(utc("2020-01-01T00:00Z"), utc("2029-01-01T00:00Z")) == 3


ZONES = st.sampled_from(["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "UTC"])
EXPRESSIONS = st.sampled_from(["30 2 * * *", "30 1 * * *", "0 * * * *", "*/30 * * * *", "15 1-3 * * *", "0 0 * * 0"])
CHANGES = ["2026-03-08", "2026-03-29", "2026-04-05", "2026-10-04", "2026-10-25", "2026-11-01"]


@settings(deadline=None)  # it walks through two weeks of slots
@given(ZONES, EXPRESSIONS, st.sampled_from(CHANGES), st.integers(-2 * 86_400, 2 * 86_400), st.integers(0, 999_999))
def test_the_latest_slot_is_the_last_that_looking_forward_finds(
    zone: str, expression: str, change: str, seconds: int, microseconds: int
) -> None:
    crontab = Crontab(expression, zone)
    now = utc(f"{change}T02:00Z") + timedelta(seconds=seconds, microseconds=microseconds)
    start = now - timedelta(days=16)
    forward = []
    slot = crontab.after(start)
    while slot is not None and slot <= now:
        forward.append(slot)
        slot = crontab.after(slot)
    assert crontab.latest(now) == forward[-1]
    assert all(a < b for a, b in pairwise(forward))
    assert crontab.between(forward[0], forward[-1]) == len(forward) - 2
    assert crontab.latest(forward[-1]) == forward[-1]


@pytest.mark.parametrize(
    ("expression", "step", "field"),
    [
        ("*/61 * * * *", "61", "minute"),
        ("0 */25 * * *", "25", "hour"),
        ("0 0 1,*/32 * *", "32", "day of the month"),
        ("0 0 1 1-6/13 *", "13", "month"),
        ("0 0 * * */8", "8", "day of the week"),
        ("*/61 * * * * *", "61", "second"),
    ],
)
def test_a_step_larger_than_its_field_is_refused(expression: str, step: str, field: str) -> None:
    with pytest.raises(ValueError, match=f"{field}: a step of {step} is more than its"):
        cron(expression)


@pytest.mark.parametrize("expression", ["*/60 */24 */31 */12 */7", "5/15 * * * *", "*/15 * * * * *", "0 0 * * MON#2"])
def test_other_steps_are_taken(expression: str) -> None:
    assert cron(expression) == expression
