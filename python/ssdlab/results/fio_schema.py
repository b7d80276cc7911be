"""The keys of fio's JSON, all of them, with null where nothing was measured.

The reference is what fio 3.33 prints with `--output-format=json` and `json+`; a test compares the key sets with those
of the installed fio. Readers of fio's JSON look keys up without asking, so none may be missing. Not for values: these
functions build the empty frame, and `ssdlab.results.job_result` fills in what a run knows.
"""

from collections.abc import Sequence
from typing import Literal, NotRequired, TypedDict, get_args

from ssdlab.results.latency import LatencyJson, Percentiles

FIO_VERSION = "fio-3.33"
"""The version whose schema this is. Readers choose by it; who really wrote the file is said in `ssdlab.version`."""

Direction = Literal["read", "write", "trim"]
DIRECTIONS: tuple[Direction, ...] = get_args(Direction)
"""In fio's order."""

_DEPTHS_LEVEL = ("1", "2", "4", "8", "16", "32", ">=64")
_DEPTHS_SUBMIT = ("0", "4", "8", "16", "32", "64", ">=64")
_LATENCY_NS_US = ("2", "4", "10", "20", "50", "100", "250", "500", "750", "1000")
_LATENCY_MS = (*_LATENCY_NS_US, "2000", ">=2000")


class DirectionJson(TypedDict):
    """What `read`, `write` and `trim` hold. `bw` and its spread are in KiB/s, `runtime` in ms, latencies in ns."""

    io_bytes: int | None
    io_kbytes: int | None
    bw_bytes: int | None
    bw: int | None
    iops: float | None
    runtime: int | None
    total_ios: int | None
    short_ios: int | None
    drop_ios: int | None
    slat_ns: LatencyJson
    clat_ns: LatencyJson
    lat_ns: LatencyJson
    bw_min: int | None
    bw_max: int | None
    bw_agg: float | None
    bw_mean: float | None
    bw_dev: float | None
    bw_samples: int | None
    iops_min: int | None
    iops_max: int | None
    iops_mean: float | None
    iops_stddev: float | None
    iops_samples: int | None


class SyncJson(TypedDict):
    """Flushes."""

    total_ios: int | None
    lat_ns: LatencyJson


Shares = dict[str, float | None]
"""Percent of the requests by the upper end of a step."""


class TailJson(TypedDict):
    """What a job holds after its directions: processor use, queue depths, coarse latency histograms in percent."""

    sync: SyncJson
    job_runtime: int | None
    """Of all clones together, in ms."""
    usr_cpu: float | None
    sys_cpu: float | None
    ctx: int | None
    majf: int | None
    minf: int | None
    iodepth_level: Shares
    iodepth_submit: Shares
    iodepth_complete: Shares
    latency_ns: Shares
    latency_us: Shares
    latency_ms: Shares
    latency_depth: int | None
    latency_target: int | None
    """In ns."""
    latency_percentile: float | None
    latency_window: int | None
    """In microseconds."""


class SteadyDataJson(TypedDict):
    """The rates of the window, a second each."""

    bw_mean: int | None
    iops_mean: int | None
    iops: list[int]
    bw: list[int]


class SteadyStateJson(TypedDict):
    """fio's object `steadystate`."""

    ss: str
    duration: int
    attained: int
    criterion: str | None
    max_deviation: float | None
    slope: float | None
    data: SteadyDataJson


# Names with blanks make no class.
JobHeadJson = TypedDict(
    "JobHeadJson",
    {
        "jobname": str,
        "groupid": int,
        "error": int,
        "eta": int | None,
        "elapsed": int | None,
        "job options": dict[str, str],
        "read": DirectionJson,
        "write": DirectionJson,
        "trim": DirectionJson,
    },
)
HeaderJson = TypedDict(
    "HeaderJson",
    {
        "fio version": str,
        "timestamp": int | None,
        "timestamp_ms": int | None,
        "time": str | None,
        "global options": NotRequired[dict[str, str]],
    },
)


def latency(*, percentiles: Sequence[float] = (), bins: bool = False) -> LatencyJson:
    """A latency object: nanoseconds. fio gives percentiles, and bins in `json+`, only where there were requests."""
    frame: LatencyJson = {"min": None, "max": None, "mean": None, "stddev": None, "N": None}
    if percentiles:
        frame["percentile"] = {f"{percentile:.6f}": None for percentile in percentiles}
    if bins:
        frame["bins"] = None
    return frame


def direction(*, percentiles: Percentiles | None, bins: bool) -> DirectionJson:
    """What `read`, `write` and `trim` hold; `percentiles` is None where there were no requests."""

    def of_kind(kind: str) -> LatencyJson:
        has_them = percentiles is not None and kind in percentiles.of
        return latency(percentiles=percentiles.ranks if percentiles and has_them else (), bins=has_them and bins)

    return {
        "io_bytes": None,
        "io_kbytes": None,
        "bw_bytes": None,
        "bw": None,
        "iops": None,
        "runtime": None,
        "total_ios": None,
        "short_ios": None,
        "drop_ios": None,
        "slat_ns": latency(),
        "clat_ns": of_kind("clat"),
        "lat_ns": of_kind("lat"),
        "bw_min": None,
        "bw_max": None,
        "bw_agg": None,
        "bw_mean": None,
        "bw_dev": None,
        "bw_samples": None,
        "iops_min": None,
        "iops_max": None,
        "iops_mean": None,
        "iops_stddev": None,
        "iops_samples": None,
    }


def job_tail() -> TailJson:
    """What a job holds after its directions."""
    return {
        "sync": {"total_ios": None, "lat_ns": latency()},
        "job_runtime": None,
        "usr_cpu": None,
        "sys_cpu": None,
        "ctx": None,
        "majf": None,
        "minf": None,
        "iodepth_level": dict.fromkeys(_DEPTHS_LEVEL),
        "iodepth_submit": dict.fromkeys(_DEPTHS_SUBMIT),
        "iodepth_complete": dict.fromkeys(_DEPTHS_SUBMIT),
        "latency_ns": dict.fromkeys(_LATENCY_NS_US),
        "latency_us": dict.fromkeys(_LATENCY_NS_US),
        "latency_ms": dict.fromkeys(_LATENCY_MS),
        "latency_depth": None,
        "latency_target": None,
        "latency_percentile": None,
        "latency_window": None,
    }


def header() -> HeaderJson:
    """What stands before the jobs. The clock's keys are null: a result must not depend on when it was made."""
    return {"fio version": FIO_VERSION, "timestamp": None, "timestamp_ms": None, "time": None}
