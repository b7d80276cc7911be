"""The distribution of random requests and the choice of the next file, in the format of the engine's specification."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from ssdlab.errors import InputError
from ssdlab.simulator.engine import plain
from ssdlab.simulator.workloads.jobs import like_fio
from ssdlab.simulator.workloads.jobs.directions import DIRECTIONS, Direction, each
from ssdlab.simulator.workloads.jobs.distributions import Distribution
from ssdlab.simulator.workloads.jobs.jobfile import Section
from ssdlab.simulator.workloads.jobs.option import Option
from ssdlab.simulator.workloads.jobs.scaling import scaled_bytes
from ssdlab.simulator.workloads.jobs.table import (
    DIRECTORY,
    DISTRIBUTION,
    FILE_SERVICE,
    FILENAME,
    RW,
    ZIPF_LIKE_FIO,
    ZONED_SCATTER,
)

# fio draws skewed choices of a file over this number of steps for each file.
_STEPS_PER_FILE = 1024

Complain = Callable[[Option[Any], str], InputError]
"""Makes an error about an option of the section."""


@dataclass(frozen=True)
class Blocks:
    """The range and the lengths from which the random requests of a job are drawn."""

    least: plain.PerDirection[int]
    """The shortest length, by direction."""
    align: plain.PerDirection[int]
    size_bytes: int | None
    """The size of the job's range; None if it spans several files."""
    smallest_bytes: int
    """The size of the range in the smallest of the files."""


@dataclass(frozen=True)
class Clone:
    """A clone of a section: its number in the section, from 0, and the number of its fio thread, from 1."""

    number: int
    thread_number: int


def distribution(
    section: Section, blocks: Blocks, clone: Clone, scale: Fraction, complain: Complain
) -> tuple[plain.Distribution, list[str]]:
    """The section's distribution in the engine's format, and notes. Errors of options are made by `complain`."""
    given = section.get(DISTRIBUTION)
    law = _law(given)
    if law is not None:
        if section.get(RW).sequential or not section.get(ZIPF_LIKE_FIO):
            return _skewed(law, given.center, scale), []
        return _like_fio(section, given, law, blocks, clone, complain)
    if given.zones is not None:
        of_directions = given.zones

        def zones_of(direction: Direction) -> list[plain.Zone]:
            return [
                {"access_percent": float(zone.access_percent), "span_percent": float(zone.span_percent)}
                for zone in getattr(of_directions, direction)
            ]

        zones = each(zones_of)
        if zones["read"] == zones["write"] == zones["trim"]:
            zoned: plain.DistributionZoned = {"name": "zoned", "zones": zones["read"]}
            if section.get(ZONED_SCATTER):
                zoned["scattered"] = True
            return zoned, []
        if section.get(ZONED_SCATTER):
            raise complain(ZONED_SCATTER, "needs the same zones for all directions")
        return {"name": "zoned-by-direction", "zones": zones}, []
    if given.absolute_zones is not None:
        absolute_of_directions = given.absolute_zones

        def absolute_of(direction: Direction) -> list[plain.AbsoluteZone]:
            return [
                {
                    "access_percent": float(zone.access_percent),
                    "span_bytes": scaled_bytes(zone.span_bytes, scale, blocks.align[direction]),
                }
                for zone in getattr(absolute_of_directions, direction)
            ]

        absolute = each(absolute_of)
        for direction in DIRECTIONS:
            needed_bytes = sum(zone["span_bytes"] for zone in absolute[direction])
            room_bytes = blocks.smallest_bytes
            if needed_bytes > room_bytes and not section.get(RW).sequential:
                where = "that the job works on" if blocks.size_bytes is not None else "of its smallest file"
                raise complain(
                    DISTRIBUTION, f"has zones of {needed_bytes:,} bytes in all, more than the {room_bytes:,} {where}"
                )
        return {"name": "zoned-absolute", "zones": absolute}, []
    return {"name": "random"}, []


def _law(given: Distribution) -> plain.FioLaw | None:
    """The law by which blocks are drawn by rank; None for other distributions."""
    match given.name:
        case "zipf":
            return {"name": "zipf", "theta": given.parameter}
        case "pareto":
            return {"name": "pareto", "h": given.parameter}
        case "normal":
            return {"name": "normal", "deviation_percent": given.parameter}
    return None


