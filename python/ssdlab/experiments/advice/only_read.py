"""Drives that are only read, such as those of a model server or a cache of a content network: how long they live, what
refreshing the data costs, how many reads become slow, and how often to refresh.

By the laws of `ssdlab.theory.read_disturb` and `ssdlab.theory.read_retries`; nothing is simulated.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ssdlab.errors import InputError
from ssdlab.foundation.quantities import format_bytes, format_bytes_binary, format_share, rounded
from ssdlab.theory import read_retries
from ssdlab.theory.endurance import DAYS_PER_YEAR
from ssdlab.theory.price import SECONDS_PER_DAY
from ssdlab.theory.read_disturb import ReadOnly

if TYPE_CHECKING:
    from ssdlab.simulator.drives import ResolvedDrive

READ_BYTES = 128 * 1024
# Beyond it other causes end a drive's life.
_YEARS_TOLD_MAX = 100
_YEARS_WITHOUT_REFRESH = 1
_TIMES = (1, 3, 10)
_DAYS_TOLD_MIN = 1
"""Less is told in hours."""


def read_only(reads_per_day: int, read_bytes: int, drive: "ResolvedDrive", reads_max: int | None = None) -> ReadOnly:
    """A drive that is only read and rewrites a block after `reads_max` page reads, by default after its own number.

    Raises InputError if a quantity is not above 0, or nothing says when blocks are rewritten.
    """
    for option, value in (("--reads-per-day", reads_per_day), ("--read-size", read_bytes)):
        if value <= 0:
            raise InputError(f"{option} is {value}; allowed: above 0")
    if not reads_max and not drive.file.background.read_disturb_reads:
        raise InputError(
            f"{drive.name}: background.read_disturb_reads is 0, so that nothing says after how many page reads a block "
            "is rewritten; give it with --set background.read_disturb_reads=N"
        )
    return ReadOnly(drive, reads_per_day, read_bytes, reads_max)


def sentences(found: ReadOnly) -> list[str]:
    """What refresh does to the drive, and costs."""
    drive = found.drive
    return [
        f"{format_bytes(round(found.read_bytes_per_day))} read a day in requests of "
        f"{format_bytes_binary(found.request_bytes)}, evenly over a full drive: "
        f"{format_bytes(round(found.programmed_bytes_per_day))} a day are rewritten, "
        f"{format_share(found.programmed_per_read_byte)} of what is read, each block after {found.reads_max:,} page "
        f"reads, every {_interval(found)}",
        f"{drive.endurance_cycles} cycles of all flash, even wear: {_years(found)} years",
        f"{_cost(found)}; without writes garbage collection adds nothing",
        *_slow(found),
    ]


def refreshes(found: ReadOnly, life_years: float) -> list[ReadOnly]:
    """The same drive refreshed as often as it can be to live so long, and more rarely."""
    least = max(1, math.ceil(found.reads_max * life_years / found.years))
    return [replace(found, after_reads=least * times) for times in _TIMES]


def advice(refreshed: Sequence[ReadOnly], life_years: float) -> list[str]:
    """How often the drive can be refreshed, what that costs, and how many reads stay slow."""
    first = refreshed[0]
    said = [
        f"{first.drive.name} lives {rounded(life_years)} years if a block is rewritten after {first.reads_max:,} page "
        f"reads or more (--set background.read_disturb_reads={first.reads_max})"
    ]
    for other in refreshed:
        slow = _slow(other)
        said.append(
            f"after {other.reads_max:,}, every {_interval(other)}: {_years(other)} years, "
            f"{_cost(other)}" + (f"; {slow[0]}" if slow else "")
        )
    if not first.drive.file.read_retries.retry_us:
        said.append("how many reads become slow before that is not known: the drive file has no [read_retries]")
    return said


def row(found: ReadOnly) -> dict[str, float | int | None]:
    """The figures of one interval between refreshes."""
    file = found.drive.file
    slow = read_retries.mean_shares(file, found.reads_max, found.days_between_refreshes)
    return {
        "read_disturb_reads": found.reads_max,
        "days_between_refreshes": found.days_between_refreshes,
        "years": found.years,
        "programmed_bytes_per_day": found.programmed_bytes_per_day,
        "share_of_time": found.share_of_time,
        "watts": _watts(found),
        "share_with_retries": slow[0] if slow else None,
    }


def table(refreshed: Sequence[ReadOnly]) -> tuple[list[str], list[list[str]]]:
    """The heads and the rows of a table of the same figures, without columns of which nothing is known."""
    heads = ["page reads of a block", "refreshed every", "years", "written by refresh a day", "time of the dies"]
    rows = [
        [
            f"{each.reads_max:,}",
            _interval(each),
            _years(each),
            format_bytes(round(each.programmed_bytes_per_day)),
            format_share(each.share_of_time),
        ]
        for each in refreshed
    ]
    found = [row(each) for each in refreshed]
    if found[0]["watts"] is not None:
        heads.append("W on average")
        rows = [[*cells, f"{each['watts']:.3g}"] for cells, each in zip(rows, found, strict=True)]
    if found[0]["share_with_retries"] is not None:
        heads.append("reads with a retry")
        shares = [format_share(each["share_with_retries"] or 0.0) for each in found]
        rows = [[*cells, share] for cells, share in zip(rows, shares, strict=True)]
    return heads, rows


def _interval(found: ReadOnly) -> str:
    """How long a block lies between two refreshes."""
    days = found.days_between_refreshes
    return f"{rounded(days)} days" if days >= _DAYS_TOLD_MIN else f"{rounded(days * 24)} hours"


def _years(found: ReadOnly) -> str:
    return rounded(found.years) if found.years < _YEARS_TOLD_MAX else f"more than {_YEARS_TOLD_MAX}"


def _cost(found: ReadOnly) -> str:
    cost = f"refresh takes {format_share(found.share_of_time)} of the time of the dies"
    watts = _watts(found)
    return cost if watts is None else f"{cost} and {watts:.3g} W on average"


def _watts(found: ReadOnly) -> float | None:
    """The mean power of refresh; None without `[power]`."""
    power, nand = found.drive.power, found.drive.file.nand
    if power is None:
        return None
    page_uj = power["read_uj"] + power["program_uj"] + power["erase_uj"] / nand.pages_per_block
    return found.programmed_bytes_per_day / nand.page_bytes * page_uj / 1e6 / SECONDS_PER_DAY


def _slow(found: ReadOnly) -> list[str]:
    """The reads that need a retry; nothing of a drive without `[read_retries]`."""
    file = found.drive.file
    if not file.read_retries.retry_us:
        return []
    new, worn = (
        read_retries.mean_shares(file, found.reads_max, found.days_between_refreshes, cycles)
        for cycles in (None, file.nand.endurance_cycles)
    )
    year = _YEARS_WITHOUT_REFRESH * DAYS_PER_YEAR
    reads = found.reads_max * year / found.days_between_refreshes
    never = read_retries.shares(file, reads, year)[0]
    return [
        f"{format_share(new[0])} of the reads need a retry, at the end of the rated cycles {format_share(worn[0])}, "
        f"and after a year without refresh {format_share(never)} would; a read takes "
        f"{read_retries.mean_read_us(file, new):.3g} us in the array on average"
    ]
