"""A job file on a place, stage by stage: fio, the drive's health before and after, and what became of it."""

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ssdlab.errors import RunFailed
from ssdlab.jobs.jobfile import JobFile
from ssdlab.safety.place import check_platform
from ssdlab.targets.device import fio, health, joblogs, jobtext, plan, programs, series
from ssdlab.targets.device.health import Health
from ssdlab.targets.device.joblogs import JobLogs
from ssdlab.targets.device.jobtext import Stage
from ssdlab.targets.device.measured import Measured, MeasuredStage
from ssdlab.targets.device.place import Place

Progress = Callable[[int, float, int], None]
"""Told the index of a stage, the share of it that is done, and bytes written in it so far."""

LAYOUT = "lay out"
"""The stage that writes a file once before jobs that read it."""


def prepared(job_file: JobFile, place: Place, *, seed: int = 1) -> list[Stage]:
    """The stages of a job file on a place, with the one that lays files out where a job reads them."""
    stages = jobtext.stages(job_file, place.path_of, seed=seed)
    if place.is_device or not plan.reads_first(job_file, size_bytes=place.size_bytes, seed=seed):
        return stages
    files = sorted({file for stage in stages for file in stage.files})
    return [layout(files, place.size_bytes // len(files)), *stages]


def layout(files: Sequence[Path], each_bytes: int) -> Stage:
    """Writes files once in sequence with data that does not compress."""
    sections = "".join(
        f"[{LAYOUT}{number or ''}]\nfilename={str(file).replace(':', chr(92) + ':')}\n"
        for number, file in enumerate(files)
    )
    head = "[global]\nthread=1\nioengine=libaio\ndirect=1\nrw=write\nbs=128k\niodepth=32\nrefill_buffers\nend_fsync=1\n"
    return Stage(LAYOUT, f"{head}size={each_bytes}\n{sections}", (), tuple(files))


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
    """Runs all stages. A stage that fails or is interrupted ends the measurement; what was measured is its result.

    InputError when the job cannot run there.
    """
    check_platform()
    programs.check("fio")
    stages = prepared(job_file, place, seed=seed)
    made = sorted({file for stage in stages for file in stage.files})
    if not place.is_device:
        place.make(made, place.size_bytes // len(made))
    done, refused = run_stages(stages, source, place, on_progress, logs)
    first = done[0].before if done else source.read()
    last = done[-1].after if done else first
    failure = next((stage.measured.error for stage in done if stage.measured.error), refused)
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
        interrupted=any(stage.interrupted for stage in done),
    )


@dataclass(frozen=True)
class Done:
    """A stage with the readings around it."""

    measured: MeasuredStage
    before: health.ReadOut
    after: health.ReadOut
    interrupted: bool


def run_stages(
    stages: Sequence[Stage],
    source: Health,
    place: Place,
    on_progress: Progress | None = None,
    logs: JobLogs | None = None,
) -> tuple[list[Done], str | None]:
    """Runs stages one after another until one fails; and why the next was not begun, where the claim forbade it."""
    done: list[Done] = []
    with tempfile.TemporaryDirectory(prefix="ssdlab-measure-") as folder:
        for number, stage in enumerate(stages):
            try:
                place.claim.recheck()
            except RunFailed as error:
                return done, str(error)
            before = done[-1].after if done else source.read()
            done.append(run_stage(stage, number, Path(folder), before, source, place, on_progress))
            if logs:
                logs.keep(Path(folder) / str(number), stage.sections)
            if done[-1].measured.error:
                break
    return done, None


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
    report = fio.run(stage.text, f"stage-{number}", own, watch)
    after = source.read()
    host_bytes = _written(report.content)
    if on_progress:
        on_progress(number, 1.0, host_bytes)
    phase = health.between(before, after)
    error = report.error
    try:
        target.claim.count_written(host_bytes)
    except RunFailed as spent:
        error = str(spent)
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
    return Done(measured, before, after, report.interrupted)


def _written(content: dict[str, Any] | None) -> int:
    return sum(int(job["write"]["io_bytes"]) for job in content["jobs"]) if content else 0
