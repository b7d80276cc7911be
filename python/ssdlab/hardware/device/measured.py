"""The result of a measurement: fio's JSON of each stage with ssdlab's keys, and the figures as attributes.

Directions, latencies and flushes have the classes of a simulated result. Values that a real drive does not report, such
as the causes of programs, are null, and `not_measured` gives the reason.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from ssdlab.foundation.foreign import JsonObject
from ssdlab.presentation.report.charts.published import Bar, published_bars
from ssdlab.presentation.report.shown import Shown, said
from ssdlab.simulator.results import jobs_frame
from ssdlab.simulator.results.files import data_file, data_name, staged
from ssdlab.simulator.results.fio_schema import DIRECTIONS
from ssdlab.simulator.results.job_result import DirectionResult, FlushResult
from ssdlab.simulator.results.latency import NONE, USUAL, Latency, merged
from ssdlab.simulator.results.samples import Samples, Spread

if TYPE_CHECKING:
    import polars

    from ssdlab.hardware.device.health import Phase
    from ssdlab.presentation.report.figure import Figure

WITHIN = "a real drive does not report the causes of its programs, its capacity, its blocks and its map"
SHARED = "several jobs ran concurrently, and the drive counts all of them together; see the stage"


@dataclass(frozen=True)
class MeasuredJob:
    """One job of fio's report."""

    raw: JsonObject
    stage: int
    group: int
    read: DirectionResult
    write: DirectionResult
    trim: DirectionResult
    flush: FlushResult
    waf: float | None
    """Write amplification of the job's stage; None if other jobs ran in the stage, or the drive does not report it."""

    @property
    def name(self) -> str:
        return str(self.raw["jobname"])

    @property
    def error(self) -> int:
        return int(self.raw["error"])

    @property
    def seconds(self) -> float:
        """The longest duration of its directions."""
        return max(getattr(self, name).seconds or 0.0 for name in DIRECTIONS)

    @property
    def latency(self) -> Latency:
        """The latency over the requests of all directions."""
        return merged([getattr(self, name).latency or NONE for name in DIRECTIONS])


@dataclass(frozen=True)
class MeasuredStage:
    """One call of fio, or another step, with its commands and the change of the drive's counters."""

    name: str
    commands: Sequence[str]
    """The command lines, for repeating the stage by hand; `job_text` is the job file."""
    job_text: str | None
    seconds: float
    phase: "Phase"
    report: JsonObject | None = None
    """fio's JSON; None for a step without fio."""
    logs: Mapping[str, Sequence[tuple[int, int, int]]] = field(default_factory=dict)
    """For each of fio's logs (such as `bw.1`): milliseconds since the start of the stage, value, direction."""
    error: str | None = None

    def to_dict(self, number: int) -> JsonObject:
        return {
            "stage": number,
            "name": self.name,
            "commands": list(self.commands),
            "job_text": self.job_text,
            "wall_seconds": self.seconds,
            "smart": self.phase.to_dict(),
            "error": self.error,
        }


