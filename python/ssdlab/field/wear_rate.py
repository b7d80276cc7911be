"""The remaining life of a real drive at the rate between two readings."""

import math
from dataclasses import dataclass

from ssdlab.hardware.smart.change import Change, Interval
from ssdlab.hardware.smart.reading import Reading
from ssdlab.theory.endurance import DAYS_PER_YEAR

DAYS_MIN = 0.25
"""The least time between two reports that gives a rate per day."""


@dataclass(frozen=True)
class Outlook:
    """An estimate of when a drive is worn out, in years from the second reading; None, with a reason, if not known."""

    by: str
    years: Interval | None
    reason: str | None = None


def outlooks(
    after: Reading, change: Change, *, endurance_bytes: float | None, rated_tbw_bytes: float | None
) -> list[Outlook]:
    """Estimates by the flash's cycles (`endurance_bytes` is cycles times flash) and by the rated TBW, as far as given.
    `ssdlab.field.health.life` has that by the used percentage."""
    found = []
    if endurance_bytes is not None:
        found.append(_by_cycles(after, change, endurance_bytes))
    if rated_tbw_bytes is not None:
        found.append(_by_rating(after, change, rated_tbw_bytes))
    return found


def _by_cycles(after: Reading, change: Change, endurance_bytes: float) -> Outlook:
    by = "the flash's rated cycles"
    if change.nand_bytes is None:
        return Outlook(by, None, change.reason)
    if change.days is None or change.days < DAYS_MIN:
        return Outlook(by, None, _no_rate(change.days))
    if not change.nand_bytes:
        return Outlook(by, None, "nothing was programmed between the readings")
    unit = max(count.unit_bytes for count in after.nand)
    left = endurance_bytes - sum(count.bytes for count in after.nand)
    return Outlook(by, _years(left, change.nand_bytes, unit, change.days))


def _by_rating(after: Reading, change: Change, rated_tbw_bytes: float) -> Outlook:
    by = "the rated TBW"
    if after.host is None or change.host_bytes is None:
        return Outlook(by, None, "the host's writes are not known")
    if change.days is None or change.days < DAYS_MIN:
        return Outlook(by, None, _no_rate(change.days))
    if not change.host_bytes:
        return Outlook(by, None, "the host wrote nothing between the readings")
    return Outlook(
        by, _years(rated_tbw_bytes - after.host.bytes, change.host_bytes, after.host.unit_bytes, change.days)
    )


def _no_rate(days: float | None) -> str:
    if days is None:
        return "the readings carry no time"
    return f"less than {DAYS_MIN * 24:g} hours lie between the readings"


def _years(left: float, spent: float, step: float, days: float) -> Interval:
    """The years until `left` is used at `spent` per `days`, as an interval for a counter error of one step."""

    def years(rate: float) -> float:
        return max(left, 0.0) / rate * days / DAYS_PER_YEAR if rate > 0 else math.inf

    return Interval(years(spent), years(spent + step), years(spent - step))
