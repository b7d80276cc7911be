"""What is run to find out: a job file, or one made from a few numbers, on a drive of any spare area and scale.

`recorded` has the other kind, a trace.
"""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from ssdlab.errors import InputError
from ssdlab.quantities import format_share
from ssdlab.targets import simulated
from ssdlab.targets.specification import Specification

if TYPE_CHECKING:
    from ssdlab.drives import ResolvedDrive
    from ssdlab.drives.schema import DriveFile
    from ssdlab.jobs import JobFile
    from ssdlab.planning.advice.recorded import Trace

OVER_PROVISIONING_MAX = 2.0
"""Beyond three times the data a larger drive is the better answer."""

_DISTRIBUTIONS = ("uniform", "zipf:THETA", "pareto:H", "hot:SPACE/WRITES")
# A small erase unit is no large population: write amplification would deviate by a percent.
_UNITS_PER_ERASE_UNIT_MIN = 256
# A sample of a trace adds its own scatter: below this write amplification deviates by more than 3 %.
_UNITS_PER_ERASE_UNIT_MIN_SAMPLED = 1024
# In SLC mode a block holds a part of its pages, rounded down: of 8 pages of three bits that would be 2, a quarter less
# than its share, and write amplification 5 % off (docs/advice.md).
_SLC_SHARE_LOST_MAX = 0.1
# Runs that check are up to so many times as large, and of about so many mapping units at most.
_LARGER = 4
_UNITS_OF_CHECKS = 4_000_000


