"""The remaining life of a drive, from the used part of its rated life and the data written meanwhile.

The percentage that the drive reports includes write amplification, so that neither an endurance rating nor a number of
cycles is needed. It is an integer: each figure has the bounds that follow from one percent more or less.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from ssdlab.smart.change import Interval

HOURS_PER_YEAR = 24 * 365.25
DAYS_PER_YEAR = 365.25


@dataclass(frozen=True)
class Pace:
    """The host's writes per day, and the number of days over which they were measured."""

    host_bytes_per_day: float
    days: float
    between_reports: bool
    """Whether it was measured between two reports rather than since the drive was new."""


@dataclass(frozen=True)
class Life:
    """The expected life. Values that are not known are None. An upper bound can be infinite if used life is below 1
    %."""

    total_bytes: Interval | None
    """Host writes until the rated life is used, with the same wear per byte."""
    left_bytes: Interval | None
    years_left: Interval | None
    """Power-on time until the rated life is used."""


def pace_of(host_bytes: int | None, power_on_hours: int | None) -> Pace | None:
    """The mean pace since the drive was new, or None if it is not known."""
    if host_bytes is None or not power_on_hours:
        return None
    days = power_on_hours / 24
    return Pace(host_bytes / days, days, between_reports=False)


def of(used_percent: int | None, host_bytes: int | None, power_on_hours: int | None, pace: Pace | None) -> Life:
    """The expected life of a drive that has used a percentage after these bytes and hours, and continues at `pace`."""
    if used_percent is None:
        return Life(None, None, None)
    left = _interval(used_percent, lambda used: max(100 - used, 0) / used if used > 0 else math.inf)
    total_bytes = left_bytes = years = None
    if host_bytes:
        total_bytes = _interval(used_percent, lambda used: host_bytes * 100 / used if used > 0 else math.inf)
        left_bytes = _times(left, host_bytes)
    if pace is not None and pace.between_reports:
        if left_bytes is not None and pace.host_bytes_per_day > 0:
            years = _times(left_bytes, 1 / pace.host_bytes_per_day / DAYS_PER_YEAR)
    elif power_on_hours:
        years = _times(left, power_on_hours / HOURS_PER_YEAR)
    return Life(total_bytes, left_bytes, years)


def _interval(used_percent: int, figure: Callable[[int], float]) -> Interval:
    """The figure with bounds for one percent more or less, because a drive can round its percentage either way."""
    return Interval(figure(used_percent), figure(used_percent + 1), figure(used_percent - 1))


def _times(interval: Interval, factor: float) -> Interval:
    return Interval(interval.value * factor, interval.low * factor, interval.high * factor)
