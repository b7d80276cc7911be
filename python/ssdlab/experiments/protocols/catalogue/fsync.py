"""Writes with a flush behind each: what a drive gives the journal of a database, and whether it is fit for one."""

from collections.abc import Sequence

from ssdlab.experiments.protocols.contract import Point, Protocol, Setting, Step, job
from ssdlab.experiments.protocols.figures import Figures
from ssdlab.presentation.report.wording import duration

SIZES = ("4k", "2300")
JOBS = (1, 2, 4, 8, 16)
QUICK_JOBS = (1, 16)
WRITES, QUICK_WRITES = 10_000, 2_000
"""Of all jobs of a step together: 22 MB of 2,300 bytes, as etcd's own test writes."""
P99_US_MAX = 10_000.0
"""etcd's documentation: the 99th percentile of WAL fsync durations should be below 10 ms (etcd.io, FAQ, "What does the
etcd warning ... mean"; IBM Cloud, "Using Fio to Tell Whether Your Storage is Fast Enough for Etcd", 2019)."""
_ETCDS = "2300 bytes, 1 job"


def points(setting: Setting) -> Sequence[Point]:
    counts, writes = (QUICK_JOBS, QUICK_WRITES) if setting.quick else (JOBS, WRITES)
    steps = [Step(name(size, count), text(size, count, writes)) for size in SIZES for count in counts]
    return [Point("", steps)]


def name(size: str, jobs: int) -> str:
    return f"{'2300 bytes' if size == '2300' else '4 KiB'}, {jobs} job{'s' if jobs > 1 else ''}"


def text(size: str, jobs: int, writes: int) -> str:
    """Each job writes its own part of the drive in sequence; 2,300 bytes, no whole sectors, take the page cache."""
    each = writes // jobs
    part = 100 // jobs
    cached = ["direct=0"] if size == "2300" else ["direct=1"]
    return job(
        "write", size, 1, "ioengine=sync", *cached, "fdatasync=1", f"numjobs={jobs}", "group_reporting",
        f"number_ios={each}", f"size={part}%", f"offset_increment={part}%",
    )  # fmt: skip


def conclude(figures: Sequence[Figures]) -> str | None:
    """Whether the drive is fit for a journal, by etcd's limit."""
    found = next((each.flush for each in figures if each.step == _ETCDS), None)
    if found is None or found.p99_us is None:
        return None
    is_fit = found.p99_us < P99_US_MAX
    return (
        f"{'Fit' if is_fit else 'Not fit'} for a journal: the 99th percentile of fdatasync is "
        f"{duration(found.p99_us * 1000)}, {'below' if is_fit else 'not below'} the 10 ms that etcd asks for"
    )


PROTOCOL = Protocol(
    name="fsync",
    title="What writes with a flush behind each take, and whether the drive is fit for a journal",
    source="etcd's test with fio (2,300 bytes) and Ceph's (4 KiB), from 1 to 16 jobs",
    quick_gives_up="2, 4 and 8 jobs, and four fifths of the writes",
    points=points,
    columns=("write_iops", "flush_mean_us", "flush_p99_us", "flush_p999_us"),
    conclude=conclude,
)
