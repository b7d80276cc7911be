"""How long requests are: the lengths that `bs`, `bsrange`, `bssplit` and `bs_unaligned` amount to, with their shares.

As fio 3.33 draws them (measured in tests/workloads/jobs): a range is drawn byte by byte from the least length up to the
least plus the most, cut down to whole multiples of the least, and what is above the most counts as that. A mix is cut
down to multiples of its least length too. With `bs_unaligned` neither is; here a length then is a multiple of a drive's
sector.
"""

from collections.abc import Iterable, Mapping
from typing import NotRequired, TypedDict

from ssdlab.engine import plain
from ssdlab.workloads.jobs.directions import Direction, each
from ssdlab.workloads.jobs.patterns import LengthRange, Pattern, SizeShare
from ssdlab.workloads.jobs.values import SECTOR_BYTES

# So many lengths fill an engine's table of 64 KiB; every result repeats them.
LENGTHS_MAX = 4096


def of_range(lengths: LengthRange, *, unaligned: bool) -> tuple[SizeShare, ...]:
    """The lengths of `bs` or `bsrange`. ValueError when there are more than LENGTHS_MAX of them."""
    least, most = lengths.least_bytes, lengths.most_bytes
    if least == most:
        return (SizeShare(least, 100),)
    step = SECTOR_BYTES if unaligned else least
    # Below the most, every length stands for as many bytes as lie between it and the next.
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
    """The shortest of them."""
    return min(entry.size_bytes for entry in lengths)


def table_names(pattern: Pattern, *, by_order: bool) -> tuple[Direction, ...]:
    """Whose lengths, of reads, writes or trims, the requests have. `by_order` is `bs_is_seq_rand`: whatever their
    direction, requests in sequence have those of reads, and random ones those of writes."""
    if not by_order:
        return pattern.transfers
    return ("read",) if pattern.sequential else ("write", "read")


class LengthTables(TypedDict):
    """Two keys of the engine's job."""

    block_sizes: plain.PerDirection[list[plain.BlockSize]]
    following_block_sizes: NotRequired[plain.PerDirection[list[plain.BlockSize]] | None]
    """Those of requests in a row, where they are others."""


def tables(sizes: Mapping[Direction, Iterable[SizeShare]], pattern: Pattern, *, by_order: bool) -> LengthTables:
    """The engine's `block_sizes`, and `following_block_sizes` where those of requests in a row are others."""

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
