"""The page of a fleet of tenants: what each layout of the tenants needs; and its files."""

import json
import math
from collections.abc import Sequence
from pathlib import Path

import polars as pl
from markupsafe import Markup

from ssdlab.experiments.fleet.layouts import Layout, PlacedRow, best
from ssdlab.experiments.fleet.tenants import HANDLES, SHARED, SPLIT, TenantPlan
from ssdlab.foundation.quantities import format_bytes
from ssdlab.presentation.report import page, parts, wording
from ssdlab.presentation.report.charts.published import Bar, published_bars
from ssdlab.presentation.report.figure import Figure
from ssdlab.simulator.results import page_folder

WORDS = {SHARED: "sharing a drive", HANDLES: "sharing a drive with a placement handle each", SPLIT: "a drive each"}
"""The layouts in a sentence."""
_ROWS_SHOWN = 60
_ASSUMPTIONS = (
    "A drive is replaced when all its flash has its rated cycles, with even wear; the last counts by its worn part.",
    "A tenant's own drive has its share of the flash, of the spare area and of the price of the shared drive.",
    "The tenants of a group write in the proportions of the run in which they share the drive.",
)


def write(
    layouts: Sequence[Layout],
    plan: TenantPlan,
    directory: Path,
    *,
    title: str,
    notices: Sequence[str],
    years: float,
    line: str,
) -> list[str]:
    """Writes `report.html`, charts, `data/fleet.parquet` (a row for each kind of drive of a layout) and `result.json`,
    all or none. Returns their names."""
    figures = _figures(layouts, years)
    whole = page.Page(
        title=title,
        subtitle="tenants that share drives, with and without a placement handle each, or have a drive each; drives "
        "are filled first and never trimmed",
        summary=sentence(layouts, plan, years),
        notices=notices,
        before=[page.Section("The layouts", _table(layout_rows(layouts, years), "The layouts"))],
        figures=figures,
        after=[
            page.Section("The drives", _table(drive_rows(layouts)[: _ROWS_SHOWN + 1], "The drives")),
            *_left_out(plan),
            page.Section("Assumptions", parts.bullets(_ASSUMPTIONS)),
            page.Section("How to reproduce", parts.command(line)),
        ],
    )
    texts = {"result.json": _json(layouts, plan, years, notices)}
    return page_folder.write(directory, whole, texts, {"fleet": _frame(layouts)})


def sentence(layouts: Sequence[Layout], plan: TenantPlan, years: float) -> str:
    """A summary of the fleet in a few sentences."""
    groups = sum(group.drives for group in plan.groups)
    said = f"{groups:,} group{'s' * (groups != 1)} of tenants for {years:g} years: "
    said += wording.listed([_needs(layout) for layout in layouts])
    wafs = [f"{wording.waf(layout.waf)} {layout.name}" for layout in layouts if layout.waf is not None]
    if wafs:
        said += f". Write amplification is {wording.listed(wafs)}"
    least = best(layouts)
    if len(least) == 1 and len(layouts) > 1:
        said += f". The least flash wears out by {WORDS[least[0].name]}"
    elif len(least) > 1:
        said += f". {wording.capitalized(wording.listed([WORDS[each.name] for each in least]))} need alike"
    return f"{said}."


def layout_rows(layouts: Sequence[Layout], years: float) -> list[list[str]]:
    """Header and rows of the table of layouts. It has prices if they are known."""
    has_price = any(layout.total("price") is not None for layout in layouts)
    heads = ["layout", "drives", f"needed in {years:g} years", "flash", "WAF", "least years"]
    rows = [heads + (["price", "price/year"] if has_price else [])]
    for layout in layouts:
        least = layout.years_least
        cells = [
            layout.name,
            f"{layout.drives:,}",
            _needed(layout),
            f"{_bound(layout)}{wording.significant(layout.flash_needed)}" if layout.is_known else "-",
            wording.waf(layout.waf) if layout.waf is not None else "-",
            wording.significant(least) if least is not None else "-",
        ]
        rows.append(cells + ([_price(layout, "price"), _price(layout, "price_per_year")] if has_price else []))
    return rows


