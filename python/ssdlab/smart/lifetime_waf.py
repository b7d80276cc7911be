"""Write amplification over a drive's whole life, by its own counters; or why it is not believed.

Firmware has bugs, counters are reset and wrap, and units are not what their names say. What cannot be so is called
implausible, with the reason, and never shown as a number.
"""

from dataclasses import dataclass

from ssdlab.smart.change import Interval, ratio_of_steps
from ssdlab.smart.reading import Reading

_LEAST = 0.5
"""Without data reduction a drive programs what the host writes. Writes that a cache took up, and blocks in SLC mode
that are not counted, leave some drives below 1; at half of it a counter is wrong."""
_DOUBTED_BELOW = 0.9
_LEAST_REDUCED = 0.02
_MOST = 100.0
_MOST_EARLY = 1000.0
"""A drive's own background operations can be hundreds of times what the host has written of a drive that is hardly
used."""
EARLY_DRIVE_WRITES = 1.0
"""Below so many writes of the whole drive, write amplification says little of the use to come."""
_GB = 1e9


@dataclass(frozen=True)
class LifetimeWaf:
    """`waf` is None with a `reason`; `is_implausible` where the counters are there and cannot be right."""

    waf: Interval | None
    source: str | None
    reason: str | None
    is_implausible: bool = False
    is_early: bool = False
    """The host has written less than the drive holds."""
    doubt: str | None = None
    """Why to take the figure with care."""


def of(reading: Reading) -> LifetimeWaf:
    """Of one reading: since the drive was new."""
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
        reason = f"the flash would have taken {waf.value:.2g} times what the host wrote{on}"
        return LifetimeWaf(None, source, f"{reason}: one counter is wrong or has another unit", True, is_early)
    most = _MOST_EARLY if is_early else _MOST
    if waf.low > most and not (is_early and _fits_into(reading)):
        wrote = f", which wrote {host_bytes / _GB:.3g} GB" if host_bytes is not None else ""
        reason = f"the flash would have taken {waf.value:,.0f} times what came from the host{wrote}: a counter is wrong"
        return LifetimeWaf(None, source, f"{reason}, was reset or has another unit", True, is_early)
    return LifetimeWaf(waf, source, None, False, is_early, _doubt(reading, waf, is_early))


def _fits_into(reading: Reading) -> bool:
    """Whether all that was programmed fits into the drive: background operations alone, before anybody used it."""
    nand_bytes = sum(count.bytes for count in reading.nand)
    return bool(reading.capacity_bytes) and 0 < nand_bytes <= (reading.capacity_bytes or 0)


def _doubt(reading: Reading, waf: Interval, is_early: bool) -> str | None:
    if waf.high < _DOUBTED_BELOW and not reading.reduces_data:
        return "below 1 on a drive that is not known to reduce data: the counter of NAND writes may be incomplete"
    if is_early:
        return "the host has written less than the drive's capacity: too early for a reliable figure"
    assumed = next((count.assumed for count in (reading.host, *reading.nand) if count and count.assumed), None)
    return f"assumed: {assumed}" if assumed else None
