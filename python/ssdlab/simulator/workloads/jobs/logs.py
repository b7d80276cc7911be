"""The options for logs and percentiles: what a job file requests, what the engine collects, what results write.

`ssdlab.simulator.results.logs` writes the files.
"""

import re
from typing import TYPE_CHECKING, Any

from ssdlab.simulator.engine import plain
from ssdlab.simulator.specification import OutputJson
from ssdlab.simulator.workloads.jobs.option import Effect, Option
from ssdlab.simulator.workloads.jobs.values import Refused, flag, required, truth, whole_number

if TYPE_CHECKING:
    from ssdlab.simulator.workloads.jobs.jobfile import Section

PERCENTILES_MAX = 20
# 1,856 bins can be halved six times.
COARSENESS_MAX = 6


def _prefix(text: str | None, _kilobyte: int) -> str:
    """The prefix of the log's file name; "" for an option without a value, which means the job's name."""
    return text or ""


def _percentiles(text: str | None, _kilobyte: int) -> tuple[float, ...]:
    """Parses `50:99:99.9`, in any order."""
    parts = [part.strip() for part in required(text).split(":")]
    if len(parts) > PERCENTILES_MAX or not all(re.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,8})?", part) for part in parts):
        raise Refused(f"up to {PERCENTILES_MAX} percentages with colons between, such as 50:99:99.9")
    ranks = sorted({float(part) for part in parts})
    if not 0 < ranks[0] <= ranks[-1] <= 100:
        raise Refused("percentages above 0 and up to 100")
    return tuple(ranks)


_CLOCK = Effect.REPORTED
_MSEC = whole_number(0, 2**31 - 1)
WRITE_LOGS = {
    kind: Option[str | None](
        f"write_{kind}_log", _prefix, f"a log of {what} with fio's name and format, in the output folder", _CLOCK, None
    )
    for kind, what in (
        ("bw", "bandwidth"), ("iops", "IOPS"), ("lat", "latencies"), ("hist", "latency histograms"),
    )
}  # fmt: skip
LOG_AVG_MSEC = Option("log_avg_msec", _MSEC, "average the logs over this many ms; 0: every request", _CLOCK, 0)
LOG_HIST_MSEC = Option("log_hist_msec", _MSEC, "a histogram every this many ms; 0: none", _CLOCK, 0)
LOG_HIST_COARSENESS = Option(
    "log_hist_coarseness", whole_number(0, COARSENESS_MAX), "how many times to halve the bins of a histogram", _CLOCK, 0
)
LOG_OFFSET = Option("log_offset", truth, "also log the offset of requests", _CLOCK, False)
PER_JOB_LOGS = Option("per_job_logs", flag, "one log per job, or one for all jobs of the same name", _CLOCK, True)
PERCENTILE_LIST = Option[tuple[float, ...] | None](
    "percentile_list", _percentiles, "percentiles to report", _CLOCK, None
)
PERCENTILES_OF = {
    kind: Option(f"{kind}_percentiles", truth, f"report percentiles of {what}", _CLOCK, kind == "clat")
    for kind, what in (
        ("clat", "completion latency"), ("lat", "total latency, which is the same here"),
        ("slat", "submission latency, which is 0 here"),
    )
}  # fmt: skip

OPTIONS: tuple[Option[Any], ...] = (
    *WRITE_LOGS.values(), LOG_AVG_MSEC, LOG_HIST_MSEC, LOG_HIST_COARSENESS, LOG_OFFSET, PER_JOB_LOGS, PERCENTILE_LIST,
    *PERCENTILES_OF.values(),
)  # fmt: skip


def plan(section: "Section") -> plain.JobPart:
    """The engine job's `log`; empty if the job has no logs."""
    wanted = _wanted(section)
    if not wanted:
        return {}
    average, histogram = section.get(LOG_AVG_MSEC), section.get(LOG_HIST_MSEC)
    return {
        "log": {
            "average_ns": average * 10**6 or None,
            "histogram_ns": histogram * 10**6 or None if "hist" in wanted else None,
        }
    }


def output(section: "Section", number: int) -> OutputJson:
    """The output that the job requests besides its figures, as plain values. `number` is fio's thread number."""
    said: OutputJson = {}
    if wanted := _wanted(section):
        said["logs"] = {
            "names": wanted,
            "number": number if section.get(PER_JOB_LOGS) else None,
            "average_ms": section.get(LOG_AVG_MSEC),
            "offset": section.get(LOG_OFFSET),
            "histogram_ms": section.get(LOG_HIST_MSEC),
            "coarseness": section.get(LOG_HIST_COARSENESS),
        }
    if (ranks := section.get(PERCENTILE_LIST)) is not None:
        said["percentile_list"] = list(ranks)
    shown = [kind for kind, option in PERCENTILES_OF.items() if section.get(option)]
    if shown != ["clat"]:
        said["percentiles_of"] = shown
    return said


def _wanted(section: "Section") -> dict[str, str]:
    """The requested kinds of log, with the prefixes of their file names."""
    given = {kind: section.get(option) for kind, option in WRITE_LOGS.items()}
    return {kind: prefix or section.name for kind, prefix in given.items() if prefix is not None}
