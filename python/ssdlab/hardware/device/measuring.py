"""`ssdlab.measure`: runs a fio job file on a real drive, a partition or a file."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ssdlab.foundation.quantities import parse_bytes_with_unit
from ssdlab.hardware.device import health, plan, programs, run
from ssdlab.hardware.device.joblogs import JobLogs
from ssdlab.hardware.device.jobtext import Stage
from ssdlab.hardware.device.measured import Measured
from ssdlab.hardware.device.opened import opened
from ssdlab.hardware.device.permission import Permission
from ssdlab.hardware.device.place import Place
from ssdlab.hardware.device.plan import Planned
from ssdlab.hardware.device.run import Progress
from ssdlab.hardware.safety.place import check_platform
from ssdlab.simulator import workloads
from ssdlab.simulator.workloads.jobs.jobfile import JobFile


def measure(
    job: str | Path,
    on: str | Path,
    *,
    size: int | str | None = None,
    destroy_data_on: str | None = None,
    discard_signatures: bool = False,
    max_write: int | str | None = None,
    keep: bool = False,
    smart: str | Path | None = None,
    seed: int = 1,
    on_progress: Progress | None = None,
) -> Measured:
    """Runs a fio job file through the installed fio, as `ssdlab measure`, with SMART data before and after each stage.

    `on` is a folder (a file is created in it and removed afterwards unless `keep`), the name of a file that does not
    exist yet, or a device. A device is written to only if its serial number or WWN is in `destroy_data_on`, and with
    `discard_signatures` if it has a file system or a partition table. `size` (bytes, or "4GiB") is the size of the
    file, if the job does not set it. `max_write` limits the bytes written. `smart` is a file to read SMART data from.

    Raises InputError before anything is written if the job cannot run there, the place must not be written to, or fio
    is not installed. A failed stage or Ctrl-C ends the measurement, with `failure` or `interrupted` set. WAF is None if
    the drive does not report the bytes that it programs.

        measured = ssdlab.measure("jobs/mixed.fio", ".", size="1GiB")
        measured.waf, measured.frame().select("job", "iops")
    """
    permission = Permission(destroy_data_on, discard_signatures, _bytes(max_write), keep)
    with prepared(
        job, Path(on), permission, size_bytes=_bytes(size), smart=None if smart is None else Path(smart), seed=seed
    ) as measurement:
        return measurement.run(on_progress)


@dataclass(frozen=True)
class Measurement:
    """A job file and the claimed place for it, before anything is written."""

    job_file: JobFile
    place: Place
    stages: Sequence[Stage]
    planned: Sequence[Planned]
    """The command lines of each stage, what it writes and how long it takes."""
    smart: Path | None
    seed: int

    def run(self, on_progress: Progress | None = None, logs: JobLogs | None = None) -> Measured:
        """Runs fio on all stages. Raises InputError if fio is not installed."""
        programs.check("fio")
        source = health.of(self.place.claim.place, self.smart)
        return run.measure(self.job_file, self.place, source, seed=self.seed, on_progress=on_progress, logs=logs)


@contextmanager
def prepared(
    job: str | Path,
    on: Path,
    permission: Permission,
    *,
    size_bytes: int | None = None,
    smart: Path | None = None,
    seed: int = 1,
) -> Iterator[Measurement]:
    """Yields the measurement that `measure` runs. Raises InputError if the job cannot run there, or the place must not
    be written to."""
    check_platform()
    job_file = workloads.load_for_device(job)
    with opened(on, job_file, permission, size_bytes=size_bytes, seed=seed) as place:
        stages = run.prepared(job_file, place, seed=seed)
        planned = plan.planned(job_file, stages, place, seed=seed)
        plan.check_budget(planned, permission.max_write_bytes)
        yield Measurement(job_file, place, stages, planned, smart, seed)


def _bytes(size: int | str | None) -> int | None:
    return parse_bytes_with_unit(size) if isinstance(size, str) else size
