"""The keys of fio's JSON, all of them, with null where nothing was measured.

The reference is what fio 3.33 prints with `--output-format=json` and `json+`; a test compares the key sets with those
of the installed fio. Readers of fio's JSON look keys up without asking, so none may be missing. Not for values: these
functions build the empty frame, and `ssdlab.results.job_result` fills in what a run knows.
"""

from collections.abc import Sequence
from typing import Any

from ssdlab.results.latency import Percentiles

FIO_VERSION = "fio-3.33"
"""The version whose schema this is. Readers choose by it; who really wrote the file is said in `ssdlab.version`."""

DIRECTIONS = ("read", "write", "trim")
"""In fio's order."""

_DEPTHS_LEVEL = ("1", "2", "4", "8", "16", "32", ">=64")
_DEPTHS_SUBMIT = ("0", "4", "8", "16", "32", "64", ">=64")
_LATENCY_NS_US = ("2", "4", "10", "20", "50", "100", "250", "500", "750", "1000")
_LATENCY_MS = (*_LATENCY_NS_US, "2000", ">=2000")


def _nulls(keys: tuple[str, ...]) -> dict[str, Any]:
    return dict.fromkeys(keys)


def latency(*, percentiles: Sequence[float] = (), bins: bool = False) -> dict[str, Any]:
    """A latency object: nanoseconds. fio gives percentiles, and bins in `json+`, only where there were requests."""
    frame = _nulls(("min", "max", "mean", "stddev", "N"))
    if percentiles:
        frame["percentile"] = {f"{percentile:.6f}": None for percentile in percentiles}
    if bins:
        frame["bins"] = None
    return frame


def direction(*, percentiles: Percentiles | None, bins: bool) -> dict[str, Any]:
    """What `read`, `write` and `trim` hold. `bw` is in KiB/s, `runtime` in ms, latencies in ns.

    `percentiles` is None where there were no requests.
    """
    frame = _nulls(("io_bytes", "io_kbytes", "bw_bytes", "bw", "iops", "runtime", "total_ios", "short_ios", "drop_ios"))
    for kind in ("slat", "clat", "lat"):
        has_them = percentiles is not None and kind in percentiles.of and kind != "slat"
        ranks = percentiles.ranks if percentiles is not None and has_them else ()
        frame[f"{kind}_ns"] = latency(percentiles=ranks, bins=has_them and bins)
    for kind, deviation in (("bw", "dev"), ("iops", "stddev")):
        keys = (
            ("min", "max", "agg", "mean", deviation, "samples")
            if kind == "bw"
            else ("min", "max", "mean", deviation, "samples")
        )
        frame |= {f"{kind}_{key}": None for key in keys}
    return frame


def job_tail() -> dict[str, Any]:
    """What a job holds after its directions: processor use, queue depths, coarse latency histograms in percent."""
    return {
        "sync": {"total_ios": None, "lat_ns": latency()},
        **_nulls(("job_runtime", "usr_cpu", "sys_cpu", "ctx", "majf", "minf")),
        "iodepth_level": _nulls(_DEPTHS_LEVEL),
        "iodepth_submit": _nulls(_DEPTHS_SUBMIT),
        "iodepth_complete": _nulls(_DEPTHS_SUBMIT),
        "latency_ns": _nulls(_LATENCY_NS_US),
        "latency_us": _nulls(_LATENCY_NS_US),
        "latency_ms": _nulls(_LATENCY_MS),
        **_nulls(("latency_depth", "latency_target", "latency_percentile", "latency_window")),
    }


def header() -> dict[str, Any]:
    """What stands before the jobs. The clock's keys are null: a result must not depend on when it was made."""
    return {"fio version": FIO_VERSION, "timestamp": None, "timestamp_ms": None, "time": None}
