"""Fills a drive with an SLC cache in equal parts, whose rates show the phases."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ssdlab.simulator.drives import drive
from ssdlab.simulator.workloads import jobs, specifying

if TYPE_CHECKING:
    from ssdlab.simulator.drives import ResolvedDrive
    from ssdlab.simulator.results import Result
    from ssdlab.simulator.specification import Specification

BASE = "generic-nvme-tlc-1000"
SCALE = "1/64"
PARTS = 100
"""Parts of the drive: positions of drops are known to a hundredth of its capacity."""
PROGRAM_BYTES = 16 * 4 * 16384
"""What all dies of the base program at a time."""
CHANNEL_MB_S = 4800
"""Faster than any channel, so that programs alone limit the rates."""
RESERVED_SHARE = 0.08
"""The share of the capacity that a drive keeps erased: the least squares of the second drops of the three
drives with one, of 5, 6, 7, 8 and 8.5 % tried."""


@dataclass(frozen=True)
class Reviewed:
    """A reviewed drive: capacity and cache in GB, rates in MB/s."""

    capacity: float
    bits: int
    cache: float
    first: float
    second: float


def program_us(rate_mb_s: float, transfer_us: float) -> float:
    """The program time with which all dies together write at this rate (docs/simulate/background.md)."""
    return PROGRAM_BYTES / rate_mb_s - transfer_us


def resolved(reviewed: Reviewed, scale: str | None) -> "ResolvedDrive":
    """The base drive with the cache, the bits and the first two rates of the reviewed one."""
    base = drive(BASE)
    transfer_us = 4 * 16384 / CHANNEL_MB_S
    user_bytes = base.capacity.user_bytes
    cache_bytes = round(reviewed.cache / reviewed.capacity * user_bytes)
    settings = {
        "nand.channel_mb_s": str(CHANNEL_MB_S),
        "nand.program_us": f"{program_us(reviewed.second, transfer_us):.1f}",
        "slc_cache.program_us": f"{program_us(reviewed.first, transfer_us):.1f}",
        "slc_cache.dynamic_bytes_max": str(cache_bytes),
        "slc_cache.dynamic_free_share": "1",
        "host_link.interface": "pcie5x4",
        "map_cache.bytes": "0",
        "ftl.reserved_bytes": str(round(RESERVED_SHARE * user_bytes)),
    }
    return drive(BASE, settings=settings, scale=scale)


def specify(on: "ResolvedDrive", seed: int) -> "Specification":
    """The fill: a job for each part, one after another."""
    head = (Path(__file__).parent / "fill.fio").read_text(encoding="utf-8")
    parts = [f"[part {number + 1}]\nstonewall\noffset={number}%\nsize=1%\n" for number in range(PARTS)]
    return specifying.specify(jobs.parse(head + "".join(parts), "fill.fio"), on, seed=seed)


def rates(result: "Result") -> list[float]:
    """The rate of each part, in MB/s."""
    found = [job.write.bw_bytes for job in result.jobs]
    return [rate / 1e6 for rate in found if rate is not None]
