"""The share of reads that are repeated, by the law of `[read_retries]`: `crates/engine/src/timing/flash/retries.rs`.

For all pages of a block together. Not for what a read waits for besides its retries.
"""

import math
from typing import TYPE_CHECKING

from ssdlab.simulator.drives.schema import mean_us

if TYPE_CHECKING:
    from ssdlab.simulator.drives.schema import DriveFile

_STEPS = 200


def severity(drive: "DriveFile", reads: float, days: float = 0.0, cycles: float | None = None) -> float:
    """The severity of a block after so many reads of its pages, so many days and so many erases, by default those
    before the run."""
    law = drive.read_retries
    erases = law.cycles_before if cycles is None else cycles
    terms = (
        (reads, law.reads, law.reads_exponent),
        (days, law.days, law.days_exponent),
        (erases, law.cycles, law.cycles_exponent),
    )
    return math.fsum((x / scale) ** exponent for x, scale, exponent in terms if scale)


def shares(drive: "DriveFile", reads: float, days: float = 0.0, cycles: float | None = None) -> list[float]:
    """By retry: the share of pages that need it, after so many reads of the block's pages, days and erases."""
    law = drive.read_retries
    found = severity(drive, reads, days, cycles)
    return [1 - math.exp(-((found / needed) ** law.spread)) for needed in law.severities]


def mean_shares(drive: "DriveFile", reads: float, days: float = 0.0, cycles: float | None = None) -> list[float]:
    """The same, as the mean from 0 to so many reads and days: between two rewrites of a block at an even rate."""
    steps = [(step + 0.5) / _STEPS for step in range(_STEPS)]
    by_step = [shares(drive, reads * step, days * step, cycles) for step in steps]
    return [math.fsum(column) / _STEPS for column in zip(*by_step, strict=True)]


def mean_read_us(drive: "DriveFile", shares_by_retry: list[float]) -> float:
    """What a read takes in the array on average with these shares of retries."""
    added = zip(shares_by_retry, drive.read_retries.retry_us, strict=True)
    return mean_us(drive.nand.read_us) + math.fsum(share * us for share, us in added)
