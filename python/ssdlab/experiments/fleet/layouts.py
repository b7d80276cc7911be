"""The figures of a fleet of tenants: a row for each kind of drive in a layout, and totals for each layout.

A drive is replaced when all its flash has its rated cycles, with even wear; the last one counts by the part of it that
is worn, because the drives of a fleet do not wear out on the same day. The writes per day of a group are distributed
over its tenants as in the run in which they share the drive.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from ssdlab.experiments.advice.tenants import ALIKE, is_brief
from ssdlab.experiments.fleet.tenants import LAYOUTS, SHARED, Placed, TenantPlan
from ssdlab.foundation.foreign import TableRow
from ssdlab.theory import endurance


class PlacedRowJson(TypedDict):
    """The drives of some tenants in one layout, in `result.json`."""

    layout: str
    group: str
    tenants: list[str]
    drives: int
    share: float
    waf: float | None
    host_bytes_per_day: float | None
    nand_bytes_per_day: float | None
    years: float | None
    drives_needed: float | None
    price_per_year: float | None
    price: float | None
    failure: str | None
    key: str | None


class LayoutJson(TypedDict):
    """A layout in `result.json`."""

    layout: str
    drives: int
    waf: float | None
    drives_below_years: int
    drives_needed: float
    flash_needed: float
    price_per_year: float | None
    price: float | None
    is_complete: bool
    rows: list[PlacedRowJson]


@dataclass(frozen=True)
class PlacedRow:
    """The drives of some tenants in one layout. Values that are not known are None."""

    layout: str
    group: str
    tenants: tuple[str, ...]
    drives: int
    share: float
    """The part, 0 to 1, that each drive has of the flash and the price of the drive that all tenants share."""
    waf: float | None
    host_bytes_per_day: float | None
    """What is written to one of the drives."""
    years: float | None
    """None also for drives to which nothing is written."""
    drives_needed: float | None
    """These drives and those that replace them within the years of the fleet, the last by its worn part."""
    price_per_year: float | None
    """The price of the drives divided by their years; 0 for drives that do not wear."""
    price: float | None
    """The price of the drives needed."""
    failure: str | None
    key: str | None
    """The key of the run in the data set; None without a run."""
    writes: float | None
    """What the run wrote, in drive writes; None without a run."""

    @property
    def nand_bytes_per_day(self) -> float | None:
        if self.host_bytes_per_day is None:
            return None
        if not self.host_bytes_per_day:
            return 0.0
        return None if self.waf is None else self.waf * self.host_bytes_per_day

    @property
    def flash_needed(self) -> float | None:
        """The flash of the drives needed, in drives of all tenants."""
        return None if self.drives_needed is None else self.drives_needed * self.share

    def to_dict(self) -> PlacedRowJson:
        """The row as in `result.json` and `data/fleet.parquet`."""
        return {
            "layout": self.layout,
            "group": self.group,
            "tenants": list(self.tenants),
            "drives": self.drives,
            "share": self.share,
            "waf": self.waf,
            "host_bytes_per_day": self.host_bytes_per_day,
            "nand_bytes_per_day": self.nand_bytes_per_day,
            "years": self.years,
            "drives_needed": self.drives_needed,
            "price_per_year": self.price_per_year,
            "price": self.price,
            "failure": self.failure,
            "key": self.key,
        }


@dataclass(frozen=True)
class Layout:
    """The fleet in one layout."""

    name: str
    rows: Sequence[PlacedRow]
    has_all: bool
    """Whether every tenant has a drive in this layout."""

    @property
    def is_complete(self) -> bool:
        """Whether the sums have every drive; otherwise they are lower bounds."""
        return self.has_all and all(row.drives_needed is not None for row in self.rows)

    @property
    def is_known(self) -> bool:
        """Whether the life of any drive is known."""
        return any(row.drives_needed is not None for row in self.rows)

    @property
    def drives(self) -> int:
        return sum(row.drives for row in self.rows)

    @property
    def waf(self) -> float | None:
        """NAND bytes divided by host bytes; None unless known for all drives that are written to."""
        pairs = [(row.nand_bytes_per_day, row.host_bytes_per_day, row.drives) for row in self.rows]
        host = sum(each * count for _, each, count in pairs if each is not None)
        if not host or any(nand is None for nand, _, _ in pairs):
            return None
        return sum(nand * count for nand, _, count in pairs if nand is not None) / host

    @property
    def drives_needed(self) -> float:
        return sum(row.drives_needed or 0.0 for row in self.rows)

    @property
    def flash_needed(self) -> float:
        """The flash of the drives needed, in drives of all tenants."""
        return sum(row.flash_needed or 0.0 for row in self.rows)

    @property
    def years_least(self) -> float | None:
        """The shortest life of a drive."""
        return min((row.years for row in self.rows if row.years is not None), default=None)

    def drives_below(self, years: float) -> int:
        """The number of drives that last less than this number of years."""
        return sum(row.drives for row in self.rows if row.years is not None and row.years < years)

    def total(self, figure: str) -> float | None:
        """The sum of `price` or `price_per_year`, or None if no drive has one."""
        known = [value for row in self.rows if (value := getattr(row, figure)) is not None]
        return sum(known) if known else None

    def to_dict(self, years: float) -> LayoutJson:
        """The layout as in `result.json`."""
        return {
            "layout": self.name,
            "drives": self.drives,
            "waf": self.waf,
            "drives_below_years": self.drives_below(years),
            "drives_needed": self.drives_needed,
            "flash_needed": self.flash_needed,
            "price_per_year": self.total("price_per_year"),
            "price": self.total("price"),
            "is_complete": self.is_complete,
            "rows": [row.to_dict() for row in self.rows],
        }


def layouts_of(
    plan: TenantPlan, kept: Mapping[str, Mapping[str, Any]], years: float, price: float | None
) -> list[Layout]:
    """The layouts that have drives. `kept` maps run keys to rows of the data set; `price` is that of a drive which all
    tenants share."""
    parts: dict[str, Mapping[str, float]] = {}
    for placed in plan.placed:
        if placed.layout == SHARED and placed.run is not None:
            parts[placed.group.name] = _parts(kept[placed.run.key])
    rows = [_row(placed, kept, parts[placed.group.name], years, price) for placed in plan.placed]
    partial = {layout for layout, _, _ in plan.left_out}
    found = [Layout(name, [row for row in rows if row.layout == name], name not in partial) for name in LAYOUTS]
    return [layout for layout in found if layout.rows]


def best(layouts: Sequence[Layout]) -> list[Layout]:
    """The layouts that need the least flash, more than one if they are alike, among those of which it is known."""
    known = [layout for layout in layouts if layout.is_complete]
    least = min((layout.flash_needed for layout in known), default=0.0)
    return [layout for layout in known if layout.flash_needed <= least * (1 + ALIKE)]


def briefly_written(layouts: Sequence[Layout]) -> list[PlacedRow]:
    """The shared drives whose run wrote too little for the steady state."""
    return [
        row
        for layout in layouts
        for row in layout.rows
        if layout.name == SHARED and row.writes is not None and is_brief(row.writes)
    ]


def _row(
    placed: Placed,
    kept: Mapping[str, Mapping[str, Any]],
    parts: Mapping[str, float],
    years_wanted: float,
    price: float | None,
) -> PlacedRow:
    group = placed.group
    stored = kept[placed.run.key] if placed.run else None
    failure = stored["failure"] if stored else None
    waf, tbw_bytes = (stored["waf"], stored["tbw_bytes"]) if stored else (None, None)
    known = [parts[name] for name in placed.tenants if name in parts]
    daily = group.written_bytes_per_day * sum(known) if len(known) == len(placed.tenants) else None
    years = None
    if not failure and tbw_bytes and daily:
        years = tbw_bytes / daily / endurance.DAYS_PER_YEAR
    needed: float | None = None
    cost_per_year: float | None = None
    if not failure and daily == 0:
        needed, cost_per_year = float(group.drives), 0.0
    elif years is not None:
        needed = group.drives * max(1.0, years_wanted / years)
        cost_per_year = group.drives / years
    own_price = None if price is None else price * placed.share
    return PlacedRow(
        layout=placed.layout,
        group=group.name,
        tenants=placed.tenants,
        drives=group.drives,
        share=placed.share,
        waf=waf,
        host_bytes_per_day=daily,
        years=years,
        drives_needed=needed,
        price_per_year=None if own_price is None or cost_per_year is None else own_price * cost_per_year,
        price=None if own_price is None or needed is None else own_price * needed,
        failure=failure,
        key=placed.run.key if placed.run else None,
        writes=_drive_writes(stored) if stored else None,
    )


def _parts(stored: Mapping[str, Any]) -> dict[str, float]:
    """Each tenant's part of what all of them wrote on the shared drive; empty if they wrote nothing, or if the run
    ended early."""
    if stored["failure"]:
        return {}
    found = _result(stored)["namespaces"]
    written = {each["name"]: each["last_stage"]["host"]["written_bytes"] for each in found}
    total = sum(written.values())
    return {name: each / total for name, each in written.items()} if total else {}


def _drive_writes(stored: Mapping[str, Any]) -> float:
    result = _result(stored)
    stage = result["stages"][-1]
    written: int = stage["host_written_bytes_end"] - stage["host_written_bytes_start"]
    return written / float(result["capacity"]["user_bytes"])


def _result(stored: Mapping[str, Any]) -> TableRow:
    found: TableRow = json.loads(stored["result_json"])["ssdlab"]
    return found
