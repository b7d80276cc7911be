"""The arguments of a comparison: drives, how they are run, start and end of a run. Has no heavy imports."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import get_args

from ssdlab.errors import InputError, check_word
from ssdlab.experiments.comparison.axes import Planned, plan
from ssdlab.foundation.quantities import AUTO, left_empty_of, parse_scale, spare_area_of
from ssdlab.simulator.runs import ShowProgress, silent
from ssdlab.simulator.workloads.specifying import PRECISION, Beginning, Until

Names = str | Path | Sequence[str | Path]
"""One drive or several, by name in the catalogue or by .toml file."""
SpareAreas = float | str | Sequence[float | str] | None
"""Shares (0.07) or texts ("7%", "7%,28%"); None for each drive's own."""
Settings = Mapping[str, str | Sequence[str]] | None
"""Keys of the drive file with one value, or with several to compare."""

# Above every possible rate: 15 GB/s write 1 TB about 1,300 times per day.
_DWPD_MAX = 10_000


@dataclass(frozen=True)
class Variants:
    """The drives of a comparison or a replay, each with every spare area and every combination of settings."""

    drives: Names
    op: SpareAreas = None
    settings: Settings = None
    scale: Fraction | str | None = AUTO
    """None: whole drives. AUTO: to be chosen for the workload; the variants are planned with whole drives, and a trace,
    which does not shrink with its drive, is replayed on these."""
    left_empty: SpareAreas = None
    """Shares of the drive that the host leaves empty, written as in `SpareAreas`."""

    @property
    def is_scale_chosen(self) -> bool:
        return self.scale == AUTO

    def planned(self) -> list[Planned]:
        """The variants, labelled by their differences. Raises InputError if the arguments are not valid."""
        scale = None if self.is_scale_chosen else self.scale
        return plan(
            names_of(self.drives),
            _list_text(self.op, spare_area_of),
            [
                f"{key}={value if isinstance(value, str) else ','.join(value)}"
                for key, value in (self.settings or {}).items()
            ],
            left_empty=_list_text(self.left_empty, left_empty_of),
            scale=parse_scale(scale) if isinstance(scale, str) else scale,
        )

    @property
    def stems(self) -> str:
        """The names of the drives for a subtitle."""
        return ", ".join(Path(drive).stem for drive in names_of(self.drives))


@dataclass(frozen=True)
class Running:
    """The settings of the variants' runs."""

    seed: int = 1
    timed: bool = True
    dwpd: float = 1.0
    """Drive writes per day, for the years of life."""
    workers: int | None = None
    show_progress: ShowProgress = silent
    co2e_per_kwh: float | None = None
    """CO2e of a kWh in g, for what the energy of a drive with [power] causes."""

    def __post_init__(self) -> None:
        if self.co2e_per_kwh is not None and not 0 < self.co2e_per_kwh < float("inf"):
            raise InputError(f"--co2e-per-kwh is {self.co2e_per_kwh:g}; allowed: a number above 0")
        if not 0 < self.dwpd <= _DWPD_MAX:
            raise InputError(f"--dwpd is {self.dwpd:g}; allowed: above 0, up to {_DWPD_MAX}")


@dataclass(frozen=True)
class Stages:
    """The start and the end of a comparison's runs."""

    precondition: Beginning = "fill"
    until: Until = "steady"
    precision: float = PRECISION
    """As in `specify`."""

    def __post_init__(self) -> None:
        if not 0 < self.precision < 1:
            raise InputError(f"--precision is {100 * self.precision:g}%; allowed: above 0%, below 100%")
        check_word("--until", self.until, get_args(Until))
        check_word("--precondition", self.precondition, get_args(Beginning))


def names_of(names: Names) -> list[str]:
    """One or several names as a list of texts."""
    return [str(names)] if isinstance(names, str | Path) else [str(name) for name in names]


def _list_text(shares: SpareAreas, checked: Callable[[float], float]) -> str | None:
    if shares is None or isinstance(shares, str):
        return shares
    several = [shares] if isinstance(shares, int | float) else shares
    return ",".join(each if isinstance(each, str) else f"{checked(each)!r}" for each in several)


def check_energy(planned: Sequence[Planned], running: Running) -> None:
    """Raises InputError if CO2e is asked of drives whose energy is unknown, or of runs without a clock."""
    if running.co2e_per_kwh is None:
        return
    if not running.timed:
        raise InputError("--co2e-per-kwh needs the time of a run; leave out --untimed")
    if all(variant.drive.power is None for variant in planned):
        whose = ", ".join(dict.fromkeys(variant.drive.name for variant in planned))
        raise InputError(f"--co2e-per-kwh requires a drive file with [power]; the energy of {whose} is unknown")
