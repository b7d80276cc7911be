"""One job of a result, or clones merged by `group_reporting`: its requests and its flash counters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NotRequired, TypedDict

from ssdlab.simulator.engine import plain
from ssdlab.simulator.results import durability, fio_schema
from ssdlab.simulator.results.breakdown import Breakdown
from ssdlab.simulator.results.durability import DurabilityJson
from ssdlab.simulator.results.fio_schema import DIRECTIONS, Direction, DirectionJson, SteadyStateJson, SyncJson
from ssdlab.simulator.results.job_failure import JobFailure, job_failure
from ssdlab.simulator.results.latency import USUAL, Latency, LatencyJson, Percentiles, distribution, merged
from ssdlab.simulator.results.ledger import HostJson, Ledger, NandJson
from ssdlab.simulator.results.samples import Samples, samples
from ssdlab.simulator.results.store import StoreJson, StoreResult, store_result
from ssdlab.simulator.specification import OutputJson, ReportedJob, Reporting

READ_ONLY = JobFailure(30, "Read-only file system", "the drive became read-only")
"""EROFS, the error that fio would report."""


@dataclass(frozen=True)
class DirectionResult:
    """Requests of one direction. Values that need a clock are None without one."""

    total_ios: int
    io_bytes: int
    seconds: float | None = None
    """Simulated seconds from the start to the end of the job; 0 if it made no requests of this direction, as in fio."""
    latency: Latency | None = None
    samples: Samples | None = None
    """The spread of the rates over intervals; None also if the intervals contain requests of other jobs."""
    group_share: float | None = None
    """The share of the bandwidth of its reporting group, 0 to 1."""
    percentiles: Percentiles = USUAL
    breakdown: Breakdown | None = None
    """None also if there were no requests."""
    moments: Mapping[str, Latency] | None = None
    """slat, clat and lat of a real drive, without bins; None where submission takes no time, so that all are `latency`.
    """

    @property
    def total_latency(self) -> Latency | None:
        """The latency from before the submission to the completion."""
        return self.latency if self.moments is None else self.moments.get("lat", self.latency)

    @property
    def iops(self) -> float | None:
        """Requests per simulated second."""
        return self._rate(self.total_ios)

    @property
    def bw_bytes(self) -> float | None:
        """Bytes per simulated second."""
        return self._rate(self.io_bytes)

    def _rate(self, count: int) -> float | None:
        if self.seconds is None:
            return None
        return count / self.seconds if self.seconds > 0 else 0.0

    def to_dict(self, *, bins: bool) -> DirectionJson:
        """fio's object for the direction: `bw` in KiB/s, `runtime` in ms. Submission takes no simulated time."""
        frame = fio_schema.direction(percentiles=self.percentiles if self.total_ios else None, bins=bins)
        frame["io_bytes"] = self.io_bytes
        frame["io_kbytes"] = self.io_bytes // 1024
        frame["bw_bytes"] = None if self.bw_bytes is None else int(self.bw_bytes)
        frame["bw"] = None if self.bw_bytes is None else int(self.bw_bytes) // 1024
        frame["iops"] = self.iops
        frame["runtime"] = None if self.seconds is None else round(self.seconds * 1000)
        frame["total_ios"] = self.total_ios
        frame["short_ios"] = frame["drop_ios"] = 0
        if self.latency is not None:
            frame["slat_ns"] = {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": self.latency.count}
            frame["clat_ns"] = self._latency_dict(self.latency, "clat", bins=bins)
            frame["lat_ns"] = self._latency_dict(self.latency, "lat", bins=bins)
        if self.samples:
            iops, rate = self.samples.iops, self.samples.bytes_per_second
            frame["iops_min"], frame["iops_max"] = int(iops.min), int(iops.max)
            frame["iops_mean"], frame["iops_stddev"] = iops.mean, iops.stddev
            frame["iops_samples"] = iops.samples
            if rate:
                frame["bw_min"], frame["bw_max"] = int(rate.min / 1024), int(rate.max / 1024)
                frame["bw_mean"], frame["bw_dev"] = rate.mean / 1024, rate.stddev / 1024
                frame["bw_samples"] = rate.samples
        if self.group_share is not None:
            frame["bw_agg"] = 100 * self.group_share
        return frame

    def _latency_dict(self, latency: Latency, kind: str, *, bins: bool) -> LatencyJson:
        has_them = kind in self.percentiles.of
        return latency.to_dict(percentiles=self.percentiles.ranks if has_them else (), bins=bins and has_them)


@dataclass(frozen=True)
class FlushResult:
    """Flushes, which fio calls sync."""

    total_ios: int
    latency: Latency | None = None
    """None without a clock."""

    def to_dict(self) -> SyncJson:
        """fio's object `sync`; as in fio, percentiles exist only if there were flushes."""
        frame: SyncJson = {"total_ios": self.total_ios, "lat_ns": fio_schema.latency()}
        if self.latency is not None:
            frame["lat_ns"] = self.latency.to_dict(percentiles=USUAL.ranks if self.total_ios else ())
        return frame


class JobSpecificationJson(TypedDict):
    """The engine's job objects, one for each clone."""

    job: list[ReportedJob]


class SsdlabJobJson(TypedDict):
    """The key `ssdlab` of a job."""

    stage: int
    clones: int
    specification: JobSpecificationJson
    host: HostJson
    nand: NandJson
    waf: float | None
    waf_parts: dict[str, float] | None
    latency_breakdown: dict[Direction, dict[str, dict[str, float]] | None]
    simulated_seconds: float | None
    wall_seconds: None
    programs_per_wall_second: None
    ios_per_wall_second: None
    durability: NotRequired[DurabilityJson]
    """Of a job with `sync`, `fsync`, `fdatasync`, `end_fsync` or the like."""
    store: NotRequired[StoreJson]
    variant: NotRequired[str]
    """In a comparison: the label of the variant whose job it is."""


class _SteadyPart(TypedDict, total=False):
    steadystate: SteadyStateJson


class JobJson(fio_schema.JobHeadJson, fio_schema.TailJson):
    """fio's object for a job, with the key `ssdlab`."""

    steadystate: NotRequired[SteadyStateJson]
    ssdlab: SsdlabJobJson


class LatencyTargetJson(TypedDict):
    """The result of the search of a job with `latency_target`, with fio's keys."""

    latency_depth: int
    latency_target: int
    """In ns."""
    latency_percentile: float
    latency_window: int
    """In microseconds."""


@dataclass(frozen=True, repr=False)
class JobResult:
    """One job of fio's output. The counters are those of this job, not of the run up to its end."""

    name: str
    group: int
    stage: int
    clones: int
    failure: JobFailure | None
    """The failure of the first clone that failed; None if none failed."""
    options: Mapping[str, str]
    read: DirectionResult
    write: DirectionResult
    trim: DirectionResult
    flush: FlushResult
    through: Latency | None
    """Of the writes of a recording with FUA, which are among its writes; None without any or without a clock."""
    ledger: Ledger
    specification: Sequence[ReportedJob]
    """The engine's job objects, one for each clone."""
    seconds: float | None = None
    """Simulated seconds from the start of the first clone to the end of the last; None without a clock."""
    steady_state: plain.JobSteadyStateOutcome | None = None
    """The result of the job's search for its steady state (`simulation/job_steady_state.rs`); None without one."""
    depth: int | None = None
    """The queue depth that a job with `latency_target` reached (`simulation/depth_search.rs`); None for others."""
    store: StoreResult | None = None
    """The bytes that a database wrote, by cause; None for any other job."""
    seconds_of_clones: float | None = None
    """The sum over the clones, which fio reports as the runtime of a job; None without a clock."""

    def __repr__(self) -> str:
        done = ", ".join(f"{count:,} {name}s" for name in DIRECTIONS if (count := getattr(self, name).total_ios))
        return f"<JobResult: {self.name}, {done or 'no requests'}>"

    @property
    def error(self) -> int:
        """fio's error number of the failure; 0 without one."""
        return self.failure.error if self.failure else 0

    @property
    def latency(self) -> Latency | None:
        """The latencies of all requests of the job, in all directions; None without a clock."""
        parts = [getattr(self, name).latency for name in DIRECTIONS]
        return None if None in parts else merged(parts)

    @property
    def waf(self) -> float | None:
        """Write amplification over the whole job; None if it wrote nothing."""
        return self.ledger.waf

    def direction(self, name: Direction) -> DirectionResult:
        """The requests of one direction."""
        match name:
            case "read":
                return self.read
            case "write":
                return self.write
            case "trim":
                return self.trim

    def durability(self, drive: plain.Drive) -> DurabilityJson | None:
        """Which writes on this drive, as the engine has it, were durable; None if the job asks for nothing durable."""
        return durability.to_dict(self.specification, drive, self.flush.latency, self.through)

    def to_dict(self, *, bins: bool, elapsed_seconds: int | None = None, drive: plain.Drive | None = None) -> JobJson:
        """fio's object for the job, with the key `ssdlab`. `elapsed_seconds` is that of the whole run; without the
        `drive` nothing is said of durability."""
        ours: SsdlabJobJson = {
            "stage": self.stage,
            "clones": self.clones,
            "specification": {"job": [job.copy() for job in self.specification]},
            "host": self.ledger.host_json(),
            "nand": self.ledger.nand_json(),
            "waf": self.waf,
            "waf_parts": self.ledger.waf_parts,
            "latency_breakdown": self._latency_breakdown(),
            "simulated_seconds": self.seconds,
            "wall_seconds": None,
            "programs_per_wall_second": None,
            "ios_per_wall_second": None,
        }
        if drive is not None and (durably := self.durability(drive)):
            ours["durability"] = durably
        if self.store:
            ours["store"] = self.store.to_dict(self.waf)
        head: fio_schema.JobHeadJson = {
            "jobname": self.name,
            "groupid": self.group,
            "error": self.error,
            "eta": None if elapsed_seconds is None else 0,
            "elapsed": elapsed_seconds,
            "job options": dict(self.options),
            "read": self.read.to_dict(bins=bins),
            "write": self.write.to_dict(bins=bins),
            "trim": self.trim.to_dict(bins=bins),
        }
        steady: _SteadyPart = {"steadystate": self._steady_state(self.steady_state)} if self.steady_state else {}
        return {**head, **self._tail(), **steady, "ssdlab": ours}

    def _latency_breakdown(self) -> dict[Direction, dict[str, dict[str, float]] | None]:
        found: dict[Direction, dict[str, dict[str, float]] | None] = {}
        for name in DIRECTIONS:
            breakdown = self.direction(name).breakdown
            found[name] = breakdown.to_dict() if breakdown else None
        return found

    @property
    def latency_target(self) -> LatencyTargetJson | None:
        """The target and the depth that was found; None for a job without `latency_target`."""
        target = self.specification[0].get("latency_target")
        if target is None or self.depth is None:
            return None
        return {
            "latency_depth": self.depth,
            "latency_target": target["latency_ns"],
            "latency_percentile": target["percent"],
            "latency_window": target["window_ns"] // 1000,
        }

    def _steady_state(self, found: plain.JobSteadyStateOutcome) -> SteadyStateJson:
        """fio's object `steadystate`, which has the rates in the window as whole numbers."""
        rule = self.specification[0].get("steady_state")
        assert rule is not None, "only a job with a rule finds its steady state"
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

    def _tail(self) -> fio_schema.TailJson:
        tail = fio_schema.job_tail()
        tail["sync"] = self.flush.to_dict()
        if self.latency is not None and self.seconds_of_clones is not None:
            tail["job_runtime"] = round(self.seconds_of_clones * 1000)
            # The simulated host uses no processor time, so these are 0; fio-plot does not accept null here.
            tail["usr_cpu"] = tail["sys_cpu"] = 0.0
            tail["ctx"] = tail["majf"] = tail["minf"] = 0
            steps = distribution(self.latency)
            tail["latency_ns"] = dict(steps["latency_ns"])
            tail["latency_us"] = dict(steps["latency_us"])
            tail["latency_ms"] = dict(steps["latency_ms"])
        if found := self.latency_target:
            tail["latency_depth"] = found["latency_depth"]
            tail["latency_target"] = found["latency_target"]
            tail["latency_percentile"] = found["latency_percentile"]
            tail["latency_window"] = found["latency_window"]
        return tail


def job_results(
    raw_jobs: Sequence[plain.JobOutcome],
    jobs: Sequence[ReportedJob],
    reporting: Sequence[Reporting],
    capacity: plain.Capacity,
    failed_stage: int | None,
    timing: plain.Timing | None = None,
) -> list[JobResult]:
    """The engine's jobs as fio reports them: with `group_reporting`, consecutive jobs of a group are merged.

    `failed_stage` is the stage in which the drive became read-only, or None; `timing` is that of the engine's outcome.
    """
    runs: list[list[int]] = []
    for index, entry in enumerate(reporting):
        if not entry.shown:
            continue
        if runs and entry.merged and reporting[runs[-1][0]].group == entry.group:
            runs[-1].append(index)
        else:
            runs.append([index])
    results = [
        _merge(
            [raw_jobs[index] for index in run],
            [jobs[index] for index in run],
            # fio uses the name of the first job and the options of the last.
            reporting[run[-1]],
            capacity,
            failed_stage,
        )
        for run in runs
    ]
    if timing is None:
        return results
    ramping = {id(raw) for raw, job in zip(raw_jobs, jobs, strict=True) if job.get("ramp_ns")}
    return [
        _with_rates(result, results, raw_jobs, timing["series"], ({id(raw_jobs[index]) for index in run}, ramping))
        for result, run in zip(results, runs, strict=True)
    ]


def _merge(
    raw_jobs: Sequence[plain.JobOutcome],
    jobs: Sequence[ReportedJob],
    reporting: Reporting,
    capacity: plain.Capacity,
    failed_stage: int | None,
) -> JobResult:
    first, *rest = (Ledger.from_outcome(raw["ledger"], capacity) for raw in raw_jobs)
    stage = raw_jobs[0]["stage"]
    percentiles = _percentiles(reporting.output)
    timings = _timings(raw_jobs)
    return JobResult(
        name=raw_jobs[0]["name"],
        group=reporting.group,
        stage=stage,
        clones=len(raw_jobs),
        failure=READ_ONLY if stage == failed_stage else next(filter(None, map(job_failure, raw_jobs)), None),
        options=reporting.options,
        read=_direction(raw_jobs, "read", percentiles),
        write=_direction(raw_jobs, "write", percentiles),
        trim=_direction(raw_jobs, "trim", percentiles),
        flush=_flush(raw_jobs),
        through=_through(raw_jobs),
        ledger=sum(rest, first),
        specification=jobs,
        seconds=_seconds(min(_starts(timings)), max(_ends(timings))) if timings else None,
        steady_state=timings[0]["steady_state"] if timings else None,
        depth=timings[0]["depth"]["depth"] if timings and timings[0]["depth"] else None,
        store=store_result(raw_jobs[0].get("store"), jobs[0]),
        seconds_of_clones=sum(map(_seconds, _starts(timings), _ends(timings))) if timings else None,
    )


def _timings(raw_jobs: Sequence[plain.JobOutcome]) -> list[plain.JobTiming]:
    """The timing of each job; empty without a clock."""
    return [timing for raw in raw_jobs if (timing := raw["timing"]) is not None]


def _flush(raw_jobs: Sequence[plain.JobOutcome]) -> FlushResult:
    timings = _timings(raw_jobs)
    return FlushResult(
        total_ios=sum(raw["flush"]["ios"] for raw in raw_jobs),
        latency=merged([Latency.from_outcome(timing["flush"]) for timing in timings]) if timings else None,
    )


def _through(raw_jobs: Sequence[plain.JobOutcome]) -> Latency | None:
    found = [through for timing in _timings(raw_jobs) if (through := timing.get("through")) is not None]
    return merged([Latency.from_outcome(through) for through in found]) if found else None


def _percentiles(output: OutputJson) -> Percentiles:
    ranks, of = output.get("percentile_list", USUAL.ranks), output.get("percentiles_of", USUAL.of)
    return Percentiles(tuple(ranks), tuple(of))


def _direction(raw_jobs: Sequence[plain.JobOutcome], name: Direction, percentiles: Percentiles) -> DirectionResult:
    timings = _timings(raw_jobs)
    runtimes = [
        _seconds(timing["start_ns"], timing["end_ns"])
        for raw in raw_jobs
        if (timing := raw["timing"]) is not None and raw[name]["ios"]
    ]
    return DirectionResult(
        total_ios=sum(raw[name]["ios"] for raw in raw_jobs),
        io_bytes=sum(raw[name]["bytes"] for raw in raw_jobs),
        seconds=max(runtimes, default=0.0) if timings else None,
        latency=merged([Latency.from_outcome(timing[name]) for timing in timings]) if timings else None,
        percentiles=percentiles,
        breakdown=Breakdown.from_outcomes(timings, name),
    )


def _with_rates(
    result: JobResult,
    results: Sequence[JobResult],
    raw_jobs: Sequence[plain.JobOutcome],
    series: plain.TimeColumns,
    own_and_ramping: tuple[set[int], set[int]],
) -> JobResult:
    """Adds the values that depend on other jobs: the spread of the rates, and the share of the group.

    The identities are those of its raw jobs, and of all with a ramp time, whose requests are in the series but not
    among those of the job.
    """
    changed: dict[Direction, DirectionResult] = {}
    own, ramping = own_and_ramping
    its_jobs = [raw for raw in raw_jobs if id(raw) in own]
    of_stage = [raw for raw in raw_jobs if raw["stage"] == result.stage]
    others = [raw for raw in of_stage if id(raw) not in own]
    ramps = _timings([raw for raw in of_stage if id(raw) in ramping])
    for name in DIRECTIONS:
        direction = result.direction(name)
        of_group = sum(each.direction(name).bw_bytes or 0 for each in results if each.group == result.group)
        # Of a group, a job without requests of the direction can go on after the others: `DirectionResult.seconds`.
        timings = _timings([raw for raw in its_jobs if raw[name]["ios"]])
        if not timings or not direction.bw_bytes:
            continue
        start_ns = min(_starts(timings))
        alone = not any(other[name]["ios"] for other in others) and all(each <= start_ns for each in _starts(ramps))
        changed[name] = replace(
            direction,
            samples=samples(series, name, start_ns, max(_ends(timings))) if alone else None,
            group_share=direction.bw_bytes / of_group,
        )
    return replace(
        result,
        read=changed.get("read", result.read),
        write=changed.get("write", result.write),
        trim=changed.get("trim", result.trim),
    )


def _starts(timings: Sequence[plain.JobTiming]) -> list[int]:
    return [timing["start_ns"] for timing in timings]


def _ends(timings: Sequence[plain.JobTiming]) -> list[int]:
    return [timing["end_ns"] for timing in timings]


def _seconds(start_ns: int, end_ns: int) -> float:
    return (end_ns - start_ns) / 1e9