def drive_rows(layouts: Sequence[Layout]) -> list[list[str]]:
    """Header and rows of the table of drives."""
    rows = [["layout", "drive", "host per day", "WAF", "years", "needed"]]
    return rows + [_drive(row) for layout in layouts for row in layout.rows]


def _drive(row: PlacedRow) -> list[str]:
    return [
        row.layout,
        f"{row.group}: {row.tenants[0]}" if row.layout == SPLIT else row.group,
        "-" if row.host_bytes_per_day is None else format_bytes(round(row.host_bytes_per_day)),
        "-" if row.waf is None else wording.waf(row.waf),
        "-" if row.years is None else wording.significant(row.years),
        row.failure or ("-" if row.drives_needed is None else f"{math.ceil(row.drives_needed):,}"),
    ]


def _needs(layout: Layout) -> str:
    if not layout.is_known:
        return f"the life of {WORDS[layout.name]} is not known"
    drives = f"{_needed(layout)} drive{'s' * (math.ceil(layout.drives_needed) != 1)}"
    if layout.name == SPLIT:
        drives += f" with the flash of {wording.significant(layout.flash_needed)} shared ones"
    return f"{WORDS[layout.name]} needs {drives}"


def _needed(layout: Layout) -> str:
    return f"{_bound(layout)}{math.ceil(layout.drives_needed):,}" if layout.is_known else "-"


def _bound(layout: Layout) -> str:
    return "" if layout.is_complete else "at least "


def _price(layout: Layout, figure: str) -> str:
    found = layout.total(figure)
    if found is None:
        return "-"
    return f"{_bound(layout)}{wording.significant(found)}"


def _figures(layouts: Sequence[Layout], years: float) -> list[Figure]:
    flash, waf = f"flash needed in {years:g} years, in shared drives", "write amplification"
    bars = [Bar(flash, layout.name, layout.flash_needed) for layout in layouts if layout.is_complete]
    bars += [Bar(waf, layout.name, layout.waf) for layout in layouts if layout.waf is not None]
    if not bars:
        return []
    least = best(layouts)
    title = f"The least flash wears out by {WORDS[least[0].name]}" if len(least) == 1 else "What each layout needs"
    return [
        published_bars(
            name="layouts",
            title=title,
            caption="The flash of the drives and of those that replace them; write amplification of all drives.",
            bars=bars,
            x_title="",
            own_axes=True,
        )
    ]


def _left_out(plan: TenantPlan) -> list[page.Section]:
    if not plan.left_out:
        return []
    items = [f"{layout}, {drive}: {reason}" for layout, drive, reason in plan.left_out]
    return [page.Section("Not run", parts.bullets(items))]


def _table(rows: Sequence[Sequence[str]], label: str) -> Markup:
    return parts.table(label, rows[0], rows[1:])


def _frame(layouts: Sequence[Layout]) -> pl.DataFrame:
    kinds: dict[str, type[pl.DataType]] = dict.fromkeys(
        ("waf", "host_bytes_per_day", "nand_bytes_per_day", "years", "price_per_year", "price"), pl.Float64
    )
    other: dict[str, type[pl.DataType]] = {"drives_needed": pl.Int64, "failure": pl.String, "key": pl.String}
    rows = [row.to_dict() for layout in layouts for row in layout.rows]
    return pl.DataFrame(rows, schema_overrides=kinds | other, infer_schema_length=None)


def _json(layouts: Sequence[Layout], plan: TenantPlan, years: float, notices: Sequence[str]) -> str:
    found = {
        "years": years,
        "notices": list(notices),
        "layouts": [layout.to_dict(years) for layout in layouts],
        "best": [layout.name for layout in best(layouts)],
        "left_out": [{"layout": layout, "drive": drive, "reason": reason} for layout, drive, reason in plan.left_out],
    }
    return json.dumps(found, indent=2, ensure_ascii=False) + "\n"
