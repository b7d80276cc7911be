"""Combines a workload and a drive into a specification. Not for executing it: `ssdlab.simulator.targets.simulated` does
that."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypedDict

from ssdlab.errors import InputError, notify
from ssdlab.foundation.quantities import format_bytes, format_scale
from ssdlab.simulator.drives.namespaces import allocated_bytes
from ssdlab.simulator.engine import plain
from ssdlab.simulator.engine.types import Zones
from ssdlab.simulator.specification import InitialState, Reporting, Specification
from ssdlab.simulator.workloads import Workload, load
from ssdlab.simulator.workloads.jobs.jobfile import JobFile
from ssdlab.simulator.workloads.jobs.scaling import scaled_ns
from ssdlab.simulator.workloads.jobs.table import IO_SIZE
from ssdlab.simulator.workloads.laying_out import readers_of_nothing, unwritten_files
from ssdlab.simulator.workloads.stores import StoreWorkload

if TYPE_CHECKING:
    from ssdlab.simulator.drives import ResolvedDrive

Until = Literal["job", "steady"]
Precondition = Literal["none", "fill"]
Beginning = Literal["none", "fill", "steady"]
"""The initial state of drives in a comparison: `steady` is reached in a run of its own and then given to the drive."""

PRECONDITION_NAME = "precondition"
LAYOUT_NAME = "lay out"
WARM_UP_NAME = "warm up"
PRECONDITION_BLOCK_BYTES = 128 * 1024
# SNIA's specification leaves the depth of the fill to the test. At this depth a drive without a write buffer does not
# have to pad half-filled multi-plane programs.
PRECONDITION_DEPTH = 32

# SNIA's specification leaves the length of a round to the test. In shorter rounds the approach to the steady state is
# so slow that five of them meet the rule too early.
DRIVE_WRITES_PER_ROUND = 1
DRIVE_WRITES_MAX = 40
PRECISION = 0.01
"""A run goes on until the 95 % intervals of write amplification and of the rates are at most this share of their means
on either side; docs/theory/steady-state.md has the trial of the rule."""

# A job that only reads ends with the writers beside it; this many times what they write is more than it can read.
_READS_MOST = 1000

WARM_UP_DRIVE_WRITES = 1
"""What is written to a drive in a saved steady state before anything is counted. The state has no buffer, no queues and
no order of dies; docs/theory/steady-state.md has how far latencies are off before and after."""

SERIES_POINTS_MAX = 2048

# With fewer there is no rate (`ssdlab.simulator.results.speed`).
_REQUESTS_TOLD_MIN = 10


class _Intervals(TypedDict, total=False):
    interval_ns: int | None


def specify(
    job: Workload | str | Path,
    drive: "ResolvedDrive",
    *,
    seed: int = 1,
    until: Until = "job",
    precision: float = PRECISION,
    precondition: Precondition = "none",
    timed: bool = True,
    series_points_max: int = SERIES_POINTS_MAX,
    initial_state: InitialState | None = None,
    interval_ns: int | None = None,
    lays_out: bool = False,
    warms_up: bool = False,
) -> Specification:
    """Resolves a run completely, into plain values, for `ssdlab.run_many`.

    `job` is a fio job file, a file-system script (NAME.files) or "sysbench fileio ... run". `until="steady"` repeats
    the last stage until its write amplification is steady by SNIA's rule and known within `precision`, a share, in
    rounds of about U host bytes, whole passes over the job's range, or until it has written 40 such rounds.
    `precondition="fill"` writes the whole drive once sequentially before the first stage; `initial_state` starts from a
    saved state. `interval_ns`, in the time of the full-size drive, adds the counters of each interval
    (`Result.intervals`). `lays_out` is for fresh drives: files that jobs read are written first, as fio does. With
    `warms_up` the last stage first runs for a drive write that is not counted, for states without buffer and queues.

    Without `timed` there is no clock: the run measures write amplification only. `series_points_max` limits the points
    of the time series. Raises InputError if the job does not fit on the drive, or if the last stage never writes and
    `until="steady"`.

        ssdlab.specify("jobs/randwrite.fio", ssdlab.drive("generic-tlc-480", scale="1/64"), until="steady").hash()
    """
    jobs = load(job) if isinstance(job, str | Path) else job
    user_bytes = drive.capacity.user_bytes
    engine_jobs = _jobs_on(jobs, drive, seed)
    reporting = jobs.reporting(engine_jobs)
    if precondition == "fill":
        fill = fill_job(allocated_bytes(drive.file.namespaces, user_bytes), seed)
        engine_jobs = _after([fill], engine_jobs)
        reporting = [
            Reporting({"rw": "write", "bs": str(fill["block_sizes"]["write"][0]["bytes"]), "size": "100%"}),
            *(replace(entry, group=entry.group + 1) for entry in reporting),
        ]
    elif lays_out and isinstance(jobs, JobFile) and not drive.file.zones.zone_bytes:
        layout = _layout(jobs, engine_jobs, drive, seed, timed=timed)
        engine_jobs = _after(layout, engine_jobs)
        reporting = [*(Reporting({}, shown=False) for _ in layout), *reporting]
    if warms_up and (warm_up := _warm_up(engine_jobs, user_bytes)):
        engine_jobs = _after(warm_up, engine_jobs)
        reporting = [*(Reporting({}, shown=False) for _ in warm_up), *reporting]
    if timed and isinstance(jobs, JobFile):
        jobs.add_notes(_free_trims(engine_jobs, drive))
        jobs.add_notes(_few_at_their_rate(engine_jobs, drive) if until == "job" else [])
    if until == "steady":
        _without_end(engine_jobs)
    intervals: _Intervals = {"interval_ns": scaled_ns(interval_ns, drive.scale)} if interval_ns else {}
    specification = Specification(
        engine={
            "seed": seed,
            "drive": drive.specification(),
            "timed": timed,
            "until": until_of(until, drive, precision=precision, pass_bytes=_pass_bytes(engine_jobs)),
            "series_points_max": series_points_max,
            **intervals,
            "jobs": engine_jobs,
        },
        reporting=tuple(reporting),
        global_options={name: text for name, text in jobs.global_options.items() if text},
        scale=str(drive.scale),
        initial_state=initial_state,
        power=drive.power,
        chosen_scale=drive.chosen,
    )
    if until == "steady" and not any(writes(job) for job in specification.last_stage_jobs):
        names = ", ".join(sorted({job["name"] for job in specification.last_stage_jobs}))
        raise InputError(
            f"the last stage ({names}) writes nothing, so its write amplification never settles; use --until job"
        )
    return specification


def _after(first: list[plain.Job], jobs: list[plain.Job]) -> list[plain.Job]:
    """The jobs behind others, which are a stage of their own if there are any."""
    for each in jobs if first else []:
        each["stage"] += 1
    return [*first, *jobs]


def _warm_up(jobs: Sequence[plain.Job], user_bytes: int) -> list[plain.Job]:
    """The jobs of the last stage until one of them has written its part of WARM_UP_DRIVE_WRITES, and no longer.

    None for databases, which cannot begin with their last stage, and for jobs at the write pointers of zones.
    """
    last = [job for job in jobs if job["stage"] == jobs[-1]["stage"]]
    if any(job.get("store") or job.get("zoned") for job in last):
        return []
    part_bytes = WARM_UP_DRIVE_WRITES * user_bytes / max(1, sum(writes(job) for job in last))
    found: list[plain.Job] = []
    for job in last:
        found.append(
            {
                **job,
                "name": WARM_UP_NAME,
                "clone": len(found),
                "stage": 0,
                "io_bytes": math.ceil(part_bytes / (_written_share(job) or 1 / _READS_MOST)),
                "number_ios": None,
                "loops": 1,
                "runtime_ns": None,
                "time_based": False,
                "ramp_ns": 0,
                "start_delay_ns": 0,
                "wait_for": None,
                "ends_others": "stage",
                "log": None,
                "steady_state": None,
                "limits": None,
                "latency_target": None,
            }
        )
    return found


def _written_share(job: plain.Job) -> float:
    """The share of the job's bytes that it writes, about, if its requests have different sizes."""
    shares = {"write": 1.0, "trim-write": 0.5, "read-write": 1 - job["read_percent"] / 100}
    return shares.get(job["direction"], 0.0)


