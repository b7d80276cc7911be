"""The results of a fleet's runs: a row for each drive and spare area, and totals for each spare area."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypedDict

from ssdlab.evidence.estimate import SEEDS_DIFFER
from ssdlab.experiments.advice.setting import Setting
from ssdlab.experiments.fleet.plan import Drive, FleetPlan
from ssdlab.experiments.sweeps.rows import within
from ssdlab.theory import endurance

NEAR = 2.0
"""Drives that last between a half and twice the limit are run at a second scale."""
QUANTILES = (0.0, 0.1, 0.5, 0.9, 1.0)


class RowJson(TypedDict):
    """One drive at one spare area, in `result.json`."""

    drive: str
    volumes: list[str]
    over_provisioning: float
    waf: float | None
    host_bytes_per_day: float | None
    years: float | None
    price_per_year: float | None
    steady: bool | None
    failure: str | None
    key: str
    nand_bytes_per_day: float | None
    waf_within: float
    second_scale: str | None
    second_waf: float | None
    second_years: float | None


@dataclass(frozen=True)
class Row:
    """One drive of the fleet at one spare area. Values that are not known are None."""

    drive: str
    volumes: tuple[str, ...]
    over_provisioning: float
    waf: float | None
    host_bytes_per_day: float | None
    years: float | None
    """Years until all flash reaches its rated cycles at this pace, with evenly spread wear."""
    price_per_year: float | None
    """The drive's price divided by its years."""
    steady: bool | None
    failure: str | None
    key: str
    """The key of the run in the data set."""
    waf_within: float = 0.0
    """How far the write amplification can be off, as a share: the interval of the run, and the error of a miniature."""
    second_scale: str | None = None
    """The other scale at which a drive near the limit was run; None if it was not."""
    second_waf: float | None = None
    second_years: float | None = None

    def to_dict(self) -> RowJson:
        """The row as in `result.json` and `data/fleet.parquet`."""
        return {
            "drive": self.drive,
            "volumes": list(self.volumes),
            "over_provisioning": self.over_provisioning,
            "waf": self.waf,
            "host_bytes_per_day": self.host_bytes_per_day,
            "years": self.years,
            "price_per_year": self.price_per_year,
            "steady": self.steady,
            "failure": self.failure,
            "key": self.key,
            "nand_bytes_per_day": self.nand_bytes_per_day,
            "waf_within": self.waf_within,
            "second_scale": self.second_scale,
            "second_waf": self.second_waf,
            "second_years": self.second_years,
        }

    def is_undecided(self, years: float) -> bool:
        """Whether the drive's life is known too roughly to tell on which side of this number of years it is, or two
        scales put it on different sides."""
        if self.years is None:
            return False
        is_too_near = abs(self.years / years - 1) <= self.waf_within
        return is_too_near or (self.second_years is not None and (self.second_years < years) != (self.years < years))

    def is_near(self, years: float) -> bool:
        """Whether a second scale is worth its run: the life is within a factor `NEAR` of this number of years."""
        return self.years is not None and 1 / NEAR <= self.years / years <= NEAR

    @property
    def nand_bytes_per_day(self) -> float | None:
        if self.waf is None or self.host_bytes_per_day is None:
            return None
        return self.waf * self.host_bytes_per_day


