"""The result of a run: fio's JSON with ssdlab's own keys, the numbers as attributes, the series as frames.

The bytes of a result depend only on the specification, not on the machine, the clock or the number of processes.
`to_json()` therefore does not contain the duration of the run: the keys `wall_seconds`, `programs_per_wall_second` and
`ios_per_wall_second` are null, as are fio's `timestamp` and `time`. The duration is in `Result.timing`, in the text
that `ssdlab run` prints, and in `timing.json` next to `result.json`.
"""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NotRequired, TypedDict, cast

from ssdlab.evidence.estimate import Estimate, of_one_run
from ssdlab.presentation.report.shown import Shown, said
from ssdlab.simulator.drives import standing
from ssdlab.simulator.engine import plain
from ssdlab.simulator.results import fio_schema, series, time_series
from ssdlab.simulator.results.device_json import DeviceJson, SmartLogs
from ssdlab.simulator.results.durability import DurabilityJson
from ssdlab.simulator.results.energy import Energy, EnergyJson, Flash, energy
from ssdlab.simulator.results.fdp import FdpJson, fdp
from ssdlab.simulator.results.files import data_file, staged
from ssdlab.simulator.results.fio_schema import DIRECTIONS
from ssdlab.simulator.results.intervals import Interval, IntervalJson, intervals
from ssdlab.simulator.results.job_result import JobJson, JobResult, job_results
from ssdlab.simulator.results.ledger import HostJson, Ledger, NandJson
from ssdlab.simulator.results.namespaces import Alone, NamespaceJson, NamespaceResult, namespace_results
from ssdlab.simulator.results.steady_state import SteadyState, SteadyStateJson, not_sought, steady_state
from ssdlab.simulator.specification import (
    ChosenScale,
    InitialStateJson,
    LogsJson,
    PowerJson,
    ReportingJson,
    Specification,
    SpecificationJson,
    TraceJson,
)

if TYPE_CHECKING:
    import polars

    from ssdlab.presentation.report.figure import Figure


class ScaledJson(TypedDict):
    """The key `scaled` of a result: bytes converted to the full-size drive."""

    scale: str
    physical_bytes: int
    user_bytes: int
    host_written_bytes: int
    nand_programmed_bytes: int
    chosen: NotRequired[ChosenScale]
    """How the scale was chosen, if it was not given."""


class WearJson(TypedDict):
    """The key `wear` of a result."""

    erase_count: plain.Spread
    """Over blocks, without erases after use in SLC mode."""
    slc_mode: plain.SlcModeWear | None
    """Erases after use in SLC mode, over the blocks that had one; None if there was none."""
    bad_blocks: int
    bad_blocks_factory: int
    bad_blocks_grown: int
    histogram: list[plain.WearBin]


class CapacityJson(TypedDict):
    """The key `capacity` of a result; the keys are those of `Capacity`."""

    physical_bytes: int
    user_bytes: int
    over_provisioning: float
    spare_factor: float
    effective_over_provisioning: float | None


class JobPartJson(TypedDict):
    """The specification of a run without its drive and its seed."""

    timed: bool
    until: plain.Until
    series_points_max: int
    jobs: list[plain.Job]
    interval_ns: NotRequired[int | None]
    global_options: dict[str, str]
    reporting: list[ReportingJson]
    initial_state: NotRequired[InitialStateJson]
    trace: NotRequired[TraceJson]


class SpecificationPartsJson(TypedDict):
    """The key `specification` of a result."""

    drive: plain.Drive
    job: JobPartJson
    power: NotRequired[PowerJson]
    sha256: str


class _IntervalsPart(TypedDict, total=False):
    intervals: list[IntervalJson]


class _PowerPart(TypedDict, total=False):
    power: PowerJson


class _OptionalPart(TypedDict, total=False):
    """Keys that only some kinds of drives and runs have."""

    energy: EnergyJson
    fdp: FdpJson
    zones: plain.ZoneCounts
    reclaim_groups: list[plain.GroupCounts]
    namespaces: list[NamespaceJson]
    variant: "VariantJson"
    trace: plain.TraceCounts
    device: DeviceJson
    smart: SmartLogs


class TheoryJson(TypedDict):
    """The closed form that applies to a variant; null with a reason if none applies."""

    waf: float | None
    formula: str | None
    reason: str | None
    deviation_share: float | None