@dataclass(frozen=True)
class Workload:
    """A job file, and its name for command lines."""

    jobs: "JobFile"
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
        from ssdlab.planning.expectation import expected

        jobs = self.jobs.resolve(drive.capacity.user_bytes, seed=1, scale=drive.scale)
        return expected(jobs, drive.specification(), over_provisioning).value

    def specify(
        self, drive: "ResolvedDrive", *, seed: int, timed: bool, data_on: "ResolvedDrive | None" = None
    ) -> Specification:
        """The workload from a full drive to its steady state.

        With `data_on` the jobs are those of that drive, which has less room: the rest of `drive` stays trimmed.
        """
        made = simulated.specify(
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


def of_job_file(path: str) -> Workload:
    """Raises InputError where the file cannot be read."""
    from ssdlab import jobs

    return Workload(jobs.load(path), path)


def of_numbers(
    space_bytes: int | None, block_bytes: int, skew: str, read_percent: float, path: str = "workload.fio"
) -> Workload:
    """Random writes of one size over so much space (None: all there is), skewed as said. Raises InputError."""
    from ssdlab import jobs

    if not 0 <= read_percent < 100:
        raise InputError(f"--reads is {read_percent:g} %; allowed: 0 to below 100, since only writes wear a drive")
    lines = ["[described]", "norandommap", "randrepeat=0", f"bs={block_bytes}", "iodepth=32"]
    lines.append(f"size={'100%' if space_bytes is None else space_bytes}")
    lines += ["rw=randrw", f"rwmixread={read_percent:g}"] if read_percent else ["rw=randwrite"]
    distribution = _distribution(skew)
    lines += [f"random_distribution={distribution}"] if distribution else []
    text = "\n".join(lines) + "\n"
    return Workload(jobs.parse(text, "the workload that the options describe"), path, text)


def _distribution(skew: str) -> str | None:
    kind, _, shape = skew.partition(":")
    if skew == "uniform":
        return None
    if kind in ("zipf", "pareto") and shape:
        return f"{kind}:{shape}"
    space, slash, writes = shape.partition("/")
    if kind == "hot" and slash and space.isdigit() and writes.isdigit() and 0 < int(space) < 100 > int(writes) > 0:
        return f"zoned:{writes}/{space}:{100 - int(writes)}/{100 - int(space)}"
    raise InputError(
        f"--skew is {skew!r}; allowed: {', '.join(_DISTRIBUTIONS)} (hot:20/80: 20 % of the space, 80 % of the writes)"
    )


@dataclass(frozen=True)
class Setting:
    """The drive that a workload is run on, before its spare area and scale are chosen."""

    file: "DriveFile"
    settings: Mapping[str, str]
    called: str | None = None
    """What the user calls the drive on a command line, where that is not its name."""

    @property
    def words(self) -> tuple[str, Mapping[str, str]]:
        """The drive for a command line, and what is set."""
        return self.called or self.file.name, self.settings

    @property
    def user_bytes_least(self) -> int:
        """Of the drive with the most spare area that is looked at."""
        return int(self.at(None, None).capacity.physical_bytes / (1 + OVER_PROVISIONING_MAX))

    def at(self, over_provisioning: float | None, scale: Fraction | None) -> "ResolvedDrive":
        from ssdlab.drives import resolve

        return resolve(self.file, over_provisioning=over_provisioning, settings=self.settings, scale=scale)

    def with_settings(self, more: Mapping[str, str]) -> "Setting":
        return replace(self, settings={**self.settings, **more})

    def scale_for(self, user_units: int, one_in_most: int | None = None) -> Fraction | None:
        """The scale that leaves about so many mapping units, as far as erase units stay large; None for full size.

        With `one_in_most` it is one in a whole number of at most that, as the sample of a trace needs.
        """
        full = self.at(None, None).capacity
        pages = self.at(None, None).file.nand.pages_per_block
        if one_in_most is not None:
            most = min(
                one_in_most,
                full.user_units // user_units,
                full.units_per_erase_unit // _UNITS_PER_ERASE_UNIT_MIN_SAMPLED,
            )
            ratios = (Fraction(1, each) for each in range(most, 1, -1) if pages % each == 0)
            return next((ratio for ratio in ratios if self._works_at(ratio)), None)
        wanted = user_units / full.user_units
        least = _UNITS_PER_ERASE_UNIT_MIN / full.units_per_erase_unit
        ratios = (Fraction(each, pages) for each in range(max(1, round(pages * max(wanted, least))), pages))
        return next((ratio for ratio in ratios if self._works_at(ratio)), None)

    def _works_at(self, scale: Fraction) -> bool:
        """Whether the drive can be made so small, and keeps its SLC cache, if it has one."""
        try:
            smaller = self.at(None, scale)
        except InputError:
            return False
        return _slc_share(smaller) >= (1 - _SLC_SHARE_LOST_MAX) * _slc_share(self.at(None, None))


def _slc_share(drive: "ResolvedDrive") -> float:
    """What an erase unit holds in SLC mode of what it holds else; 0 without an SLC cache."""
    from ssdlab.drives.capacity import slc_bytes_per_erase_unit

    capacity = drive.capacity
    held_bytes = capacity.units_per_erase_unit * capacity.mapping_unit_bytes
    return slc_bytes_per_erase_unit(drive.file) / held_bytes if drive.file.slc_cache.is_on else 0.0


def scale_of(workload: "Workload | Trace", setting: Setting, user_units: int) -> Fraction | None:
    """The scale of a miniature of about so many mapping units that fits the workload; None for full size."""
    return setting.scale_for(user_units, None if isinstance(workload, Workload) else workload.one_in_most())


def larger_of(workload: "Workload | Trace", setting: Setting, scale: Fraction) -> Fraction | None:
    """The scale of runs that check those at `scale`: four times as large, or less where these are large.

    Of the same size, with other seeds, where these have as many units already.
    """
    user_units = setting.at(None, scale).capacity.user_units
    times = min(_LARGER, max(1, round(_UNITS_OF_CHECKS / user_units)))
    if isinstance(workload, Workload):
        return None if scale * times >= 1 else scale * times
    pages = setting.at(None, None).file.nand.pages_per_block
    least = -(-scale.denominator // times)
    one_in = next(each for each in range(least, scale.denominator + 1) if pages % each == 0)
    return Fraction(1, one_in) if one_in > 1 else None
