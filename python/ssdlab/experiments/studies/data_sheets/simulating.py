"""Simulates one row of a data sheet: the workload that its quantity and condition describe, and its value."""

import warnings
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from ssdlab.errors import InputError, Note, RunFailed
from ssdlab.simulator.drives import resolve
from ssdlab.simulator.drives.data_sheet import Rated
from ssdlab.simulator.results.speed import speed
from ssdlab.simulator.workloads import jobs, specifying

if TYPE_CHECKING:
    from ssdlab.simulator.drives import DriveFile, ResolvedDrive
    from ssdlab.simulator.results import Result
    from ssdlab.simulator.specification import Specification

FOLDER = Path(__file__).parent
UNITS_MAX = 1 << 19
"""The maximum number of mapping units of flash at the default scale: a row takes seconds."""
BUFFERS_MIN = 24
"""What is written into an SLC cache, in write buffers: the buffer takes less than 5 % of it at the rate of the link."""
PRECISION = 0.02
"""The precision of steady random writes, a share of their rate; a data sheet is compared with to 10 %."""
SEQUENTIAL_BLOCK, RANDOM_BLOCK = 128 << 10, 4 << 10
DEPTH = {"sata": 32, "other": 256}
"""Depth of random requests where the source does not say: all that SATA has, and what keeps the dies of other drives at
work. Requests in sequence have the first, latencies 1."""
READ_SECONDS = 0.25
IDLE_SECONDS = 0.1
"""Between the fill and the row, so that what the fill left in the buffer is in flash."""
_RW = {
    "sequential read": "read",
    "sequential write": "write",
    "random read": "randread",
    "random write": "randwrite",
    "random 70/30": "randrw",
}


def scale_of(drive: "DriveFile", row: Rated | None = None) -> Fraction:
    """The default scale: the largest power of 1/2 with at most `UNITS_MAX` mapping units, as far as blocks shrink.

    The write buffer does not shrink. What a row writes into an SLC cache stays so much larger that its rate is that of
    the cache.
    """
    units, parts = drive.capacity.flash_units, 1
    is_in_cache = row is not None and row.state == "fresh" and drive.has_slc_cache
    least = BUFFERS_MIN * drive.write_buffer.bytes if is_in_cache else 0
    while (
        units > UNITS_MAX * parts
        and drive.nand.pages_per_block // (2 * parts) >= drive.nand.pages_per_program
        and (not least or _half_of_cache(drive) >= least * 2 * parts)
    ):
        parts *= 2
    while parts > 1 and not _can_be(drive, Fraction(1, parts)):
        parts //= 2
    return Fraction(1, parts)


def _can_be(drive: "DriveFile", scale: Fraction) -> bool:
    """Whether the drive still has erase units enough at that scale."""
    try:
        resolve(drive, scale=scale)
    except InputError:
        return False
    return True


def resolved(drive: "DriveFile", row: Rated | None = None, *, full: bool = False) -> "ResolvedDrive":
    """The drive at the default scale, that of a row where one is given, or `full`."""
    with warnings.catch_warnings():
        # Rates depend on a batch's share of an erase unit, not on the length of its bursts.
        warnings.simplefilter("ignore", Note)
        return resolve(drive, scale=None if full else scale_of(drive, row))


def condition(row: Rated, drive: "DriveFile") -> tuple[int, int]:
    """The block size in bytes and the depth of the simulated row: those of the source, or the usual ones."""
    is_latency, is_sequential = row.unit == "us", row.quantity.startswith("sequential")
    block = RANDOM_BLOCK if is_latency or not is_sequential else SEQUENTIAL_BLOCK
    usual = DEPTH["sata" if is_sequential or drive.host_link.interface.startswith("sata") else "other"]
    return row.block_bytes or block, row.depth or (1 if is_latency else usual)


def specify(drive: "ResolvedDrive", row: Rated, *, seed: int) -> "Specification":
    """The run of one row."""
    rw = _RW[row.quantity.removesuffix(" latency")]
    block, depth = condition(row, drive.file)
    is_steady = row.state == "steady" and "read" not in rw
    idle_us = 0 if is_steady else round(IDLE_SECONDS * 10**6 / drive.scale)
    variables = {"RW": rw, "BLOCK": str(block), "DEPTH": str(depth), "END": _end(row, rw, drive)}
    variables |= {"IDLE": f"{idle_us}us", "SPAN": _span(row, drive)}
    is_new = row.state == "fresh"
    return specifying.specify(
        jobs.load(FOLDER / ("row-of-a-new-drive.fio" if is_new and "read" in rw else "row.fio"), environment=variables),
        drive,
        seed=seed,
        until="steady" if is_steady else "job",
        precision=PRECISION,
        precondition="none" if is_new else "fill",
    )


def _end(row: Rated, rw: str, drive: "ResolvedDrive") -> str:
    """When the job ends, in a line of the job file. A smaller drive has less data, but needs the same time."""
    if "read" not in rw and (row.unit != "us" or row.state == "steady"):
        # Half of a new drive is written without garbage collection.
        is_random_and_new = row.state == "fresh" and rw == "randwrite" and not drive.file.has_slc_cache
        return "io_size=50%" if is_random_and_new else "io_size=100%"
    return f"runtime={round(READ_SECONDS * 10**6 / drive.scale)}us"


def _span(row: Rated, drive: "ResolvedDrive") -> str:
    """How much of the drive the row works on: of a new drive with an SLC cache half of what the cache takes, as makers
    rate client drives; otherwise all of it."""
    if row.state != "fresh" or not drive.file.has_slc_cache:
        return "100%"
    # The drive is scaled already; sizes in a job are those of the full drive.
    half = int(_half_of_cache(drive.file) / drive.scale)
    return str(half // SEQUENTIAL_BLOCK * SEQUENTIAL_BLOCK)


def _half_of_cache(drive: "DriveFile") -> int:
    """Half of what the SLC cache of a new drive takes."""
    cache, user_bytes = drive.slc_cache, drive.capacity.user_bytes
    dynamic = cache.dynamic_bytes_max
    if cache.dynamic_free_share:
        dynamic = min(dynamic, int(cache.dynamic_free_share * user_bytes))
    return min((cache.static_bytes + dynamic) // 2, user_bytes)


def simulated(result: "Result", row: Rated) -> float:
    """The value of the row in its unit. Raises RunFailed if the run has none."""
    found = speed(result)
    if result.failure or found is None:
        raise RunFailed(f"{row.quantity}: {result.failure or 'the run had no clock, or fewer than ten requests'}")
    if row.unit == "us":
        of = found.read if "read" in row.quantity else found.write
        if of.latency_ns_mean is None:
            raise RunFailed(f"{row.quantity}: no request ended")
        return of.latency_ns_mean / 1000
    return found.mb_s if row.unit == "MB/s" else found.iops
