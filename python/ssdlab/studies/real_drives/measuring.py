"""Runs one drive under one load and computes its figures, which are those of the full-size drive."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, TypedDict

from ssdlab.drives import resolve
from ssdlab.errors import InputError, RunFailed
from ssdlab.quantities import format_bytes
from ssdlab.studies.real_drives import zones
from ssdlab.studies.real_drives.loads import FOLDER, Load
from ssdlab.workloads import jobs, specifying

if TYPE_CHECKING:
    from ssdlab.drives import DriveFile
    from ssdlab.results import Result
    from ssdlab.results.job_result import JobResult
    from ssdlab.results.latency import Latency
    from ssdlab.specification import Specification
    from ssdlab.workloads import Workload

UNITS_MAX = 2 << 20
"""The maximum number of mapping units of flash in a run at its default scale; it takes seconds."""
LAST_SHARE = 0.15
"""The figures cover this last share of the writes, as in the source."""
RANKS = {"p50": 50.0, "p99": 99.0, "p99_9": 99.9, "p99_999": 99.999}
DRIVE_WRITES_BEFORE_LATENCY = 3
WRITE_BYTES = 4096
FILL_BYTES = 524288
"""The request size of the fill, unless the space in use is small or the fill is shuffled."""
RAMP_SECONDS, RUNTIME_SECONDS = 2, 20
_GIB = 1 << 30
_MIB = 1 << 20


class MeasuredJson(TypedDict):
    """The figures of a row of `result.json`; latencies by rank (`p50`, `p99`)."""

    host_write_mib_s: float | None
    waf: float | None
    read_us: dict[str, float | None]
    write_us: dict[str, float | None]


@dataclass(frozen=True)
class Measured:
    """The figures of a run; None if not measured in this kind of run."""

    host_write_mib_s: float | None
    waf: float | None
    read_us: Mapping[str, float | None] | None = None
    write_us: Mapping[str, float | None] | None = None

    def to_dict(self) -> MeasuredJson:
        """The figures for a row of `result.json`."""
        nothing: dict[str, float | None] = dict.fromkeys(RANKS)
        return {
            "host_write_mib_s": self.host_write_mib_s,
            "waf": self.waf,
            "read_us": dict(self.read_us or nothing),
            "write_us": dict(self.write_us or nothing),
        }


def scale_of(drive: "DriveFile") -> Fraction | None:
    """The default scale: the largest power of 1/2 with at most `UNITS_MAX` mapping units, as far as blocks can shrink.

    None for the full drive.
    """
    units, parts = drive.capacity.flash_units, 1
    while units > UNITS_MAX * parts and drive.nand.pages_per_block // (2 * parts) >= drive.nand.pages_per_program:
        parts *= 2
    return Fraction(1, parts) if parts > 1 else None


def specify(drive: "DriveFile", load: Load, in_use_bytes: int, *, seed: int, scale: Fraction | None) -> "Specification":
    """The specification of the run. Raises InputError if `in_use_bytes` is below one write or above the drive's
    capacity."""
    if not WRITE_BYTES <= in_use_bytes <= drive.ftl.user_bytes:
        raise InputError(
            f"--in-use {format_bytes(in_use_bytes)}: {drive.name} offers {format_bytes(drive.ftl.user_bytes)},"
            f" and a write takes {WRITE_BYTES} bytes"
        )
    resolved = resolve(drive, scale=scale)
    return specifying.specify(_workload(load, in_use_bytes, seed, resolved.scale), resolved, seed=seed)


def _workload(load: Load, in_use_bytes: int, seed: int, scale: Fraction) -> "Workload":
    is_large = in_use_bytes * scale >= 100 * FILL_BYTES and load.variables.get("FILL_RW") != "randwrite"
    fill_bytes = FILL_BYTES if is_large else WRITE_BYTES
    space = {"SPACE": str(in_use_bytes // fill_bytes * fill_bytes), "FILL_BYTES": str(fill_bytes)}
    match load.kind:
        case "zones":
            return zones.workload(load, in_use_bytes, seed)
        case "latency":
            beside_probe = load.writes_per_second - 5000
            rates = {
                "WRITES_PER_THREAD": str(max(1, round(0.99 * beside_probe / 6))),
                "READS": str(max(1, round(0.01 * beside_probe))),
                "DRIVE_WRITES": str(DRIVE_WRITES_BEFORE_LATENCY),
                # Latencies do not scale, so a scaled drive needs the same time.
                "RAMP": f"{round(RAMP_SECONDS * 10**6 / scale)}us",
                "RUNTIME": f"{round(RUNTIME_SECONDS * 10**6 / scale)}us",
            }
            return jobs.load(FOLDER / "latency.fio", environment=space | rates)
        case "writes":
            return jobs.load(FOLDER / "steady-writes.fio", environment=space | dict(load.variables))


def measured(result: "Result", load: Load) -> Measured:
    """The figures of a finished run. Raises RunFailed if the run failed."""
    if result.failure:
        raise RunFailed(f"{load.text}: {result.failure}")
    if load.kind == "latency":
        return _latencies(result)
    return _last_writes(result)


def _last_writes(result: "Result") -> Measured:
    """The figures of the last writes, from the series over time; of the whole last stage if the series is too short.

    Raises RunFailed for a run without a clock.
    """
    frame = result.timing_series
    if frame is None:
        raise RunFailed("the run had no clock")
    written = frame["host_written_bytes"]
    last_stage = frame.filter(frame["stage"] == frame["stage"].max())
    before = int(written[-1]) - int(last_stage["host_written_bytes"][0])
    since = int(written[-1]) - LAST_SHARE * before
    last = frame.filter(written >= since)
    seconds = last["simulated_seconds"][-1] - last["simulated_seconds"][0]
    host = last["host_written_bytes"][-1] - last["host_written_bytes"][0]
    programmed = last["programmed_bytes"][-1] - last["programmed_bytes"][0]
    if seconds > 0 and host > 0:
        return Measured(host / _MIB / seconds, programmed / host)
    rate = sum(job.write.bw_bytes or 0.0 for job in _last_stage(result))
    return Measured(rate / _MIB, result.settled_waf)


def _latencies(result: "Result") -> Measured:
    probes = {job.name: job for job in result.jobs}
    read = _ranks(probes["probe-reads"].read.latency)
    write = _ranks(probes["probe-writes"].write.latency)
    rate = sum(job.write.bw_bytes or 0.0 for job in _last_stage(result))
    return Measured(rate / _MIB, result.settled_waf, read, write)


def _last_stage(result: "Result") -> "list[JobResult]":
    last = max(job.stage for job in result.jobs)
    return [job for job in result.jobs if job.stage == last]


def _ranks(latency: "Latency | None") -> dict[str, float | None]:
    if latency is None:
        raise RunFailed("the run had no clock")
    found = latency.percentiles_ns(list(RANKS.values()))
    return {name: None if ns is None else ns / 1000 for name, ns in zip(RANKS, found, strict=True)}
