"""Points from the `result.json` of `ssdlab measure`, or from fio's own report: the jobs that ran and their figures.

A simulated drive executes the same jobs, and its keys are fitted to the figures. Held-out jobs are not used for the
fit: they show the deviation of the fitted drive for other jobs.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ssdlab.errors import InputError, RunFailed, near
from ssdlab.experiments.advice import fit_fio
from ssdlab.experiments.advice.fit_drive import Point, Runs
from ssdlab.experiments.comparison import fio_report
from ssdlab.foundation.foreign import JsonObject
from ssdlab.simulator.drives import DriveFile, resolve
from ssdlab.simulator.targets import simulated
from ssdlab.simulator.workloads import jobs, specifying

_BYTES_PER_MB = 10**6
# Options for files, logs and processes of the measurement, which a simulated drive does not have.
_OF_THE_PLACE = ("filename=", "thread=", "log_avg_msec=", "per_job_logs=", "write_bw_log=", "write_lat_log=")


@dataclass(frozen=True)
class Measurement:
    """The jobs of a measurement as one job file, and their figures as points."""

    job_text: str
    size_bytes: int | None
    """The size of what was measured; None if the report does not say it, as fio's."""
    points: Sequence[Point]
    held_out: Sequence[Point]


def is_result(path: Path) -> bool:
    """Whether the file is a result of a measurement; otherwise it is a table."""
    return path.suffix == ".json"


def read(path: Path, held_out: Sequence[str] = ()) -> Measurement:
    """The bandwidths and write amplification of each job. Raises InputError, which names the file and the problem."""
    try:
        result: Any = fio_report.content_of(path.read_text(encoding="utf-8"), str(path))
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not JSON ({error})") from None
    if fio_report.is_report(result):
        return _of_fio(result, path, held_out)
    ours = result.get("ssdlab", {}) if isinstance(result, dict) else {}
    if ours.get("target", {}).get("kind") != "device" or "jobs" not in result:
        raise InputError(
            f"{path}: is not a result of `ssdlab measure JOB.fio`, nor of fio; give a result.json, fio's own JSON, or "
            "a CSV of points"
        )
    if ours.get("failure"):
        raise InputError(f"{path}: the measurement is incomplete: {ours['failure']}")
    _check_held_out(held_out, [str(job["jobname"]) for job in result["jobs"]])
    from ssdlab.hardware.device.run import LAYOUT

    points = [point for job in result["jobs"] if job["jobname"] != LAYOUT for point in _points(job, path)]
    return _measurement(path, _job_text(ours["stages"]), int(ours["target"]["size_bytes"]), points, held_out)


def _of_fio(report: JsonObject, path: Path, held_out: Sequence[str]) -> Measurement:
    if failed := fio_report.failures(report):
        name, why = next(iter(failed.items()))
        raise InputError(f"{path}: job {name} failed: {why}")
    if not any("job options" in job for job in report["jobs"]):
        raise InputError(
            f"{path}: has no `job options`, as reports of old versions of fio, so that what its jobs did is not known; "
            "give a report of a later fio, or a CSV of points with the job file"
        )
    try:
        measured = fit_fio.jobs_of(report)
    except KeyError as error:
        raise InputError(f"{path}: not a result of fio: {error.args[0]!r} is missing in its jobs") from None
    _check_held_out(held_out, [job.name for job in measured])
    points = [
        Point(Path(job.name), "", f"{side}_mb_s", rate / _BYTES_PER_MB, str(path))
        for job in measured
        for side, rate in job.rates.items()
    ]
    return _measurement(path, "".join(job.section for job in measured), None, points, held_out)


def _check_held_out(held_out: Sequence[str], names: Sequence[str]) -> None:
    for name in held_out:
        if name not in names:
            raise InputError(f"--held-out {name}: no such job{near(name, names)} (measured: {', '.join(names)})")


def _measurement(
    path: Path, job_text: str, size_bytes: int | None, points: Sequence[Point], held_out: Sequence[str]
) -> Measurement:
    fitted = [point for point in points if str(point.workload) not in held_out]
    if not fitted:
        raise InputError(f"{path}: every job is held out; no points are left to fit")
    unseen = [replace(point, is_predicted=True) for point in points if str(point.workload) in held_out]
    return Measurement(job_text, size_bytes, fitted, unseen)


def _points(job: JsonObject, path: Path) -> list[Point]:
    name = Path(str(job["jobname"]))
    found = [
        Point(name, "", f"{side}_mb_s", job[side]["bw_bytes"] / _BYTES_PER_MB, str(path))
        for side in ("read", "write")
        if job[side]["total_ios"] and job[side]["bw_bytes"]
    ]
    waf = job["ssdlab"]["waf"]
    return found + ([Point(name, "", "waf", float(waf), str(path))] if waf else [])


def _job_text(stages: Sequence[JsonObject]) -> str:
    """The job file with the sections of all stages, separated by stonewalls."""
    text = ""
    for number, stage in enumerate(stages):
        head, *sections = str(stage["job_text"]).split("\n[")
        shared = [line for line in head.splitlines()[1:] if not line.startswith(_OF_THE_PLACE)]
        for index, section in enumerate(sections):
            name, *lines = section.splitlines()
            own = [line for line in lines if not line.startswith(_OF_THE_PLACE)]
            wall = ["stonewall"] if number and not index else []
            text += "\n".join([f"[{name}", *wall, *shared, *own]) + "\n"
    return text


def simulate(drive: DriveFile, measured: Measurement, points: Sequence[Point], runs: Runs) -> list[float]:
    """The figures of the points on this drive. Raises RunFailed if the run fails or lacks the figure of a point."""
    resolved = resolve(drive, scale=runs.scale)
    job_file = jobs.parse(measured.job_text, "the measured jobs")
    result = simulated.run(specifying.specify(job_file, resolved, seed=runs.seed, lays_out=measured.size_bytes is None))
    if result.failure:
        raise RunFailed(f"the measured jobs on {drive.name}: {result.failure}")
    by_name = {job.name: job for job in result.jobs}
    found = []
    for point in points:
        job = by_name[str(point.workload)]
        if point.metric == "waf":
            value = job.waf
        else:
            rate = getattr(job, point.metric.partition("_")[0]).bw_bytes
            value = None if rate is None else rate / _BYTES_PER_MB
        if value is None:
            raise RunFailed(f"{point.workload}: the simulated drive gives no {point.metric}")
        found.append(value)
    return found
