"""The allocation of files on a partition, modelled after ext4: block groups, extents, next-fit.

The layout follows ext4's defaults (e2fsprogs 1.47, 4 KiB blocks): groups of 128 MiB, 16 of which form a flexible group
with the bitmaps and inode tables of all 16 at its beginning, and a journal in the middle. The allocator is a simplified
mballoc: large files continue where the last one ended (stream allocation), in pieces of up to 8 MiB that each look for
a hole of their size; a file that grows continues behind its last block if that space is free.

Not modelled: the locality groups of small files, several parallel writers, the blocks of directories.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

BLOCK_BYTES = 4096
GROUP_BYTES = 128 << 20
GROUPS_PER_FLEX = 16
# Two bitmaps of one block each, and 8,192 inodes of 256 bytes.
TABLES_BYTES_PER_GROUP = 2 * BLOCK_BYTES + 8192 * 256
# The table of mke2fs: (file-system size, journal size below it). Larger file systems have a journal of 1 GiB.
_JOURNALS = ((1 << 30, 16 << 20), (2 << 30, 32 << 20), *((1 << power, 1 << (power - 8)) for power in range(34, 38)))
_JOURNAL_BYTES_MAX = 1 << 30
PIECE_BYTES = 8 << 20


class NoSpace(Exception):
    """The volume has too few free bytes; the message says how many are required and how many are free."""


@dataclass(frozen=True, order=True)
class Extent:
    """A contiguous range of bytes of the partition."""

    offset_bytes: int
    length_bytes: int

    @property
    def end_bytes(self) -> int:
        """The offset behind the last byte."""
        return self.offset_bytes + self.length_bytes


def joined(extents: Iterable[Extent]) -> list[Extent]:
    """Merges neighbours in the list that are contiguous; the order does not change."""
    found: list[Extent] = []
    for extent in extents:
        if found and found[-1].end_bytes == extent.offset_bytes:
            found[-1] = Extent(found[-1].offset_bytes, found[-1].length_bytes + extent.length_bytes)
        else:
            found.append(extent)
    return found


class Volume:
    """Free and used extents of a partition that begins at the drive's first byte."""

    def __init__(self, size_bytes: int, scale: Fraction = Fraction(1)) -> None:
        """Scales groups and tables by `scale`. Raises ValueError if there is no space for data."""
        self.size_bytes = size_bytes // BLOCK_BYTES * BLOCK_BYTES
        self._piece_bytes = _blocks(PIECE_BYTES * scale)
        flex_bytes = _blocks(GROUP_BYTES * GROUPS_PER_FLEX * scale)
        tables_share = Fraction(TABLES_BYTES_PER_GROUP, GROUP_BYTES)
        tables = []
        for start in range(0, self.size_bytes, flex_bytes):
            tables.append(Extent(start, _blocks(min(flex_bytes, self.size_bytes - start) * tables_share)))
        self._starts, self._ends = [0], [self.size_bytes]
        for table in tables:
            self._take(table)
        self._cursor = 0
        journal_bytes = _blocks(_journal_bytes(self.size_bytes / scale) * scale)
        if self.free_bytes <= journal_bytes:
            raise ValueError(f"{size_bytes:,} bytes leave no space for data after tables and journal")
        self.journal = self.allocate(journal_bytes, goal=self.size_bytes // 2 // BLOCK_BYTES * BLOCK_BYTES)
        self._cursor = 0
        self.metadata = sorted([*tables, *self.journal])

    @property
    def free_bytes(self) -> int:
        """The bytes available for files."""
        return sum(end - start for start, end in zip(self._starts, self._ends, strict=True))

    def free_extents(self) -> list[Extent]:
        """The extents that no file and no table uses, in order of offset."""
        return [Extent(start, end - start) for start, end in zip(self._starts, self._ends, strict=True)]

    def allocate(self, size_bytes: int, goal: int | None = None) -> list[Extent]:
        """Allocates `size_bytes`, in whole blocks, from `goal` on or where the last file ended. Raises NoSpace."""
        left = -(-size_bytes // BLOCK_BYTES) * BLOCK_BYTES
        if left > self.free_bytes:
            raise NoSpace(f"{left:,} bytes are required and {self.free_bytes:,} are free")
        at = self._cursor if goal is None else goal
        found = []
        while left:
            piece = self._next_piece(at, min(left, self._piece_bytes))
            self._take(piece)
            found.append(piece)
            left -= piece.length_bytes
            at = piece.end_bytes
        self._cursor = at
        return joined(found)

    def free(self, extents: Iterable[Extent]) -> None:
        """Marks the extents as free."""
        for extent in extents:
            place = bisect_left(self._starts, extent.offset_bytes)
            start, end = extent.offset_bytes, extent.end_bytes
            if place < len(self._starts) and self._starts[place] == end:
                end = self._ends[place]
                del self._starts[place], self._ends[place]
            if place and self._ends[place - 1] == start:
                self._ends[place - 1] = end
            else:
                self._starts.insert(place, start)
                self._ends.insert(place, end)

    def shrink(self, size_bytes: int) -> None:
        """Removes the free space behind the new end. The caller has already moved the data there."""
        self.size_bytes = size_bytes // BLOCK_BYTES * BLOCK_BYTES
        kept = [(start, min(end, self.size_bytes)) for start, end in zip(self._starts, self._ends, strict=True)]
        self._starts = [start for start, end in kept if start < end]
        self._ends = [end for start, end in kept if start < end]
        self.metadata = [extent for extent in self.metadata if extent.end_bytes <= self.size_bytes]
        self._cursor = min(self._cursor, self.size_bytes)

    def _next_piece(self, at: int, wanted_bytes: int) -> Extent:
        """The next hole of this size at or behind `at`, wrapping at the end; otherwise the next hole of any size."""
        first = max(0, bisect_right(self._starts, at) - 1)
        order = [*range(first, len(self._starts)), *range(first)]
        whole = (self._within(index, at if index == first else 0, wanted_bytes) for index in order)
        piece = next((extent for extent in whole if extent.length_bytes == wanted_bytes), None)
        if piece is None and self._starts[first] < at:
            # The part of the first hole before `at` is tried last.
            piece = self._within(first, 0, wanted_bytes)
            piece = piece if piece.length_bytes == wanted_bytes else None
        if piece is None:
            parts = (self._within(index, at if index == first else 0, wanted_bytes) for index in [*order, first])
            piece = next((extent for extent in parts if extent.length_bytes), None)
        return piece or self._within(first, 0, wanted_bytes)

    def _within(self, index: int, at: int, wanted_bytes: int) -> Extent:
        start = max(self._starts[index], at)
        return Extent(start, max(0, min(self._ends[index] - start, wanted_bytes)))

    def _take(self, extent: Extent) -> None:
        index = bisect_right(self._starts, extent.offset_bytes) - 1
        start, end = self._starts[index], self._ends[index]
        assert start <= extent.offset_bytes and extent.end_bytes <= end, "only what is free is taken"
        rests = [(start, extent.offset_bytes), (extent.end_bytes, end)]
        kept = [(one, other) for one, other in rests if one < other]
        self._starts[index : index + 1] = [one for one, _ in kept]
        self._ends[index : index + 1] = [other for _, other in kept]


def _journal_bytes(volume_bytes: Fraction) -> int:
    return next((journal for below, journal in _JOURNALS if volume_bytes < below), _JOURNAL_BYTES_MAX)


def _blocks(size: Fraction | int) -> int:
    return max(1, round(Fraction(size) / BLOCK_BYTES)) * BLOCK_BYTES
