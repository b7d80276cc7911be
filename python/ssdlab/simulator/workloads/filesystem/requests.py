"""Jobs of the engine over extents of the drive: sequential, or random with equal probability for every block.

Not for choosing the extents; `volume.py` does that.
"""

from collections.abc import Sequence

from ssdlab.simulator.engine import plain
from ssdlab.simulator.workloads.filesystem.volume import Extent, joined

# The size of the requests into which the kernel combines dirty pages, and the queue depth of a SATA drive.
WRITEBACK_BYTES = 128 << 10
WRITEBACK_DEPTH = 32
READAHEAD_BYTES = 128 << 10
DISCARD_BYTES = 64 << 20


def in_sequence(
    name: str,
    direction: plain.Direction,
    extents: Sequence[Extent],
    *,
    block_bytes: int,
    iodepth: int,
    more: plain.JobPart | None = None,
) -> plain.JobPart:
    """A job that accesses every byte of the extents once, in order. `stage` and `seed` are missing."""
    ranges = joined(extents)
    io_bytes = sum(extent.length_bytes for extent in ranges)
    service: plain.FileService = {"kind": "sequential"}
    job = _job(name, direction, ranges, block_bytes, iodepth, service)
    job |= {"sequential": True, "io_bytes": io_bytes}
    return job | (more or {})


def at_random(
    name: str,
    direction: plain.Direction,
    extents: Sequence[Extent],
    *,
    block_bytes: int,
    iodepth: int,
    more: plain.JobPart | None = None,
) -> plain.JobPart:
    """A job that accesses as many bytes as the extents hold, in whole blocks, each block with equal probability.

    The rest of an extent that is not a multiple of the block is left out. Raises ValueError if no extent holds a block.
    """
    every = joined(extents)
    whole = [Extent(extent.offset_bytes, extent.length_bytes // block_bytes * block_bytes) for extent in every]
    ranges = [extent for extent in whole if extent.length_bytes]
    if not ranges:
        raise ValueError(f"no extent of the files holds a block of {block_bytes:,} bytes")
    io_bytes = sum(extent.length_bytes for extent in ranges)
    service: plain.FileService = {"kind": "weighted", "weights": [float(extent.length_bytes) for extent in ranges]}
    job = _job(name, direction, ranges, block_bytes, iodepth, service)
    job |= {"sequential": False, "io_bytes": io_bytes}
    return job | (more or {})


def _job(
    name: str,
    direction: plain.Direction,
    ranges: Sequence[Extent],
    block_bytes: int,
    iodepth: int,
    service: plain.FileService,
) -> plain.JobPart:
    sizes: list[plain.BlockSize] = [{"bytes": block_bytes, "percent": 100.0}]
    start = min(extent.offset_bytes for extent in ranges)
    several: plain.Files = {
        "ranges": [{"offset_bytes": extent.offset_bytes, "size_bytes": extent.length_bytes} for extent in ranges],
        "service": service,
    }
    return {
        "name": name,
        "clone": 0,
        "direction": direction,
        "read_percent": 100.0 if direction == "read" else 0.0,
        "offset_bytes": start,
        "size_bytes": max(extent.end_bytes for extent in ranges) - start,
        "number_ios": None,
        "loops": 1,
        "block_sizes": {"read": sizes, "write": sizes, "trim": sizes},
        "block_align_bytes": {"read": block_bytes, "write": block_bytes, "trim": block_bytes},
        "distribution": {"name": "random"},
        "random_map": False,
        "skip_bytes": None,
        "runs": None,
        "random_percent": None,
        "files": several if len(ranges) > 1 else None,
        "iodepth": iodepth,
    }
