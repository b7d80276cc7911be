"""The profile of a trace: the properties of its requests, independent of any drive."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ssdlab.simulator import engine
from ssdlab.simulator.workloads.traces.recording import Recording, Survey, Volume

if TYPE_CHECKING:
    from ssdlab._engine import HeldTrace

UNIT_BYTES = 4096
"""The unit in which a profile counts."""


@dataclass(frozen=True)
class Totals:
    """The requests of one operation."""

    requests: int
    bytes: int
    sequential_requests: int
    """Requests that begin where the previous request of this operation ended, on the same volume."""
    sequential_bytes: int
    aligned_requests: int
    """Requests that begin and end at a unit boundary."""
    length_bytes_min: int | None
    length_bytes_max: int | None
    sizes: Sequence[tuple[int, int]]
    """(largest length of the class in bytes, requests); classes are powers of two."""


@dataclass(frozen=True)
class Units:
    """Counts of units of `Profile.unit_bytes`. The `unique` counts include each unit once, the others each access."""

    unique: int
    unique_read: int
    unique_written: int
    unique_trimmed: int
    read: int
    read_of_written: int
    """Units read that the trace had written before."""
    written: int
    overwritten: int
    trimmed_of_written: int


@dataclass(frozen=True)
class Profile:
    """The profile of a whole trace, or of one of its volumes."""

    formats: Sequence[str]
    notes: Sequence[str | None]
    """How each file is read, as the end of a sentence on it; None if there is nothing to say."""
    arrival_ns_max: int
    through: int
    """Writes that complete when their data is on the medium (FUA)."""
    earlier: int
    """Requests with an earlier time than one before them in their file."""
    earlier_ns_max: int
    """By how much at most, relative to the latest time before."""
    volumes: Sequence[Volume]
    skipped: int
    without_direction: int
    read: Totals
    write: Totals
    trim: Totals
    duration_ns: int
    span_bytes: int
    """The sum over the volumes of the end of their highest request."""
    unit_bytes: int
    units: Units
    updates: Sequence[tuple[int, int]]
    """Pairs: (writes of a unit, number of units with that many writes)."""
    update_curve: Sequence[tuple[float, float]]
    """Pairs: (share of the written units, hottest first; their share of the unit writes)."""
    region_bytes: int
    """The size of the regions in `hottest`, a multiple of the unit."""
    regions_written: int
    hottest: Sequence[tuple[int, int]]
    """Pairs: (region, writes of its units), for at most 4096 regions, most written first."""

    @property
    def requests(self) -> int:
        return sum(volume.requests for volume in self.volumes)

    @property
    def flushes(self) -> int:
        return sum(volume.flushes for volume in self.volumes)

    @property
    def single_unit_writes(self) -> int:
        """Writes of exactly one unit, aligned; if some writes are unaligned, the smallest possible number."""
        larger = sum(requests for length_bytes, requests in self.write.sizes if length_bytes > self.unit_bytes)
        return max(0, self.write.aligned_requests - larger)


def profile_of(recording: Recording, volume: str | None, *, region_bytes: int = UNIT_BYTES) -> Profile:
    """Reads the recording once. Memory grows with the number of units accessed. Raises InputError.

    The regions of `hottest` have `region_bytes`, in whole units.
    """
    text, _ = engine.profile(recording.engine_json(volume=volume), region_bytes=region_bytes)
    return _profile(text)


def profile_and_hold(recording: Recording, volume: str | None) -> "tuple[Profile, HeldTrace | None]":
    """The profile, and the requests for runs that begin in this process; None if there are too many to keep."""
    text, held = engine.profile(recording.engine_json(volume=volume), hold=True)
    profile = _profile(text)
    if volume is None:
        recording.note_survey(
            Survey(
                profile.formats,
                profile.volumes,
                profile.skipped,
                profile.without_direction,
                profile.notes,
                profile.arrival_ns_max,
                profile.through,
                profile.earlier,
                profile.earlier_ns_max,
            )
        )
    return profile, held


def _profile(text: str) -> Profile:
    plain = json.loads(text)
    for operation in ("read", "write", "trim"):
        plain[operation]["sizes"] = [tuple(entry) for entry in plain[operation]["sizes"]]
        plain[operation] = Totals(**plain[operation])
    plain["volumes"] = [Volume(**entry) for entry in plain["volumes"]]
    plain["units"] = Units(**plain["units"])
    for name in ("updates", "update_curve", "hottest"):
        plain[name] = [tuple(entry) for entry in plain[name]]
    return Profile(**plain)
