"""A fleet from its drives' reports: flash writes per day, currently and with a part of each drive left empty."""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from ssdlab.errors import InputError
from ssdlab.field.health import what_if
from ssdlab.field.health.concerns import bounded_years
from ssdlab.field.health.drive import Row
from ssdlab.field.health.table import name_of
from ssdlab.field.health.what_if import WhatIf


@dataclass(frozen=True)
class Reported:
    """A drive with known write amplification and pace, and the effect of each share left empty."""

    name: str
    source: str
    waf: float
    host_bytes_per_day: float
    years_left: float | None
    """The least that they can be if they have no upper bound."""
    what_ifs: tuple[WhatIf, ...]
    is_bounded: bool = True
    """Whether the years left have an upper bound; those of a drive that has used less than 2 % have none."""

    @property
    def nand_bytes_per_day(self) -> float:
        return self.waf * self.host_bytes_per_day

    def at(self, left_empty: float) -> WhatIf | None:
        return next((each for each in self.what_ifs if each.left_empty == left_empty), None)

    def years(self, left_empty: float, *, lucky: bool) -> float | None:
        """Years left at the drive's pace, at the upper (`lucky`) or lower end of the range; None if they are not known
        or have no upper end."""
        if lucky and not self.is_bounded:
            return None
        found = self.at(left_empty)
        if self.years_left is None or found is None:
            return self.years_left
        more = found.years_more_high if lucky else found.years_more_low
        return self.years_left + (more or 0.0)


@dataclass(frozen=True)
class ReportedWhole:
    """All drives with a share left empty. `low` is the lower bound of the figure."""

    left_empty: float
    waf_low: float
    waf_high: float
    nand_low: float
    nand_high: float
    short_lived_low: int
    short_lived_high: int


@dataclass(frozen=True)
class ReportedFleet:
    """The drives, and the examined shares left empty."""

    drives: tuple[Reported, ...]
    left_empty: tuple[float, ...]

    @property
    def nand_bytes_per_day(self) -> float:
        return sum(drive.nand_bytes_per_day for drive in self.drives)

    @property
    def known_lives(self) -> int:
        """Drives whose remaining years are known."""
        return sum(drive.years_left is not None for drive in self.drives)

    def wholes(self, years: float) -> list[ReportedWhole]:
        """The whole fleet as it is, then for each share."""
        return [self._whole(share, years) for share in (0.0, *self.left_empty)]

    def heaviest(self, most: int) -> list[Reported]:
        """The drives with the most flash writes."""
        return sorted(self.drives, key=lambda drive: -drive.nand_bytes_per_day)[:most]

    def frame(self) -> pl.DataFrame:
        """One row per drive and share."""
        rows = [
            {
                "drive": drive.name,
                "source": drive.source,
                "left_empty": share,
                "waf_low": found.waf_low if found else drive.waf,
                "waf_high": found.waf_high if found else drive.waf,
                "host_bytes_per_day": drive.host_bytes_per_day,
                "years_low": drive.years(share, lucky=False),
                "years_high": drive.years(share, lucky=True),
            }
            for drive in self.drives
            for share in (0.0, *self.left_empty)
            for found in (drive.at(share),)
        ]
        return pl.DataFrame(rows, infer_schema_length=None)

    def _whole(self, share: float, years: float) -> ReportedWhole:
        host = sum(drive.host_bytes_per_day for drive in self.drives)
        ends = []
        for name in ("waf_low", "waf_high"):
            ends.append(
                sum(
                    drive.host_bytes_per_day * (getattr(found, name) if found else drive.waf)
                    for drive in self.drives
                    for found in (drive.at(share),)
                )
            )
        short = [
            sum(1 for drive in self.drives if (left := drive.years(share, lucky=lucky)) is not None and left < years)
            for lucky in (True, False)
        ]
        low, high = (end / host if host else 0.0 for end in ends)
        return ReportedWhole(share, low, high, ends[0], ends[1], short[0], short[1])


def fleet_of(rows: Sequence[Row], left_empty: Sequence[float]) -> ReportedFleet:
    """Builds the fleet from the drives of a survey. Raises InputError if none reports both write amplification and
    pace."""
    drives = tuple(
        Reported(
            name_of(row),
            row["source"],
            row["recent_waf"] or row["waf"],
            row["host_bytes_per_day"],
            bounded_years(row) or row["years_left_low"],
            tuple(what_if.of(row, None, left_empty)),
            row["years_left_high"] is not None,
        )
        for row in rows
        if (row["recent_waf"] or row["waf"]) and row["host_bytes_per_day"]
    )
    if not drives:
        who = "the drive does not report" if len(rows) == 1 else f"none of {len(rows)} drives reports"
        raise InputError(f"{who} its write amplification and write rate")
    return ReportedFleet(drives, tuple(left_empty))
