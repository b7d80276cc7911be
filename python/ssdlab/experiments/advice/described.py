"""A workload from a job file, or from one made of a few numbers. `recorded` has the other kind, a trace."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from ssdlab.errors import InputError
from ssdlab.foundation.quantities import option_share
from ssdlab.simulator.specification import Specification
from ssdlab.simulator.workloads import Workload, described, jobs, specifying, stores
from ssdlab.simulator.workloads.rates import drawing, reading
from ssdlab.theory.expectation import expected

if TYPE_CHECKING:
    from ssdlab.simulator.drives import ResolvedDrive


@dataclass(frozen=True)
class Described:
    """A job file or a database, with its name for command lines."""

    jobs: Workload
    path: str
    """The path of the job file, existing or to be written, for commands that repeat a run."""
    text: str | None = None
    """The text of a job file that is still to be written there."""
    drawn_from: Sequence[str] = ()
    """For the mean load of a log of rates: what the log says, and what is guessed."""
    writes_bytes_per_day: float | None = None
    """The host's writes at the rate of that log."""

    def notes(self, *, timed: bool) -> Sequence[str]:
        """Notes on options of the file that have no effect in runs with or without a clock."""
        return self.jobs.notes(timed=timed)

    def expected(self, drive: "ResolvedDrive", over_provisioning: float) -> float | None:
        """Write amplification by closed form with this over-provisioning of the drive; None if none applies.

        Raises InputError if the jobs do not fit on the drive.
        """
        jobs = self.jobs.resolve(drive.capacity.user_bytes, seed=1, scale=drive.scale)
        return expected(jobs, drive.specification(), over_provisioning).value

    def specify(
        self, drive: "ResolvedDrive", *, seed: int, timed: bool, data_on: "ResolvedDrive | None" = None
    ) -> Specification:
        """The workload from a full drive to its steady state.

        With `data_on`, the jobs are those for that drive, which has less space: the rest of `drive` stays trimmed.
        Raises InputError for a workload that only reads.
        """
        jobs = self.jobs.resolve(drive.capacity.user_bytes, seed=seed, scale=drive.scale)
        if not any(specifying.writes(job) for job in jobs):
            raise InputError(
                f"{self.path}: writes nothing, so that spare area has no effect; `ssdlab lifetime --drive {drive.name} "
                "--reads-per-day SIZE` says how long a drive that is only read lasts"
            )
        made = specifying.specify(
            self.jobs, data_on or drive, seed=seed, until="steady", precondition="fill", timed=timed
        )
        if data_on is None:
            return made
        return replace(made, engine={**made.engine, "drive": drive.specification()}, scale=str(drive.scale))

    def command(
        self,
        drive: str,
        settings: Mapping[str, str],
        share: float | None,
        scale: Fraction | None,
        seed: int,
        timed: bool,
        on: "ResolvedDrive",
    ) -> str:
        """The command that repeats the run; `on` is the drive with these settings."""
        words = ["ssdlab", "compare", self.path, "--drive", drive]
        words += ["--op", option_share(share)] if share is not None else []
        words += [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
        # The scale of the whole drive too: without it, one is chosen.
        words += ["--scale", str(scale or 1)]
        return shlex.join([*words, "--seed", str(seed), *([] if timed else ["--untimed"])])

    def miniature_error(self, waf: float) -> float:
        """The share by which a miniature's figures can be too good: 0, because only sizes of the jobs are scaled."""
        return 0.0

    def remarks(self, user_bytes: int) -> list[str]:
        """Remarks on the validity of the workload: none for a job file, the guesses for a log of rates."""
        return [f"{sentence[0].upper()}{sentence[1:]}." for sentence in self.drawn_from]


def of_job_file(path: str) -> Described:
    """The workload of a job file. Raises InputError if the file cannot be read."""
    return Described(jobs.load(path), path)


def of_store(text: str) -> Described:
    """The workload of a database, as a text or a file. Raises InputError."""
    return Described(stores.load(text), text)


def of_log(file: str, device: str | None) -> Described:
    """The mean load of a log of rates. Its job file is to be written beside the report. Raises InputError."""
    log = reading.read(file, file)
    chosen = log.device(device, file)
    text = drawing.job_text(log, chosen)
    return Described(
        jobs.parse(text, f"the mean load of {file}"),
        "workload.fio",
        text,
        drawing.sentences_of_job(log, chosen),
        drawing.writes_per_day(log, chosen),
    )


def of_numbers(
    space_bytes: int | None, block_bytes: int, skew: str, read_percent: float, path: str = "workload.fio"
) -> Described:
    """Random writes of one size over `space_bytes` (None: the whole drive) with this skew and share of reads.

    Raises InputError.
    """
    text = described.job_text(space_bytes, block_bytes, skew, read_percent)
    return Described(jobs.parse(text, "the workload that the options describe"), path, text)
