"""The sequential read speed of a file or drive, relative to the best speed of its drive.

It is read several times, in turn with a freshly written region and places over the drive: a single reading differs
from the next by what else the machine and the drive are doing.
"""

import contextlib
import os
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Literal, TypedDict

from ssdlab.evidence.estimate import Estimate, of_samples
from ssdlab.hardware.diagnosis import clock, fresh, read_speed
from ssdlab.hardware.diagnosis.fresh import Fresh
from ssdlab.hardware.diagnosis.read_speed import Segment
from ssdlab.hardware.safety import sysfs
from ssdlab.hardware.safety.held import FileId, open_same
from ssdlab.hardware.safety.place import Kind, Place

BYTES_MIN = 8 << 20
"""The least amount to read; less is only a few requests, and possibly the drive's cache."""
READINGS = 5
"""How often file, fresh region and drive are read, in turn."""
_SEGMENTS_MIN = 16
_DISK_PLACES = 24
_SLOWEST = 5
_MIB = 1 << 20


class SlowSegmentJson(TypedDict):
    offset: int
    bytes: int
    mb_s: float | None


class ReadsJson(TypedDict):
    """The read test in the output of `ssdlab check --format json`; speeds in MB/s."""

    clock: Literal["simulated", "wall"]
    read_bytes: int
    empty_bytes: int
    mean_mb_s: float | None
    best_mb_s: float | None
    best_is_given: bool
    share_of_best: float | None
    share_low: float | None
    share_high: float | None
    readings: list[float]
    other_read_bytes: int | None
    segment_mb_s: dict[str, float] | None
    slowest_segments: list[SlowSegmentJson]
    disk_places_mb_s: list[float]
    fresh_bytes: int
    fresh_mb_s: list[float]
    notes: list[str]


@dataclass(frozen=True)
class Reading:
    """The file, or the drive, the fresh region and places over the drive, read once."""

    segments: tuple[Segment, ...]
    """In order, without segments that read as zeroes in part or completely, because a drive need not read flash for
    them."""
    disk_mb_s: tuple[float, ...]
    """Speeds of places spread over the drive."""
    fresh_mb_s: tuple[float, ...] = ()
    """Speeds of the segments of the fresh region."""

    def share_of_best(self, given_mb_s: float | None) -> float | None:
        """The mean speed over the speed given by the user, otherwise over the 90th percentile of all speeds."""
        mean = read_speed.mean_mb_s(self.segments)
        best = given_mb_s or _best((*_speeds(self.segments), *self.disk_mb_s, *self.fresh_mb_s))
        return min(1.0, mean / best) if mean and best else None


