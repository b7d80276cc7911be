"""How long a drive lasts at its own pace: from the part of its life that it has used, and what was written meanwhile.

The drive's own percentage counts what wears it, the write amplification included, so that neither a rating nor a number
of cycles is needed. It has whole percents: a figure is given with what one percent more or less would make of it.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from ssdlab.smart.change import Interval

HOURS_PER_YEAR = 24 * 365.25
DAYS_PER_YEAR = 365.25


@dataclass(frozen=True)
class Pace:
    """What the host writes a day, and over how many days this was seen."""

    host_bytes_per_day: float
    days: float
    between_reports: bool
    """Between two reports rather than since the drive was new."""


@dataclass(frozen=True)
class Life:
    """What cannot be said is None. An upper end may be infinite: below one percent nothing bounds it."""

    total_bytes: Interval | None
    """Host writes until all of the rated life is used, as this drive is used."""
    left_bytes: Interval | None
    years_left: Interval | None
    """Of power-on time."""


def pace_of(host_bytes: int | None, power_on_hours: int | None) -> Pace | None:
    """Since the drive was new."""
    if host_bytes is None or not power_on_hours:
        return None
    days = power_on_hours / 24
    return Pace(host_bytes / days, days, between_reports=False)


def of(used_percent: int | None, host_bytes: int | None, power_on_hours: int | None, pace: Pace | None) -> Life:
    """By the percentage that a drive has used after so many bytes and hours; from now on at `pace`."""
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
    """A drive may round its percentage up or down."""
    return Interval(figure(used_percent), figure(used_percent + 1), figure(used_percent - 1))


def _times(interval: Interval, factor: float) -> Interval:
    return Interval(interval.value * factor, interval.low * factor, interval.high * factor)
