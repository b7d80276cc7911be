"""The parts of a device that a mounted file system uses, as reported by the file system (GETFSMAP: ext4 and XFS)."""

import fcntl
import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass

_FS_IOC_GETFSMAP = 0xC0C0583B
# struct fsmap_head: flags in and out, count, entries, six reserved; then struct fsmap: device, flags, physical, owner,
# offset, length, three reserved: a low and a high key, then the records.
_HEADER = struct.Struct("=IIII48x")
_RECORD = struct.Struct("=IIQQQQ24x")
_RECORDS_A_CALL = 512
_NUMBER_MAX = (1 << 64) - 1

_PREALLOCATED = 0x1
_SPECIAL_OWNER = 0x10
_LAST = 0x20
_FREE = (0, 1)


@dataclass(frozen=True)
class Region:
    """A contiguous part of a device, in bytes."""

    offset: int
    length: int


@dataclass(frozen=True)
class SpaceMap:
    """The space on one device that a file system uses, and the sizes of the rest."""

    used: tuple[Region, ...]
    """Used regions, in ascending order."""
    free_bytes: int
    preallocated_bytes: int
    """Space that is allocated to files but was never written."""


def space_map(descriptor: int, size_bytes: int) -> SpaceMap:
    """The space map of the file system of an open file or folder, on a device of `size_bytes`.

    Space that is not reported as free counts as used: ext4 omits some used space (seen with Linux 6.18: between the
    last free space of a block group and the next group). Raises OSError if the file system cannot report it, or without
    root.
    """
    used: list[Region] = []
    end = free_bytes = preallocated_bytes = 0
    for region, is_preallocated in sorted(_unused(descriptor), key=lambda found: found[0].offset):
        if region.offset > end:
            used.append(Region(end, region.offset - end))
        end = max(end, region.offset + region.length)
        if is_preallocated:
            preallocated_bytes += region.length
        else:
            free_bytes += region.length
    if end < size_bytes:
        used.append(Region(end, size_bytes - end))
    return SpaceMap(tuple(used), free_bytes, preallocated_bytes)


def _unused(descriptor: int) -> Iterator[tuple[Region, bool]]:
    """Unused runs, and whether each is preallocated to a file."""
    device = _kernel_number(os.fstat(descriptor).st_dev)
    low = (0, 0, 0, 0, 0, 0)
    while True:
        buffer = bytearray(_HEADER.size + (2 + _RECORDS_A_CALL) * _RECORD.size)
        _HEADER.pack_into(buffer, 0, 0, 0, _RECORDS_A_CALL, 0)
        _RECORD.pack_into(buffer, _HEADER.size, *low)
        high = (0xFFFFFFFF, 0xFFFFFFFF, _NUMBER_MAX, _NUMBER_MAX, _NUMBER_MAX, 0)
        _RECORD.pack_into(buffer, _HEADER.size + _RECORD.size, *high)
        fcntl.ioctl(descriptor, _FS_IOC_GETFSMAP, buffer)
        entries = _HEADER.unpack_from(buffer)[3]
        record = low
        for index in range(entries):
            record = _RECORD.unpack_from(buffer, _HEADER.size + (2 + index) * _RECORD.size)
            number, flags, physical, owner, _, length = record
            # XFS can have a log or a real-time part on another device.
            if number != device:
                continue
            is_free = bool(flags & _SPECIAL_OWNER) and (owner >> 32, owner & 0xFFFFFFFF) == _FREE
            if is_free or flags & _PREALLOCATED:
                yield Region(physical, length), not is_free
        if not entries or record[1] & _LAST:
            return
        low = record


def _kernel_number(device: int) -> int:
    """The device number as the kernel encodes it for user space (new_encode_dev)."""
    major, minor = os.major(device), os.minor(device)
    return (minor & 0xFF) | (major << 8) | ((minor & ~0xFF) << 12)
