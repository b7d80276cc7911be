"""Write amplification over a drive's whole life from its counters, or the reason why it is rejected.

Firmware has bugs, counters are reset and wrap around, and units differ from their names. A figure that cannot be right
is marked implausible, with the reason, and its value is not given.
"""

from dataclasses import dataclass

from ssdlab.foundation.quantities import rounded
from ssdlab.hardware.smart.change import Interval, ratio_of_steps
from ssdlab.hardware.smart.reading import Reading

_LEAST = 0.5
"""Lower bound without data reduction. A drive then programs at least what the host writes, but writes absorbed by a
cache and uncounted blocks in SLC mode leave some drives below 1. Below one half a counter is wrong."""
_DOUBTED_BELOW = 0.9
_LEAST_REDUCED = 0.02
_MOST = 100.0
_MOST_EARLY = 1000.0
"""Upper bound for a drive that is hardly used: its own background operations can exceed the host's writes by a factor
of hundreds."""
EARLY_DRIVE_WRITES = 1.0
"""Below this number of full drive writes, write amplification does not predict later use."""
_GB = 1e9


@dataclass(frozen=True)
class LifetimeWaf:
    """Lifetime write amplification. `waf` is None if there is a `reason`; `is_implausible` if the counters
    contradict."""

    waf: Interval | None
    source: str | None
    reason: str | None
    is_implausible: bool = False
    is_early: bool = False
    """Whether the host has written less than the drive's capacity."""
    doubt: str | None = None
    """A reason to treat the figure with caution, or None."""


def sums_kinds_of_cells(source: str | None) -> bool:
    """Whether a figure with this source counts the programs of cells in SLC mode and of the others: a byte that passes
    an SLC cache counts twice."""
    return source is not None and " + " in source and not source.startswith("(")


def of(reading: Reading) -> LifetimeWaf:
    """Write amplification since the drive was new, from one reading."""
    if reading.pages:
        host, background = reading.pages
        source = f"({host.attribute} + {background.attribute}) / {host.attribute}"
        if not host.ticks:
            return LifetimeWaf(None, source, "no page has been programmed for the host yet")
        return _judged(reading, ratio_of_steps(host.ticks + background.ticks, 1, host.ticks, 1, steps=2), source)
    if not reading.nand:
        return LifetimeWaf(None, None, reading.reason or "NAND writes are not available")
    if reading.host is None:
        return LifetimeWaf(None, None, reading.reason or "the host's writes are not available on this model")
    source = f"{' + '.join(count.attribute for count in reading.nand)} / {reading.host.attribute}"
    nand_bytes = sum(count.bytes for count in reading.nand)
    unit_bytes = max(count.unit_bytes for count in reading.nand)
    if not reading.host.ticks:
        return LifetimeWaf(None, source, "the counter of host writes is 0")
    if not nand_bytes:
        return LifetimeWaf(None, source, "the counter of NAND writes is 0: too early, or the drive does not count them")
    steps = sum(count.unit_bytes for count in reading.nand) / unit_bytes
    waf = ratio_of_steps(nand_bytes / unit_bytes, unit_bytes, reading.host.ticks, reading.host.unit_bytes, steps=steps)
    return _judged(reading, waf, source)


def _judged(reading: Reading, waf: Interval, source: str) -> LifetimeWaf:
    host_bytes = reading.host.bytes if reading.host else None
    writes = host_bytes / reading.capacity_bytes if host_bytes is not None and reading.capacity_bytes else None
    is_early = writes is not None and writes < EARLY_DRIVE_WRITES
    least = _LEAST_REDUCED if reading.reduces_data else _LEAST
    if waf.high < least:
        on = "" if reading.reduces_data else ", on a drive that does not reduce data"
        reason = f"the flash would have taken {rounded(waf.value, 2)} times what the host wrote{on}"
        return LifetimeWaf(None, source, f"{reason}: one counter is wrong or has another unit", True, is_early)
    most = _MOST_EARLY if is_early else _MOST
    if waf.low > most and not (is_early and _fits_into(reading)):
        wrote = f", which wrote {rounded(host_bytes / _GB)} GB" if host_bytes is not None else ""
        reason = f"the flash would have taken {waf.value:,.0f} times what came from the host{wrote}: a counter is wrong"
        return LifetimeWaf(None, source, f"{reason}, was reset or has another unit", True, is_early)
    return LifetimeWaf(waf, source, None, False, is_early, _doubt(reading, waf, is_early))


def _fits_into(reading: Reading) -> bool:
    """Whether all programmed data fits into the drive, so that background operations before first use can explain
    it."""
    nand_bytes = sum(count.bytes for count in reading.nand)
    return bool(reading.capacity_bytes) and 0 < nand_bytes <= (reading.capacity_bytes or 0)


def _doubt(reading: Reading, waf: Interval, is_early: bool) -> str | None:
    if waf.high < _DOUBTED_BELOW and not reading.reduces_data:
        return "below 1 on a drive that is not known to reduce data: the counter of NAND writes may be incomplete"
    if is_early:
        return "the host has written less than the drive's capacity: too early for a reliable figure"
    assumed = next((count.assumed for count in (reading.host, *reading.nand) if count and count.assumed), None)
    return f"assumed: {assumed}" if assumed else None
