"""Every drive of the catalogue at its smallest size, with and without a clock."""

import json
import warnings
from collections.abc import Iterator
from fractions import Fraction

from case import Case, Run
from parts import KIB, MIB, Json, job, per_direction, specification
from ssdlab.errors import InputError, Note
from ssdlab.simulator import drives
from ssdlab.simulator.drives import ResolvedDrive

# The amount of each stage; large drives exceed it even when scaled.
_BYTES_MAX = 96 * MIB


def _smallest(name: str) -> ResolvedDrive:
    """The drive with as few pages per block as possible, and all its blocks."""
    drive = drives.load(name)
    pages = drive.nand.pages_per_block
    for fewer in range(1, pages):
        try:
            with warnings.catch_warnings(action="ignore", category=Note):
                small = drives.resolve(drive, scale=Fraction(fewer, pages))
        except InputError:
            continue
        if small.file.nand.blocks_per_plane == drive.nand.blocks_per_plane:
            return small
    return drives.resolve(drive)


def _jobs(user_bytes: int) -> list[dict[str, Json]]:
    """Sequential requests, random writes mixed with reads, and trims, over a part of the drive, at least twice."""
    size_bytes = min(user_bytes, _BYTES_MAX) // (128 * KIB) * (128 * KIB)
    part = {"size_bytes": size_bytes or user_bytes // (4 * KIB) * (4 * KIB)}
    block_bytes = 128 * KIB if size_bytes else 4 * KIB
    return [
        job(**part, name="fill", sequential=True, block_bytes=block_bytes, iodepth=4, io_bytes=part["size_bytes"]),
        job(
            **part,
            name="mixed",
            stage=1,
            direction="read-write",
            read_percent=35.0,
            io_bytes=min(part["size_bytes"], 16 * MIB),
            iodepth=16,
            block_sizes=per_direction([{"bytes": 4 * KIB, "percent": 80.0}, {"bytes": 16 * KIB, "percent": 20.0}]),
            distribution={"name": "zipf", "theta": 0.9, "center": None},
        ),
        job(**part, name="trims", stage=2, direction="trim", io_bytes=part["size_bytes"] // 8, block_bytes=block_bytes),
        job(**part, name="writes", stage=2, io_bytes=min(part["size_bytes"], 8 * MIB), iodepth=2),
        job(
            **part,
            name="reads",
            stage=3,
            direction="read",
            sequential=True,
            io_bytes=part["size_bytes"] // 4,
            block_bytes=block_bytes,
        ),
    ]


def catalogue() -> Iterator[tuple[str, Case]]:
    for name in drives.names():
        drive = _smallest(name)
        for timed in (True, False):
            clock = "timed" if timed else "untimed"
            jobs = _jobs(drive.capacity.user_bytes)
            yield (
                f"{clock}/{name}",
                Run(specification(jobs, json.loads(json.dumps(drive.specification())), timed=timed)),
            )