def _skewed(law: plain.FioLaw, center: float | None, scale: Fraction) -> plain.Distribution:
    """The skewed distribution, adapted to a scaled range.

    A scaled range has the same skew as the full one: the share of the hottest ranks falls on one block. Pareto and
    normal draw shares of the range and do not depend on the scale.
    """
    if law["name"] == "pareto":
        return {"name": "pareto", "h": law["h"], "center": center}
    if law["name"] == "normal":
        return {"name": "normal", "deviation_percent": law["deviation_percent"], "center": center}
    zipf: plain.DistributionZipf = {"name": "zipf", "theta": law["theta"], "center": center}
    ranks_per_block = round(1 / scale)
    if ranks_per_block > 1:
        zipf["ranks_per_block"] = ranks_per_block
    return zipf


def _like_fio(
    section: Section, given: Distribution, law: plain.FioLaw, blocks: Blocks, clone: Clone, complain: Complain
) -> tuple[plain.Distribution, list[str]]:
    """The distribution with fio's own random numbers.

    fio counts blocks by the shorter of the lengths of reads and writes and places them by the alignment, so that its
    offsets stay within the range only if all of these are equal.
    """
    used = section.get(RW).transfers
    block_bytes = blocks.least["read"]
    if blocks.least["write"] != block_bytes or any(blocks.align[name] != block_bytes for name in used):
        raise complain(ZIPF_LIKE_FIO, "needs one length, the same for reads and writes, and no other blockalign")
    if blocks.size_bytes is None:
        raise complain(ZIPF_LIKE_FIO, "works on one file only")
    names = section.get(FILENAME)
    name = names[0] if names else f"{section.name}.{clone.number}.0"
    if section.get(DIRECTORY):
        name = f"{section.get(DIRECTORY)}/{name}"
    count = -(-blocks.size_bytes // block_bytes)
    specified: plain.DistributionLikeFio = {
        "name": "like-fio",
        "law": law,
        "center": given.center,
        "seed": like_fio.seed(name, clone.thread_number),
    }
    reached = like_fio.reached_blocks(given.name, given.parameter, count)
    if reached is None:
        return specified, [
            f"zipf_like_fio: {section.name} has {count:,} blocks, too many to count those that it reaches"
        ]
    return specified, [
        f"zipf_like_fio: fio's {given.name} reaches {100 * reached / count:.1f} % of the {count:,} blocks of "
        f"{section.name}; the others are never accessed and act as spare area"
    ]


def service(section: Section, files: int) -> plain.FileService:
    """How the next file is chosen."""
    given = section.get(FILE_SERVICE)
    match given.name:
        case "roundrobin":
            return {"kind": "round-robin", "ios": given.ios}
        case "sequential":
            return {"kind": "sequential"}
        case "random":
            return {"kind": "random", "ios": given.ios}
        case _:
            return {"kind": "weighted", "weights": _weights(given.name, given.parameter, given.center, files)}


def _weights(law: str, parameter: float, center: float | None, files: int) -> list[float]:
    """The sum of the shares of each file's steps. The first file has the largest share, unless `center` is given.

    (Without a center, fio begins at a random file.)
    """
    steps = files * _STEPS_PER_FILE
    if law == "normal":
        deviation = math.hypot(steps / 12, min(steps * parameter / 100, steps / 2) / math.sqrt(12))
        shares = [math.exp(-0.5 * ((step + 0.5 - steps / 2) / deviation) ** 2) for step in range(steps)]
        turn = 0 if center is None else int(steps * (center - 0.5))
    else:
        if law == "zipf":
            shares = [(step + 1) ** -parameter for step in range(steps)]
        else:
            inverse = math.log(1 - parameter) / math.log(parameter)
            below = [(step / steps) ** inverse for step in range(steps + 1)]
            shares = [above - under for under, above in pairwise(below)]
        turn = 0 if center is None else min(int(steps * center), steps - 1)
    weights = [0.0] * files
    for step, share in enumerate(shares):
        weights[(step + turn) % steps // _STEPS_PER_FILE] += share
    return weights
