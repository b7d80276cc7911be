"""The jobs and bandwidths in the JSON report that fio itself wrote (`--output-format=json`), of any drive.

The report has the options with a value only. Stages follow from fio's groups, `time_based` from how long a job ran;
`norandommap` is not known and off. Clones of a job are one, with the sum of their rates.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from ssdlab.experiments.comparison.fio_report import bytes_per_second
from ssdlab.foundation.foreign import JsonObject
from ssdlab.simulator.workloads.jobs.values import Refused, duration_ns

# Options of files, logs and processes, which a simulated drive does not have.
_OF_THE_PLACE = frozenset(("name", "filename", "directory", "thread", "output", "group_reporting", "description"))
_MILLISECOND_NS = 10**6
# fio ends a job within some milliseconds of its runtime.
_RAN_SHARE = 0.98


@dataclass(frozen=True)
class MeasuredJob:
    """A job with its clones: its section in a job file, and the bytes per second of each direction that it used."""

    name: str
    section: str
    rates: Mapping[str, float]


def jobs_of(report: JsonObject) -> list[MeasuredJob]:
    """The jobs of a report in order; clones are neighbours of the same name in the same group."""
    shared = report.get("global options", {})
    found: list[MeasuredJob] = []
    group = None
    for (name, its_group), entries in groupby(report["jobs"], key=lambda job: (str(job["jobname"]), job["groupid"])):
        clones = list(entries)
        waits = group is not None and its_group != group
        group = its_group
        found.append(MeasuredJob(name, _section(name, clones, shared, waits=waits), _rates(clones)))
    return found


def _rates(clones: Sequence[JsonObject]) -> dict[str, float]:
    rates = {side: sum(bytes_per_second(job[side]) for job in clones) for side in ("read", "write")}
    return {side: rate for side, rate in rates.items() if rate}


def _section(name: str, clones: Sequence[JsonObject], shared: Mapping[str, str], *, waits: bool) -> str:
    options = {**shared, **clones[0].get("job options", {})}
    lines = [f"{key}={text}" if text else key for key, text in options.items() if key not in _OF_THE_PLACE]
    lines += ["stonewall"] if waits else []
    lines += ["time_based"] if _ended_by_time(clones[0], options.get("runtime")) else []
    return "\n".join([f"[{name}]", *lines, "group_reporting"]) + "\n"


def _ended_by_time(job: JsonObject, runtime: str | None) -> bool:
    try:
        wanted_ns = duration_ns(runtime, 1024) if runtime else 0
    except Refused:
        return False
    ran_ns = max(job[side]["runtime"] for side in ("read", "write", "trim")) * _MILLISECOND_NS
    return bool(wanted_ns) and ran_ns >= _RAN_SHARE * wanted_ns
