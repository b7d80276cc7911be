"""A run, fully resolved: what the engine is given, and what of the job file only the result repeats.

Not for deciding anything: `ssdlab.workloads.specifying` makes these. They travel to worker processes, so they hold
plain values only.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, NotRequired, TypedDict

if TYPE_CHECKING:
    from ssdlab._engine import HeldTrace
    from ssdlab.engine import plain


class LogsJson(TypedDict):
    """The logs of fio's that a job asks for."""

    names: dict[str, str]
    """What the file names begin with, by kind of log."""
    number: int | None
    """fio's number of the job; None where jobs of a name share a log."""
    average_ms: int
    offset: bool
    histogram_ms: int
    coarseness: int


class OutputJson(TypedDict, total=False):
    """Which logs are written and which percentiles reported, so far as it is not the usual."""

    logs: LogsJson
    percentile_list: list[float]
    percentiles_of: list[str]


class ReportingJson(TypedDict):
    """How fio would report a job."""

    options: dict[str, str]
    group: int
    merged: bool
    output: NotRequired[OutputJson]


class PlacedJson(TypedDict):
    """A volume of a trace's file, and where it begins on the drive."""

    volume: str
    base_bytes: int


class TraceFileJson(TypedDict):
    """A file of a trace by its content."""

    sha256: str
    format: str
    placed: NotRequired[list[PlacedJson]]


class SampleJson(TypedDict):
    """Which regions of a trace are replayed."""

    one_in: int
    region_bytes: int
    seed: int
    hot: list[list[int | float]]
    """Triples: group, which of its regions, share of its requests that is kept."""


class ShuffleJson(TypedDict):
    """In which pieces later passes come."""

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
    """A saved state by its content."""

    sha256: str
    times: int


class ReportedJob(TypedDict):
    """What results read of a job: one of the engine's, a trace, or a phase of a served drive."""

    name: str
    clone: int
    stage: int
    steady_state: NotRequired["plain.JobSteadyState | None"]
    latency_target: NotRequired["plain.LatencyTarget | None"]
    store: NotRequired["plain.Store | None"]


class SpecificationJson(TypedDict):
    """The whole of a run."""

    engine: "plain.Specification"
    global_options: dict[str, str]
    reporting: list[ReportingJson]
    scale: str
    initial_state: NotRequired[InitialStateJson]
    trace: NotRequired["TraceJson"]


@dataclass(frozen=True)
class Reporting:
    """How fio would report one job: not seen by the engine."""

    options: Mapping[str, str]
    """The options of the job's own section, as the job file spells them."""
    group: int = 0
    """fio's `groupid`: `stonewall` and `new_group` begin another."""
    merged: bool = False
    """Whether `group_reporting` is set."""
    output: OutputJson = field(default_factory=OutputJson)
    """Which logs are written and which percentiles reported, if not the usual: `ssdlab.workloads.jobs.logs.output`."""

    def to_dict(self) -> ReportingJson:
        """As plain JSON values; what is usual is left out."""
        found: ReportingJson = {"options": dict(self.options), "group": self.group, "merged": self.merged}
        if self.output:
            found["output"] = self.output.copy()
        return found


@dataclass(frozen=True)
class InitialState:
    """The state that a drive begins in: a file that another run saved."""

    path: str | None
    """Where it lies; None where only its content is known, as in a result."""
    sha256: str
    times: int = 1
    """How many times larger the drive's erase units are than those of the drive that was saved."""


@dataclass(frozen=True)
class Specification:
    """Enough to run again to the same bytes. Says nothing of file names, clocks, processes or threads."""

    engine: "plain.Specification"
    """The JSON object that `ssdlab._engine.run` takes."""
    reporting: tuple[Reporting, ...]
    """One entry a job of `engine["jobs"]`, in that order."""
    global_options: Mapping[str, str] = field(default_factory=dict)
    scale: str = "1"
    """The share of the full-size drive that is simulated, as a fraction: `1/16`."""
    initial_state: InitialState | None = None
    """None for a new drive."""
    trace_json: str | None = None
    """The further argument of `ssdlab._engine.replay`, with the paths of the trace's files; None for jobs alone."""
    held: "HeldTrace | None" = field(default=None, compare=False, repr=False)
    """The trace's requests, where this process has them in memory: then its files are not read again."""

    def as_sold(self, count_bytes: float) -> int:
        """Bytes of the smaller drive that a scale makes, as they are on the drive as sold."""
        return round(count_bytes / Fraction(self.scale))

    def engine_json(self) -> str:
        """The text that the engine is given."""
        return _canonical(self.engine)

    def to_dict(self) -> SpecificationJson:
        """The whole as plain JSON values; `from_dict` turns it back."""
        found: SpecificationJson = {
            "engine": self.engine.copy(),
            "global_options": dict(self.global_options),
            "reporting": [entry.to_dict() for entry in self.reporting],
            "scale": self.scale,
        }
        if self.initial_state:
            found["initial_state"] = {"sha256": self.initial_state.sha256, "times": self.initial_state.times}
        return found

    @classmethod
    def from_dict(cls, found: SpecificationJson) -> "Specification":
        return cls(
            engine=found["engine"],
            reporting=tuple(Reporting(**entry) for entry in found["reporting"]),
            global_options=found["global_options"],
            scale=found["scale"],
            initial_state=InitialState(None, **found["initial_state"]) if "initial_state" in found else None,
        )

    def hash(self) -> str:
        """SHA-256 of the canonical JSON, in hexadecimal: equal exactly when the results are the same bytes."""
        return hashlib.sha256(_canonical(self.to_dict()).encode()).hexdigest()

    @property
    def drive(self) -> "plain.Drive":
        """The drive as given to the engine."""
        return self.engine["drive"]

    @property
    def jobs(self) -> Sequence[ReportedJob]:
        """The jobs, ordered by stage."""
        return self.engine["jobs"]

    @property
    def last_stage_jobs(self) -> "list[plain.Job]":
        """The jobs that the run ends with: those that repeat when it looks for the steady state."""
        jobs = self.engine["jobs"]
        return [job for job in jobs if job["stage"] == jobs[-1]["stage"]]


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