class DirectionSpeedJson(TypedDict):
    """The JSON of `ssdlab.simulator.results.speed.DirectionSpeed`."""

    iops: float
    mb_s: float
    latency_ns_mean: float | None
    latency_ns_p99: float | None
    latency_ns_p999: float | None


class SpeedJson(TypedDict):
    """The JSON of `ssdlab.simulator.results.speed.Speed`."""

    window: str
    seconds: float
    iops: float
    iops_low: float
    iops_high: float
    read: DirectionSpeedJson
    write: DirectionSpeedJson


class VariantJson(TypedDict):
    """The keys that a comparison adds to a result."""

    label: str
    waf: float | None
    waf_low: float | None
    waf_high: float | None
    waf_n: int | None
    waf_how: str | None
    waf_parts: dict[str, float] | None
    theory: TheoryJson
    speed: SpeedJson | None
    energy: EnergyJson | None
    """Of the last stage."""
    co2e_g_per_host_tb: float | None
    tbw_bytes: float | None
    drive_writes_per_day: float
    years: float | None


class SsdlabJson(TypedDict):
    """The key `ssdlab` of a result."""

    version: str
    seed: int
    scale: str
    specification: SpecificationPartsJson
    standing: str
    """What stands behind the name of the drive."""
    scaled: ScaledJson | None
    capacity: CapacityJson
    host: HostJson
    nand: NandJson
    waf: float | None
    waf_parts: dict[str, float] | None
    steady_state: SteadyStateJson
    stages: list[plain.StageOutcome]
    intervals: NotRequired[list[IntervalJson]]
    wear: WearJson
    energy: NotRequired[EnergyJson]
    """For a drive with `[power]`."""
    fdp: NotRequired[FdpJson]
    zones: NotRequired[plain.ZoneCounts]
    reclaim_groups: NotRequired[list[plain.GroupCounts]]
    namespaces: NotRequired[list[NamespaceJson]]
    failure: str | None
    simulated_seconds: float | None
    die_utilization: float | None
    wall_seconds: None
    programs_per_wall_second: None
    ios_per_wall_second: None
    variant: NotRequired[VariantJson]
    """In a comparison."""
    trace: NotRequired[plain.TraceCounts]
    """In a replay."""
    device: NotRequired[DeviceJson]
    """For a served drive."""
    smart: NotRequired[SmartLogs]
    """For a served drive."""


class ResultJson(fio_schema.HeaderJson):
    """fio's schema, with the key `ssdlab` at the top and in each job."""

    jobs: list[JobJson]
    ssdlab: SsdlabJson


# Keys of a specification that are not part of the engine's input; a result stores them with its jobs.
_OF_JOBS = ("global_options", "reporting", "initial_state")


@dataclass(frozen=True)
class Capacity:
    """The capacity of the simulated drive."""

    physical_bytes: int
    user_bytes: int
    over_provisioning: float
    spare_factor: float
    effective_over_provisioning: float | None
    """At the end of the run: the space available to garbage collection, as a share of the live data; or None."""


@dataclass(frozen=True)
class Timing:
    """The duration of the run on this machine in seconds, and NAND programs and host requests per second."""

    wall_seconds: float
    programs_per_wall_second: float | None
    ios_per_wall_second: float | None