@dataclass(repr=False)
class Measured(Shown):
    """A measurement. `target` describes the drive; `failure` is the reason why it is incomplete."""

    target: JsonObject
    source: str
    """The name of the job file."""
    seed: int
    version: str
    stages: Sequence[MeasuredStage]
    whole: "Phase"
    """The change from before the first stage to after the last."""
    failure: str | None = None
    notes: Sequence[str] = ()
    interrupted: bool = False

    def __repr__(self) -> str:
        return f"<Measured: {self.source}, {len(self.jobs)} jobs, WAF {said(self.waf)}>"

    def frame(self) -> "polars.DataFrame":
        """A frame with one row per job; `ssdlab.simulator.results.jobs_frame.frame` describes the columns."""
        return jobs_frame.frame(self.jobs)

    def figures(self) -> "Sequence[Figure]":
        """The bandwidth of each job as a figure; empty if no job transferred data."""
        bars = [
            Bar(job.name, name, rate / 1e6)
            for job in self.jobs
            for name in ("read", "write")
            if (rate := getattr(job, name).bw_bytes)
        ]
        if not bars:
            return []
        title, caption = "Bandwidth of each job", "As fio measured it, by the clock on the wall."
        return [
            published_bars(name="bandwidth", title=title, caption=caption, bars=bars, x_title="MB/s", said="measured")
        ]

    @cached_property
    def jobs(self) -> list[MeasuredJob]:
        found: list[MeasuredJob] = []
        group = -1
        for number, stage in enumerate(self.stages):
            raw_jobs = stage.report["jobs"] if stage.report else []
            alone = len(raw_jobs) == 1
            seen: int | None = None
            for raw in raw_jobs:
                if raw["groupid"] != seen:
                    seen, group = raw["groupid"], group + 1
                waf = stage.phase.waf if alone else None
                directions = {name: direction_of(raw[name]) for name in DIRECTIONS}
                found.append(MeasuredJob(raw, number, group, **directions, flush=flush_of(raw["sync"]), waf=waf))
        return found

    @property
    def waf(self) -> float | None:
        """Write amplification over all stages; None if the drive does not report it."""
        return self.whole.waf

    @property
    def host(self) -> dict[str, int]:
        """Bytes by direction, counted by fio."""
        sums = {name: sum(getattr(job, name).io_bytes for job in self.jobs) for name in DIRECTIONS}
        return {"written_bytes": sums["write"], "read_bytes": sums["read"], "trimmed_bytes": sums["trim"]}

    @property
    def wall_seconds(self) -> float:
        return sum(stage.seconds for stage in self.stages)

    @property
    def timing_series(self) -> "polars.DataFrame | None":
        """A frame with one row per second of each stage, or None without logs. `ssdlab.hardware.device.series.frame`
        describes the columns."""
        # Imported here because `series` imports this module.
        from ssdlab.hardware.device import series

        return series.frame(self.stages)

    def to_dict(self, *, bins: bool = False) -> JsonObject:
        """The result in fio's schema, with the key `ssdlab` at the top and in each job. `bins` adds latency bins."""
        first: JsonObject = next((stage.report for stage in self.stages if stage.report), {})
        header = {key: value for key, value in first.items() if key not in ("jobs", "disk_util", "global options")}
        return {
            **header,
            "jobs": [_job_dict(job, self.stages[job.stage], bins=bins) for job in self.jobs],
            "disk_util": [entry for stage in self.stages for entry in (stage.report or {}).get("disk_util", ())],
            "ssdlab": self._ssdlab(),
        }

    def to_json(self, *, bins: bool = False) -> str:
        """`to_dict` as JSON text with a final newline."""
        return json.dumps(self.to_dict(bins=bins), indent=2, ensure_ascii=False) + "\n"

    def write(self, directory: str | Path) -> list[str]:
        """Writes `result.json` and, with logs, `data/timeseries-time.parquet`, all or none. Returns the names."""
        with staged(Path(directory)) as place:
            (place / "result.json").write_text(self.to_json(bins=True), encoding="utf-8")
            names = ["result.json"]
            if (over_time := self.timing_series) is not None:
                over_time.write_parquet(data_file(place, "timeseries-time"))
                names.append(data_name("timeseries-time"))
        return names

    def _ssdlab(self) -> JsonObject:
        nulls = ("waf_parts", "wear", "simulated_seconds", "die_utilization", "scale")
        reasons: dict[str, str] = dict.fromkeys(
            ("waf_parts", "wear", "die_utilization", "capacity", "nand.programmed_bytes"), WITHIN
        )
        reasons["simulated_seconds"] = reasons["scale"] = "nothing was simulated"
        if self.waf is None:
            reasons["waf"] = self.whole.reason or "the drive does not report it"
        return {
            "version": self.version,
            "seed": self.seed,
            "target": dict(self.target),
            "specification": {"drive": None, "job": {"source": self.source}},
            "capacity": {
                "physical_bytes": None,
                "user_bytes": self.target.get("size_bytes"),
                "over_provisioning": None,
                "spare_factor": None,
                "effective_over_provisioning": None,
            },
            "host": self.host,
            "nand": {"programmed_bytes": {"total": self.whole.nand_bytes}, "read_bytes": None},
            "waf": self.waf,
            **dict.fromkeys(nulls),
            "smart": self.whole.to_dict(),
            "fdp": self.whole.fdp,
            "stages": [stage.to_dict(number) for number, stage in enumerate(self.stages)],
            "failure": self.failure,
            "interrupted": self.interrupted,
            "notes": list(self.notes),
            "wall_seconds": self.wall_seconds,
            "not_measured": reasons,
        }


