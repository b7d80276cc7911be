"""A fully resolved replay: a drive, its preparation, and the trace by its content, independent of file paths."""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, TypedDict

from ssdlab.errors import InputError
from ssdlab.simulator.specification import (
    InitialState,
    ReportedJob,
    Reporting,
    Specification,
    SpecificationJson,
    TraceJson,
)
from ssdlab.simulator.workloads import specifying
from ssdlab.simulator.workloads.specifying import Precondition
from ssdlab.simulator.workloads.traces.recording import Arrival, Map, Recording, Sample, Shuffle, When, chosen

if TYPE_CHECKING:
    from ssdlab._engine import HeldTrace
    from ssdlab.simulator.drives import ResolvedDrive

JOB_NAME = "replay"
"""The name of the trace among the jobs of a result."""

OPEN_DEPTH = 256
"""The default limit of outstanding requests that arrive at the recorded times: far more than most drives need."""

CLOSED_DEPTH = 32
"""The default limit if each request arrives when another completes: that of SATA."""


@dataclass(frozen=True)
class DriveWrites:
    """An amount to write, in drive writes (multiples of U) or in bytes."""

    drive_writes: Fraction | None
    written_bytes: int | None = None

    def on(self, user_bytes: int) -> int:
        """The amount in bytes, at least 1."""
        if self.drive_writes is not None:
            return max(1, -(-user_bytes * self.drive_writes.numerator // self.drive_writes.denominator))
        return max(1, self.written_bytes or 0)


class TraceJob(ReportedJob):
    """A trace as a job in results."""

    trace: TraceJson


@dataclass(frozen=True)
class TraceSpecification(Specification):
    """The engine's jobs are only those before the trace. Equal `hash` means identical results, and the reverse."""

    trace: TraceJson = field(kw_only=True)
    """The trace by its content, and how it is read, placed and repeated."""

    def to_dict(self) -> SpecificationJson:
        return {**super().to_dict(), "trace": self.trace.copy()}

    @property
    def moved_times(self) -> Fraction:
        """The bytes of a whole trace are its own on a drive of any size; only those of a sample stand for more."""
        return super().moved_times if "sample" in self.trace else Fraction(1)

    @property
    def jobs(self) -> list[ReportedJob]:
        """The engine's jobs, followed by the trace as a job."""
        before = self.engine["jobs"]
        stage = before[-1]["stage"] + 1 if before else 0
        last: TraceJob = {"name": JOB_NAME, "clone": 0, "stage": stage, "trace": self.trace.copy()}
        return [*before, last]


class _Paced(TypedDict, total=False):
    arrival: str
    time_scale: float
    iodepth: int


def specify(
    recording: Recording,
    drive: "ResolvedDrive",
    *,
    volume: str | None,
    address_map: Map = "fold",
    seed: int = 1,
    until_steady: bool = False,
    round_share: float | None = None,
    precondition: Precondition = "fill",
    loop_until: DriveWrites | None = None,
    timed: bool = True,
    arrival: Arrival = "trace",
    time_scale: float = 1.0,
    iodepth: int | None = None,
    initial_state: InitialState | None = None,
    sample: Sample | None = None,
    shuffle: Shuffle | None = None,
    fill_bytes: int | None = None,
    held: "HeldTrace | None" = None,
) -> TraceSpecification:
    """Resolves a replay of one volume (None: of all, each at its own addresses) on a drive.

    With a `sample`, only that part of the addresses is replayed; the drive should be smaller in the same ratio. The
    fill before the replay writes the whole drive, or its first `fill_bytes`.

    A round of the steady state writes `round_share` of the drive; None: all of it.

    With a clock (`timed`), requests arrive at the recorded times, multiplied by `time_scale`, or with
    `arrival="closed"`, and if the trace has no times, each when another completes. `iodepth` is the maximum number of
    outstanding requests; None: `OPEN_DEPTH` or `CLOSED_DEPTH`.

    The drive is new, written sequentially first (`precondition="fill"`), or in a saved state.

    `held` are the requests of exactly this volume, if they are in memory.

    Raises InputError if the trace exceeds the drive and the map is strict, if it is to be repeated and writes nothing,
    or if the drive has namespaces.
    """
    specifying.check_without_namespaces(drive)
    user_bytes = drive.capacity.user_bytes
    volumes = recording.survey.volumes if volume is None else [recording.volume(volume)]
    end_bytes_max = max(each.end_bytes_max for each in volumes)
    who = recording.names[0] + (
        f", volume {volume}" if volume is not None and len(recording.survey.volumes) > 1 else ""
    )
    if address_map == "strict" and end_bytes_max > user_bytes * (sample.one_in if sample else 1):
        raise InputError(
            f"{who}: reaches to byte {end_bytes_max:,}, the drive {drive.name} has {user_bytes:,}; use a larger "
            "drive, or --map fold or compact"
        )
    if (until_steady or loop_until) and not any(each.written_bytes for each in volumes):
        option = "--until steady" if until_steady else "--loop-until"
        raise InputError(f"{who}: writes nothing, so {option} would never end")
    written_bytes = loop_until.on(user_bytes) if loop_until else None
    if arrival == "trace" and not recording.survey.has_times:
        arrival = "closed"
    depth = iodepth or (OPEN_DEPTH if arrival == "trace" else CLOSED_DEPTH)
    when: When = {"arrival": arrival, "time_scale": time_scale, "iodepth": depth}
    files = zip(recording.digests, recording.survey.formats, recording.places(), strict=True)
    is_filled = precondition == "fill" and initial_state is None
    before = [specifying.fill_job(fill_bytes or user_bytes, seed)] if is_filled else []
    paced: _Paced = {"arrival": arrival, "time_scale": time_scale, "iodepth": depth} if timed else {}
    return TraceSpecification(
        engine={
            "seed": seed,
            "drive": drive.specification(),
            "timed": timed,
            "until": specifying.until_of("steady" if until_steady else "job", drive, round_share),
            "series_points_max": specifying.SERIES_POINTS_MAX,
            "jobs": before,
        },
        reporting=tuple(Reporting({}, group=group) for group in range(len(before) + 1)),
        scale=str(drive.scale),
        trace={
            "files": [{"sha256": digest, "format": name, **places} for digest, name, places in files],
            "volume": volume,
            "map": address_map,
            "skip_bad_max": recording.skip_bad_max,
            "loop_until_written_bytes": written_bytes,
            **paced,
            **chosen(sample, shuffle),
        },
        initial_state=initial_state,
        power=drive.power,
        trace_json=recording.engine_json(
            volume=volume,
            address_map=address_map,
            loop_until_written_bytes=written_bytes,
            when=when,
            sample=sample,
            shuffle=shuffle,
        ),
        held=held,
    )
