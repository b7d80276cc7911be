"""`ssdlab.run`: runs one workload on one simulated drive, in this process."""

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import get_args

from ssdlab.errors import InputError, check_word, notify
from ssdlab.foundation.quantities import format_bytes
from ssdlab.simulator import workloads
from ssdlab.simulator.drives import ResolvedDrive, load, resolve
from ssdlab.simulator.engine import Progress
from ssdlab.simulator.results import Result
from ssdlab.simulator.targets import auto_scale, simulated
from ssdlab.simulator.targets.alone import alone_of, check_alone, specify_alone
from ssdlab.simulator.targets.preconditioning import saved_state, specify_beginning
from ssdlab.simulator.targets.side_by_side import all_side_by_side
from ssdlab.simulator.workloads import Workload
from ssdlab.simulator.workloads.host import Host, with_host
from ssdlab.simulator.workloads.jobs.iolog import Replay, replay_of
from ssdlab.simulator.workloads.specifying import Beginning, Precondition, Until
from ssdlab.simulator.workloads.traces.recording import opened
from ssdlab.simulator.workloads.traces.specification import specify as specify_replay


def run(
    job: str | Path | Workload,
    drive: ResolvedDrive | str | Path,
    *,
    seed: int = 1,
    until: Until = "job",
    precondition: Beginning = "none",
    from_state: str | Path | None = None,
    save_state: str | Path | None = None,
    timed: bool = True,
    interval_ns: int | None = None,
    alone: bool = False,
    host: Host = "none",
    workers: int | None = None,
    on_progress: Progress | None = None,
) -> Result:
    """Runs a workload on a simulated drive, in this process, as `ssdlab run`.

    `job` is a fio job file, which may replay a recording (`read_iolog`), a file-system script (NAME.files) or "sysbench
    fileio ... run". A `drive` of `ssdlab.drive` is taken as it is; one given by name or file has the scale that
    `--scale auto` chooses, which a note says, and with `from_state`, `save_state` or a recording its whole size.
    `until="steady"` repeats the last stage until SNIA's steady state; "job" runs the job once. `precondition`: "fill"
    writes the whole drive sequentially first, "none" starts with a fresh drive, "steady" in the steady state that a
    smaller drive reaches. `from_state` is a file with a drive's state that `save_state` wrote. `timed=False` simulates
    without a clock, for write amplification only. `interval_ns`, in the time of the full drive, adds
    `Result.intervals`. `alone` also runs the jobs of each namespace on a drive of its share (`targets/alone.py`), for
    `Result.namespaces`, up to `workers` of them at a time. `host="linux"` adds the host's own time to each command of
    jobs with one request at a time. `on_progress` is called with the share done and the host bytes written so far.

    Options of the job file without effect on a simulated drive give a warning of the category `ssdlab.errors.Note`.
    Raises InputError if the job or the drive is not valid, RunFailed if the run failed. If the drive became read-only
    or a job exceeded its limits, the result has `failure` set.

        result = ssdlab.run("jobs/randwrite.fio", ssdlab.drive("generic-tlc-480", op="7%", scale="1/64"))
        result.waf, result.jobs[0].write.iops
    """
    check_word("--until", until, get_args(Until))
    check_word("--precondition", precondition, get_args(Beginning))
    check_word("--host", host, get_args(Host))
    if from_state is not None and precondition != "none":
        raise InputError("--from-state and --precondition both set the initial state; give one of them")
    resolved = drive if isinstance(drive, ResolvedDrive) else resolve(load(str(drive)))
    recording = replay_of(job) if isinstance(job, str | Path) else None
    if recording is not None:
        if alone or interval_ns is not None or until != "job" or precondition == "steady" or host != "none":
            raise InputError(
                f"{job}: read_iolog replays a recording once: --alone, --interval, --host and --precondition steady do "
                f"not apply; `ssdlab replay {recording.file}` repeats it to the steady state"
            )
        fresh: Precondition = "fill" if precondition == "fill" else "none"
        return _replayed(recording, resolved, fresh, from_state, save_state, on_progress, seed=seed, timed=timed)
    job_file = workloads.load(job) if isinstance(job, str | Path) else job
    if not isinstance(drive, ResolvedDrive) and from_state is None and save_state is None:
        (resolved,) = auto_scale.fitted(job_file, [resolved], until=until, precondition=precondition, timed=timed)
    if alone:
        check_alone(resolved, precondition, from_state)
    with TemporaryDirectory(prefix="ssdlab-") as folder:
        specification = specify_beginning(
            job_file,
            resolved,
            precondition,
            Path(folder),
            seed=seed,
            until=until,
            timed=timed,
            interval_ns=interval_ns,
            lays_out=from_state is None,
        )
        if from_state is not None:
            specification = replace(specification, initial_state=saved_state(from_state))
        specification = with_host(specification, host)
        notify(job_file.notes(timed=timed))
        result = simulated.run(specification, on_progress, save_state=save_state)
        if alone:
            fill: Precondition = "fill" if precondition == "fill" else "none"
            made = specify_alone(job_file, resolved, seed=seed, precondition=fill, timed=timed)
            runs = [each for each in made if each]
            results = all_side_by_side([run for _, run in runs], workers)
            found = iter([alone_of(share, own) for (share, _), own in zip(runs, results, strict=True)])
            result.alone = [next(found) if each else None for each in made]
        return result


def _replayed(
    replay: Replay,
    drive: ResolvedDrive,
    precondition: Precondition,
    from_state: str | Path | None,
    save_state: str | Path | None,
    on_progress: Progress | None,
    *,
    seed: int,
    timed: bool,
) -> Result:
    """Replays the recording of a job with `read_iolog` once. Addresses past the drive's end are taken modulo its size,
    which a note says."""
    with opened([replay.file], None, 0) as recording:
        specification = specify_replay(
            recording,
            drive,
            volume=None,
            seed=seed,
            precondition=precondition,
            timed=timed,
            arrival="closed" if replay.at_once else "trace",
            iodepth=replay.iodepth,
            time_scale=1.0 if replay.at_once else replay.time_scale,
            initial_state=None if from_state is None else saved_state(from_state),
        )
        end_bytes = max(each.end_bytes_max for each in recording.survey.volumes)
        notes = [*recording.drawn_from]
        if end_bytes > drive.capacity.user_bytes:
            notes.append(
                f"{replay.file} reaches to {format_bytes(end_bytes)}, past the end of the drive: its addresses are "
                "taken modulo the drive's size"
            )
        if len(recording.survey.volumes) > 1:
            notes.append(f"{replay.file} has {len(recording.survey.volumes)} volumes, all replayed on one drive")
        notify(notes)
        return simulated.run(specification, on_progress, save_state=save_state)