def _job_dict(job: MeasuredJob, stage: MeasuredStage, *, bins: bool) -> JsonObject:
    raw = json.loads(json.dumps(job.raw))
    raw["groupid"] = job.group
    if not bins:
        for name in DIRECTIONS:
            for kind in ("slat_ns", "clat_ns", "lat_ns"):
                raw[name].get(kind, {}).pop("bins", None)
    reason = None if job.waf is not None else stage.phase.reason or SHARED
    return {
        **raw,
        "ssdlab": {
            "stage": job.stage,
            "host": {
                "written_bytes": job.write.io_bytes,
                "read_bytes": job.read.io_bytes,
                "trimmed_bytes": job.trim.io_bytes,
            },
            "waf": job.waf,
            "waf_reason": reason,
            "waf_parts": None,
            "wall_seconds": job.seconds,
        },
    }


def direction_of(raw: JsonObject) -> DirectionResult:
    count = int(raw["total_ios"])
    latency = NONE
    percentiles = USUAL
    if count:
        # fio has bins for one kind of latency, by default the time from submission to completion.
        kinds = [kind for kind in ("lat_ns", "clat_ns") if "bins" in raw.get(kind, {})]
        kind = kinds[0] if kinds else "lat_ns" if raw["lat_ns"].get("N") else "clat_ns"
        whole = raw[kind]
        percentiles = replace(USUAL, of=(kind.removesuffix("_ns"),))
        bins: Mapping[str, int] = whole.get("bins", {})
        rising = sorted((int(middle), number) for middle, number in bins.items() if number)
        # Requests that failed have no latency.
        timed = sum(number for _, number in rising) or count
        latency = Latency(timed, whole["min"], whole["max"], whole["mean"], whole["stddev"], tuple(rising))
    samples = None
    if raw.get("iops_samples"):
        samples = Samples(
            Spread(raw["iops_min"], raw["iops_max"], raw["iops_mean"], raw["iops_stddev"], raw["iops_samples"]),
            Spread(
                1024 * raw["bw_min"],
                1024 * raw["bw_max"],
                1024 * raw["bw_mean"],
                1024 * raw["bw_dev"],
                raw["bw_samples"],
            )
            if raw.get("bw_samples")
            else None,
        )
    return DirectionResult(
        total_ios=count,
        io_bytes=int(raw["io_bytes"]),
        seconds=raw["runtime"] / 1000,
        latency=latency,
        samples=samples,
        group_share=raw["bw_agg"] / 100 if raw.get("bw_agg") else None,
        percentiles=percentiles,
        moments=_moments(raw) if count else None,
    )


def _moments(raw: JsonObject) -> dict[str, Latency] | None:
    """The kinds of latency that fio measured: of submission, from then on, and both together."""
    kinds = {kind: raw.get(f"{kind}_ns", {}) for kind in ("slat", "clat", "lat")}
    return {
        kind: Latency(int(each["N"]), each["min"], each["max"], each["mean"], each["stddev"], ())
        for kind, each in kinds.items()
        if each.get("N")
    } or None


def _rates(raw: JsonObject) -> Spread:
    least, most, mean, deviation = (1024 * raw[f"bw_{key}"] for key in ("min", "max", "mean", "dev"))
    return Spread(least, most, mean, deviation, raw["bw_samples"])


def flush_of(raw: JsonObject) -> FlushResult:
    latency = raw.get("lat_ns", {})
    # With ioengine=sync fio 3.33 measures the flushes and counts none of them.
    count = max(int(raw.get("total_ios") or 0), int(latency.get("N") or 0))
    if not count:
        return FlushResult(0, NONE)
    bins = sorted((int(middle), number) for middle, number in latency.get("bins", {}).items() if number)
    return FlushResult(
        count, Latency(count, latency["min"], latency["max"], latency["mean"], latency["stddev"], tuple(bins))
    )
