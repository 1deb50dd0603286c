"""Periods of accounting, in UTC, from their beginning up to and without their end."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Final

PERIODS: Final = ("hour", "day", "month", "year")
# How many of year, month, day and hour name the start of each.
_PARTS: Final = {"hour": 4, "day": 3, "month": 2, "year": 1}


@dataclass(frozen=True, slots=True)
class Period:
    """Moments without zone, as the database keeps them; raises ValueError for an empty one."""

    begin: dt.datetime
    end: dt.datetime

    def __post_init__(self) -> None:
        if self.begin >= self.end:
            raise ValueError(f"the end {self.end} is not after the start {self.begin}")

    def __contains__(self, moment: dt.datetime | None) -> bool:
        return moment is not None and self.begin <= moment < self.end


def completed(kind: str, now: dt.datetime) -> Period:
    """The last hour, day, month or year that is over at *now*."""
    end = _start_of(kind, now)
    return Period(_start_of(kind, end - dt.timedelta(microseconds=1)), end)


def _start_of(kind: str, moment: dt.datetime) -> dt.datetime:
    parts = (moment.year, moment.month, moment.day, moment.hour)
    year, month, day, hour = (*parts[: _PARTS[kind]], *(0, 1, 1, 0)[_PARTS[kind] :])
    return moment.replace(year, month, day, hour, minute=0, second=0, microsecond=0)


def parse(text: str) -> dt.datetime:
    """A moment such as *2026-11-01* or *2026-11-01 06:30:00+02:00*, in UTC; raises ValueError."""
    moment = dt.datetime.fromisoformat(text)
    if moment.tzinfo is None:
        return moment
    try:
        return moment.astimezone(dt.UTC).replace(tzinfo=None)
    except OverflowError:
        raise ValueError(f"{text} is no moment of UTC") from None
