"""All keys of fio's JSON, with null for values that were not measured.

The reference is the output of fio 3.33 with `--output-format=json` and `json+`; a test compares the sets of keys with
those of the installed fio. Programs that read fio's JSON expect every key, so none can be missing. Not for values:
these functions return objects without values, and `ssdlab.simulator.results.job_result` fills them in.
"""

from collections.abc import Sequence
from typing import Literal, NotRequired, TypedDict, get_args

from ssdlab.simulator.results.latency import LatencyJson, Percentiles

FIO_VERSION = "fio-3.33"
"""The version of this schema, which other programs check. `ssdlab.version` names the program that wrote the file."""

Direction = Literal["read", "write", "trim"]
DIRECTIONS: tuple[Direction, ...] = get_args(Direction)
"""The directions in fio's order."""

_DEPTHS_LEVEL = ("1", "2", "4", "8", "16", "32", ">=64")
_DEPTHS_SUBMIT = ("0", "4", "8", "16", "32", "64", ">=64")
_LATENCY_NS_US = ("2", "4", "10", "20", "50", "100", "250", "500", "750", "1000")
_LATENCY_MS = (*_LATENCY_NS_US, "2000", ">=2000")


class DirectionJson(TypedDict):
    """The objects `read`, `write` and `trim`. `bw` and its spread are in KiB/s, `runtime` in ms, latencies in ns."""

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
"""Percentages of the requests by the upper end of a step."""


class TailJson(TypedDict):
    """The keys of a job behind its directions: processor use, queue depths, coarse latency histograms in percent."""

    sync: SyncJson
    job_runtime: int | None
    """The sum over all clones, in ms."""
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
    """The rates in the window, one for each second."""

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


# TypedDict classes cannot have keys with blanks.
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
    """An empty latency object (ns). As in fio, percentiles, and bins in `json+`, exist only if there were requests."""
    frame: LatencyJson = {"min": None, "max": None, "mean": None, "stddev": None, "N": None}
    if percentiles:
        frame["percentile"] = {f"{percentile:.6f}": None for percentile in percentiles}
    if bins:
        frame["bins"] = None
    return frame


def direction(*, percentiles: Percentiles | None, bins: bool) -> DirectionJson:
    """An empty object for `read`, `write` or `trim`; `percentiles` is None if there were no requests."""

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
    """The keys of a job behind its directions, without values."""
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
    """The keys before the jobs. Those of the clock are null: a result must not depend on the time of the run."""
    return {"fio version": FIO_VERSION, "timestamp": None, "timestamp_ms": None, "time": None}