@dataclass(frozen=True)
class Reads:
    """The segments read, and their speeds."""

    readings: tuple[Reading, ...]
    empty_bytes: int
    other_read_bytes: int | None
    """What other programs read from the disk meanwhile; None if it is not known."""
    given_best_mb_s: float | None
    clock_is_simulated: bool
    notes: tuple[str, ...] = field(default=())
    fresh_bytes: int = 0
    """The size of the fresh region; 0 without one."""

    @property
    def segments(self) -> list[Segment]:
        """Those of all readings."""
        return [segment for reading in self.readings for segment in reading.segments]

    @property
    def disk_mb_s(self) -> list[float]:
        """Speeds of places spread over the disk, of all readings."""
        return [speed for reading in self.readings for speed in reading.disk_mb_s]

    @property
    def fresh_mb_s(self) -> list[float]:
        """Speeds of the segments of the fresh region, of all readings."""
        return [speed for reading in self.readings for speed in reading.fresh_mb_s]

    @property
    def mean_mb_s(self) -> float | None:
        return read_speed.mean_mb_s(self.segments)

    @property
    def best_mb_s(self) -> float | None:
        """The speed given by the user, otherwise the 90th percentile of all segments read, in the file, in the fresh
        region and over the disk."""
        return self.given_best_mb_s or _best((*self.speeds, *self.disk_mb_s, *self.fresh_mb_s))

    @property
    def speeds(self) -> list[float]:
        return _speeds(self.segments)

    @property
    def shares(self) -> list[float]:
        """The share of the best speed in each reading, where it is known."""
        found = (reading.share_of_best(self.given_best_mb_s) for reading in self.readings)
        return [share for share in found if share is not None]

    @property
    def share_of_best(self) -> Estimate | None:
        """The mean of `shares` with its interval; None with fewer than two."""
        return of_samples(self.shares, "readings") if len(self.shares) > 1 else None

    def _by_place(self) -> list[SlowSegmentJson]:
        """Each segment once, with the median of its readings: one slow reading is no slow place."""
        places: dict[tuple[int, int], list[float]] = {}
        for segment in self.segments:
            if segment.mb_s is not None:
                places.setdefault((segment.offset, segment.length), []).append(segment.mb_s)
        return [{"offset": at, "bytes": size, "mb_s": median(speeds)} for (at, size), speeds in places.items()]

    def to_dict(self) -> ReadsJson:
        """The values for `ssdlab check --format json`."""
        speeds, share = sorted(self.speeds), self.share_of_best
        slowest = sorted(self._by_place(), key=lambda each: each["mb_s"] or 0)
        quantiles = {"min": 0.0, "p10": 0.1, "median": 0.5, "p90": 0.9, "max": 1.0}
        return {
            "clock": "simulated" if self.clock_is_simulated else "wall",
            "read_bytes": sum(segment.length for segment in self.segments),
            "empty_bytes": self.empty_bytes,
            "mean_mb_s": self.mean_mb_s,
            "best_mb_s": self.best_mb_s,
            "best_is_given": self.given_best_mb_s is not None,
            "share_of_best": share.value if share else None,
            "share_low": share.low if share else None,
            "share_high": share.high if share else None,
            "readings": self.shares,
            "other_read_bytes": self.other_read_bytes,
            "segment_mb_s": {name: quantile(speeds, q) for name, q in quantiles.items()} if speeds else None,
            "slowest_segments": slowest[:_SLOWEST],
            "disk_places_mb_s": list(self.disk_mb_s),
            "fresh_bytes": self.fresh_bytes,
            "fresh_mb_s": self.fresh_mb_s,
            "notes": list(self.notes),
        }


