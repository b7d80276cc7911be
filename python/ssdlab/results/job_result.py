"""One job of a result, or clones merged by `group_reporting`: its requests and its own flash counters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ssdlab.results import fio_schema
from ssdlab.results.latency import Latency, distribution, merged
from ssdlab.results.ledger import Ledger
from ssdlab.results.samples import Samples, Spread, samples
from ssdlab.targets.specification import Reporting

DIRECTIONS = ("read", "write", "trim")

READ_ONLY_ERROR = 30
"""EROFS, what fio would report of a drive that has turned read-only."""


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

    @property
    def iops(self) -> float | None:
        """Requests a simulated second."""
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
        frame = fio_schema.direction(has_requests=self.total_ios > 0, bins=bins)
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
            frame["clat_ns"] = self.latency.to_dict(percentiles=True, bins=bins)
            frame["lat_ns"] = self.latency.to_dict()
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
class JobResult:
    """What fio calls a job in its output. The counters are this job's own, not those of the run so far."""

    name: str
    group: int
    stage: int
    clones: int
    error: int
    options: Mapping[str, str]
    read: DirectionResult
    write: DirectionResult
    trim: DirectionResult
    ledger: Ledger
    specification: Sequence[Mapping[str, Any]]
    """The engine's job objects, one a clone."""
    seconds: float | None = None
    """Simulated, from the start of the first clone to the end of the last; None without a clock."""
    seconds_of_clones: float | None = None
    """The sum over the clones, which is what fio reports as the runtime of a job."""

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
            **self._timed_tail(),
            "ssdlab": {
                "stage": self.stage,
                "clones": self.clones,
                "specification": {"job": [dict(job) for job in self.specification]},
                "host": self.ledger.host_json(),
                "nand": self.ledger.nand_json(),
                "waf": self.waf,
                "waf_parts": self.ledger.waf_parts,
                "simulated_seconds": self.seconds,
                "wall_seconds": None,
                "programs_per_wall_second": None,
                "ios_per_wall_second": None,
            },
        }

    def _timed_tail(self) -> dict[str, Any]:
        latency = self.latency
        if latency is None or self.seconds_of_clones is None:
            return {}
        return {"job_runtime": round(self.seconds_of_clones * 1000), **distribution(latency)}


def job_results(
    raw_jobs: Sequence[Mapping[str, Any]],
    jobs: Sequence[Mapping[str, Any]],
    reporting: Sequence[Reporting],
    mapping_unit_bytes: int,
    failed_stage: int | None,
    timing: Mapping[str, Any] | None = None,
) -> list[JobResult]:
    """The engine's jobs as fio reports them: neighbours of a group become one where `group_reporting` is set.

    `failed_stage` is the stage in which the drive turned read-only, or None; `timing` is that of the engine's outcome.
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
            mapping_unit_bytes,
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
    mapping_unit_bytes: int,
    failed_stage: int | None,
) -> JobResult:
    first, *rest = (Ledger.from_outcome(raw["ledger"], mapping_unit_bytes) for raw in raw_jobs)
    stage = raw_jobs[0]["stage"]
    timings = [timing for raw in raw_jobs if (timing := raw.get("timing")) is not None]
    return JobResult(
        name=raw_jobs[0]["name"],
        group=reporting.group,
        stage=stage,
        clones=len(raw_jobs),
        error=READ_ONLY_ERROR if stage == failed_stage else 0,
        options=reporting.options,
        **{name: _direction(raw_jobs, name) for name in DIRECTIONS},
        ledger=sum(rest, first),
        specification=jobs,
        seconds=_seconds(min(_starts(timings)), max(_ends(timings))) if timings else None,
        seconds_of_clones=sum(map(_seconds, _starts(timings), _ends(timings))) if timings else None,
    )


def _direction(raw_jobs: Sequence[Mapping[str, Any]], name: str) -> DirectionResult:
    timed = all(raw.get("timing") is not None for raw in raw_jobs)
    runtimes = [
        _seconds(raw["timing"]["start_ns"], raw["timing"]["end_ns"]) for raw in raw_jobs if timed and raw[name]["ios"]
    ]
    return DirectionResult(
        total_ios=sum(raw[name]["ios"] for raw in raw_jobs),
        io_bytes=sum(raw[name]["bytes"] for raw in raw_jobs),
        seconds=max(runtimes, default=0.0) if timed else None,
        latency=merged([Latency.from_outcome(raw["timing"][name]) for raw in raw_jobs]) if timed else None,
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