class Result(Shown):
    """One run on a simulated drive."""

    def __init__(
        self,
        specification: Specification,
        outcome: plain.Outcome,
        *,
        version: str,
        wall_seconds: float | None = None,
    ) -> None:
        """`outcome` is the JSON object that the engine returned for `specification`; `version` is the engine's."""
        self.specification = specification
        self.version = version
        self._outcome = outcome
        self._wall_seconds = wall_seconds
        self._mapping_unit_bytes = outcome["capacity"]["mapping_unit_bytes"]
        self._counted_unit_bytes = outcome["capacity"]["counted_unit_bytes"]
        self._timed = outcome["timing"]
        self.alone: Sequence[Alone | None] = ()
        """For each namespace, its result on a separate drive of its share. Must be set before `namespaces` is read."""

    def __repr__(self) -> str:
        return f"<Result: {self.specification.drive['name']}, {len(self.jobs)} jobs, WAF {said(self.settled_waf)}>"

    def frame(self) -> "polars.DataFrame":
        """A frame with one row for each job; `ssdlab.simulator.results.jobs_frame.frame` describes the columns."""
        from ssdlab.simulator.results import jobs_frame

        return jobs_frame.frame(self.jobs)

    def figures(self) -> "Sequence[Figure]":
        """The figures of a comparison's report that a single variant can fill."""
        from ssdlab.presentation.report.comparison import comparison_figures
        from ssdlab.simulator.results.compared import of_result

        return comparison_figures([of_result(self, str(self.specification.drive["name"]))])

    @cached_property
    def jobs(self) -> list[JobResult]:
        """The jobs as fio would list them: one for each clone, or one for each group with `group_reporting`."""
        failed_stage = self._outcome["stages"][-1]["stage"] if self.read_only and self._outcome["stages"] else None
        return job_results(
            self._outcome["jobs"],
            self.specification.jobs,
            self.specification.reporting,
            self._outcome["capacity"],
            failed_stage,
            self._timed,
        )

    @cached_property
    def ledger(self) -> Ledger:
        """The counters of the whole run, without those of a saved state that it began in."""
        return Ledger.from_outcome(self._outcome["ledger"], self._outcome["capacity"])

    @property
    def waf(self) -> float | None:
        """Write amplification of the whole run, with the approach to the steady state; None without host writes."""
        return self.ledger.waf

    @cached_property
    def steady_state(self) -> SteadyState | None:
        """The result of the search for the steady state; None if the run ends with its job."""
        return steady_state(self._outcome)

    @cached_property
    def last_stage_ledger(self) -> Ledger:
        """The counters of the last stage."""
        last = self.specification.jobs[-1]["stage"]
        first, *rest = (
            Ledger.from_outcome(job["ledger"], self._outcome["capacity"])
            for job in self._outcome["jobs"]
            if job["stage"] == last
        )
        return sum(rest, first)

    @property
    def settled_waf(self) -> float | None:
        """The WAF for comparisons: over the reported rounds of a run until the steady state, else of the last stage."""
        estimate = self.waf_estimate
        return estimate.value if estimate else None

    @property
    def waf_estimate(self) -> Estimate | None:
        """`settled_waf` with its interval; None if it is None."""
        if self.steady_state and self.steady_state.round_waf:
            return self.steady_state.waf
        last, ledger = self.specification.jobs[-1]["stage"], self.last_stage_ledger
        if ledger.waf is None or ledger.waf_parts is None:
            return None
        writes = sum(job.write.total_ios for job in self.jobs if job.stage == last)
        return of_one_run(ledger.waf, writes, certain=ledger.waf_parts["host"])

    @property
    def settled_waf_parts(self) -> Mapping[str, float] | None:
        """The parts of `settled_waf`, which add up to it; None if it is None."""
        steady = self.steady_state
        return steady.window_waf_parts if steady and steady.round_waf else self.last_stage_ledger.waf_parts

    @property
    def determined_waf_parts(self) -> Mapping[str, float] | None:
        """`settled_waf_parts`, None also where of the WAF only the ends of its interval are printed."""
        estimate = self.waf_estimate
        return None if estimate is None or estimate.has_only_ends else self.settled_waf_parts

    @cached_property
    def capacity(self) -> Capacity:
        raw = self._outcome["capacity"]
        physical, user = raw["physical_units"], raw["user_units"]
        return Capacity(
            physical * self._mapping_unit_bytes,
            user * self._mapping_unit_bytes,
            (physical - user) / user,
            (physical - user) / physical,
            raw["effective_over_provisioning"],
        )

    @property
    def wear(self) -> WearJson:
        """`erase_count` (min, mean, max, stddev over blocks), its `histogram`, `slc_mode` with the erases after use in
        SLC mode, which are not among them, and bad blocks by origin."""
        raw = self._outcome["wear"]
        return {
            "erase_count": raw["erase_count"],
            "slc_mode": raw.get("slc_mode"),
            "bad_blocks": raw["bad_blocks_factory"] + raw["bad_blocks_grown"],
            "bad_blocks_factory": raw["bad_blocks_factory"],
            "bad_blocks_grown": raw["bad_blocks_grown"],
            "histogram": raw["histogram"],
        }

    @cached_property
    def energy(self) -> Energy | None:
        """Joules of the whole run by cause, and mean watts; None for a drive whose energies are unknown.

        Those of the last stage if the drive was warmed up in a saved state, which is not counted.
        """
        if self.specification.initial_state and not self.specification.reporting[0].shown:
            return self.last_stage_energy
        return self._energy(self.ledger, self._commands(), self.simulated_seconds)

    @cached_property
    def last_stage_seconds(self) -> float | None:
        """Simulated seconds from the first start to the last end of the jobs of the last stage; None without a clock.

        Longer than each job where one begins later than another (`startdelay`).
        """
        if not self._timed:
            return None
        last = self.specification.jobs[-1]["stage"]
        timings = [job["timing"] for job in self._outcome["jobs"] if job["stage"] == last]
        ran = [(each["start_ns"], each["end_ns"]) for each in timings if each and each["end_ns"] > each["start_ns"]]
        return (max(end for _, end in ran) - min(start for start, _ in ran)) / 1e9 if ran else 0.0

    @cached_property
    def last_stage_energy(self) -> Energy | None:
        """The same of the last stage."""
        last = self.specification.jobs[-1]["stage"]
        commands = sum(job.direction(name).total_ios for job in self.jobs for name in DIRECTIONS if job.stage == last)
        return self._energy(self.last_stage_ledger, commands, self.last_stage_seconds)

    def _commands(self) -> int:
        """Reads, writes and trims of the whole run. The series, which a served drive lacks, has those of a ramp time
        too."""
        of_jobs = sum(job[name]["ios"] for job in self._outcome["jobs"] for name in DIRECTIONS)
        series = self._timed["series"] if self._timed else None
        of_series = sum(map(sum, (series["read_ios"], series["write_ios"], series["trim_ios"]))) if series else 0
        return max(of_jobs, of_series)

    def _energy(self, ledger: Ledger, commands: int, seconds: float | None) -> Energy | None:
        if self.specification.power is None:
            return None
        nand, capacity = self.specification.drive["nand"], self._outcome["capacity"]
        block_bytes = nand["pages_per_block"] * nand["page_bytes"]
        erase_unit_bytes = capacity["units_per_erase_unit"] * capacity["mapping_unit_bytes"]
        flash = Flash(nand["page_bytes"], erase_unit_bytes // block_bytes)
        return energy(self.specification.power, flash, ledger, commands, seconds)

    @property
    def zones(self) -> plain.ZoneCounts | None:
        """The number of zones in each state at the end, resets, finishes and refused writes; None without zones."""
        return self._outcome.get("zones")

    @property
    def reclaim_groups(self) -> list[plain.GroupCounts] | None:
        """Erase units, live units, openings and erases of each reclaim group; None for a drive without groups."""
        return self._outcome.get("reclaim_groups")

    @cached_property
    def namespaces(self) -> list[NamespaceResult] | None:
        """The requests to each namespace, with the flash's work and latencies; None for a drive without namespaces."""
        if not self._outcome.get("namespaces"):
            return None
        found = namespace_results(self.specification.engine, self._outcome, self.ledger, self.last_stage_ledger)
        return [replace(each, alone=alone) for each, alone in zip_longest(found, self.alone)]

    @cached_property
    def fdp(self) -> FdpJson | None:
        """What a drive with placement handles reports (`ssdlab.simulator.results.fdp`); None for other drives."""
        began, capacity = self._outcome.get("began"), self._outcome["capacity"]
        since_new = self.ledger + Ledger.from_outcome(began["ledger"], capacity) if began else self.ledger
        return fdp(self.specification.engine, capacity, since_new, self._outcome.get("placement"))

    @property
    def stages(self) -> list[plain.StageOutcome]:
        """The host bytes written at the start and end of each stage, and its read-ahead counts: `read_counts.rs`."""
        return self._outcome["stages"]

    @property
    def read_only(self) -> str | None:
        """Why the drive became read-only before the end of the run; None if it did not."""
        return self._outcome["failure"]

    @property
    def failure(self) -> str | None:
        """Why the run is incomplete: the drive became read-only, or a job failed by its limits; None if complete."""
        of_jobs = (job.failure.words for job in self.jobs if job.failure)
        return self.read_only or next(of_jobs, None)

    @property
    def failure_kind(self) -> Literal["read-only", "failed"]:
        """The kind of the `failure`; only valid if there is one."""
        return "read-only" if self.read_only else "failed"

    @property
    def job_logs(self) -> Iterator[tuple[LogsJson, plain.LogColumns]]:
        """For each logging job, its log options and the engine's log (`simulation/job_log.rs`)."""
        for entry, raw in zip(self.specification.reporting, self._outcome["jobs"], strict=False):
            log = raw["timing"]["log"] if raw["timing"] else None
            if log and "logs" in entry.output:
                yield entry.output["logs"], log

    @property
    def trace_counts(self) -> plain.TraceCounts | None:
        """How the requests of a trace were handled; None for a run without a trace."""
        return self._outcome.get("trace")

    @property
    def timing(self) -> Timing | None:
        """The duration of the run; None if it was not measured."""
        if self._wall_seconds is None:
            return None
        requests = self._commands()
        programs = self.ledger.programmed_bytes / self._mapping_unit_bytes
        rate = 1 / self._wall_seconds if self._wall_seconds > 0 else None
        return Timing(self._wall_seconds, rate and programs * rate, rate and requests * rate)

    @property
    def simulated_seconds(self) -> float | None:
        """The duration of the run in simulated seconds; None without a clock."""
        return self._timed["simulated_ns"] / 1e9 if self._timed else None

    @property
    def die_utilization(self) -> float | None:
        """The share of the simulated time, 0 to 1, in which a die was busy, over all dies; None without a clock."""
        return self._timed["die_utilization"] if self._timed else None

    @cached_property
    def intervals(self) -> list[Interval] | None:
        """What the drive did in each interval, in the time of the full-size drive; None if not requested."""
        raw = self._timed.get("intervals") if self._timed else None
        if raw is None:
            return None
        return intervals(raw, self._outcome["capacity"], Fraction(self.specification.scale))

    @property
    def timing_series(self) -> "polars.DataFrame | None":
        """A frame with one row for each interval of simulated time; None without a clock.

        `ssdlab.simulator.results.time_series.frame` describes the columns.
        """
        return time_series.frame(self._timed["series"], self._counted_unit_bytes) if self._timed else None

    @property
    def timeseries(self) -> "polars.DataFrame":
        """A frame with one row for each window of host writes; `ssdlab.simulator.results.series.frame` describes the
        columns."""
        return series.frame(self._outcome["series"], self._counted_unit_bytes)

    @property
    def programmed_over_host_bytes(self) -> list[tuple[int, int]]:
        """Pairs: (host bytes written, bytes programmed into NAND up to then)."""
        raw, unit_bytes = self._outcome["series"], self._counted_unit_bytes
        programmed = (sum(units) * unit_bytes for units in zip(*series.units_by_part(raw).values(), strict=True))
        return list(zip(raw["host_written_bytes"], programmed, strict=True))

    def durability(self) -> list[tuple[JobResult, DurabilityJson]]:
        """The jobs that ask for durable writes, and what they got."""
        found = ((job, job.durability(self.specification.drive)) for job in self.jobs)
        return [(job, durably) for job, durably in found if durably]

    def to_dict(self, *, bins: bool = False) -> ResultJson:
        """fio's schema, with the key `ssdlab` at the top and in each job. `bins` adds the keys of `json+`."""
        options = self.specification.global_options
        # fio counts whole seconds, rounded up.
        elapsed = None if self.simulated_seconds is None else math.ceil(self.simulated_seconds)
        header = fio_schema.header()
        if options:
            header["global options"] = dict(options)
        return {
            **header,
            "jobs": [
                job.to_dict(bins=bins, elapsed_seconds=elapsed, drive=self.specification.drive) for job in self.jobs
            ],
            "ssdlab": self._ssdlab(),
        }

    def to_json(self, *, bins: bool = False) -> str:
        """The text of `to_dict`, ready for a file."""
        return json.dumps(self.to_dict(bins=bins), indent=2, ensure_ascii=False) + "\n"

    def write(self, directory: str | Path) -> None:
        """Writes `result.json` and, into `data/`, `timeseries.parquet` and, with a clock, `timeseries-time.parquet`.

        Either all files are written or none. The first series is over host bytes, the second over simulated time.
        `timing.json` has the duration of the run on this machine.
        """
        with staged(Path(directory)) as place:
            (place / "result.json").write_text(self.to_json(), encoding="utf-8")
            self.timeseries.write_parquet(data_file(place, "timeseries"))
            if (over_time := self.timing_series) is not None:
                over_time.write_parquet(data_file(place, "timeseries-time"))
            if self.timing:
                (place / "timing.json").write_text(json.dumps(asdict(self.timing), indent=2) + "\n", encoding="utf-8")

    def _scaled(self) -> ScaledJson | None:
        """The bytes of a scaled run, converted to the full-size drive; None if the scale is 1."""
        scale, as_sold = self.specification.scale, self.specification.as_sold
        if scale == "1":
            return None
        scaled: ScaledJson = {
            "scale": scale,
            "physical_bytes": as_sold(self.capacity.physical_bytes),
            "user_bytes": as_sold(self.capacity.user_bytes),
            "host_written_bytes": self.specification.moved_as_sold(self.ledger.host_written_bytes),
            "nand_programmed_bytes": self.specification.moved_as_sold(self.ledger.programmed_bytes),
        }
        if self.specification.chosen_scale:
            scaled["chosen"] = self.specification.chosen_scale
        return scaled

    def _job_part(self) -> JobPartJson:
        whole = self.specification.to_dict()
        more = {key: value for key, value in whole.items() if key in _OF_JOBS}
        # In the order of the engine's input.
        own = {key: value for key, value in whole["engine"].items() if key not in ("seed", "drive")}
        return cast("JobPartJson", own | more)

    def _ssdlab(self) -> SsdlabJson:
        engine = self.specification.engine
        intervals_part: _IntervalsPart = {}
        if self.intervals is not None:
            intervals_part["intervals"] = [row.to_dict() for row in self.intervals]
        power_part: _PowerPart = {}
        if self.specification.power:
            power_part["power"] = self.specification.power.copy()
        of_kinds: _OptionalPart = {}
        if self.energy:
            of_kinds["energy"] = self.energy.to_dict()
        if self.fdp:
            of_kinds["fdp"] = self.fdp
        if self.zones:
            of_kinds["zones"] = self.zones
        if self.reclaim_groups:
            of_kinds["reclaim_groups"] = self.reclaim_groups
        if self.namespaces:
            of_kinds["namespaces"] = [each.to_dict() for each in self.namespaces]
        return {
            "version": self.version,
            "seed": engine["seed"],
            "scale": self.specification.scale,
            "specification": {
                "drive": engine["drive"],
                "job": self._job_part(),
                **power_part,
                "sha256": self.specification.hash(),
            },
            "standing": standing.behind(engine["drive"], self.specification.scale),
            "scaled": self._scaled(),
            "capacity": {
                "physical_bytes": self.capacity.physical_bytes,
                "user_bytes": self.capacity.user_bytes,
                "over_provisioning": self.capacity.over_provisioning,
                "spare_factor": self.capacity.spare_factor,
                "effective_over_provisioning": self.capacity.effective_over_provisioning,
            },
            "host": self.ledger.host_json(),
            "nand": self.ledger.nand_json(),
            "waf": self.waf,
            "waf_parts": self.ledger.waf_parts,
            "steady_state": self.steady_state.to_dict() if self.steady_state else not_sought(),
            "stages": self.stages,
            **intervals_part,
            "wear": self.wear,
            **of_kinds,
            "failure": self.failure,
            "simulated_seconds": self.simulated_seconds,
            "die_utilization": self.die_utilization,
            "wall_seconds": None,
            "programs_per_wall_second": None,
            "ios_per_wall_second": None,
        }


def specification_of(result: ResultJson) -> Specification:
    """The specification inside a result's JSON object. Running it reproduces the result byte for byte."""
    ours = result["ssdlab"]
    job = ours["specification"]["job"]
    own = {key: value for key, value in job.items() if key not in _OF_JOBS}
    whole: SpecificationJson = {
        "global_options": job["global_options"],
        "reporting": job["reporting"],
        "scale": ours["scale"],
        "engine": cast("plain.Specification", {"seed": ours["seed"], "drive": ours["specification"]["drive"], **own}),
    }
    if "initial_state" in job:
        whole["initial_state"] = job["initial_state"]
    if "power" in ours["specification"]:
        whole["power"] = ours["specification"]["power"]
    scaled = ours["scaled"]
    return replace(Specification.from_dict(whole), chosen_scale=scaled.get("chosen") if scaled else None)
