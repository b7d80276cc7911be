"""The difference between two readings of one drive: the data written, and the write amplification if it can be
computed.

Coarse counters are inexact after few steps: below a hundred steps of the coarser counter no WAF is given.
"""

import math
from dataclasses import dataclass

from ssdlab.errors import InputError
from ssdlab.foundation.quantities import format_bytes, format_bytes_binary
from ssdlab.hardware.smart.reading import Count, Reading

TICKS_MIN = 100


@dataclass(frozen=True)
class Interval:
    """A figure with the bounds that follow from the step sizes of its counters."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Change:
    """The change between two readings. Values that are not known are None; `reason` explains a missing WAF."""

    host_bytes: int | None
    nand_bytes: int | None
    waf: Interval | None
    reason: str | None
    resolution: str | None
    """The step sizes of the counters, in words."""
    days: float | None
    used_percent: int | None
    """The increase of NVMe's Percentage Used."""
    assumed: tuple[str, ...]


def change(before: Reading, after: Reading) -> Change:
    """Compares two readings. Raises InputError if they are of different drives or in the wrong order."""
    if (before.model, before.serial) != (after.model, after.serial):
        raise InputError(
            f"the readings are from two drives: {before.model} {before.serial} and {after.model} {after.serial}"
        )
    days = _days(before, after)
    host_ticks = _ticks(before.host, after.host)
    nand_ticks = [_ticks(old, new) for old, new in zip(before.nand, after.nand, strict=False)]
    used = None
    if before.used_percent is not None and after.used_percent is not None:
        used = after.used_percent - before.used_percent
    waf, reason, resolution = _waf(before, after, host_ticks, [ticks for ticks in nand_ticks if ticks is not None])
    known = [count for count in (after.host, *after.nand) if count is not None]
    return Change(
        host_bytes=host_ticks * after.host.unit_bytes if after.host and host_ticks is not None else None,
        nand_bytes=sum(t * c.unit_bytes for t, c in zip(nand_ticks, after.nand, strict=False) if t is not None)
        if after.nand and len(before.nand) == len(after.nand)
        else None,
        waf=waf,
        reason=reason,
        resolution=resolution,
        days=days,
        used_percent=used,
        assumed=tuple(f"{count.attribute}: {count.assumed}" for count in known if count.assumed),
    )


def _waf(
    before: Reading, after: Reading, host_ticks: int | None, nand_ticks: list[int]
) -> tuple[Interval | None, str | None, str | None]:
    if before.pages and after.pages:
        host, background = (_ticks(old, new) or 0 for old, new in zip(before.pages, after.pages, strict=True))
        resolution = "1 NAND page"
        if host < TICKS_MIN:
            return None, f"only {host} pages were programmed for the host; at least {TICKS_MIN} are needed", resolution
        return ratio_of_steps(host + background, 1, host, 1, steps=2), None, resolution
    if after.reason is not None or not nand_ticks:
        return None, after.reason or "NAND writes are not available", None
    if after.host is None or host_ticks is None:
        return None, "the host's writes are not available on this model", None
    nand_unit = max(count.unit_bytes for count in after.nand)
    nand_bytes = sum(ticks * count.unit_bytes for ticks, count in zip(nand_ticks, after.nand, strict=True))
    resolution = f"host {_size(after.host.unit_bytes)}, NAND {_size(nand_unit)}"
    coarse_ticks = min(host_ticks, nand_bytes // nand_unit)
    if coarse_ticks < TICKS_MIN:
        return (
            None,
            f"only {coarse_ticks} steps of the coarser counter have passed; at least {TICKS_MIN} are needed",
            resolution,
        )
    steps = sum(count.unit_bytes for count in after.nand) / nand_unit
    waf = ratio_of_steps(nand_bytes / nand_unit, nand_unit, host_ticks, after.host.unit_bytes, steps=steps)
    return waf, None, resolution


def ratio_of_steps(nand: float, nand_unit: int, host: float, host_unit: int, *, steps: float) -> Interval:
    """NAND bytes divided by host bytes, from counts in their units. Each count can be off by one step; `steps` is the
    total step size of the counters summed in `nand`, in units of `nand_unit`."""

    def ratio(nand_ticks: float, host_ticks: float) -> float:
        return nand_ticks * nand_unit / (host_ticks * host_unit) if host_ticks > 0 else math.inf

    return Interval(ratio(nand, host), max(ratio(nand - steps, host + 1), 0.0), ratio(nand + steps, host - 1))


def _ticks(before: Count | None, after: Count | None) -> int | None:
    if before is None or after is None:
        return None
    if after.ticks < before.ticks:
        raise InputError(
            f"{after.attribute} fell from {before.ticks} to {after.ticks}: the readings are in the wrong order, "
            "or the counter was reset"
        )
    return after.ticks - before.ticks


def _days(before: Reading, after: Reading) -> float | None:
    """The time between the readings, by the drive's hours with power if the reports have no time."""
    if before.time_s is None or after.time_s is None:
        hours, later = before.power_on_hours, after.power_on_hours
        return None if hours is None or later is None or later < hours else (later - hours) / 24
    if after.time_s < before.time_s:
        raise InputError(
            "by its time the second reading is older than the first; give them in chronological order. If a clock was "
            "wrong, remove the times from the reports: then the hours with power count"
        )
    return (after.time_s - before.time_s) / 86400


def _size(unit_bytes: int) -> str:
    return format_bytes_binary(unit_bytes) if unit_bytes % 1024 == 0 else format_bytes(unit_bytes)
