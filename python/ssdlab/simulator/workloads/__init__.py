"""The workloads of a run: fio job files, file-system scripts, databases, and named workloads.

`jobs`, `filesystem`, `stores` and `traces` are the languages in which workloads are written. `controls` and `described`
write job files from the controls of the live page and from a few numbers. `specifying` combines a workload with a
drive.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Protocol

from ssdlab.errors import InputError
from ssdlab.simulator.engine import plain
from ssdlab.simulator.specification import Reporting
from ssdlab.simulator.workloads import filesystem, jobs, stores
from ssdlab.simulator.workloads.filesystem.sysbench import prepared
from ssdlab.simulator.workloads.jobs.command_line import is_command_line


class Workload(Protocol):
    """Jobs for a drive of any size, and the parts of them that the result repeats."""

    def notes(self, *, timed: bool) -> tuple[str, ...]:
        """Notes for the user on a run with or without a clock, one sentence each."""
        ...

    @property
    def global_options(self) -> Mapping[str, str]:
        """The options that fio would report as global."""
        ...

    def resolve(self, user_bytes: int, *, seed: int, scale: Fraction | int = 1) -> list[plain.Job]:
        """The engine's jobs, ordered by stage. Raises InputError if they cannot run on a drive of this size."""
        ...

    def reporting(self, engine_jobs: Sequence[plain.Job]) -> list[Reporting]:
        """How each of the jobs returned by `resolve` is reported."""
        ...


def load(job: str | Path) -> Workload:
    """Loads a workload.

    `job` is a fio job file; a call of fio (`fio --name=a ...`), or a file with such calls; a script, if its name ends
    with `.files`; `sysbench fileio ... run`, which includes the preparation of its files; a database or a cache
    (`lsm-tree ...`, `kv-cache ...`), or a file with one, if its name ends with `.store`.

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
    """Loads a fio job file for a real drive.

    Raises InputError as `load` does, and for a database, which runs on simulated drives only.
    """
    if stores.is_store(str(job)):
        raise InputError(f"{job}: runs on simulated drives only; allowed on a real one is a fio job file")
    return jobs.load(job)


def title(job: str | Path) -> str:
    """The title of the workload, usable as a file name: the name of its file without the suffix."""
    text = str(job)
    if stores.is_store(text) and Path(text).suffix != stores.SUFFIX:
        return text.split(maxsplit=1)[0]
    if is_command_line(text):
        return jobs.load(text).sections[0].name
    if not text.startswith("sysbench "):
        return Path(text).stem
    mode = next((word.partition("=")[2] for word in text.split() if word.startswith("--file-test-mode=")), "fileio")
    return f"sysbench-{mode}"
