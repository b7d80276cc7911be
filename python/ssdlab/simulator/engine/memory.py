"""Checks that a run fits into memory before its tables are allocated. The system would otherwise kill it, and possibly
other processes, during the run.

The engine computes the memory that a run needs; `available_memory` reads the memory that is available.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Any

from ssdlab.errors import InputError
from ssdlab.foundation import available_memory
from ssdlab.foundation.quantities import format_bytes_binary, format_scale

# The smallest number of units to which an erase unit can be scaled (ssdlab.simulator.drives.resolve).
_UNITS_PER_ERASE_UNIT_MIN = 64


@dataclass(frozen=True)
class Needed:
    """The memory that a run needs, and its dependence on the drive's scale."""

    of_units_bytes: int
    """Proportional to the scale."""
    other_bytes: int
    scale: Fraction
    """The scale of the run."""
    scale_min: Fraction
    """The smallest scale of this drive."""

    @property
    def bytes(self) -> int:
        return self.of_units_bytes + self.other_bytes

    def bytes_at(self, scale: Fraction) -> int:
        """The memory for the same run on a drive of another scale."""
        return round(self.of_units_bytes * scale / self.scale) + self.other_bytes


def needed(memory_json: str, drive: Mapping[str, Any], scale: str) -> Needed:
    """The memory needed, from the JSON text of the engine's `memory` function."""
    memory = json.loads(memory_json)
    own = Fraction(scale)
    return Needed(memory["of_units_bytes"], memory["other_bytes"], own, own * _least_share(drive))


def check(runs: Sequence[Needed]) -> None:
    """Raises InputError unless all these runs fit into memory at once. The message includes a scale at which they
    would."""
    available = available_memory.available_bytes()
    total = sum(run.bytes for run in runs)
    if available is None or total <= available:
        return
    raise InputError(f"{_too_much(len(runs), total, available)}; {_scale_that_fits(runs, available)}")


def check_side_by_side(runs: Sequence[Needed], count: int) -> None:
    """Raises InputError unless any `count` of these runs, each of which fits alone, fit into memory at once."""
    fit = fitting(runs)
    if fit >= count:
        return
    available = available_memory.available_bytes() or 0
    largest = _largest_first(runs)
    raise InputError(
        f"{_too_much(count, sum(largest[:count]), available)}; {fit} at a time would need "
        f"{format_bytes_binary(sum(largest[:fit]))}"
    )


def fitting(runs: Sequence[Needed], share: float = 1.0) -> int:
    """The number of these runs that fit into that share of the available memory at once, in any selection."""
    available = available_memory.available_bytes()
    if available is None:
        return len(runs)
    return sum(total <= available * share for total in accumulate(_largest_first(runs)))


def _largest_first(runs: Sequence[Needed]) -> list[int]:
    return sorted((run.bytes for run in runs), reverse=True)


def _too_much(count: int, total: int, available: int) -> str:
    what = "the run needs" if count == 1 else f"{count} runs at a time need"
    return f"{what} {format_bytes_binary(total)} of memory, {format_bytes_binary(available)} are available"


def _scale_that_fits(runs: Sequence[Needed], available: int) -> str:
    halves = 1
    while all(run.scale / 2**halves >= run.scale_min for run in runs):
        size = sum(run.bytes_at(run.scale / 2**halves) for run in runs)
        if size <= available:
            scale = format_scale(runs[0].scale / 2**halves)
            return f"--scale {scale} would need {format_bytes_binary(size)}"
        halves += 1
    return "no --scale is small enough"


def _least_share(drive: Mapping[str, Any]) -> Fraction:
    """The factor by which the drive's erase units can be scaled down."""
    nand, ftl = drive["nand"], drive["ftl"]
    units = nand["pages_per_block"] * nand["page_bytes"] // ftl["mapping_unit_bytes"]
    if ftl["erase_unit"] == "superblock":
        units *= nand["channels"] * nand["dies_per_channel"] * nand["planes_per_die"]
    return Fraction(_UNITS_PER_ERASE_UNIT_MIN, max(units, 1))
