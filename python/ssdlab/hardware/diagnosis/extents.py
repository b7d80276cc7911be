"""The location of a file's data, as reported by the file system (FIEMAP)."""

import fcntl
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

_FS_IOC_FIEMAP = 0xC020660B
_SYNC = 0x1
# struct fiemap: start, length, flags, mapped, count, reserved; struct fiemap_extent: logical, physical, length, two
# reserved, flags, three reserved.
_HEADER = struct.Struct("=QQLLLL")
_EXTENT = struct.Struct("=QQQQQLLLL")
_EXTENTS_A_CALL = 512

LAST = 0x1
UNKNOWN = 0x2
DELAYED = 0x4
ENCODED = 0x8
ENCRYPTED = 0x80
NOT_ALIGNED = 0x100
INLINE = 0x200
TAIL = 0x400
UNWRITTEN = 0x800
SHARED = 0x2000


@dataclass(frozen=True)
class Extent:
    """A contiguous part of a file on the device, in bytes. `flags` are FIEMAP's."""

    offset: int
    device_offset: int
    length: int
    flags: int

    @property
    def end(self) -> int:
        return self.offset + self.length


def extents_of(descriptor: int) -> list[Extent]:
    """All extents of a file in order, after flushing it to the device. Holes have no extents.

    Raises OSError if the file system cannot report them.
    """
    return list(_extents(descriptor))


def pieces_on_device(extents: list[Extent]) -> int:
    """The number of contiguous runs on the device; adjacent extents count as one."""
    joined = sum(
        before.end == after.offset and before.device_offset + before.length == after.device_offset
        for before, after in pairwise(extents)
    )
    return len(extents) - joined


def _extents(descriptor: int) -> Iterator[Extent]:
    start = 0
    while True:
        buffer = bytearray(_HEADER.size + _EXTENTS_A_CALL * _EXTENT.size)
        _HEADER.pack_into(buffer, 0, start, (1 << 64) - 1 - start, _SYNC, 0, _EXTENTS_A_CALL, 0)
        fcntl.ioctl(descriptor, _FS_IOC_FIEMAP, buffer)
        mapped = _HEADER.unpack_from(buffer)[3]
        for index in range(mapped):
            logical, physical, length, _, _, flags, *_ = _EXTENT.unpack_from(
                buffer, _HEADER.size + index * _EXTENT.size
            )
            yield Extent(logical, physical, length, flags)
            if flags & LAST:
                return
            start = logical + length
        if not mapped:
            return
