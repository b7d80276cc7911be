"""Runs the jobs of each namespace alone, each on a drive of the namespace's share.

A drive of a namespace's share has fewer blocks per plane, in proportion to the namespace's part of all namespaces
together, so that the relative spare area is the same. The SLC cache and the reserved capacity shrink in the same
proportion. Dies, channels, controller, write buffer and host link are those of the whole drive, so that the difference
between the runs is the effect of the other tenants. A namespace with a list of placement handles has that many handles.
Blocks, the free reserve and open erase units are whole numbers, so that a small share has slightly less spare area than
its part of the drive.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from ssdlab.errors import InputError, notify
from ssdlab.foundation.foreign import JsonObject
from ssdlab.foundation.quantities import format_share
from ssdlab.simulator.drives import ResolvedDrive, Source
from ssdlab.simulator.drives.namespaces import KEY, Namespace, allocated_bytes, named
from ssdlab.simulator.drives.schema import changed, drive_of
from ssdlab.simulator.results.latency import Latency, merged
from ssdlab.simulator.results.namespaces import CAUSES, Alone
from ssdlab.simulator.results.result import Result
from ssdlab.simulator.specification import Specification
from ssdlab.simulator.workloads import Workload
from ssdlab.simulator.workloads.jobs.jobfile import JobFile
from ssdlab.simulator.workloads.jobs.table import FILENAME
from ssdlab.simulator.workloads.specifying import Precondition, specify

_SIZES = ("ftl.reserved_bytes", "slc_cache.static_bytes", "slc_cache.dynamic_bytes_max")


def specify_alone(
    job_file: Workload,
    drive: ResolvedDrive,
    *,
    seed: int = 1,
    precondition: Precondition = "none",
    timed: bool = True,
) -> list[tuple[Fraction, Specification] | None]:
    """Each namespace's share, and the run of its jobs on a drive of that share, in the drive's order of namespaces.

    The entry is None for a namespace without jobs, and for one whose share is too small for a drive, which is also
    reported as a note.
    """
    assert isinstance(job_file, JobFile), "only those choose namespaces"
    found: list[tuple[Fraction, Specification] | None] = []
    for namespace in drive.file.namespaces:
        jobs = jobs_of(job_file, namespace, drive.file.namespaces)
        if not jobs.sections:
            found.append(None)
            continue
        try:
            share, own_drive = share_of(drive, namespace)
        except InputError as error:
            notify([f"--alone leaves out namespace {namespace.name!r}, whose share is too small for a drive: {error}"])
            found.append(None)
            continue
        found.append((share, specify(jobs, own_drive, seed=seed, precondition=precondition, timed=timed)))
    return found


def check_alone(drive: ResolvedDrive, precondition: str, from_state: object) -> None:
    """Raises InputError if the drive has no namespaces, or for a start from a saved or steady state."""
    if not drive.file.namespaces:
        raise InputError(f"--alone needs a drive with [[namespace]], and drive {drive.name!r} has none")
    if precondition == "steady" or from_state is not None:
        raise InputError("--alone begins with new or filled drives; leave out --from-state and --precondition steady")


def share_of(drive: ResolvedDrive, namespace: Namespace) -> tuple[Fraction, ResolvedDrive]:
    """The namespace's share of the blocks, and the drive of that share.

    Raises InputError if the share is too small for a drive.
    """
    file = drive.file
    wanted = Fraction(namespace.size_bytes, allocated_bytes(file.namespaces, drive.capacity.user_bytes))
    blocks = max(1, round(file.nand.blocks_per_plane * wanted))
    values: dict[str, int | JsonObject] = {
        "nand.blocks_per_plane": blocks,
        "ftl.user_bytes": namespace.size_bytes,
    }
    for key in _SIZES:
        table, _, name = key.partition(".")
        if size := getattr(getattr(file, table), name):
            values[key] = int(size * wanted)
    if namespace.placement_handles:
        handles = {"identifiers": len(namespace.placement_handles)}
        values["ftl.placement"] = file.specification["ftl"]["placement"] | handles
    said = Source(kind="assumed", source=f"the share of namespace {namespace.name}: {format_share(float(wanted))}")
    content = {key: value for key, value in file.content.items() if key != KEY}
    content = changed(content, values, dict.fromkeys(values, said))
    content["name"] = f"{file.name}, share of {namespace.name}"
    where = f"a drive of the share of namespace {namespace.name!r}"
    made = replace(drive, file=drive_of(content, where, sold_bytes=namespace.size_bytes))
    return Fraction(blocks, file.nand.blocks_per_plane), made


def alone_of(share: Fraction, result: Result) -> Alone:
    """What the run of a namespace on a drive of its share gave."""
    last = max(job.stage for job in result.jobs)

    def latency(direction: str) -> Latency | None:
        found = [getattr(job, direction).latency for job in result.jobs if job.stage == last]
        return None if None in found else merged(found)

    ledger = result.last_stage_ledger
    return Alone(
        float(share),
        ledger.host_written_bytes,
        ledger.host_read_bytes,
        {part: ledger.programmed_units[part] * ledger.counted_unit_bytes for part in CAUSES},
        ledger.waf,
        latency("read"),
        latency("write"),
    )


def jobs_of(job_file: JobFile, namespace: Namespace, namespaces: Sequence[Namespace]) -> JobFile:
    """The jobs of a namespace, without their `filename`, for a drive of their own."""
    own = [
        replace(section, settings={name: value for name, value in section.settings.items() if name != FILENAME.name})
        for section in job_file.sections
        if named(section.get(FILENAME)[0], namespaces) == namespace
    ]
    return replace(job_file, sections=tuple(own))
