"""The regions of the drive where experiments read, so that they find the data of the fill."""

from dataclasses import dataclass

from ssdlab.hardware.identification.box import section

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

    def pairs(self, size_bytes: int, count: int, *, aligned_bytes: int) -> str:
        """A job of `count` pairs of random reads within the region. The reads of a pair are submitted together, the
        next pair when both have completed."""
        return section(
            "pairs", "randread", size_bytes, 2, f"blockalign={aligned_bytes}", "norandommap",
            "iodepth_batch_submit=2", "iodepth_batch_complete_min=2",
            f"offset={self.offset_bytes}", f"size={self.size_bytes}", f"io_size={2 * count * size_bytes}",
        )  # fmt: skip


def read_region(written_bytes: int) -> Region:
    """A region in the middle of the sequentially written data: past an SLC cache that has filled, and before the end,
    where garbage collection and an SLC cache that is emptied into the rest mix other data between."""
    size = min(_READ_BYTES, written_bytes // 8) // _ALIGNED_BYTES * _ALIGNED_BYTES
    offset = written_bytes // 2 // _ALIGNED_BYTES * _ALIGNED_BYTES
    return Region(max(0, offset), size)
