"""What a comparison is asked for: which drives, how they are run, where a run begins and ends. Light to load."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import get_args

from ssdlab.comparison.axes import Planned, plan
from ssdlab.errors import InputError, check_word
from ssdlab.quantities import parse_scale, spare_area_of
from ssdlab.runs import ShowProgress, silent
from ssdlab.workloads.specifying import Beginning, Until

Names = str | Path | Sequence[str | Path]
"""One drive or several: a name of the catalogue, or a .toml file."""
SpareAreas = float | str | Sequence[float | str] | None
"""Shares (0.07) or texts ("7%", "7%,28%"); None: each drive's own."""
Settings = Mapping[str, str | Sequence[str]] | None
"""Keys of the drive file with a value, or with several that are compared."""

# A drive that is written to at 15 GB/s has written 1 TB more than a thousand times by the end of the day.
_DWPD_MAX = 10_000


@dataclass(frozen=True)
class Variants:
    """The drives of a comparison or a replay: each with every spare area and every combination of settings."""

    drives: Names
    op: SpareAreas = None
    settings: Settings = None
    scale: Fraction | str | None = None

    def planned(self) -> list[Planned]:
        """Labelled by what differs. Raises InputError."""
        op, scale = self.op, self.scale
        return plan(
            names_of(self.drives),
            op if op is None or isinstance(op, str) else ",".join(_share_texts(op)),
            [
                f"{key}={value if isinstance(value, str) else ','.join(value)}"
                for key, value in (self.settings or {}).items()
            ],
            scale=parse_scale(scale) if isinstance(scale, str) else scale,
        )

    @property
    def stems(self) -> str:
        """What the drives are called in a subtitle."""
        return ", ".join(Path(drive).stem for drive in names_of(self.drives))


@dataclass(frozen=True)
class Running:
    """How the variants are run."""

    seed: int = 1
    timed: bool = True
    dwpd: float = 1.0
    """Drive writes per day, for the years of life."""
    workers: int | None = None
    show_progress: ShowProgress = silent

    def __post_init__(self) -> None:
        if not 0 < self.dwpd <= _DWPD_MAX:
            raise InputError(f"--dwpd is {self.dwpd:g}; allowed: above 0, up to {_DWPD_MAX}")


@dataclass(frozen=True)
class Stages:
    """How a comparison begins and when it ends."""

    precondition: Beginning = "fill"
    until: Until = "steady"

    def __post_init__(self) -> None:
        check_word("--until", self.until, get_args(Until))
        check_word("--precondition", self.precondition, get_args(Beginning))


def names_of(names: Names) -> list[str]:
    """One or several, as the command line has them."""
    return [str(names)] if isinstance(names, str | Path) else [str(name) for name in names]


def _share_texts(op: float | Sequence[float | str]) -> list[str]:
    several = [op] if isinstance(op, int | float) else op
    return [each if isinstance(each, str) else f"{spare_area_of(each)!r}" for each in several]
