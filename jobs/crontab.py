"""Cron expressions with Unix meaning: Sunday is 0 or 7, day of month OR day of week, and daylight saving as Debian's cron.

A fixed time that does not exist on a spring day runs at the moment the clocks jump to; one that exists twice in autumn
runs the first time. Wildcard minutes or hours follow real time through both.
"""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from apscheduler.triggers.base import BaseTrigger
from cronsim import CronSim

_INSTANT = timedelta(microseconds=1)


class Crontab(BaseTrigger):  # type: ignore[misc]  # APScheduler has no types
    """The slots of a cron expression (five fields, or six with seconds first) in a time zone, as UTC moments."""

    def __init__(self, expression: str, timezone: str) -> None:
        self.expression = expression
        self.zone = ZoneInfo(timezone)

    def __str__(self) -> str:
        return f"cron[{self.expression} {self.zone.key}]"

    def after(self, moment: datetime) -> datetime | None:
        """The first slot later than `moment`; None when there is none within 50 years."""
        for slot in CronSim(self.expression, moment.astimezone(self.zone)):
            if slot.astimezone(UTC) > moment:  # in the repeated hour the wall clock alone would lead back
                return slot.astimezone(UTC)
        return None

    def latest(self, moment: datetime) -> datetime | None:
        """The last slot not later than `moment`; None when there is none within 50 years."""
        including = moment if moment.microsecond else moment + _INSTANT
        backwards = (s.astimezone(UTC) for s in CronSim(self.expression, including.astimezone(self.zone), reverse=True))
        found = next((slot for slot in backwards if slot <= moment), None)
        while found is not None and (later := self.after(found)) is not None and later <= moment:
            found = later
        return found

    def between(self, start: datetime, end: datetime, at_most: int = 1000) -> int:
        """How many slots lie strictly between two moments; counting stops at `at_most`."""
        count, slot = 0, self.after(start)
        while slot is not None and slot < end and count < at_most:
            count, slot = count + 1, self.after(slot)
        return count

    def get_next_fire_time(self, previous_fire_time: datetime | None, now: datetime) -> datetime | None:
        """APScheduler's question; a slot that is exactly now is still to come."""
        return self.after(previous_fire_time or now - _INSTANT)
