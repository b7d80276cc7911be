"""The regions of the drive where experiments read, so that they find the data of the fill."""

from dataclasses import dataclass

from ssdlab.identification.box import section

_ALIGNED_BYTES = 1 << 20
_READ_BYTES = 64 << 20


@dataclass(frozen=True)
class Region:
    """A part of the drive."""

    offset_bytes: int
    size_bytes: int

    def reads(self, size_bytes: int, count: int, *, depth: int = 1, aligned_bytes: int | None = None) -> str:
        """A job of `count` random reads of this size within the region; repeated addresses are allowed."""
        name = f"read {size_bytes} at depth {depth}"
        return section(
            name, "randread", size_bytes, depth, f"blockalign={aligned_bytes or size_bytes}", "norandommap",
            f"offset={self.offset_bytes}", f"size={self.size_bytes}", f"io_size={count * size_bytes}",
        )  # fmt: skip


def read_region(written_bytes: int) -> Region:
    """A region near the end of the sequentially written data, past any cache, but not at the very end, which can still
    be in memory."""
    size = min(_READ_BYTES, written_bytes // 8) // _ALIGNED_BYTES * _ALIGNED_BYTES
    offset = (written_bytes * 15 // 16 - size) // _ALIGNED_BYTES * _ALIGNED_BYTES
    return Region(max(0, offset), size)
