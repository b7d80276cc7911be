"""The remaining life of a drive, from the used part of its rated life and the data written meanwhile.

The percentage that the drive reports includes write amplification, so that neither an endurance rating nor a number of
cycles is needed. It is an integer: each figure has the bounds that follow from one percent more or less.

This is the one computation of a life from reports: `health`, `lifetime`, `advise smart` and `fleet smart` use it.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from ssdlab.hardware.smart.change import Interval
from ssdlab.theory.endurance import DAYS_PER_YEAR, HOURS_PER_YEAR

RISE_PERCENT_MIN = 5
"""From this rise of the percentage between two reports on, it is more exact than what was written meanwhile."""
_BY_TIME = "its used percentage and its time with power"
_BY_RISE = "the rise of its used percentage"
_BY_FLASH = "its used percentage and what was written to flash"
_BY_HOST = "its used percentage and the host's writes"


@dataclass(frozen=True)
class Pace:
    """The host's writes per day, and the number of days over which they were measured."""

    host_bytes_per_day: float
    days: float
    between_reports: bool
    """Whether it was measured between two reports rather than since the drive was new."""
    flash_share_per_day: float | None = None
    """What was programmed into flash per day between two reports, as a share of all that ever was; None if the drive
    does not count it. It is what wears the drive, and what the host writes can become a different multiple of it."""
    used_percent_risen: int | None = None
    """The rise of the used percentage between two reports."""


@dataclass(frozen=True)
class Life:
    """The expected life. Values that are not known are None. An upper bound can be infinite if used life is below 1
    %."""

    total_bytes: Interval | None
    """Host writes until the rated life is used, with the same wear per byte."""
    left_bytes: Interval | None
    years_left: Interval | None
    """Power-on time until the rated life is used."""
    by: str | None = None
    """By what the years are computed, in words."""


def pace_of(host_bytes: int | None, power_on_hours: int | None) -> Pace | None:
    """The mean pace since the drive was new, or None if it is not known."""
    if host_bytes is None or not power_on_hours:
        return None
    days = power_on_hours / 24
    return Pace(host_bytes / days, days, between_reports=False)


def of(
    used_percent: int | None,
    host_bytes: int | None,
    power_on_hours: int | None,
    pace: Pace | None,
    used_percent_max: int | None = None,
) -> Life:
    """The expected life of a drive that has used a percentage after these bytes and hours, and continues at `pace`.

    `used_percent_max` is the upper bound of a percentage that is reported as a range.
    """
    if used_percent is None:
        return Life(None, None, None)
    # A drive can round its percentage either way.
    used = Interval(used_percent, used_percent - 1, max(used_percent + 1, used_percent_max or 0))
    left = _falling(used, lambda used: max(100 - used, 0) / used if used > 0 else math.inf)
    total_bytes = left_bytes = None
    if host_bytes:
        total_bytes = _falling(used, lambda used: host_bytes * 100 / used if used > 0 else math.inf)
        left_bytes = _times(left, host_bytes)
    years, by = _years(used_percent, used_percent_max, left, left_bytes, power_on_hours, pace)
    return Life(total_bytes, left_bytes, years, by)


def _years(
    used_percent: int,
    used_percent_max: int | None,
    left: Interval,
    left_bytes: Interval | None,
    power_on_hours: int | None,
    pace: Pace | None,
) -> tuple[Interval | None, str | None]:
    """The years left and by what: between reports by the most direct measure of wear that they have."""
    if pace is None or not pace.between_reports:
        return (
            (_times(left, power_on_hours / HOURS_PER_YEAR), "its used percentage and its time with power")
            if power_on_hours
            else (None, None)
        )
    rise = pace.used_percent_risen
    if rise is not None and rise >= RISE_PERCENT_MIN:
        points, years = max(100 - used_percent, 0), pace.days / DAYS_PER_YEAR
        least = points if used_percent_max is None else max(100 - used_percent_max, 0)
        risen = Interval(points / rise * years, least / (rise + 1) * years, points / (rise - 1) * years)
        return risen, _BY_RISE
    if pace.flash_share_per_day:
        return _times(left, 1 / pace.flash_share_per_day / DAYS_PER_YEAR), _BY_FLASH
    if left_bytes is not None and pace.host_bytes_per_day > 0:
        return _times(left_bytes, 1 / pace.host_bytes_per_day / DAYS_PER_YEAR), _BY_HOST
    return None, None


def _falling(used: Interval, figure: Callable[[float], float]) -> Interval:
    """A figure that falls with what is used, with its bounds."""
    return Interval(figure(used.value), figure(used.high), figure(used.low))


def _times(interval: Interval, factor: float) -> Interval:
    return Interval(interval.value * factor, interval.low * factor, interval.high * factor)
