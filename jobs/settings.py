"""Settings of the clock: when things run, in whose time, and where the digest goes."""

from collections.abc import Sequence
from typing import Annotated
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cronsim import CronSim, CronSimError
from pydantic import AfterValidator, Field

from knowledge.settings import Section, is_id

_VALUES = {"second": 60, "minute": 60, "hour": 24, "day of the month": 31, "month": 12, "day of the week": 7}
"""How many values each field of a cron expression has; seconds may be left out."""


def cron(expression: str) -> str:
    """The expression itself. Raises `ValueError`, with what would do, when it is none; who tells it names the value."""
    from datetime import UTC, datetime

    try:
        CronSim(expression, datetime(2026, 1, 1, tzinfo=UTC))
        _check_steps(expression.split())
    except CronSimError as error:
        raise ValueError(f"it is no cron expression ({error}); one has five fields, such as '30 2 * * *'") from error
    return expression


def _check_steps(fields: Sequence[str]) -> None:
    """Raises `CronSimError` for a step that never leads from one value to another, which cronsim takes."""
    for (name, values), field in zip(tuple(_VALUES.items())[-len(fields) :], fields, strict=True):
        for step in (term.partition("/")[2] for term in field.split(",")):
            if step and int(step) > values:
                raise CronSimError(f"{name}: a step of {step} is more than its {values} values")


def _zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise ValueError("a time zone is named such as Europe/Berlin") from error
    return name


def channel(text: str) -> str:
    """The id itself. Raises `ValueError`, with what would do, when it is none; who tells it names the value."""
    if not is_id(text):
        where = "which is at the end of the channel's About tab in Slack"
        raise ValueError(f"a channel is named by its id, such as C0123456789, {where}")
    return text


Cron = Annotated[str, AfterValidator(cron)]


class Schedule(Section):
    """Cron expressions with Unix meaning, read in `timezone`. A source may have a schedule of its own."""

    timezone: Annotated[str, AfterValidator(_zone)] = "UTC"
    """The zone that all cron expressions are read in."""
    sync: Cron = "*/15 * * * *"
    """When sources are brought up to date."""
    nightly: Cron = "30 2 * * *"
    """When the gold set is measured and the digest posted."""
    retention: Cron = "15 4 * * *"
    """When what is too old is deleted."""
    digest_channel: Annotated[str, AfterValidator(channel)] | None = None
    """Channel id of the nightly digest; none: it is only stored."""
    keep_days: Annotated[int, Field(gt=0)] = 365
    """Questions, answers and received events are kept so many days."""
