"""A replay, fully resolved: a drive, how it is prepared, and the trace by its content, not by where its files lie."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ssdlab.errors import InputError
from ssdlab.targets import simulated
from ssdlab.targets.simulated import Precondition
from ssdlab.targets.specification import Reporting, Specification
from ssdlab.traces.recording import Map, Recording

if TYPE_CHECKING:
    from ssdlab.drives import ResolvedDrive

JOB_NAME = "replay"
"""The trace's name among the jobs of a result."""


@dataclass(frozen=True)
class DriveWrites:
    """An amount to write, in drive writes (times U) or in bytes."""

    drive_writes: Fraction | None
    written_bytes: int | None = None

    def on(self, user_bytes: int) -> int:
        """In bytes, at least 1."""
        if self.drive_writes is not None:
            return max(1, -(-user_bytes * self.drive_writes.numerator // self.drive_writes.denominator))
        return max(1, self.written_bytes or 0)


@dataclass(frozen=True)
class TraceSpecification(Specification):
    """The engine's jobs are only what comes before the trace. Equal in `hash` exactly when the results are the same."""

    trace: Mapping[str, Any] = field(default_factory=dict)
    """The trace by its content: `files` (sha256, format), and how it is read, placed and repeated."""

    def to_dict(self) -> dict[str, Any]:
        return super().to_dict() | {"trace": dict(self.trace)}

    @property
    def jobs(self) -> list[dict[str, Any]]:
        """The engine's jobs, and the trace as the job that comes after them."""
        before: list[dict[str, Any]] = self.engine["jobs"]
        stage = before[-1]["stage"] + 1 if before else 0
        return [*before, {"name": JOB_NAME, "clone": 0, "stage": stage, "trace": dict(self.trace)}]


def specify(
    recording: Recording,
    drive: "ResolvedDrive",
    *,
    volume: str | None,
    address_map: Map = "fold",
    seed: int = 1,
    until_steady: bool = False,
    precondition: Precondition = "fill",
    loop_until: DriveWrites | None = None,
) -> TraceSpecification:
    """Resolves a replay of one volume (None: of all, each at its own addresses) on a drive.

    Raises InputError when the trace reaches past the end of the drive and the map is strict, or when it is to be
    repeated and writes nothing.
    """
    user_bytes = drive.capacity.user_bytes
    volumes = recording.survey.volumes if volume is None else [recording.volume(volume)]
    end_bytes_max = max(each.end_bytes_max for each in volumes)
    who = recording.names[0] + (
        f", volume {volume}" if volume is not None and len(recording.survey.volumes) > 1 else ""
    )
    if address_map == "strict" and end_bytes_max > user_bytes:
        raise InputError(
            f"{who}: reaches to byte {end_bytes_max:,}, the drive {drive.name} has {user_bytes:,}; "
            "take a larger drive, or --map fold or compact"
        )
    if (until_steady or loop_until) and not any(each.written_bytes for each in volumes):
        option = "--until steady" if until_steady else "--loop-until"
        raise InputError(f"{who}: writes nothing, so {option} would never end")
    written_bytes = loop_until.on(user_bytes) if loop_until else None
    files = zip(recording.digests, recording.survey.formats, strict=True)
    before = [simulated._fill(user_bytes, seed)] if precondition == "fill" else []
    return TraceSpecification(
        engine={
            "seed": seed,
            "drive": drive.specification(),
            "timed": False,
            "until": simulated._until("steady" if until_steady else "job", drive),
            "series_points_max": simulated.SERIES_POINTS_MAX,
            "jobs": before,
        },
        reporting=tuple(Reporting({}, group=group) for group in range(len(before) + 1)),
        scale=str(drive.scale),
        trace={
            "files": [{"sha256": digest, "format": name} for digest, name in files],
            "volume": volume,
            "map": address_map,
            "skip_bad_max": recording.skip_bad_max,
            "loop_until_written_bytes": written_bytes,
        },
        trace_json=recording.engine_json(
            volume=volume, address_map=address_map, loop_until_written_bytes=written_bytes
        ),
    )
