"""A fully resolved run: the input of the engine, and the parts of the job file that only the result repeats.

Not for decisions: `ssdlab.simulator.workloads.specifying` makes specifications. They are sent to worker processes, so
they hold plain values only.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, NotRequired, TypedDict

if TYPE_CHECKING:
    from ssdlab._engine import HeldTrace
    from ssdlab.simulator.engine import plain


class LogsJson(TypedDict):
    """The fio logs that a job requests."""

    names: dict[str, str]
    """The prefix of the file names, by kind of log."""
    number: int | None
    """fio's number of the job; None if jobs of the same name share a log."""
    average_ms: int
    offset: bool
    histogram_ms: int
    coarseness: int


class OutputJson(TypedDict, total=False):
    """The logs to write and the percentiles to report; keys at their defaults are missing."""

    logs: LogsJson
    percentile_list: list[float]
    percentiles_of: list[str]


class ReportingJson(TypedDict):
    """How fio would report a job."""

    options: dict[str, str]
    group: int
    merged: bool
    output: NotRequired[OutputJson]
    shown: NotRequired[bool]


class PlacedJson(TypedDict):
    """A volume of a trace's file, and the offset on the drive at which it begins."""

    volume: str
    base_bytes: int


class TraceFileJson(TypedDict):
    """A file of a trace, identified by its content."""

    sha256: str
    format: str
    placed: NotRequired[list[PlacedJson]]


class SampleJson(TypedDict):
    """The regions of a trace that are replayed."""

    one_in: int
    region_bytes: int
    seed: int
    hot: list[list[int | float]]
    """Triples: the group, which of its regions, and the share of its requests that is replayed."""


class ShuffleJson(TypedDict):
    """The pieces in which later passes are shuffled."""

    piece_bytes: int
    seed: int


class TraceJson(TypedDict):
    """How a trace is read, placed and repeated."""

    files: list[TraceFileJson]
    volume: str | None
    map: str
    skip_bad_max: int
    loop_until_written_bytes: int | None
    arrival: NotRequired[str]
    time_scale: NotRequired[float]
    iodepth: NotRequired[int]
    sample: NotRequired[SampleJson]
    shuffle: NotRequired[ShuffleJson]


class InitialStateJson(TypedDict):
    """A saved state, identified by its content."""

    sha256: str
    times: int


class PowerJson(TypedDict):
    """The drive's power at rest and the energy of its operations: `specification/drive/power.rs`."""

    idle_watts: float
    read_uj: float
    program_uj: float
    erase_uj: float
    transfer_nj_per_byte: float
    command_uj: float


class ReportedJob(TypedDict):
    """The fields of a job that results use: a job of the engine, a trace, or a phase of a served drive."""

    name: str
    clone: int
    stage: int
    steady_state: NotRequired["plain.JobSteadyState | None"]
    latency_target: NotRequired["plain.LatencyTarget | None"]
    store: NotRequired["plain.Store | None"]
    flush_every_writes: NotRequired[int]
    flush_at_end: NotRequired[bool]
    sync_writes: NotRequired[bool]
    ramp_ns: NotRequired[int]
    host_ns: NotRequired[int]


class SpecificationJson(TypedDict):
    """A complete run."""

    engine: "plain.Specification"
    global_options: dict[str, str]
    reporting: list[ReportingJson]
    scale: str
    initial_state: NotRequired[InitialStateJson]
    power: NotRequired[PowerJson]
    trace: NotRequired["TraceJson"]


@dataclass(frozen=True)
class Reporting:
    """How fio would report one job. The engine does not use it."""

    options: Mapping[str, str]
    """The options of the job's own section, as the job file spells them."""
    group: int = 0
    """fio's `groupid`: `stonewall` and `new_group` begin a new one."""
    merged: bool = False
    """Whether `group_reporting` is set."""
    output: OutputJson = field(default_factory=OutputJson)
    """The logs to write and the percentiles to report, without defaults; see
    `ssdlab.simulator.workloads.jobs.logs.output`."""
    shown: bool = True
    """Whether the job is one of the file; fio does not report how it lays out files."""

    def to_dict(self) -> ReportingJson:
        """The entry as plain JSON values, without what is at its default."""
        found: ReportingJson = {"options": dict(self.options), "group": self.group, "merged": self.merged}
        if self.output:
            found["output"] = self.output.copy()
        if not self.shown:
            found["shown"] = False
        return found


