"""Runs the steps on one drive and returns the times of its readings, for the study and for fits of drive files."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from ssdlab.experiments.studies.internal_fragmentation.drives import FOLDER, STEPS
from ssdlab.simulator.workloads import jobs
from ssdlab.simulator.workloads.specifying import specify

if TYPE_CHECKING:
    from ssdlab.simulator.drives import ResolvedDrive
    from ssdlab.simulator.engine import plain
    from ssdlab.simulator.results import Result
    from ssdlab.simulator.specification import Specification

JOB = "rewrites.fio"
SCALE = "1/16"
FILE_BYTES = 4 << 30
READINGS = 3
AN_HOUR_LATER, REMEDIED = "read-after-an-hour", "read-after-remedy"


def specification(drive: "ResolvedDrive", seed: int = 1) -> "Specification":
    """The specification of all steps of the article on this drive."""
    return specify(jobs.load(FOLDER / JOB), drive, seed=seed)


@dataclass(frozen=True)
class Readings:
    """Times of reading the 4 GiB file in seconds, and the flash accesses per MiB read."""

    cells: tuple[float, ...]
    """The mean of three readings, by step."""
    an_hour_later: float
    remedied: float
    touched: tuple[Mapping[str, float], ...]
    """Segments, pages, dies, busiest_die_pages and map_pages per MiB in the last of the three readings, by step."""


def _per_mib(counts: "plain.ReadCounts | None", mib: float) -> Mapping[str, float]:
    if counts is None:
        return {}
    return {
        "segments": counts["segments"] / mib,
        "pages": counts["pages"] / mib,
        "dies": counts["dies"] / mib,
        "busiest_die_pages": counts["busiest_die_pages"] / mib,
        "map_pages": counts["map_pages"] / mib,
    }


def readings(result: "Result") -> Readings:
    """The readings of a run, converted to the full file."""
    scale = Fraction(result.specification.scale)
    taken = {job.name: float(job.seconds or 0.0) / float(scale) for job in result.jobs}
    stages = {job.name: job.stage for job in result.jobs}
    counts = {stage["stage"]: stage["read_ahead"] for stage in result.stages}
    mib = FILE_BYTES / 2**20 * float(scale)
    names = [[f"read-{step or 'fresh'}-{number}" for number in range(1, READINGS + 1)] for step in STEPS]
    return Readings(
        cells=tuple(sum(taken[name] for name in of_step) / READINGS for of_step in names),
        an_hour_later=taken[AN_HOUR_LATER],
        remedied=taken[REMEDIED],
        touched=tuple(_per_mib(counts[stages[last]], mib) for *_, last in names),
    )