def test(
    place: Place,
    pieces: Sequence[tuple[int, int]],
    *,
    total_bytes_max: int,
    best_mb_s: float | None = None,
    writes: bool = True,
    tell: Callable[[str, float], None] = lambda what, share: None,
) -> Reads | None:
    """Reads pieces (offset, length) of a file or device, and in turn places spread over its disk, if that is permitted,
    and with `writes` a region freshly written beside a file.

    Returns None if there is too little to read. Raises OSError if a read fails.
    """
    size = sum(length for _, length in pieces)
    if size < BYTES_MIN or not total_bytes_max:
        return None
    segment_bytes = min(read_speed.SEGMENT_BYTES, max(_MIB, size // _SEGMENTS_MIN // _MIB * _MIB))
    drive_clock, is_simulated = clock.of(place.backing_file)
    rounds = [
        read_speed.stretches(
            pieces,
            segment_bytes=segment_bytes,
            total_bytes_max=max(segment_bytes, total_bytes_max // READINGS),
            phase=number / READINGS,
        )
        for number in range(READINGS)
    ]
    total = sum(length for stretches in rounds for _, length in stretches)
    read_bytes = 0

    def advance(length: int) -> None:
        nonlocal read_bytes
        read_bytes += length
        tell("reading in order", min(1.0, read_bytes / total))

    readings = []
    empty: dict[int, int] = {}
    other_bytes = 0
    before = sysfs.read_bytes(place.disk) if place.disk else None
    disk = _Disk.of(place, segment_bytes)
    with _fresh(place, size, writes=writes, tell=tell) as region, _opened(place.path, place.file_id) as descriptor:
        for number, stretches in enumerate(rounds):
            segments = read_speed.read(descriptor, stretches, drive_clock, advance=advance)
            beside: list[Segment] = []
            if region.descriptor is not None:
                beside = read_speed.read(region.descriptor, region.stretches(segment_bytes), drive_clock)
            places = disk.read(drive_clock, number)
            other_bytes += sum(segment.length for segment in (*beside, *places))
            empty |= {segment.offset: segment.length for segment in segments if segment.is_empty}
            readings.append(
                Reading(
                    tuple(segment for segment in segments if not segment.is_empty),
                    tuple(_speeds([segment for segment in places if not segment.is_empty])),
                    tuple(_speeds(beside)),
                )
            )
    after = sysfs.read_bytes(place.disk) if place.disk else None
    others = None if before is None or after is None else max(0, after - before - read_bytes - other_bytes)
    return Reads(
        readings=tuple(readings),
        empty_bytes=sum(empty.values()),
        other_read_bytes=others,
        given_best_mb_s=best_mb_s,
        clock_is_simulated=is_simulated,
        notes=(*disk.notes, *([f"no fresh region to compare with: {region.why_not}"] if region.why_not else [])),
        fresh_bytes=region.size_bytes,
    )


@contextlib.contextmanager
def _fresh(place: Place, size_bytes: int, *, writes: bool, tell: Callable[[str, float], None]) -> Iterator[Fresh]:
    """The fresh region beside a file; a device has no place for one."""
    if not writes or place.kind != Kind.FILE:
        yield Fresh(None)
        return
    with fresh.beside(place.path, place.file_id, size_bytes, tell=tell) as region:
        yield region


@dataclass(frozen=True)
class _Disk:
    """The disk of a place, of which stretches are read for comparison; none if it is not readable."""

    path: Path | None
    step_bytes: int = 0
    """The disk is cut into stretches of this size, with a place in each."""
    places: int = 0
    segment_bytes: int = 0
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, place: Place, segment_bytes: int) -> "_Disk":
        path = Path(f"/dev/{place.disk}")
        if place.path == path:
            return cls(None)
        if place.disk is None or not place.disk_size_bytes:
            return cls(None, notes=("no disk is visible here to compare with",))
        try:
            with _opened(path, FileId.of(path.stat())):
                pass
        except OSError as error:
            return cls(None, notes=(f"{path} could not be read to compare with ({error.strerror})",))
        step = place.disk_size_bytes // _DISK_PLACES // _MIB * _MIB
        # On small disks a single place, because several would overlap.
        places = _DISK_PLACES if step >= segment_bytes else 1
        return cls(path, max(step, segment_bytes), places, min(segment_bytes, place.disk_size_bytes))

    def stretches(self, number: int) -> list[tuple[int, int]]:
        """The places of a reading: at random, one in each part of the disk, so that no reading has the places of the
        one before, which may be in the drive's cache."""
        generator = random.Random(number)
        steps = range(0, self.step_bytes - self.segment_bytes + 1, read_speed.ALIGNMENT_BYTES)
        return [(part * self.step_bytes + generator.choice(steps), self.segment_bytes) for part in range(self.places)]

    def read(self, drive_clock: clock.Clock, number: int) -> list[Segment]:
        """The places of a reading."""
        if self.path is None:
            return []
        with _opened(self.path, FileId.of(self.path.stat())) as descriptor:
            return read_speed.read(descriptor, self.stretches(number), drive_clock)


def _speeds(segments: Sequence[Segment]) -> list[float]:
    return [speed for segment in segments if (speed := segment.mb_s) is not None]


def _best(speeds: Sequence[float]) -> float | None:
    """The 90th percentile: a few segments can come from a cache."""
    return quantile(sorted(speeds), 0.9) if speeds else None


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
