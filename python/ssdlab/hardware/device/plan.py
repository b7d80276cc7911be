"""Estimates, from the job file, of what a measurement will write and how long it will take."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from ssdlab.errors import InputError
from ssdlab.foundation.quantities import format_bytes
from ssdlab.hardware.device.jobtext import Stage, names_in
from ssdlab.hardware.device.place import Place
from ssdlab.simulator.engine import plain
from ssdlab.simulator.workloads.jobs.directions import DIRECTIONS
from ssdlab.simulator.workloads.jobs.jobfile import JobFile
from ssdlab.simulator.workloads.jobs.layout import files_of

RATE_MB_S = 100.0
"""The assumed rate of a drive: between the random and sequential writes of a SATA drive."""
_BYTES_PER_MB = 10**6
_PROBES = (1 << 50, 3 << 50)


@dataclass(frozen=True)
class Planned:
    """One stage: its commands, bytes and seconds. For a job that ends by time, bytes are computed from the rate."""

    name: str
    commands: Sequence[str]
    job_text: str | None
    written_bytes: int
    read_bytes: int
    seconds: float
    by_time: bool
    """Whether a job of the stage ends by time, so that its bytes are an estimate."""


def size_wanted(job_file: JobFile, *, seed: int = 1) -> int | None:
    """The drive size in bytes that the jobs need, or None if they use all available space."""
    reached = []
    for probe in _PROBES:
        jobs = job_file.resolve(probe, seed=seed)
        reached.append(max(job["offset_bytes"] + job["size_bytes"] for job in jobs))
    return reached[0] if reached[0] == reached[1] else None


def file_sizes(job_file: JobFile, place: Place, *, seed: int = 1) -> dict[Path, int]:
    """The size of each file in bytes, needed before fio opens it: fio would remove a file that is too small and create
    another. Raises InputError if the files do not fit the place."""
    found: dict[Path, int] = {}
    of_sections = files_of(job_file, place.size_bytes, seed, Fraction(1))
    for section, files in zip(job_file.sections, of_sections, strict=True):
        for name, file in zip(names_in(section), files, strict=True):
            path = place.path_of(name)
            found[path] = max(found.get(path, 0), file.size_bytes)
    return dict(sorted(found.items()))


def planned(
    job_file: JobFile, stages: Sequence[Stage], place: Place, *, seed: int = 1, rate_mb_s: float = RATE_MB_S
) -> list[Planned]:
    """The plan of each stage. Raises InputError if the job does not fit the place."""
    jobs = job_file.resolve(place.size_bytes, seed=seed)
    rate = rate_mb_s * _BYTES_PER_MB
    found: list[Planned] = []
    of_job_file = 0
    for number, stage in enumerate(stages):
        if stage.sections:
            of_stage = [job for job in jobs if job["stage"] == of_job_file]
            of_job_file += 1
            found.append(_stage(stage, number, of_stage, rate))
        else:
            # The stage that lays out the files, which can be smaller together than the place.
            written = sum(file_sizes(job_file, place, seed=seed).values())
            found.append(Planned(stage.name, [_command(number)], stage.text, written, 0, written / rate, False))
    return found


def _stage(stage: Stage, number: int, jobs: Sequence[plain.Job], rate: float) -> Planned:
    written = read = 0.0
    seconds = 0.0
    timed = False
    for job in jobs:
        moved, its_seconds, by_time = _job(job, rate)
        share = write_share(job)
        written += moved * share
        read += moved * (1 - share) if job["direction"] != "trim" else 0
        seconds = max(seconds, its_seconds)
        timed = timed or by_time
    return Planned(stage.name, [_command(number)], stage.text, int(written), int(read), seconds, timed)


def _command(number: int) -> str:
    return f"fio --output-format=json+ --output=stage-{number}.json stage-{number}.fio"


def _job(job: plain.Job, rate: float) -> tuple[float, float, bool]:
    """Bytes and seconds of a job, and whether it ends by time."""
    amount = float(job["io_bytes"])
    if (number := job.get("number_ios")) is not None:
        longest = max(entry["bytes"] for direction in DIRECTIONS for entry in job["block_sizes"][direction])
        amount = min(amount, float(number * longest))
    delay = job.get("start_delay_ns", 0) / 1e9
    runtime_ns = job.get("runtime_ns")
    runtime = None if runtime_ns is None else runtime_ns / 1e9
    if runtime is not None and job.get("time_based"):
        return rate * runtime, delay + runtime, True
    seconds = amount / rate
    if runtime is not None and runtime < seconds:
        return rate * runtime, delay + runtime, True
    return amount, delay + seconds, False


def write_share(job: plain.Job) -> float:
    """The share of a job's bytes that are written, 0 to 1."""
    direction = job["direction"]
    if direction in ("write", "trim-write"):
        return 1.0
    return 1 - job["read_percent"] / 100 if direction == "read-write" else 0.0


def reads_first(job_file: JobFile, *, size_bytes: int, seed: int = 1) -> bool:
    """Whether a job reads, so that the file must be written before."""
    jobs = job_file.resolve(size_bytes, seed=seed)
    return any(job["direction"] in ("read", "read-write") for job in jobs)


def check_budget(planned_stages: Sequence[Planned], max_write_bytes: int | None) -> None:
    """Raises InputError if the stages that do not end by time write more than allowed."""
    if max_write_bytes is None:
        return

    written = sum(stage.written_bytes for stage in planned_stages if not stage.by_time)
    if written > max_write_bytes:
        raise InputError(
            f"--max-write {format_bytes(max_write_bytes)}: the job writes {format_bytes(written)}; "
            "allow more, or use a smaller --size"
        )
