"""A workload that is described: a job file, or one made from a few numbers. `recorded` has the other kind, a trace."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from ssdlab.quantities import format_share
from ssdlab.specification import Specification
from ssdlab.workloads import Workload, described, jobs, specifying, stores

if TYPE_CHECKING:
    from ssdlab.drives import ResolvedDrive


@dataclass(frozen=True)
class Described:
    """A job file or a database, and its name for command lines."""

    jobs: Workload
    path: str
    """Where the job file lies, or will lie, for who repeats a run."""
    text: str | None = None
    """Of a job file that is yet to be written there."""

    @property
    def notes(self) -> Sequence[str]:
        """What of the file has no meaning here."""
        return self.jobs.notes

    def expected(self, drive: "ResolvedDrive", over_provisioning: float) -> float | None:
        """Write amplification by closed form at such a spare area of the drive, if there is one.

        Raises InputError where the jobs do not fit it.
        """
        from ssdlab.theory.expectation import expected

        jobs = self.jobs.resolve(drive.capacity.user_bytes, seed=1, scale=drive.scale)
        return expected(jobs, drive.specification(), over_provisioning).value

    def specify(
        self, drive: "ResolvedDrive", *, seed: int, timed: bool, data_on: "ResolvedDrive | None" = None
    ) -> Specification:
        """The workload from a full drive to its steady state.

        With `data_on` the jobs are those of that drive, which has less room: the rest of `drive` stays trimmed.
        """
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
        """What runs it so again; `on` is the drive with all of that."""
        words = ["ssdlab", "compare", self.path, "--drive", drive]
        words += ["--op", format_share(share).replace(" ", "")] if share is not None else []
        words += [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
        words += ["--scale", str(scale)] if scale else []
        return shlex.join([*words, "--seed", str(seed), *([] if timed else ["--untimed"])])

    def miniature_error(self, waf: float) -> float:
        """By which share a miniature's figures may be too good: its jobs shrink with it, and nothing is left out."""
        return 0.0

    def said(self, user_bytes: int) -> list[str]:
        """What can and what cannot be said from it: a description has no bounds."""
        return []


def of_job_file(path: str) -> Described:
    """Raises InputError where the file cannot be read."""
    return Described(jobs.load(path), path)


def of_store(text: str) -> Described:
    """A database, as a text or a file. Raises InputError."""
    return Described(stores.load(text), text)


def of_numbers(
    space_bytes: int | None, block_bytes: int, skew: str, read_percent: float, path: str = "workload.fio"
) -> Described:
    """Random writes of one size over so much space (None: all there is), skewed as said. Raises InputError."""
    text = described.job_text(space_bytes, block_bytes, skew, read_percent)
    return Described(jobs.parse(text, "the workload that the options describe"), path, text)
