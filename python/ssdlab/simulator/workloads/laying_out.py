"""What jobs read must have been written: fio lays out a file before it reads it. Not for filling a whole drive.

A job reads a file if it has a `size` or `filesize` in bytes and its `filename` is no device; without a size fio cannot
lay a file out. On a device fio reads whatever is there, on a fresh drive nothing.
"""

import re
from collections.abc import Iterator, Sequence

from ssdlab.simulator.engine import plain
from ssdlab.simulator.workloads.jobs.jobfile import JobFile, Section
from ssdlab.simulator.workloads.jobs.table import FILENAME, FILESIZE, SIZE
from ssdlab.simulator.workloads.jobs.zones import ZONEMODE

# Linux and Windows devices, and the addresses of SPDK's and Ceph's engines.
_DEVICE = re.compile(r"/dev/|\\\\\.\\|trtype=|[0-9a-f]{4}[.:][0-9a-f]{2}[.:]")

Range = tuple[int, int]
"""The first byte on the drive, and the byte behind the last."""


_COVERED_SHARE = 0.99
"""Of the part that a job reads. Behind the last whole block of a job that writes less than another one is left, and
several jobs can write a part together."""


def unwritten_files(job_file: JobFile, jobs: Sequence[plain.Job]) -> tuple[list[Range], list[str]]:
    """The parts of a fresh drive that fio would write first, in order and apart, and the names of the jobs on them."""
    found = [(name, part) for name, part, is_file in _unwritten(job_file, jobs) if is_file]
    return _joined([part for _, part in found]), list(dict.fromkeys(name for name, _ in found))


def readers_of_nothing(job_file: JobFile, jobs: Sequence[plain.Job]) -> list[str]:
    """The names of the jobs that read a fresh device, on which nothing was written before."""
    return list(dict.fromkeys(name for name, _, is_file in _unwritten(job_file, jobs) if not is_file))


def _unwritten(job_file: JobFile, jobs: Sequence[plain.Job]) -> Iterator[tuple[str, Range, bool]]:
    """Each job that reads what no earlier stage has written: its name, the part, and whether it is a file."""
    sections = iter(job_file.sections)
    section: Section | None = None
    written: list[tuple[int, Range]] = []
    for job in jobs:
        # Clones count from 0, so that each 0 begins a section, even if names repeat.
        section = next(sections) if job["clone"] == 0 else section
        assert section is not None
        part = (job["offset_bytes"], job["offset_bytes"] + job["size_bytes"])
        if job["direction"] in ("read", "read-write") and section.get(ZONEMODE) != "zbd":
            before = _joined([its_part for stage, its_part in written if stage < job["stage"]])
            covered_bytes = sum(max(0, min(end, part[1]) - max(first, part[0])) for first, end in before)
            if covered_bytes < _COVERED_SHARE * job["size_bytes"]:
                yield section.name, part, _is_file(section)
        if job["direction"] in ("write", "read-write") and job["io_bytes"] >= job["size_bytes"]:
            written.append((job["stage"], part))


def _is_file(section: Section) -> bool:
    has_size = bool(section.get(SIZE).size_bytes) or section.get(FILESIZE) is not None
    return has_size and not any(_DEVICE.match(name) for name in section.get(FILENAME))


def _joined(parts: list[Range]) -> list[Range]:
    joined: list[Range] = []
    for first, end in sorted(parts):
        if joined and first <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((first, end))
    return joined
