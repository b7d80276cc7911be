"""Opens a path as a place that a job is allowed to write to, and restores it afterwards."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from ssdlab.errors import InputError
from ssdlab.hardware.device import jobtext, plan
from ssdlab.hardware.device.permission import Permission
from ssdlab.hardware.device.place import Place, claimed, is_device
from ssdlab.simulator.workloads.jobs.jobfile import JobFile


@contextlib.contextmanager
def opened(
    path: Path, job_file: JobFile, permission: Permission, *, size_bytes: int | None = None, seed: int = 1
) -> Iterator[Place]:
    """Yields the claimed place for a job file. Raises InputError if writing is not allowed or the size is unknown."""
    if is_device(path):
        if size_bytes is not None:
            raise InputError(f"--size: {path} is a device with a fixed size; the job's `size` sets the range")
        wanted = None
    else:
        wanted = size_bytes or _size_of_job(job_file, seed)
    with claimed(path, wanted, permission) as place:
        yield place


def _size_of_job(job_file: JobFile, seed: int) -> int:
    wanted = plan.size_wanted(job_file, seed=seed)
    if wanted is None:
        names = len(jobtext.names_of(job_file))
        raise InputError(
            f"{job_file.source}: uses all available space; give --size, such as 4GiB, for "
            f"{'the file' if names == 1 else f'its {names} files together'}"
        )
    return wanted
