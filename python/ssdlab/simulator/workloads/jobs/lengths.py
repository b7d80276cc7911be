"""The lengths of requests with their shares, from `bs`, `bsrange`, `bssplit` and `bs_unaligned`.

The rules are those of fio 3.33 (measured in tests/simulator/workloads/jobs). A length from a range is drawn in bytes
between the shortest length and the sum of the shortest and the longest, rounded down to a multiple of the shortest, and
limited to the longest. Lengths of a mix are also rounded down to multiples of the shortest. With `bs_unaligned` they
are not rounded in fio; here they are then multiples of a drive's sector.
"""

from collections.abc import Iterable, Mapping
from typing import NotRequired, TypedDict

from ssdlab.simulator.engine import plain
from ssdlab.simulator.workloads.jobs.directions import Direction, each
from ssdlab.simulator.workloads.jobs.patterns import LengthRange, Pattern, SizeShare
from ssdlab.simulator.workloads.jobs.values import SECTOR_BYTES

# This number of lengths fills an engine's table of 64 KiB; every result repeats them.
LENGTHS_MAX = 4096


def of_range(lengths: LengthRange, *, unaligned: bool) -> tuple[SizeShare, ...]:
    """The lengths of `bs` or `bsrange`. Raises ValueError if there are more than LENGTHS_MAX."""
    least, most = lengths.least_bytes, lengths.most_bytes
    if least == most:
        return (SizeShare(least, 100),)
    step = SECTOR_BYTES if unaligned else least
    # Below the longest, the share of each length is the number of bytes up to the next length.
    below = range(least, most, step)
    if len(below) >= LENGTHS_MAX:
        raise ValueError(f"{len(below) + 1:,} lengths; allowed are {LENGTHS_MAX:,}")
    shares = [SizeShare(length, 100 * step / most) for length in below]
    return (*shares, SizeShare(most, 100 - 100 * step * len(below) / most))


def of_mix(entries: Iterable[SizeShare], *, unaligned: bool) -> tuple[SizeShare, ...]:
    """The lengths of `bssplit`."""
    entries = tuple(entries)
    least = min(entry.size_bytes for entry in entries)
    shares: dict[int, float] = {}
    for entry in entries:
        length = entry.size_bytes if unaligned else entry.size_bytes // least * least
        shares[length] = shares.get(length, 0) + entry.percent
    return tuple(SizeShare(length, share) for length, share in shares.items())


def least(lengths: Iterable[SizeShare]) -> int:
    """The shortest length."""
    return min(entry.size_bytes for entry in lengths)


def table_names(pattern: Pattern, *, by_order: bool) -> tuple[Direction, ...]:
    """The directions whose lengths the requests use.

    With `by_order` (`bs_is_seq_rand`), sequential requests use the lengths of reads and random ones those of writes, in
    any direction.
    """
    if not by_order:
        return pattern.transfers
    return ("read",) if pattern.sequential else ("write", "read")


class LengthTables(TypedDict):
    """Two keys of the engine's job."""

    block_sizes: plain.PerDirection[list[plain.BlockSize]]
    following_block_sizes: NotRequired[plain.PerDirection[list[plain.BlockSize]] | None]
    """The lengths of consecutive requests, if different."""


def tables(sizes: Mapping[Direction, Iterable[SizeShare]], pattern: Pattern, *, by_order: bool) -> LengthTables:
    """The engine's `block_sizes`, and `following_block_sizes` if consecutive requests have other lengths."""

    def entries(name: Direction) -> list[plain.BlockSize]:
        return [{"bytes": entry.size_bytes, "percent": float(entry.percent)} for entry in sizes[name]]

    def same(name: Direction) -> plain.PerDirection[list[plain.BlockSize]]:
        shared = entries(name)
        return each(lambda _: shared)

    if not by_order:
        return {"block_sizes": each(entries)}
    first, *following = table_names(pattern, by_order=True)
    if following:
        return {"block_sizes": same(first), "following_block_sizes": same(following[0])}
    return {"block_sizes": same(first)}
