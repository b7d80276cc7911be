"""Turns points into specifications, each with the key under which its result is stored."""

import hashlib
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from ssdlab.errors import InputError
from ssdlab.experiments.sweeps.file import SweepFile
from ssdlab.experiments.sweeps.points import Point, points
from ssdlab.foundation.quantities import parse_scale
from ssdlab.simulator.drives import load, resolve
from ssdlab.simulator.engine import native
from ssdlab.simulator.specification import Specification
from ssdlab.simulator.workloads.jobs import load as load_job
from ssdlab.simulator.workloads.specifying import specify

if TYPE_CHECKING:
    from ssdlab.simulator.drives.schema import DriveFile
    from ssdlab.simulator.workloads.jobs import JobFile

_OWN_AXES = ("drive", "job", "op", "seed")


@dataclass(frozen=True)
class Planned:
    """One run of a sweep."""

    point: Point
    specification: Specification
    endurance_cycles: int

    @property
    def key(self) -> str:
        """The key of the result: equal for equal specifications with the same version of ssdlab."""
        return run_key(self.specification.hash(), native().version())


def run_key(specification_sha256: str, version: str) -> str:
    """A key of 32 hexadecimal digits."""
    return hashlib.sha256(f"{specification_sha256} {version}".encode()).hexdigest()[:32]


def plan(sweep: SweepFile, path: Path) -> list[Planned]:
    """All runs of a sweep file at `path`; relative paths begin at its folder.

    Raises InputError if a drive or job cannot be read, or if a point makes an invalid drive; the message names the
    point, and nothing is run.
    """
    folder = path.parent

    @cache
    def drive_file(name: str) -> "DriveFile":
        return load(str(folder / name) if name.endswith(".toml") else name)

    @cache
    def job_file(name: str) -> "JobFile":
        return load_job(folder / name)

    scale: Fraction | None = parse_scale(sweep.run.scale) if sweep.run.scale else None
    planned = []
    for point in points(sweep, path):
        settings = {key: _toml(value) for key, value in point.items() if key not in _OWN_AXES}
        seed, share = point.get("seed", 1), point.get("op")
        if not isinstance(seed, int) or not 0 <= seed < 2**64:
            raise InputError(f"{path}: axes.seed: {seed!r}; allowed: whole numbers from 0 to 2^64 - 1")
        try:
            drive = resolve(
                drive_file(str(point["drive"])),
                over_provisioning=None if share is None else float(share),
                settings=settings,
                scale=scale,
            )
            specification = specify(
                job_file(str(point["job"])),
                drive,
                seed=seed,
                until=sweep.run.until,
                precondition=sweep.run.precondition,
                timed=sweep.run.timed,
            )
        except InputError as error:
            raise InputError(f"{path}: at {_words(point)}: {error}") from None
        planned.append(Planned(point, specification, drive.endurance_cycles))
    return planned


def _toml(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _words(point: Point) -> str:
    return ", ".join(f"{name} = {value}" for name, value in point.items())
