"""Runs at given spare areas with their results: the evidence for every sentence of an advice."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from statistics import fmean
from typing import TYPE_CHECKING, TypedDict

from ssdlab.experiments.advice.described import Described
from ssdlab.experiments.advice.limits import Limit
from ssdlab.experiments.advice.setting import Setting, scale_of
from ssdlab.simulator.results import Result
from ssdlab.simulator.results.latency import Latency
from ssdlab.simulator.results.speed import speed
from ssdlab.simulator.specification import Specification
from ssdlab.simulator.targets.side_by_side import all_side_by_side
from ssdlab.theory import endurance

if TYPE_CHECKING:
    from ssdlab.experiments.advice.recorded import Trace
    from ssdlab.simulator.drives import ResolvedDrive

Progress = Callable[[str, float], None]
"""Called with the current step and the share of it that is done."""


@dataclass(frozen=True)
class Demand:
    """The host's writes per day, and the price of the drive."""

    writes_bytes_per_day: float | None
    drive_price: float | None


class TrialJson(TypedDict):
    """A run of an advice, in its `result.json`."""

    name: str
    purpose: str
    over_provisioning: float
    scale: str
    seed: int
    figures: dict[str, float | None]
    command: str
    specification_sha256: str
    failure: str | None
    steady: bool


@dataclass(frozen=True)
class Trial:
    """One run: spare area, scale, seed, and its figures by the names of limits; a figure is None if not measured."""

    name: str
    """Unique in an advice: R1, R2, ..."""
    purpose: str
    """The purpose of the run, such as `verification runs`; for an alternative, its description."""
    over_provisioning: float
    scale: Fraction | None
    seed: int
    figures: Mapping[str, float | None]
    command: str
    """The command that repeats the run."""
    specification_sha256: str
    failure: str | None
    steady: bool

    def figure(self, name: str) -> float | None:
        return self.figures.get(name)

    def to_dict(self) -> TrialJson:
        """The object in the format of `result.json`."""
        return {
            "name": self.name,
            "purpose": self.purpose,
            "over_provisioning": self.over_provisioning,
            "scale": str(self.scale or 1),
            "seed": self.seed,
            "figures": dict(self.figures),
            "command": self.command,
            "specification_sha256": self.specification_sha256,
            "failure": self.failure,
            "steady": self.steady,
        }


@dataclass(frozen=True)
class Other:
    """A run for an alternative, with its own specification."""

    what: str
    specification: Specification
    full: "ResolvedDrive"
    """Its drive at full size."""
    scale: Fraction
    command: str