def _layout(
    job_file: JobFile, jobs: Sequence[plain.Job], drive: "ResolvedDrive", seed: int, *, timed: bool
) -> list[plain.Job]:
    """The jobs that lay out what is read on a fresh drive. Notes say what is read."""
    parts, names = unwritten_files(job_file, jobs)
    if names:
        total_bytes = sum(end - first for first, end in parts)
        job_file.add_notes(
            [f"the files of {', '.join(names)} are laid out first, as by fio: {format_bytes(total_bytes)} are written"]
        )
    if timed and (names := readers_of_nothing(job_file, jobs)):
        job_file.add_notes(
            [
                f"{', '.join(names)} reads a fresh drive, which answers without its flash where nothing was written; "
                "--precondition fill writes the drive first"
            ]
        )
    unit_bytes = drive.capacity.mapping_unit_bytes
    found: list[plain.Job] = []
    for first, end in parts:
        start_bytes = first // unit_bytes * unit_bytes
        size_bytes = -(-end // unit_bytes) * unit_bytes - start_bytes
        found.append({**fill_job(size_bytes, seed), "name": LAYOUT_NAME, "offset_bytes": start_bytes})
    return found


def _jobs_on(jobs: Workload, drive: "ResolvedDrive", seed: int) -> list[plain.Job]:
    """The engine's jobs. Only those of a fio job file can select a namespace."""
    user_bytes = drive.capacity.user_bytes
    if isinstance(jobs, JobFile):
        if drive.file.zones.zone_bytes:
            addressed = jobs.resolve(
                drive.file.ftl.user_bytes, seed=seed, scale=drive.scale, zone_bytes=drive.file.zones.zone_bytes
            )
            amounts = {section.name for section in jobs.sections if section.get(IO_SIZE) != IO_SIZE.default}
            return [job if job["name"] in amounts else _once_through_zones(job, drive.file.zones) for job in addressed]
        found = jobs.resolve(user_bytes, seed=seed, scale=drive.scale, namespaces=drive.file.namespaces)
        jobs.add_notes(_without_handles(found, drive))
        return found
    check_without_namespaces(drive)
    found = jobs.resolve(user_bytes, seed=seed, scale=drive.scale)
    if isinstance(jobs, StoreWorkload):
        _check_handles(jobs, found, drive)
    return found


def _without_handles(jobs: Sequence[plain.Job], drive: "ResolvedDrive") -> list[str]:
    """A note on placement identifiers that the drive ignores."""
    placement = drive.file.ftl.placement.name
    names = [job["name"] for job in jobs if "stream_id" in job or "identifiers" in job]
    if not names or placement == "host-streams":
        return []
    return [
        f"drive {drive.name!r} has no placement handles (ftl.placement is {placement!r}, not 'host-streams'), so the "
        f"identifiers of {', '.join(dict.fromkeys(names))} have no effect"
    ]


def _free_trims(jobs: Sequence[plain.Job], drive: "ResolvedDrive") -> list[str]:
    """A note on trims of a drive for which no duration is given."""
    controller = drive.file.controller
    names = [job["name"] for job in jobs if job["direction"] in ("trim", "trim-write")]
    if not names or controller.trim_us or controller.trim_us_per_mib:
        return []
    return [
        f"how long drive {drive.name!r} works on a trim is not known (controller.trim_us and trim_us_per_mib are 0), "
        f"so the trims of {', '.join(dict.fromkeys(names))} hold up no other command"
    ]


def _few_at_their_rate(jobs: Sequence[plain.Job], drive: "ResolvedDrive") -> list[str]:
    """Notes on jobs whose scaled runtime has so few requests at their rate that no speed follows from them."""
    found = {}
    for job in jobs if drive.scale < 1 else []:
        rates, runtime_ns = job.get("rate_iops"), job.get("runtime_ns")
        if not rates or not runtime_ns:
            continue
        a_second = max(rates["read"] or 0, rates["write"] or 0, rates["trim"] or 0)
        requests = max(1, round(a_second * runtime_ns / 1e9))
        if requests < _REQUESTS_TOLD_MIN:
            found[job["name"]] = requests
    return [
        f"{name}: at its rate_iops its runtime has about {requests} request{'s' * (requests > 1)} under --scale "
        f"{format_scale(drive.scale)}, too few to tell a speed; use a longer runtime or a larger scale"
        for name, requests in found.items()
    ]


def _check_handles(store: StoreWorkload, jobs: Iterable[plain.Job], drive: "ResolvedDrive") -> None:
    placement = drive.file.ftl.placement
    if placement.name != "host-streams":
        return
    allowed: int = placement.parameters["identifiers"] * placement.parameters["reclaim_groups"]
    used = {job.get("stream_id") or 0 for job in jobs}
    for job in jobs:
        if its_store := job.get("store"):
            used.update(its_store["identifiers"])
    if max(used) >= allowed:
        raise InputError(
            f"{store.source}: handles={store.value('handles')} uses {max(used) + 1} placement handles; allowed are up "
            f"to {allowed}, those of drive {drive.name!r} (ftl.placement.identifiers)"
        )


def check_without_namespaces(drive: "ResolvedDrive") -> None:
    """Raises InputError for a drive with namespaces, which only the jobs of a fio job file can use."""
    if count := len(drive.file.namespaces):
        raise InputError(
            f"drive {drive.name!r} has {count} [[namespace]], which only jobs of a fio job file choose, by filename; "
            "allowed is a drive without any"
        )


def until_of(
    until: Until,
    drive: "ResolvedDrive",
    round_share: float | None = None,
    precision: float = PRECISION,
    pass_bytes: int | None = None,
) -> plain.Until:
    """The engine's end condition. A round writes `round_share` of U; None: DRIVE_WRITES_PER_ROUND, or the number of
    whole passes of `pass_bytes` that is nearest to it."""
    if until == "job":
        return {"kind": "job"}
    user_bytes = drive.capacity.user_bytes
    round_bytes = DRIVE_WRITES_PER_ROUND * user_bytes
    if round_share is not None:
        round_bytes = max(drive.capacity.mapping_unit_bytes, round(round_share * user_bytes))
    elif pass_bytes:
        round_bytes = max(1, round(round_bytes / pass_bytes)) * pass_bytes
    rounds_max = DRIVE_WRITES_MAX // DRIVE_WRITES_PER_ROUND
    return {
        "kind": "steady-state",
        "round_bytes": round_bytes,
        "host_bytes_max": rounds_max * round_bytes,
        "precision": precision,
    }


def _without_end(jobs: list[plain.Job]) -> None:
    """Takes the runtime from the jobs of the last stage, which ends with its steady state; says so in a note."""
    last = jobs[-1]["stage"]
    timed = [job for job in jobs if job["stage"] == last and job.get("runtime_ns")]
    for job in timed:
        job["runtime_ns"] = None
        job["time_based"] = False
    if timed:
        names = ", ".join(sorted({job["name"] for job in timed}))
        notify([f"the runtime of {names} does not end the run, the steady state does; --until job keeps the runtime"])


def writes(job: plain.Job) -> bool:
    direction = job["direction"]
    return direction in ("write", "trim-write") or (direction == "read-write" and job["read_percent"] < 100)


def _pass_bytes(jobs: Sequence[plain.Job]) -> int | None:
    """What the last stage writes in a pass over its range; None if its writers do not pass over their ranges together.

    A drive copies more at some points of a pass than at others. The means of rounds that end at other points of it each
    scatter by that: 1.72, 1.66, 1.48 in turn for a job over 60 % of a drive in rounds of the whole capacity.
    """
    writers = [job for job in jobs if job["stage"] == jobs[-1]["stage"] and writes(job)]
    if len({job["size_bytes"] for job in writers}) != 1 or not all(_is_in_passes(job) for job in writers):
        return None
    return sum(job["size_bytes"] for job in writers)


def _is_in_passes(job: plain.Job) -> bool:
    """Whether the job writes each of its blocks once before any of them a second time."""
    is_whole = job["io_bytes"] >= job["size_bytes"] and job.get("number_ios") is None and not job.get("zoned")
    return is_whole and job["direction"] == "write" and (job["random_map"] or job["sequential"])


def _once_through_zones(job: plain.Job, zones: Zones) -> plain.Job:
    """A job on a drive with zones, whose addresses are more than what can be written: like fio's, a sequential job
    without io_size ends with the capacity of the last zone of its range."""
    passes = job["io_bytes"] // job["size_bytes"]
    if not passes or not job["sequential"] or job["direction"] != "write" or not job.get("zoned"):
        return job
    end_bytes = job["offset_bytes"] + job["size_bytes"]
    whole = end_bytes // zones.zone_bytes - -(-job["offset_bytes"] // zones.zone_bytes)
    return {**job, "io_bytes": passes * whole * (zones.capacity_bytes or zones.zone_bytes)} if whole > 0 else job


def fill_job(user_bytes: int, seed: int) -> plain.Job:
    """A job that writes the whole drive once sequentially, in the largest blocks up to 128 KiB that divide it."""
    block_bytes = math.gcd(user_bytes, PRECONDITION_BLOCK_BYTES)
    sizes: list[plain.BlockSize] = [{"bytes": block_bytes, "percent": 100.0}]
    return {
        "name": PRECONDITION_NAME,
        "clone": 0,
        "stage": 0,
        "direction": "write",
        "sequential": True,
        "read_percent": 0.0,
        "offset_bytes": 0,
        "size_bytes": user_bytes,
        "io_bytes": user_bytes,
        "number_ios": None,
        "loops": 1,
        "block_sizes": {"read": sizes, "write": sizes, "trim": sizes},
        "block_align_bytes": {"read": block_bytes, "write": block_bytes, "trim": block_bytes},
        "distribution": {"name": "random"},
        "random_map": True,
        "seed": seed,
        "iodepth": PRECONDITION_DEPTH,
    }
