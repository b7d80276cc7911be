"""A laboratory for solid-state drives: what do spare area, free space, TRIM and fragmentation do to a drive?

    import ssdlab

    drive = ssdlab.drive("generic-tlc-480", op=0.07)
    result = ssdlab.run("jobs/randwrite.fio", drive, seed=1)
    result.waf, result.jobs[0].write.total_ios, result.timeseries

Importing this is light: what a call needs is loaded by the call.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ssdlab.errors import InputError, RunFailed

if TYPE_CHECKING:
    from ssdlab.drives import ResolvedDrive
    from ssdlab.results import Result
    from ssdlab.runs import run_many
    from ssdlab.targets.simulated import Precondition, Until, specify
    from ssdlab.targets.specification import Specification
    from ssdlab.workloads import Workload

__all__ = [
    "InputError",
    "Result",
    "RunFailed",
    "Specification",
    "drive",
    "run",
    "run_many",
    "specify",
]

_LOADED_ON_DEMAND = {
    "Result": "ssdlab.results",
    "Specification": "ssdlab.targets.specification",
    "run_many": "ssdlab.runs",
    "specify": "ssdlab.targets.simulated",
}


def drive(
    name_or_path: str | Path,
    op: float | str | None = None,
    *,
    settings: Mapping[str, str] | None = None,
    scale: Fraction | str | None = None,
) -> "ResolvedDrive":
    """A drive of the catalogue or of a drive file, ready to run.

    `op` is the over-provisioning as a share (0.07) or a text ("7%"); without it the drive has its own. `settings` maps
    keys of the drive file to values ({"ftl.victim": "fifo"}); `scale` is as `--scale` ("1/16"). Raises InputError.
    """
    from ssdlab.drives import load, resolve
    from ssdlab.quantities import parse_scale, parse_share

    return resolve(
        load(str(name_or_path)),
        over_provisioning=parse_share(op) if isinstance(op, str) else op,
        settings=dict(settings or {}),
        scale=parse_scale(scale) if isinstance(scale, str) else scale,
    )


def run(
    job: "str | Path | Workload",
    drive: "ResolvedDrive | str | Path",
    *,
    seed: int = 1,
    until: "Until" = "job",
    precondition: "Precondition" = "none",
    timed: bool = True,
    on_progress: Callable[[float, int], None] | None = None,
) -> "Result":
    """Runs a fio job file, or a script of a file system's life, on a simulated drive, in this process.

    `until="steady"` and `precondition="fill"` are as in `ssdlab compare`, `timed=False` as `--untimed`. `on_progress`
    gets the share that is done and the host bytes written so far. Raises InputError when the job or the drive is wrong,
    RunFailed when the run broke; a drive that turned read-only, or a job that failed by its limits, is a result, with
    `failure` set.
    """
    from ssdlab import workloads
    from ssdlab.targets import simulated

    job_file = workloads.load(job) if isinstance(job, str | Path) else job
    resolved = globals()["drive"](drive) if isinstance(drive, str | Path) else drive
    specification = simulated.specify(
        job_file, resolved, seed=seed, until=until, precondition=precondition, timed=timed
    )
    return simulated.run(specification, on_progress)


def __getattr__(name: str) -> Any:
    if name in _LOADED_ON_DEMAND:
        return getattr(import_module(_LOADED_ON_DEMAND[name]), name)
    if name == "__version__":
        from importlib.metadata import version

        return version("ssdlab")
    raise AttributeError(f"module 'ssdlab' has no attribute {name!r}")
