"""Runs one drive under one load and computes its figures, which are those of the full-size drive."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, TypedDict

from ssdlab.errors import InputError, Note, RunFailed
from ssdlab.experiments.studies.real_drives import zones
from ssdlab.experiments.studies.real_drives.loads import FOLDER, Load
from ssdlab.foundation.quantities import format_bytes
from ssdlab.simulator.drives import resolve
from ssdlab.simulator.workloads import jobs, specifying
from ssdlab.simulator.workloads.specifying import Until

if TYPE_CHECKING:
    from ssdlab.simulator.drives import DriveFile
    from ssdlab.simulator.results import Result
    from ssdlab.simulator.results.job_result import JobResult
    from ssdlab.simulator.results.latency import Latency
    from ssdlab.simulator.specification import Specification
    from ssdlab.simulator.workloads import Workload

UNITS_MAX = 2 << 20
"""The maximum number of mapping units of flash in a run at its default scale; it takes seconds."""
LAST_SHARE = 0.15
"""The figures cover this last share of the writes, as in the source."""
SLOW_US = (512, 1000, 2000, 4000)
"""Latencies above which the shares of reads are given, as in ACT's tables."""
RANKS = {"p50": 50.0, "p99": 99.0, "p99_9": 99.9, "p99_999": 99.999}
DRIVE_WRITES_BEFORE_LATENCY = 3
ACT_RECORD_BYTES, ACT_BLOCK_BYTES = 1536, 131072
ACT_READS_PER_WRITE = 2
ACT_BLOCKS_PER_BLOCK_OF_RECORDS = 2
"""ACT defragments blocks that are half empty: each large block of new records costs a second one of moved records."""
WRITE_BYTES = 4096
FILL_BYTES = 524288
"""The request size of the fill, unless the space in use is small or the fill is shuffled."""
RAMP_SECONDS, RUNTIME_SECONDS = 2, 20
_GIB = 1 << 30
_MIB = 1 << 20


class MeasuredJson(TypedDict):
    """The figures of a row of `result.json`: latencies by rank (`p50`, `p99`); percent of the reads by the latency that
    they exceed."""

    host_write_mib_s: float | None
    waf: float | None
    read_us: dict[str, float | None]
    write_us: dict[str, float | None]
    reads_over_us: dict[str, float | None]


@dataclass(frozen=True)
class Measured:
    """The figures of a run; None if not measured in this kind of run."""

    host_write_mib_s: float | None
    waf: float | None
    read_us: Mapping[str, float | None] | None = None
    write_us: Mapping[str, float | None] | None = None
    reads_over_us: Mapping[str, float | None] | None = None
    """Percent of the reads."""

    def to_dict(self) -> MeasuredJson:
        """The figures for a row of `result.json`."""
        nothing: dict[str, float | None] = dict.fromkeys(RANKS)
        return {
            "host_write_mib_s": self.host_write_mib_s,
            "waf": self.waf,
            "read_us": dict(self.read_us or nothing),
            "write_us": dict(self.write_us or nothing),
            "reads_over_us": dict(self.reads_over_us or dict.fromkeys(map(str, SLOW_US))),
        }


def scale_of(drive: "DriveFile", load: Load) -> Fraction | None:
    """The default scale: the largest power of 1/2 with at most `UNITS_MAX` mapping units, as far as blocks can shrink.

    Latencies need an erase unit that holds a batch of garbage collection, because a smaller drive would have smaller
    batches. None for the full drive.
    """
    units, parts = drive.capacity.flash_units, 1
    while units > UNITS_MAX * parts and _can_be_smaller(drive, load, 2 * parts):
        parts *= 2
    return Fraction(1, parts) if parts > 1 else None


def _can_be_smaller(drive: "DriveFile", load: Load, parts: int) -> bool:
    batch_units = drive.ftl.gc_throttling.parameters.get("units", 1) if load.kind in ("latency", "act") else 1
    holds_batch = drive.capacity.data_units_per_erase_unit // parts >= batch_units
    return holds_batch and drive.nand.pages_per_block // parts >= drive.nand.pages_per_program


