"""A run, fully resolved: what the engine is given, and what of the job file only the result repeats.

Not for deciding anything: `ssdlab.workloads.specifying` makes these. They travel to worker processes, so they hold
plain values only.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ssdlab._engine import HeldTrace


@dataclass(frozen=True)
class Reporting:
    """How fio would report one job: not seen by the engine."""

    options: Mapping[str, str]
    """The options of the job's own section, as the job file spells them."""
    group: int = 0
    """fio's `groupid`: `stonewall` and `new_group` begin another."""
    merged: bool = False
    """Whether `group_reporting` is set."""
    output: Mapping[str, Any] = field(default_factory=dict)
    """Which logs are written and which percentiles reported, if not the usual: `ssdlab.workloads.jobs.logs.output`."""

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values; what is usual is left out."""
        plain: dict[str, Any] = {"options": dict(self.options), "group": self.group, "merged": self.merged}
        return plain | ({"output": dict(self.output)} if self.output else {})


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

    engine: Mapping[str, Any]
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

    def to_dict(self) -> dict[str, Any]:
        """The whole as plain JSON values; `from_dict` turns it back."""
        return {
            "engine": dict(self.engine),
            "global_options": dict(self.global_options),
            "reporting": [entry.to_dict() for entry in self.reporting],
            "scale": self.scale,
            **self.initial_state_dict(),
        }

    def initial_state_dict(self) -> dict[str, Any]:
        """The initial state by its content; nothing for a new drive."""
        state = self.initial_state
        return {"initial_state": {"sha256": state.sha256, "times": state.times}} if state else {}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> "Specification":
        return cls(
            engine=plain["engine"],
            reporting=tuple(Reporting(**entry) for entry in plain["reporting"]),
            global_options=plain["global_options"],
            scale=plain["scale"],
            initial_state=InitialState(None, **plain["initial_state"]) if "initial_state" in plain else None,
        )

    def hash(self) -> str:
        """SHA-256 of the canonical JSON, in hexadecimal: equal exactly when the results are the same bytes."""
        return hashlib.sha256(_canonical(self.to_dict()).encode()).hexdigest()

    @property
    def drive(self) -> Mapping[str, Any]:
        """The drive as given to the engine."""
        drive: Mapping[str, Any] = self.engine["drive"]
        return drive

    @property
    def jobs(self) -> list[dict[str, Any]]:
        """The jobs as given to the engine, ordered by stage."""
        jobs: list[dict[str, Any]] = self.engine["jobs"]
        return jobs

    @property
    def last_stage_jobs(self) -> list[dict[str, Any]]:
        """The jobs that the run ends with: those that repeat when it looks for the steady state."""
        last = self.jobs[-1]["stage"]
        return [job for job in self.jobs if job["stage"] == last]


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
