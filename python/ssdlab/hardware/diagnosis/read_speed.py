"""Measures the sequential read speed, without the page cache, segment by segment."""

import mmap
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from ssdlab.hardware.diagnosis.clock import Clock

BLOCK_BYTES = 1 << 20
SEGMENT_BYTES = 16 << 20
ALIGNMENT_BYTES = 4096
_GRANULE_BYTES = 64 << 10
_ZEROES = bytes(_GRANULE_BYTES)
_ZERO_SHARE_MAX = 1 / 16


@dataclass(frozen=True)
class Segment:
    """A part of a file or device that was read in sequence."""

    offset: int
    length: int
    seconds: float
    zero_bytes: int
    """Bytes that read as zeroes. They were possibly never written, so that no flash was read."""

    @property
    def mb_s(self) -> float | None:
        """The speed in 10^6 bytes per second, or None if the clock did not advance."""
        return self.length / self.seconds / 1e6 if self.seconds > 0 else None

    @property
    def is_empty(self) -> bool:
        """Whether so much reads as zeroes that the speed does not reflect the flash."""
        return self.zero_bytes > self.length * _ZERO_SHARE_MAX


def read(
    descriptor: int,
    stretches: Sequence[tuple[int, int]],
    clock: Clock,
    *,
    advance: Callable[[int], None] = lambda length: None,
) -> list[Segment]:
    """Reads stretches (offset, length) in the given order. The descriptor must be open with O_DIRECT.

    `advance` is called with the number of bytes read. Raises OSError if a read fails.
    """
    found = []
    buffer = mmap.mmap(-1, max((length for _, length in stretches), default=BLOCK_BYTES))
    with memoryview(buffer) as view:
        for offset, length in stretches:
            done = 0
            began = clock()
            while done < length:
                got = os.preadv(descriptor, [view[done : min(length, done + BLOCK_BYTES)]], offset + done)
                if not got:
                    break
                done += got
                advance(got)
            seconds = clock() - began
            if done:
                found.append(Segment(offset, done, seconds, _zero_bytes(buffer, done)))
    return found


def _zero_bytes(buffer: mmap.mmap, length: int) -> int:
    """The number of zero bytes in granules of 64 KiB. Computed after reading, so as not to slow it down."""
    return sum(
        min(_GRANULE_BYTES, length - at)
        for at in range(0, length, _GRANULE_BYTES)
        if not any(buffer[at : at + 16])
        and buffer[at : min(length, at + _GRANULE_BYTES)] == _ZEROES[: min(_GRANULE_BYTES, length - at)]
    )


def stretches(
    pieces: Sequence[tuple[int, int]],
    *,
    segment_bytes: int = SEGMENT_BYTES,
    total_bytes_max: int | None = None,
    phase: float = 0.0,
) -> list[tuple[int, int]]:
    """Cuts pieces (offset, length) into segments. With a limit, selects as many as fit in it, evenly spread; another
    `phase`, from 0 to below 1, selects others."""
    cut = [
        (start, min(segment_bytes, offset + length - start))
        for offset, length in pieces
        for start in range(offset, offset + length, segment_bytes)
    ]
    # Direct reads must start and end at sector boundaries.
    cut = [(start, length // ALIGNMENT_BYTES * ALIGNMENT_BYTES) for start, length in cut if length >= ALIGNMENT_BYTES]
    if total_bytes_max is None or sum(length for _, length in cut) <= total_bytes_max:
        return cut
    count = max(1, total_bytes_max // segment_bytes)
    step = len(cut) / count
    return [cut[int((index + phase) * step)] for index in range(count)] if step > 1 else cut


def mean_mb_s(segments: Sequence[Segment]) -> float | None:
    """The mean speed: all bytes divided by the total time, or None if the clock did not advance."""
    seconds = sum(segment.seconds for segment in segments)
    return sum(segment.length for segment in segments) / seconds / 1e6 if seconds > 0 else None


def median_mb_s(segments: Sequence[Segment]) -> float | None:
    speeds = [speed for segment in segments if (speed := segment.mb_s) is not None]
    return median(speeds) if speeds else None