@dataclass(frozen=True)
class Whole:
    """The fleet at one spare area."""

    over_provisioning: float
    rows: Sequence[Row]

    @property
    def waf(self) -> float | None:
        """NAND bytes divided by host bytes over all drives with a known pace; if there are none, the mean of all
        drives."""
        host = sum(row.host_bytes_per_day or 0.0 for row in self._paced())
        if host:
            return sum(row.nand_bytes_per_day or 0.0 for row in self._paced()) / host
        known = [row.waf for row in self.rows if row.waf is not None]
        return sum(known) / len(known) if known else None

    def figures(self, name: str) -> list[float]:
        """The known values of a figure, in ascending order."""
        return sorted(value for row in self.rows if (value := getattr(row, name)) is not None)

    def drive_writes_per_day(self, user_bytes: int) -> list[float]:
        """The rates of the drives whose pace is known, in ascending order."""
        return [each / user_bytes for each in self.figures("host_bytes_per_day")]

    def below(self, years: float) -> list[Row]:
        """The drives that last less than this number of years."""
        return [row for row in self.rows if row.years is not None and row.years < years]

    def undecided(self, years: float) -> list[Row]:
        """The drives of which it is not known whether they last this number of years."""
        return [row for row in self.rows if row.is_undecided(years)]

    def heaviest(self) -> list[Row]:
        """The rows in descending order of flash writes per day, or, if not known, of write amplification."""
        return sorted(self.rows, key=lambda row: (-(row.nand_bytes_per_day or 0.0), -(row.waf or 0.0), row.drive))

    def price_per_year(self) -> float | None:
        """The cost of the drives per year, from price and wear, or None if none is known. A lower bound if there are
        `drives_without_price`."""
        prices = self.figures("price_per_year")
        return sum(prices) if prices else None

    def drives_without_price(self) -> int:
        """The number of drives that `price_per_year` leaves out, because their price or life is not known."""
        return sum(row.price_per_year is None for row in self.rows)

    def _paced(self) -> list[Row]:
        return [row for row in self.rows if row.nand_bytes_per_day is not None]


def quantile(values: Sequence[float], share: float) -> float:
    """A quantile of ascending values, with linear interpolation."""
    place = share * (len(values) - 1)
    low = int(place)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (place - low)


def summarised(
    plan: FleetPlan,
    kept: Mapping[str, Mapping[str, Any]],
    setting: Setting,
    price: float | None,
    second: Mapping[str, str] | None = None,
) -> list[Whole]:
    """The results by spare area, in the order of the plan. `kept` maps run keys to rows of the data set, `second` those
    keys to the keys of the runs at a second scale."""
    by_share: dict[float, list[Row]] = {}
    for drive, share, planned in plan.runs:
        row = _row(drive, share, planned.key, kept[planned.key], setting, price)
        if other := (second or {}).get(planned.key):
            row = _with_second(row, kept[other])
        by_share.setdefault(share, []).append(row)
    return [Whole(share, rows) for share, rows in by_share.items()]


def near(wholes: Sequence[Whole], years: float) -> set[str]:
    """The keys of the runs of drives near this number of years."""
    return {row.key for whole in wholes for row in whole.rows if row.is_near(years)}


def _with_second(row: Row, kept: Mapping[str, Any]) -> Row:
    waf = kept["waf"]
    years = row.years * row.waf / waf if waf and row.waf and row.years else None
    return replace(row, second_scale=kept["scale"], second_waf=waf, second_years=years)


def _row(drive: Drive, share: float, key: str, kept: Mapping[str, Any], setting: Setting, price: float | None) -> Row:
    full = setting.at(None, None)
    pace, waf = drive.written_bytes_per_day, kept["waf"]
    years = None
    if waf and pace:
        tbw_bytes = endurance.lifetime_bytes(full.endurance_cycles, full.capacity.physical_bytes, waf)
        years = tbw_bytes / pace / endurance.DAYS_PER_YEAR
    return Row(
        drive=drive.name,
        volumes=tuple(volume.name for volume in drive.volumes),
        over_provisioning=share,
        waf=waf,
        host_bytes_per_day=pace,
        years=years,
        price_per_year=price / years if price is not None and years else None,
        steady=kept["steady_reached"],
        failure=kept["failure"],
        key=key,
        waf_within=_within(drive, kept) if waf else 0.0,
    )


def _within(drive: Drive, kept: Mapping[str, Any]) -> float:
    known: float | None = kept.get(within("waf"))
    error = 0.0 if kept["scale"] == "1" else drive.trace.miniature_error(kept["waf"])
    return (SEEDS_DIFFER if known is None else known) + error