@dataclass
class Trials:
    """Executes runs and stores their results."""

    workload: "Described | Trace"
    setting: Setting
    demand: Demand
    limits: Sequence[Limit]
    workers: int | None = None
    on_progress: Progress | None = None
    seed: int = 1
    """The first seed of the random numbers; `seeds` are those after it."""
    scale: Fraction | None = None
    """The scale of the runs that search, if it is given."""
    notes: Sequence[str] = ()
    """Notes on the workload before the runs, one sentence each."""
    done: list[Trial] = field(default_factory=list)

    @property
    def timed(self) -> bool:
        return any(limit.needs_clock for limit in self.limits)

    def seeds(self, *numbers: int) -> list[int]:
        """The seeds of these numbers; number 1 is the first."""
        return [(self.seed + number - 1) % 2**64 for number in numbers]

    def scale_for(self, user_units: int) -> Fraction | None:
        """The scale of the runs that search: the given one, or that of about this many mapping units. None: whole."""
        if self.scale is None:
            return scale_of(self.workload, self.setting, user_units)
        return None if self.scale == 1 else self.scale

    def at(
        self,
        over_provisionings: Sequence[float],
        scale: Fraction | None,
        seeds: Sequence[int] = (),
        what: str = "miniature runs",
    ) -> list[Trial]:
        """A trial for each spare area and seed, in that order; by default with the first seed."""
        pairs = [(share, seed) for share in over_provisionings for seed in seeds or [self.seed]]
        return self.each(pairs, scale, what)

    def each(
        self, pairs: Sequence[tuple[float, int]], scale: Fraction | None, what: str = "miniature runs"
    ) -> list[Trial]:
        """A trial for each pair (spare area, seed), in that order."""
        drives = {share: self.setting.at(share, scale) for share, _ in pairs}
        specifications = [self.workload.specify(drives[share], seed=seed, timed=self.timed) for share, seed in pairs]
        results = self._run(specifications, what)
        return [
            self._keep(
                result,
                self.setting.at(share, None),
                drives[share].scale,
                seed,
                self._command(share, drives[share], scale, seed),
                what,
            )
            for (share, seed), result in zip(pairs, results, strict=True)
        ]

    def others(self, asked: Sequence[Other]) -> list[Trial]:
        """A trial for each alternative, in that order."""
        results = self._run([each.specification for each in asked], "what if")
        return [
            self._keep(result, each.full, each.scale, self.seed, each.command, each.what)
            for each, result in zip(asked, results, strict=True)
        ]

    def _run(self, specifications: Sequence[Specification], what: str) -> list[Result]:
        shares: dict[int, float] = {}

        def tell(index: int, share: float, host_bytes: int) -> None:
            shares[index] = share
            if self.on_progress:
                self.on_progress(what, sum(shares.values()) / len(specifications))

        return all_side_by_side(specifications, self.workers, tell)

    def _keep(
        self, result: Result, full: "ResolvedDrive", scale: Fraction | None, seed: int, command: str, purpose: str
    ) -> Trial:
        trial = Trial(
            name=f"R{len(self.done) + 1}",
            purpose=purpose,
            over_provisioning=full.capacity.over_provisioning,
            scale=None if scale == 1 else scale,
            seed=seed,
            figures=self._figures(result, full),
            command=command,
            specification_sha256=result.specification.hash(),
            failure=result.failure,
            steady=result.steady_state is not None and result.steady_state.reached,
        )
        self.done.append(trial)
        return trial

    def _figures(self, result: Result, full: "ResolvedDrive") -> dict[str, float | None]:
        waf = result.settled_waf
        found = speed(result)
        figures: dict[str, float | None] = {"waf": waf, "write_mb_s": found.write.mb_s if found else None}
        figures["tbw_bytes"] = waf and endurance.lifetime_bytes(
            full.endurance_cycles, full.capacity.physical_bytes, waf
        )
        if figures["tbw_bytes"] and self.demand.writes_bytes_per_day:
            figures["years"] = figures["tbw_bytes"] / self.demand.writes_bytes_per_day / endurance.DAYS_PER_YEAR
        if self.demand.drive_price is not None:
            figures["price_per_gb"] = endurance.price_per_gb(self.demand.drive_price, full.capacity.user_bytes)
            if figures["tbw_bytes"]:
                figures["price_per_tb_written"] = self.demand.drive_price / figures["tbw_bytes"] * 1e12
        for limit in self.limits:
            if "." in limit.figure:
                figures[limit.figure] = _latency_ns(result, limit.figure)
        return figures

    def _command(self, share: float, drive: "ResolvedDrive", scale: Fraction | None, seed: int) -> str:
        setting = self.setting
        # The drive's own spare area is not a round number, and is the default of the command.
        said = None if share == setting.at(None, None).capacity.over_provisioning else share
        return self.workload.command(*setting.words, said, scale, seed, self.timed, drive)


def mean(trials: Sequence[Trial], figure: str) -> float | None:
    """The mean over the trials; None if any has no value, or without trials."""
    values = [trial.figure(figure) for trial in trials]
    return None if None in values or not values else fmean(value for value in values if value is not None)


def _latency_ns(result: Result, figure: str) -> float | None:
    """The latency statistic over the requests that are compared, such as `write.p99`: those of the steady state."""
    direction, _, rank = figure.partition(".")
    found = speed(result)
    if found is None:
        return None
    whole: Latency = getattr(found, direction).latency
    return whole.mean_ns if rank == "mean" else whole.percentile_ns(float(rank[1:]))
