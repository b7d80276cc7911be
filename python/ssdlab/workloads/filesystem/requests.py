"""Jobs of the engine over extents of the drive: in sequence, or at random with every block as likely.

Not for where the extents come from; `volume.py` has them.
"""

from collections.abc import Sequence

from ssdlab.engine import plain
from ssdlab.workloads.filesystem.volume import Extent, joined

# What the kernel gathers of dirty pages into a request, and a SATA drive's queue.
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
    """Every byte of the extents once, in their order: a job but for its stage and its seed."""
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
    """As many bytes as the extents hold, in whole blocks, each block as likely as any other.

    Of an extent that is no multiple of the block the rest is left out, unless no extent holds a whole block.
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