@dataclass(frozen=True)
class InitialState:
    """The initial state of the drive: a file that another run saved."""

    path: str | None
    """The path of the file; None if only its content is known, as in a result."""
    sha256: str
    times: int = 1
    """How many times larger the drive's erase units are than those of the saved drive."""


class ChosenScale(TypedDict):
    """How a run's scale was chosen (`--scale auto`)."""

    seconds: float
    """The estimated work at that scale, of all runs that were chosen together, in seconds of the nominal machine."""
    seconds_whole: float
    """The same with whole drives."""


@dataclass(frozen=True, repr=False)
class Specification:
    """Everything needed to repeat a run byte for byte. Contains no file names, clocks, processes or threads."""

    engine: "plain.Specification"
    """The JSON object that `ssdlab._engine.run` takes."""
    reporting: tuple[Reporting, ...]
    """One entry for each job of `engine["jobs"]`, in that order."""
    global_options: Mapping[str, str] = field(default_factory=dict)
    scale: str = "1"
    """The share of the full-size drive that is simulated, as a fraction: `1/16`."""
    initial_state: InitialState | None = None
    """None for a new drive."""
    power: PowerJson | None = None
    """None for a drive whose energy is unknown. The engine does not use it."""
    trace_json: str | None = None
    """The second argument of `ssdlab._engine.replay`, with the paths of the trace's files; None for a run of jobs."""
    chosen_scale: ChosenScale | None = field(default=None, compare=False)
    """How the scale was chosen; None if it was given. Not part of what is run."""
    held: "HeldTrace | None" = field(default=None, compare=False)
    """The requests of the trace if this process has them in memory, so that its files are not read again."""

    def __repr__(self) -> str:
        scaled = f", {self.scale} of the drive" if self.scale != "1" else ""
        jobs = f"{len(self.jobs)} job{'s' * (len(self.jobs) != 1)}"
        return f"<Specification: {self.drive['name']}, {jobs}, seed {self.engine['seed']}{scaled}>"

    def as_sold(self, count_bytes: float) -> int:
        """Converts bytes on the scaled drive to bytes on the full-size drive."""
        return round(count_bytes / Fraction(self.scale))

    @property
    def moved_times(self) -> Fraction:
        """How many bytes a byte stands for that was written, read or programmed."""
        return 1 / Fraction(self.scale)

    def moved_as_sold(self, count_bytes: float) -> int:
        """`as_sold` for bytes that were written, read or programmed."""
        return round(count_bytes * self.moved_times)

    def engine_json(self) -> str:
        """The JSON text passed to the engine."""
        return _canonical(self.engine)

    def to_dict(self) -> SpecificationJson:
        """The specification as plain JSON values; `from_dict` is the inverse."""
        found: SpecificationJson = {
            "engine": self.engine.copy(),
            "global_options": dict(self.global_options),
            "reporting": [entry.to_dict() for entry in self.reporting],
            "scale": self.scale,
        }
        if self.initial_state:
            found["initial_state"] = {"sha256": self.initial_state.sha256, "times": self.initial_state.times}
        if self.power:
            found["power"] = self.power.copy()
        return found

    @classmethod
    def from_dict(cls, found: SpecificationJson) -> "Specification":
        return cls(
            engine=found["engine"],
            reporting=tuple(Reporting(**entry) for entry in found["reporting"]),
            global_options=found["global_options"],
            scale=found["scale"],
            initial_state=InitialState(None, **found["initial_state"]) if "initial_state" in found else None,
            power=found.get("power"),
        )

    def hash(self) -> str:
        """SHA-256 of the canonical JSON, in hexadecimal. Equal hashes mean identical results, and the reverse."""
        return hashlib.sha256(_canonical(self.to_dict()).encode()).hexdigest()

    @property
    def drive(self) -> "plain.Drive":
        """The drive as passed to the engine."""
        return self.engine["drive"]

    @property
    def jobs(self) -> Sequence[ReportedJob]:
        """The jobs, ordered by stage."""
        return self.engine["jobs"]

    @property
    def last_stage_jobs(self) -> "list[plain.Job]":
        """The jobs of the last stage, which repeat when the run continues until the steady state."""
        jobs = self.engine["jobs"]
        return [job for job in jobs if job["stage"] == jobs[-1]["stage"]]


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
