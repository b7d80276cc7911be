"""One job of a result, or clones merged by `group_reporting`: its requests and its own flash counters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ssdlab.results import fio_schema
from ssdlab.results.breakdown import Breakdown
from ssdlab.results.fio_schema import DIRECTIONS
from ssdlab.results.job_failure import JobFailure, job_failure
from ssdlab.results.latency import USUAL, Latency, Percentiles, distribution, merged
from ssdlab.results.ledger import Ledger
from ssdlab.results.samples import Samples, Spread, samples
from ssdlab.results.store import StoreResult, store_result
from ssdlab.specification import Reporting

READ_ONLY = JobFailure(30, "Read-only file system", "the drive became read-only")
"""EROFS, what fio would report."""


@dataclass(frozen=True)
class DirectionResult:
    """Requests of one direction. What takes a clock is None without one."""

    total_ios: int
    io_bytes: int
    seconds: float | None = None
    """Simulated time from the start of the job to its end; 0 when it made no such request, as fio counts."""
    latency: Latency | None = None
    samples: Samples | None = None
    """How the rates spread over intervals; None also where the intervals hold other jobs' requests."""
    group_share: float | None = None
    """The share of the bandwidth of its reporting group, 0 to 1."""
    percentiles: Percentiles = USUAL
    breakdown: Breakdown | None = None
    """None also where there were no requests."""

    @property
    def iops(self) -> float | None:
        """Requests per simulated second."""
        return self._rate(self.total_ios)

    @property
    def bw_bytes(self) -> float | None:
        """Bytes a simulated second."""
        return self._rate(self.io_bytes)

    def _rate(self, count: int) -> float | None:
        if self.seconds is None:
            return None
        return count / self.seconds if self.seconds > 0 else 0.0

    def to_dict(self, *, bins: bool) -> dict[str, Any]:
        """fio's object for the direction: `bw` in KiB/s, `runtime` in ms. Submitting takes no simulated time."""
        frame = fio_schema.direction(percentiles=self.percentiles if self.total_ios else None, bins=bins)
        frame |= {
            "io_bytes": self.io_bytes,
            "io_kbytes": self.io_bytes // 1024,
            "bw_bytes": None if self.bw_bytes is None else int(self.bw_bytes),
            "bw": None if self.bw_bytes is None else int(self.bw_bytes) // 1024,
            "iops": self.iops,
            "runtime": None if self.seconds is None else round(self.seconds * 1000),
            "total_ios": self.total_ios,
            "short_ios": 0,
            "drop_ios": 0,
        }
        if self.latency is not None:
            frame["slat_ns"] = {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": self.latency.count}
            for kind in ("clat", "lat"):
                has_them = kind in self.percentiles.of
                ranks = self.percentiles.ranks if has_them else ()
                frame[f"{kind}_ns"] = self.latency.to_dict(percentiles=ranks, bins=bins and has_them)
        if self.samples:
            frame |= _spread_dict("iops", self.samples.iops, "stddev", 1)
            if self.samples.bytes_per_second:
                frame |= _spread_dict("bw", self.samples.bytes_per_second, "dev", 1024)
        if self.group_share is not None:
            frame["bw_agg"] = 100 * self.group_share
        return frame


def _spread_dict(kind: str, spread: Spread, deviation: str, unit: int) -> dict[str, Any]:
    return {
        f"{kind}_min": int(spread.min / unit),
        f"{kind}_max": int(spread.max / unit),
        f"{kind}_mean": spread.mean / unit,
        f"{kind}_{deviation}": spread.stddev / unit,
        f"{kind}_samples": spread.samples,
    }


@dataclass(frozen=True)
class FlushResult:
    """Flushes, which fio calls sync."""

    total_ios: int
    latency: Latency | None = None
    """None without a clock."""

    def to_dict(self) -> dict[str, Any]:
        """fio's object `sync`; fio gives percentiles there only where there were any."""
        frame: dict[str, Any] = {"total_ios": self.total_ios, "lat_ns": fio_schema.latency()}
        if self.latency is not None:
            frame["lat_ns"] = self.latency.to_dict(percentiles=USUAL.ranks if self.total_ios else ())
        return frame


@dataclass(frozen=True)
class JobResult:
    """What fio calls a job in its output. The counters are this job's own, not those of the run so far."""

    name: str
    group: int
    stage: int
    clones: int
    failure: JobFailure | None
    """Of the first clone that failed."""
    options: Mapping[str, str]
    read: DirectionResult
    write: DirectionResult
    trim: DirectionResult
    flush: FlushResult
    ledger: Ledger
    specification: Sequence[Mapping[str, Any]]
    """The engine's job objects, one a clone."""
    seconds: float | None = None
    """Simulated, from the start of the first clone to the end of the last; None without a clock."""
    steady_state: Mapping[str, Any] | None = None
    """What the job's own search for its steady state gave (`simulation/job_steady_state.rs`); None without one."""
    depth: int | None = None
    """The requests outstanding that a job with `latency_target` came to (`simulation/depth_search.rs`)."""
    store: StoreResult | None = None
    """What a database wrote, by cause; None for any other job."""
    seconds_of_clones: float | None = None
    """The sum over the clones, which is what fio reports as the runtime of a job."""

    @property
    def error(self) -> int:
        """fio's number for the failure; 0 without one."""
        return self.failure.error if self.failure else 0

    @property
    def latency(self) -> Latency | None:
        """Of all requests of the job, whatever their direction; None without a clock."""
        parts = [getattr(self, name).latency for name in DIRECTIONS]
        return None if None in parts else merged(parts)

    @property
    def waf(self) -> float | None:
        """Write amplification over the whole of this job; None when it wrote nothing."""
        return self.ledger.waf

    def to_dict(self, *, bins: bool, elapsed_seconds: int | None = None) -> dict[str, Any]:
        """fio's object for the job, with the key `ssdlab` at its end. `elapsed_seconds`: of the whole run."""
        return {
            "jobname": self.name,
            "groupid": self.group,
            "error": self.error,
            "eta": None if elapsed_seconds is None else 0,
            "elapsed": elapsed_seconds,
            "job options": dict(self.options),
            **{name: getattr(self, name).to_dict(bins=bins) for name in DIRECTIONS},
            **fio_schema.job_tail(),
            "sync": self.flush.to_dict(),
            **self._timed_tail(),
            **self.latency_target,
            **({"steadystate": self._steady_state(self.steady_state)} if self.steady_state else {}),
            "ssdlab": {
                "stage": self.stage,
                "clones": self.clones,
                "specification": {"job": [dict(job) for job in self.specification]},
                "host": self.ledger.host_json(),
                "nand": self.ledger.nand_json(),
                "waf": self.waf,
                "waf_parts": self.ledger.waf_parts,
                **({"store": self.store.to_dict(self.waf)} if self.store else {}),
                "latency_breakdown": self._latency_breakdown(),
                "simulated_seconds": self.seconds,
                "wall_seconds": None,
                "programs_per_wall_second": None,
                "ios_per_wall_second": None,
            },
        }

    def _latency_breakdown(self) -> dict[str, Any]:
        breakdowns = {name: getattr(self, name).breakdown for name in DIRECTIONS}
        return {name: breakdown and breakdown.to_dict() for name, breakdown in breakdowns.items()}

    @property
    def latency_target(self) -> dict[str, Any]:
        """What it looked for and found, by fio's keys: ns for the target, microseconds for the window. Else empty."""
        target = self.specification[0].get("latency_target")
        if target is None or self.depth is None:
            return {}
        return {
            "latency_depth": self.depth,
            "latency_target": target["latency_ns"],
            "latency_percentile": target["percent"],
            "latency_window": target["window_ns"] // 1000,
        }

    def _steady_state(self, found: Mapping[str, Any]) -> dict[str, Any]:
        """fio's object, which gives the rates of the window as whole numbers."""
        rule = self.specification[0]["steady_state"]
        sign = "%" if rule["is_percent"] else ""
        iops, rates = found["iops"], found["bytes_per_second"]
        criterion = found["criterion"]
        snia = {"snia-pts-iops": "snia-pts:iops", "snia-pts-bw": "snia-pts:bw"}.get(rule["criterion"])
        return {
            "ss": snia or f"{rule['criterion'].replace('-', '_')}:{rule['limit']:.6f}{sign}",
            "duration": rule["duration_seconds"],
            "attained": int(found["attained"]),
            "criterion": None if criterion is None else f"{criterion:.6f}{sign}",
            "max_deviation": found["max_deviation"],
            "slope": found["slope"],
            "data": {
                "bw_mean": int(sum(rates) / len(rates)) if rates else None,
                "iops_mean": int(sum(iops) / len(iops)) if iops else None,
                "iops": [int(value) for value in iops],
                "bw": [int(value) for value in rates],
            },
        }

    def _timed_tail(self) -> dict[str, Any]:
        latency = self.latency
        if latency is None or self.seconds_of_clones is None:
            return {}
        # The simulated host works in no time, which is a figure; fio-plot takes no null here.
        no_work = {"usr_cpu": 0.0, "sys_cpu": 0.0, "ctx": 0, "majf": 0, "minf": 0}
        return {"job_runtime": round(self.seconds_of_clones * 1000), **no_work, **distribution(latency)}


def job_results(
    raw_jobs: Sequence[Mapping[str, Any]],
    jobs: Sequence[Mapping[str, Any]],
    reporting: Sequence[Reporting],
    capacity: Mapping[str, Any],
    failed_stage: int | None,
    timing: Mapping[str, Any] | None = None,
) -> list[JobResult]:
    """The engine's jobs as fio reports them: neighbours of a group become one where `group_reporting` is set.

    `failed_stage` is the stage in which the drive became read-only, or None; `timing` is that of the engine's outcome.
    """
    runs: list[list[int]] = []
    for index, entry in enumerate(reporting):
        if runs and entry.merged and reporting[runs[-1][0]].group == entry.group:
            runs[-1].append(index)
        else:
            runs.append([index])
    results = [
        _merge(
            [raw_jobs[index] for index in run],
            [jobs[index] for index in run],
            # fio keeps the name of the first and the options of the last.
            reporting[run[-1]],
            capacity,
            failed_stage,
        )
        for run in runs
    ]
    if timing is None:
        return results
    return [
        _with_rates(result, results, raw_jobs, timing["series"], {id(raw_jobs[index]) for index in run})
        for result, run in zip(results, runs, strict=True)
    ]


def _merge(
    raw_jobs: Sequence[Mapping[str, Any]],
    jobs: Sequence[Mapping[str, Any]],
    reporting: Reporting,
    capacity: Mapping[str, Any],
    failed_stage: int | None,
) -> JobResult:
    first, *rest = (Ledger.from_outcome(raw["ledger"], capacity) for raw in raw_jobs)
    stage = raw_jobs[0]["stage"]
    timings = [timing for raw in raw_jobs if (timing := raw.get("timing")) is not None]
    return JobResult(
        name=raw_jobs[0]["name"],
        group=reporting.group,
        stage=stage,
        clones=len(raw_jobs),
        failure=READ_ONLY if stage == failed_stage else next(filter(None, map(job_failure, raw_jobs)), None),
        options=reporting.options,
        **{name: _direction(raw_jobs, name, _percentiles(reporting.output)) for name in DIRECTIONS},
        flush=_flush(raw_jobs),
        ledger=sum(rest, first),
        specification=jobs,
        seconds=_seconds(min(_starts(timings)), max(_ends(timings))) if timings else None,
        steady_state=timings[0].get("steady_state") if timings else None,
        depth=(timings[0].get("depth") or {}).get("depth") if timings else None,
        store=store_result(raw_jobs[0].get("store"), jobs[0]),
        seconds_of_clones=sum(map(_seconds, _starts(timings), _ends(timings))) if timings else None,
    )


def _flush(raw_jobs: Sequence[Mapping[str, Any]]) -> FlushResult:
    timed = all(raw.get("timing") is not None for raw in raw_jobs)
    return FlushResult(
        total_ios=sum(raw["flush"]["ios"] for raw in raw_jobs),
        latency=merged([Latency.from_outcome(raw["timing"]["flush"]) for raw in raw_jobs]) if timed else None,
    )


def _percentiles(output: Mapping[str, Any]) -> Percentiles:
    ranks, of = output.get("percentile_list", USUAL.ranks), output.get("percentiles_of", USUAL.of)
    return Percentiles(tuple(ranks), tuple(of))


def _direction(raw_jobs: Sequence[Mapping[str, Any]], name: str, percentiles: Percentiles) -> DirectionResult:
    timed = all(raw.get("timing") is not None for raw in raw_jobs)
    runtimes = [
        _seconds(raw["timing"]["start_ns"], raw["timing"]["end_ns"]) for raw in raw_jobs if timed and raw[name]["ios"]
    ]
    return DirectionResult(
        total_ios=sum(raw[name]["ios"] for raw in raw_jobs),
        io_bytes=sum(raw[name]["bytes"] for raw in raw_jobs),
        seconds=max(runtimes, default=0.0) if timed else None,
        latency=merged([Latency.from_outcome(raw["timing"][name]) for raw in raw_jobs]) if timed else None,
        percentiles=percentiles,
        breakdown=Breakdown.from_outcomes([raw["timing"] for raw in raw_jobs], name) if timed else None,
    )


def _with_rates(
    result: JobResult,
    results: Sequence[JobResult],
    raw_jobs: Sequence[Mapping[str, Any]],
    series: Mapping[str, Sequence[Any]],
    own: set[int],
) -> JobResult:
    """The job with what needs to know of the others: the spread of its rates, and its share of its group.

    `own` holds the identities of its raw jobs.
    """
    changed: dict[str, Any] = {}
    mine = [raw for raw in raw_jobs if id(raw) in own and raw.get("timing")]
    others = [raw for raw in raw_jobs if raw["stage"] == result.stage and id(raw) not in own]
    for name in DIRECTIONS:
        direction: DirectionResult = getattr(result, name)
        of_group = sum(getattr(each, name).bw_bytes or 0 for each in results if each.group == result.group)
        if not mine or not direction.bw_bytes:
            continue
        alone = not any(other[name]["ios"] for other in others)
        timings = [raw["timing"] for raw in mine]
        changed[name] = replace(
            direction,
            samples=samples(series, name, min(_starts(timings)), max(_ends(timings))) if alone else None,
            group_share=direction.bw_bytes / of_group,
        )
    return replace(result, **changed)


def _starts(timings: Sequence[Mapping[str, Any]]) -> list[int]:
    return [timing["start_ns"] for timing in timings]


def _ends(timings: Sequence[Mapping[str, Any]]) -> list[int]:
    return [timing["end_ns"] for timing in timings]


def _seconds(start_ns: int, end_ns: int) -> float:
    return (end_ns - start_ns) / 1e9