def specify(drive: "DriveFile", load: Load, in_use_bytes: int, *, seed: int, scale: Fraction | None) -> "Specification":
    """The specification of the run. Raises InputError if `in_use_bytes` is below one write or above the drive's
    capacity."""
    if not WRITE_BYTES <= in_use_bytes <= drive.ftl.user_bytes:
        raise InputError(
            f"--in-use {format_bytes(in_use_bytes)}: {drive.name} offers {format_bytes(drive.ftl.user_bytes)},"
            f" and a write takes {WRITE_BYTES} bytes"
        )
    with warnings.catch_warnings():
        # Throughput depends on the batch's share of an erase unit, not on the length of its bursts.
        if load.kind not in ("latency", "act"):
            warnings.simplefilter("ignore", Note)
        resolved = resolve(drive, scale=scale)
    until: Until = "steady" if load.until_steady else "job"
    return specifying.specify(_workload(load, in_use_bytes, seed, resolved.scale), resolved, seed=seed, until=until)


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
            }
            return jobs.load(FOLDER / "latency.fio", environment=space | rates | _times(scale))
        case "act":
            space = {"SPACE": str(_whole_blocks(load, in_use_bytes))}
            return jobs.load(FOLDER / "act.fio", environment=space | _act_rates(load) | _times(scale))
        case "writes":
            file = "steady-writes.fio" if "FILL_RW" in load.variables else "unfilled-writes.fio"
            return jobs.load(FOLDER / file, environment=space | dict(load.variables))


def _times(scale: Fraction) -> dict[str, str]:
    """Latencies do not scale, so a scaled drive needs the same time."""
    return {
        "DRIVE_WRITES": str(DRIVE_WRITES_BEFORE_LATENCY),
        "RAMP": f"{round(RAMP_SECONDS * 10**6 / scale)}us",
        "RUNTIME": f"{round(RUNTIME_SECONDS * 10**6 / scale)}us",
    }


def _whole_blocks(load: Load, in_use_bytes: int) -> int:
    if in_use_bytes < ACT_BLOCK_BYTES:
        raise InputError(
            f"--in-use {format_bytes(in_use_bytes)}: {load.text} writes blocks of {format_bytes(ACT_BLOCK_BYTES)}"
        )
    return in_use_bytes // ACT_BLOCK_BYTES * ACT_BLOCK_BYTES


def _act_rates(load: Load) -> dict[str, str]:
    blocks = load.writes_per_second * ACT_RECORD_BYTES / ACT_BLOCK_BYTES * ACT_BLOCKS_PER_BLOCK_OF_RECORDS
    return {"READS": str(round(ACT_READS_PER_WRITE * load.writes_per_second)), "BLOCKS": str(round(blocks))}


def measured(result: "Result", load: Load) -> Measured:
    """The figures of a finished run. Raises RunFailed if the run failed."""
    if result.failure:
        raise RunFailed(f"{load.text}: {result.failure}")
    if load.kind == "latency":
        return _latencies(result)
    if load.kind == "act":
        return _shares(result)
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


def _shares(result: "Result") -> Measured:
    records = next(job for job in result.jobs if job.name == "records").read.latency
    if records is None:
        raise RunFailed("the run had no clock")
    shares = {str(us): records.percent_above(1000 * us) for us in SLOW_US}
    rate = sum(job.write.bw_bytes or 0.0 for job in _last_stage(result))
    return Measured(rate / _MIB, result.settled_waf, reads_over_us=shares)


def _last_stage(result: "Result") -> "list[JobResult]":
    last = max(job.stage for job in result.jobs)
    return [job for job in result.jobs if job.stage == last]


def _ranks(latency: "Latency | None") -> dict[str, float | None]:
    if latency is None:
        raise RunFailed("the run had no clock")
    found = latency.percentiles_ns(list(RANKS.values()))
    return {name: None if ns is None else ns / 1000 for name, ns in zip(RANKS, found, strict=True)}
