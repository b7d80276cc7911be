"""The places of a job's files on the drive, and the part of each that the job accesses.

On a drive with namespaces each job accesses the namespace that its `filename` names. On any other drive, a single file
is the whole drive, as a device is in fio. Several files follow each other in the order in which the job file names
them, aligned to 4 KiB. The size of a file is the largest that a job gives for it (`filesize`, or `size` divided by the
number of files, behind the offset). Files without a given size share the rest of the drive equally. Jobs and clones
that use the same file name share the file; unnamed files of a job (`nrfiles`) are shared by its clones only.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from ssdlab.errors import InputError
from ssdlab.simulator.drives.namespaces import Namespace, known, named
from ssdlab.simulator.workloads.jobs.access import uses_files
from ssdlab.simulator.workloads.jobs.jobfile import JobFile, Section
from ssdlab.simulator.workloads.jobs.scaling import ALIGN_BYTES, scaled_bytes
from ssdlab.simulator.workloads.jobs.table import FILENAME, FILESIZE, NRFILES, NUMJOBS, OFFSET, OFFSET_INCREMENT, SIZE


@dataclass(frozen=True)
class File:
    """A part of the drive that represents a file or device of fio."""

    offset_bytes: int
    size_bytes: int
    given_bytes: int | None = None
    """The `filesize`, scaled; None if it is not set."""


@dataclass
class _Use:
    """The requirements of the jobs that use a file."""

    given_bytes: int | None = None
    wanted_bytes: int | None = None
    line: str = ""


def files_of(
    job_file: JobFile, user_bytes: int, seed: int, scale: Fraction, namespaces: Sequence[Namespace] = ()
) -> list[list[File]]:
    """The files of each section, in their order. Raises InputError if they do not fit on the drive."""
    if namespaces:
        return [[_namespace(job_file.source, section, namespaces, seed, scale)] for section in job_file.sections]
    names = [_names(section, index) for index, section in enumerate(job_file.sections)]
    if len({name for each in names for name in each}) <= 1:
        return [[File(0, user_bytes, _given_bytes(section, "", seed, scale))] for section in job_file.sections]
    uses: dict[str, _Use] = {}
    for section, its_names in zip(job_file.sections, names, strict=True):
        for name in its_names:
            use = uses.setdefault(name, _Use())
            given = _given_bytes(section, name, seed, scale)
            wanted = given if given is not None else _wanted_bytes(section, len(its_names), scale)
            use.given_bytes = _larger(use.given_bytes, given)
            use.wanted_bytes = _larger(use.wanted_bytes, wanted)
            use.line = use.line or f"{job_file.source}, line {section.line}"
    placed = _place(uses, user_bytes)
    whole = File(0, user_bytes)
    return [[placed[name] for name in its_names] or [whole] for its_names in names]


def has_files_of_its_own(section: Section) -> bool:
    """Whether fio makes files for each clone of the section: without `filename`, and with a size for them in bytes."""
    has_size = bool(section.get(SIZE).size_bytes) or section.get(FILESIZE) is not None
    return uses_files(section) and has_size and not section.get(FILENAME)


def shared_parts(parts: Sequence[tuple[int, int, int]]) -> list[str]:
    """A note if parts of the drive overlap for which fio would make files each; a part: first byte, end, files."""
    if all(one[1] <= other[0] for one, other in pairwise(sorted(parts))):
        return []
    return [
        "without filename, fio gives each job and each clone files of its own, here "
        f"{sum(files for _, _, files in parts):,} files; on the simulated drive they use the same part of it: "
        "offset_increment=SIZE sets clones apart, a filename in each job sets jobs apart"
    ]


def _namespace(source: str, section: Section, namespaces: Sequence[Namespace], seed: int, scale: Fraction) -> File:
    """The namespace of a job, as a file. Raises InputError unless `filename` names exactly one."""
    its_names = section.get(FILENAME)
    setting = section.setting(FILENAME)
    if setting is None:
        raise InputError(
            f"{source}, line {section.line}: job {section.name!r} has no filename, which on a drive with namespaces "
            f"names one of them; allowed are {known(namespaces)}"
        )
    where = f"{setting.raw.where}: {setting.written}"
    if len(its_names) != 1 or section.get(NRFILES) > 1:
        raise InputError(f"{where}: a job on a drive with namespaces has one file; allowed are {known(namespaces)}")
    try:
        namespace = named(its_names[0], namespaces)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    given = _given_bytes(section, its_names[0], seed, scale)
    return File(namespace.offset_bytes, namespace.size_bytes, given)


def _names(section: Section, index: int) -> Sequence[str]:
    """The names of the section's files; empty for the drive itself."""
    named = section.get(FILENAME)
    if named:
        return named
    count = section.get(NRFILES)
    # A zero byte cannot occur in a file name.
    return [f"\0{index}.{number}" for number in range(count)] if count > 1 else []


def _given_bytes(section: Section, name: str, seed: int, scale: Fraction) -> int | None:
    sizes = section.get(FILESIZE)
    if sizes is None:
        return None
    digest = hashlib.blake2b(f"filesize:{seed}:{name}".encode(), digest_size=8).digest()
    drawn = int.from_bytes(digest, "little") * (sizes.most_bytes - sizes.least_bytes + 1) >> 64
    return scaled_bytes(sizes.least_bytes + drawn, scale, ALIGN_BYTES)


def _wanted_bytes(section: Section, count: int, scale: Fraction) -> int | None:
    """The end of the range that the job and its clones use in each file; None if it depends on the drive's size."""
    size, offset, increment = section.get(SIZE), section.get(OFFSET), section.get(OFFSET_INCREMENT)
    if not size.size_bytes or offset.percent is not None or increment.percent is not None:
        return None
    start = (offset.size_bytes or 0) + (increment.size_bytes or 0) * (section.get(NUMJOBS) - 1)
    return scaled_bytes(start + size.size_bytes // count, scale, ALIGN_BYTES)


def _larger(one: int | None, other: int | None) -> int | None:
    return max((each for each in (one, other) if each is not None), default=None)


def _place(uses: dict[str, _Use], user_bytes: int) -> dict[str, File]:
    def aligned(size_bytes: int) -> int:
        return -(-size_bytes // ALIGN_BYTES) * ALIGN_BYTES

    said_bytes = sum(aligned(use.wanted_bytes) for use in uses.values() if use.wanted_bytes is not None)
    unsaid = sum(use.wanted_bytes is None for use in uses.values())
    share_bytes = max(0, user_bytes - said_bytes) // max(1, unsaid) // ALIGN_BYTES * ALIGN_BYTES
    placed: dict[str, File] = {}
    at = 0
    for name, use in uses.items():
        size_bytes = share_bytes if use.wanted_bytes is None else use.wanted_bytes
        if not size_bytes or at + size_bytes > user_bytes:
            raise InputError(
                f"{use.line}: its files do not fit: {len(uses):,} files, one behind another, need "
                f"{said_bytes:,} bytes{' and some more' if unsaid else ''}, and the drive has {user_bytes:,}"
            )
        placed[name] = File(at, size_bytes, use.given_bytes)
        at += aligned(size_bytes)
    return placed
