"""The runs of a fleet of tenants: groups of tenants that share drives, with and without a placement handle each, or
have a drive of their share each.

A group is the namespaces of a drive file and a job file that uses them; a fleet has a number of drives of each group.
The runs are those of `ssdlab.experiments.advice.tenants`, as runs of a sweep on scaled-down drives.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ssdlab.errors import InputError
from ssdlab.experiments.advice.setting import Setting
from ssdlab.experiments.advice.tenants import NO_HANDLES, UNITS, drive_with_handles
from ssdlab.experiments.sweeps.plan import Planned
from ssdlab.experiments.sweeps.points import Point
from ssdlab.foundation.quantities import parse_bytes_with_unit
from ssdlab.simulator import workloads
from ssdlab.simulator.drives import ResolvedDrive
from ssdlab.simulator.targets.alone import jobs_of, share_of
from ssdlab.simulator.workloads import Workload
from ssdlab.simulator.workloads.jobs.jobfile import JobFile
from ssdlab.simulator.workloads.specifying import specify

SHARED = "shared"
HANDLES = "a handle each"
SPLIT = "split"
LAYOUTS = (SHARED, HANDLES, SPLIT)
"""All tenants of a group on one drive; the same with a placement handle for each; each on a drive of its share."""

_WRITING = ("write", "read-write", "trim-write")
"""The directions of jobs that write. Stage 0 fills the drive."""


@dataclass(frozen=True)
class Group:
    """Drives whose tenants do the same."""

    name: str
    job_file: JobFile
    drives: int
    """The number of drives if the tenants share them."""
    written_bytes_per_day: int
    """What all tenants of one drive write."""


@dataclass(frozen=True)
class Placed:
    """Tenants of a group on a drive, in one of the layouts."""

    layout: str
    group: Group
    tenants: tuple[str, ...]
    share: float
    """The drive's part, 0 to 1, of the flash of the drive that all tenants share."""
    run: Planned | None
    """None for tenants without jobs, which wear nothing."""


@dataclass(frozen=True)
class TenantPlan:
    """The drives of each layout with their runs, and what could not be run, with reasons."""

    groups: Sequence[Group]
    placed: Sequence[Placed]
    left_out: Sequence[tuple[str, str, str]]
    """Layout, drive, reason."""

    @property
    def runs(self) -> list[Planned]:
        return [each.run for each in self.placed if each.run is not None]


def groups_of(paths: Sequence[str], drives: str, writes_per_day: str) -> list[Group]:
    """The groups of these job files. `drives` ("300,100") and `writes_per_day` ("2TB,500GB") have a value for each of
    them, or one for all. Raises InputError for invalid values, and for files that are no job files."""
    counts = [_count(text) for text in _for_each("--drives", drives, paths)]
    daily = [_daily(text) for text in _for_each("--writes-per-day", writes_per_day, paths)]
    found = []
    for path, count, written in zip(paths, counts, daily, strict=True):
        job_file: Workload = workloads.load(path)
        if not isinstance(job_file, JobFile):
            raise InputError(f"{path}: only a fio job file chooses namespaces, by filename")
        found.append(Group(workloads.title(path), job_file, count, written))
    names = [group.name for group in found]
    twice = next((name for at, name in enumerate(names) if name in names[:at]), None)
    if twice is not None:
        raise InputError(f"two job files make a group {twice!r}; rename one of the files")
    return found


def _for_each(option: str, text: str, paths: Sequence[str]) -> list[str]:
    values = [value.strip() for value in text.split(",")]
    if len(values) == 1:
        values *= len(paths)
    if len(values) != len(paths):
        raise InputError(
            f"{option} has {len(values)} values for {len(paths)} job files; allowed: one for all, or one for each"
        )
    return values


def _count(text: str) -> int:
    # Other digits than those of ASCII would pass isdigit.
    if not (text.isascii() and text.isdigit() and int(text)):
        raise InputError(f"--drives is {text!r}; allowed: whole numbers above 0, such as 300,100")
    return int(text)


def _daily(text: str) -> int:
    try:
        written = parse_bytes_with_unit(text)
    except InputError as error:
        raise InputError(f"--writes-per-day: {error}") from None
    if not written:
        raise InputError(f"--writes-per-day is {text!r}; allowed: above 0, such as 2TB")
    return written


def plan_tenants(groups: Sequence[Group], setting: Setting, scale: Fraction | None, seed: int) -> TenantPlan:
    """The runs of every layout. Raises InputError if the tenants of a group cannot share the drive."""
    chosen = scale or setting.scale_for(UNITS)
    drive = setting.at(None, chosen)
    placed: list[Placed] = []
    left_out: list[tuple[str, str, str]] = []
    try:
        handles = drive_with_handles(drive)
    except InputError:
        handles = None
        left_out.append((HANDLES, "all", NO_HANDLES))
    names = tuple(namespace.name for namespace in drive.file.namespaces)
    for group in groups:
        shared = _run(SHARED, group, group.job_file, drive, setting, seed)
        if not any(job["direction"] in _WRITING and job["stage"] for job in shared.specification.engine["jobs"]):
            raise InputError(f"{group.job_file.source}: no job writes, so that --writes-per-day has no tenant")
        placed.append(Placed(SHARED, group, names, 1.0, shared))
        if handles is not None:
            run = _run(HANDLES, group, group.job_file, handles, setting, seed)
            placed.append(Placed(HANDLES, group, names, 1.0, run))
        for each in _split(group, drive, setting, seed):
            if isinstance(each, Placed):
                placed.append(each)
            else:
                left_out.append(each)
    return TenantPlan(groups, placed, left_out)


def _split(group: Group, drive: ResolvedDrive, setting: Setting, seed: int) -> Iterator[Placed | tuple[str, str, str]]:
    """Each tenant on a drive of its share, or why there is no such drive."""
    namespaces = drive.file.namespaces
    for namespace in namespaces:
        try:
            share, own = share_of(drive, namespace)
        except InputError:
            yield SPLIT, f"{group.name}: {namespace.name}", "its share is too small for a drive"
            continue
        jobs = jobs_of(group.job_file, namespace, namespaces)
        run = _run(f"{SPLIT}: {namespace.name}", group, jobs, own, setting, seed) if jobs.sections else None
        yield Placed(SPLIT, group, (namespace.name,), float(share), run)


def _run(layout: str, group: Group, jobs: JobFile, drive: ResolvedDrive, setting: Setting, seed: int) -> Planned:
    specification = specify(jobs, drive, seed=seed, precondition="fill", timed=True)
    point: Point = {"drive": setting.words[0], "job": group.name, "layout": layout}
    return Planned(point, specification, drive.endurance_cycles)
