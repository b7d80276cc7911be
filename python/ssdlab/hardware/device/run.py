"""Runs a job file on a place, stage by stage, with the drive's SMART data before and after each."""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

from ssdlab.errors import RunFailed
from ssdlab.foundation.foreign import JsonObject
from ssdlab.hardware.device import fio, health, joblogs, jobtext, plan, programs, series
from ssdlab.hardware.device.disk_use import DiskUse
from ssdlab.hardware.device.health import Health
from ssdlab.hardware.device.joblogs import JobLogs
from ssdlab.hardware.device.jobtext import Stage
from ssdlab.hardware.device.measured import Measured, MeasuredStage
from ssdlab.hardware.device.place import Place
from ssdlab.hardware.safety.place import check_platform
from ssdlab.simulator.workloads.jobs.jobfile import JobFile

Progress = Callable[[int, float, int], None]
"""Called with the index of a stage, the share done, and the bytes written in the stage so far."""

LAYOUT = "lay out"
"""The name of the stage that writes files once before jobs read them."""


def prepared(job_file: JobFile, place: Place, *, seed: int = 1) -> list[Stage]:
    """The stages of a job file on a place. The first lays out the files if a job reads them."""
    stages = jobtext.stages(job_file, place.path_of, lambda: place.generic_path, seed=seed)
    if place.is_device or not plan.reads_first(job_file, size_bytes=place.size_bytes, seed=seed):
        return stages
    return [layout(plan.file_sizes(job_file, place, seed=seed)), *stages]


def layout(files: Mapping[Path, int]) -> Stage:
    """A stage that writes files of the given sizes in bytes once, sequentially, with incompressible data."""
    sections = "".join(
        f"[{LAYOUT}{number or ''}]\nfilename={str(file).replace(':', chr(92) + ':')}\nsize={size_bytes}\n"
        for number, (file, size_bytes) in enumerate(files.items())
    )
    head = "[global]\nthread=1\nioengine=libaio\ndirect=1\nrw=write\nbs=128k\niodepth=32\nrefill_buffers\nend_fsync=1\n"
    return Stage(LAYOUT, f"{head}{sections}", (), tuple(files))


def measure(
    job_file: JobFile,
    place: Place,
    source: Health,
    *,
    seed: int = 1,
    on_progress: Progress | None = None,
    logs: JobLogs | None = None,
    notes: Sequence[str] = (),
) -> Measured:
    """Runs all stages. A stage that fails or is interrupted ends the measurement; the result has the stages so far.

    Raises InputError if the job cannot run there.
    """
    check_platform()
    programs.check("fio")
    stages = prepared(job_file, place, seed=seed)
    if not place.is_device:
        place.make(plan.file_sizes(job_file, place, seed=seed))
    ran = run_stages(stages, source, place, on_progress, logs)
    done = ran.done
    first = done[0].before if done else source.read()
    last = done[-1].after if done else first
    failure = next((stage.measured.error for stage in done if stage.measured.error), ran.refused)
    return Measured(
        target={
            "kind": "device",
            "path": str(place.path),
            "what": place.what,
            "size_bytes": place.size_bytes,
            "disk": place.claim.place.disk,
            "model": place.claim.place.model,
            "smart": source.source,
        },
        source=job_file.source,
        seed=seed,
        version=version("ssdlab"),
        stages=[stage.measured for stage in done],
        whole=health.between(first, last),
        failure=failure,
        notes=list(notes),
        interrupted=ran.interrupted,
    )


@dataclass(frozen=True)
class Done:
    """A stage with the readings before and after it."""

    measured: MeasuredStage
    before: health.ReadOut
    after: health.ReadOut
    interrupted: bool


@dataclass
class Ran:
    """The outcome of a sequence of stages."""

    done: list[Done] = field(default_factory=list)
    refused: str | None = None
    """Why the next stage was not started; None if all ran or one failed."""
    interrupted: bool = False


def run_stages(
    stages: Sequence[Stage],
    source: Health,
    place: Place,
    on_progress: Progress | None = None,
    logs: JobLogs | None = None,
    scratch: Path | None = None,
) -> Ran:
    """Runs stages one after another until one fails, a check of the place fails, or Ctrl-C, which is raised again only
    if no stage was measured. fio's files are in `scratch` meanwhile, or in the system's folder for temporary files."""
    ran = Ran()
    with tempfile.TemporaryDirectory(prefix="ssdlab-measure-", dir=scratch) as folder:
        try:
            for number, stage in enumerate(stages):
                place.claim.recheck()
                place.check()
                before = ran.done[-1].after if ran.done else source.read()
                ran.done.append(run_stage(stage, number, Path(folder), before, source, place, on_progress))
                if logs:
                    logs.keep(Path(folder) / str(number), stage.sections)
                if ran.done[-1].measured.error:
                    break
        except RunFailed as error:
            ran.refused = str(error)
        except KeyboardInterrupt:
            if not ran.done:
                raise
            ran.refused, ran.interrupted = fio.ENDED, True
    ran.interrupted = ran.interrupted or any(stage.interrupted for stage in ran.done)
    return ran


def run_stage(
    stage: Stage,
    number: int,
    folder: Path,
    before: health.ReadOut,
    source: Health,
    target: Place,
    on_progress: Progress | None,
) -> Done:
    written = 0.0
    left = target.claim.budget_left_bytes

    def watch(share: float | None, written_per_second: float) -> bool:
        nonlocal written
        written += written_per_second
        if on_progress and share is not None:
            on_progress(number, share, int(written))
        return left is None or written <= left

    own = folder / str(number)
    own.mkdir()
    disk = target.claim.place.disk
    disk_before = DiskUse.now(disk)
    report = fio.run(stage.text, f"stage-{number}", own, watch, target.opened_as)
    if report.content and not report.content.get("disk_util"):
        report.content["disk_util"] = DiskUse.now(disk).since(disk_before)
    interrupted = report.interrupted
    try:
        after = source.read()
    except KeyboardInterrupt:
        after, interrupted = health.ReadOut(None, fio.ENDED), True
    host_bytes = _written(report.content)
    if on_progress:
        on_progress(number, 1.0, host_bytes)
    phase = health.between(before, after)
    error = report.error or (fio.ENDED if interrupted else None)
    try:
        target.check()
        target.claim.count_written(host_bytes)
    except RunFailed as trouble:
        error = str(trouble)
    measured = MeasuredStage(
        name=stage.name,
        commands=[report.command],
        job_text=report.job_text,
        seconds=report.seconds,
        phase=phase,
        report=report.content,
        logs=series.read_logs(own, [joblogs.window_ms(section) for section in joblogs.jobs(stage.sections)]),
        error=error,
    )
    return Done(measured, before, after, interrupted)


def _written(content: JsonObject | None) -> int:
    return sum(int(job["write"]["io_bytes"]) for job in content["jobs"]) if content else 0
