"""The sequential read speed of a file or drive, relative to the best speed of its drive."""

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypedDict

from ssdlab.diagnosis import clock, read_speed
from ssdlab.diagnosis.read_speed import Segment
from ssdlab.safety.held import FileId, open_same
from ssdlab.safety.place import Place

BYTES_MIN = 8 << 20
"""The least amount to read; less is only a few requests, and possibly the drive's cache."""
_SEGMENTS_MIN = 16
_DISK_PLACES = 24
_SLOWEST = 5
_MIB = 1 << 20


class SlowSegmentJson(TypedDict):
    offset: int
    bytes: int
    mb_s: float | None


class ReadsJson(TypedDict):
    """The read test in the output of `ssdlab check --json`; speeds in MB/s."""

    clock: Literal["simulated", "wall"]
    read_bytes: int
    empty_bytes: int
    mean_mb_s: float | None
    best_mb_s: float | None
    best_is_given: bool
    share_of_best: float | None
    segment_mb_s: dict[str, float] | None
    slowest_segments: list[SlowSegmentJson]
    disk_places_mb_s: list[float]
    notes: list[str]


@dataclass(frozen=True)
class Reads:
    """The segments read, and their speeds."""

    segments: tuple[Segment, ...]
    """In order, without segments that read as zeroes in part or completely, because a drive need not read flash for
    them."""
    empty_bytes: int
    disk_mb_s: tuple[float, ...]
    """Speeds of places spread over the disk."""
    given_best_mb_s: float | None
    clock_is_simulated: bool
    notes: tuple[str, ...] = field(default=())

    @property
    def mean_mb_s(self) -> float | None:
        return read_speed.mean_mb_s(self.segments)

    @property
    def best_mb_s(self) -> float | None:
        """The speed given by the user, otherwise the 90th percentile of all segments read, in the file and over the
        disk."""
        if self.given_best_mb_s is not None:
            return self.given_best_mb_s
        speeds = sorted((*self.speeds, *self.disk_mb_s))
        return quantile(speeds, 0.9) if speeds else None

    @property
    def speeds(self) -> list[float]:
        return [speed for segment in self.segments if (speed := segment.mb_s) is not None]

    @property
    def share_of_best(self) -> float | None:
        mean, best = self.mean_mb_s, self.best_mb_s
        return min(1.0, mean / best) if mean and best else None

    def to_dict(self) -> ReadsJson:
        """The values for `ssdlab check --json`."""
        speeds = sorted(self.speeds)
        slowest = sorted(
            (segment for segment in self.segments if segment.mb_s is not None), key=lambda each: each.mb_s or 0
        )
        quantiles = {"min": 0.0, "p10": 0.1, "median": 0.5, "p90": 0.9, "max": 1.0}
        return {
            "clock": "simulated" if self.clock_is_simulated else "wall",
            "read_bytes": sum(segment.length for segment in self.segments),
            "empty_bytes": self.empty_bytes,
            "mean_mb_s": self.mean_mb_s,
            "best_mb_s": self.best_mb_s,
            "best_is_given": self.given_best_mb_s is not None,
            "share_of_best": self.share_of_best,
            "segment_mb_s": {name: quantile(speeds, q) for name, q in quantiles.items()} if speeds else None,
            "slowest_segments": [
                {"offset": each.offset, "bytes": each.length, "mb_s": each.mb_s} for each in slowest[:_SLOWEST]
            ],
            "disk_places_mb_s": list(self.disk_mb_s),
            "notes": list(self.notes),
        }


def test(
    place: Place,
    pieces: Sequence[tuple[int, int]],
    *,
    total_bytes_max: int,
    best_mb_s: float | None = None,
    tell: Callable[[str, float], None] = lambda what, share: None,
) -> Reads | None:
    """Reads pieces (offset, length) of a file or device, and places spread over its disk if that is permitted.

    Returns None if there is too little to read. Raises OSError if a read fails.
    """
    size = sum(length for _, length in pieces)
    if size < BYTES_MIN or not total_bytes_max:
        return None
    segment_bytes = min(read_speed.SEGMENT_BYTES, max(_MIB, size // _SEGMENTS_MIN // _MIB * _MIB))
    drive_clock, is_simulated = clock.of(place.backing_file)
    stretches = read_speed.stretches(pieces, segment_bytes=segment_bytes, total_bytes_max=total_bytes_max)
    total = sum(length for _, length in stretches)
    read_bytes = 0

    def advance(length: int) -> None:
        nonlocal read_bytes
        read_bytes += length
        tell("reading in order", min(1.0, read_bytes / total))

    with _opened(place.path, place.file_id) as descriptor:
        segments = read_speed.read(descriptor, stretches, drive_clock, advance=advance)
    disk_mb_s, notes = _over_disk(place, segment_bytes, drive_clock, tell)
    return Reads(
        segments=tuple(segment for segment in segments if not segment.is_empty),
        empty_bytes=sum(segment.length for segment in segments if segment.is_empty),
        disk_mb_s=disk_mb_s,
        given_best_mb_s=best_mb_s,
        clock_is_simulated=is_simulated,
        notes=notes,
    )


def _over_disk(
    place: Place, segment_bytes: int, drive_clock: clock.Clock, tell: Callable[[str, float], None]
) -> tuple[tuple[float, ...], tuple[str, ...]]:
    if place.path == Path(f"/dev/{place.disk}"):
        return (), ()
    if place.disk is None or not place.disk_size_bytes:
        return (), ("no disk is visible here: the best speed is that of this file's own segments",)
    step = place.disk_size_bytes // _DISK_PLACES // _MIB * _MIB
    # On small disks a single place, because several would overlap.
    offsets = [index * step for index in range(_DISK_PLACES)] if step >= segment_bytes else [0]
    stretches = [(offset, min(segment_bytes, place.disk_size_bytes - offset)) for offset in offsets]
    try:
        disk = Path(f"/dev/{place.disk}")
        with _opened(disk, FileId.of(disk.stat())) as descriptor:
            found = read_speed.read(
                descriptor, stretches, drive_clock, advance=lambda length: tell("reading over the disk", 1.0)
            )
    except OSError as error:
        note = f"/dev/{place.disk} could not be read ({error.strerror}): the best is that of this file's own segments"
        return (), (note,)
    return tuple(speed for segment in found if not segment.is_empty and (speed := segment.mb_s) is not None), ()


@contextlib.contextmanager
def _opened(path: Path, expected: FileId) -> Iterator[int]:
    flags = os.O_RDONLY | os.O_DIRECT
    try:
        # Without O_NOATIME the file's access time would be updated.
        descriptor = open_same(path, flags | os.O_NOATIME, expected)
    except PermissionError:
        # O_NOATIME is allowed only for the owner or root.
        descriptor = open_same(path, flags, expected)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def quantile(ordered: Sequence[float], share: float) -> float:
    """The quantile of a sorted sequence, by index without interpolation."""
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
