"""What a run may be asked to do: fio's job files, scripts of a file system's life, databases, and named workloads.

`jobs`, `filesystem`, `stores` and `traces` are the languages in which workloads are given; `controls` and `described`
write job files from the controls of the live page and from a few numbers; `specifying` puts a workload on a drive.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Protocol

from ssdlab.engine import plain
from ssdlab.errors import InputError
from ssdlab.specification import Reporting
from ssdlab.workloads import filesystem, jobs, stores
from ssdlab.workloads.filesystem.sysbench import prepared


class Workload(Protocol):
    """Jobs for a drive of any size, and what the result repeats of them."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What a user should know, a sentence each."""
        ...

    @property
    def global_options(self) -> Mapping[str, str]:
        """What fio would report of all jobs."""
        ...

    def resolve(self, user_bytes: int, *, seed: int, scale: Fraction | int = 1) -> list[plain.Job]:
        """The engine's jobs, ordered by stage. InputError when they cannot be done on such a drive."""
        ...

    def reporting(self, engine_jobs: Sequence[plain.Job]) -> list[Reporting]:
        """How each of the jobs that `resolve` gave is reported."""
        ...


def load(job: str | Path) -> Workload:
    """A fio job file; a script, if its name ends with `.files`; `sysbench fileio ... run`, with its files prepared;
    a database (`lsm-tree ...`, `b-plus-tree ...`), or the file of one, if its name ends with `.store`.

    Raises InputError, which names the file, the line and what is allowed.
    """
    text = str(job)
    if stores.is_store(text):
        return stores.load(text)
    if text.startswith("sysbench "):
        return filesystem.parse(prepared(text), "the workload")
    if Path(text).suffix == ".files":
        return filesystem.load(text)
    return jobs.load(text)


def load_for_device(job: str | Path) -> jobs.JobFile:
    """A fio job file, which fio can run on a real drive.

    Raises InputError as `load`, and for a workload whose files only a simulated drive has.
    """
    if stores.is_store(str(job)):
        raise InputError(f"{job}: runs on simulated drives only; allowed on a real one is a fio job file")
    return jobs.load(job)


def title(job: str | Path) -> str:
    """What the workload is called: a file's name without its suffix; fit for a file name."""
    text = str(job)
    if stores.is_store(text) and Path(text).suffix != stores.SUFFIX:
        return text.split(maxsplit=1)[0]
    if not text.startswith("sysbench "):
        return Path(text).stem
    mode = next((word.partition("=")[2] for word in text.split() if word.startswith("--file-test-mode=")), "fileio")
    return f"sysbench-{mode}"
