"""The page of a fleet: the distribution over its drives and the most important ones, at each spare area; and its
files."""

import json
import math
from collections.abc import Sequence
from pathlib import Path

import polars as pl
from markupsafe import Markup

from ssdlab.experiments.fleet.plan import FleetPlan
from ssdlab.experiments.fleet.summary import NEAR, Whole, quantile
from ssdlab.foundation.quantities import format_bytes
from ssdlab.presentation.report import page, parts, wording
from ssdlab.presentation.report.charts.published import Line, published_lines
from ssdlab.presentation.report.figure import Figure
from ssdlab.simulator.results import page_folder

HEAVIEST_SHOWN = 20
_LEFT_OUT_SHOWN = 50
_YEARS_TOLD_MAX = 50
_DRIVES_OF_A_MEDIAN = 10
_LOG_FROM = 20


def write(
    wholes: Sequence[Whole],
    plan: FleetPlan,
    directory: Path,
    *,
    title: str,
    subtitle: str,
    notices: Sequence[str],
    years: float,
    line: str,
) -> list[str]:
    """Writes `report.html`, charts, `data/fleet.parquet` (a row per drive and spare area) and `result.json`, all or
    none. Returns their names."""
    figures = _figures(wholes)
    whole = page.Page(
        title=title,
        subtitle=subtitle,
        summary=sentence(wholes, plan, years),
        notices=notices,
        before=[page.Section("The fleet at each spare area", _spread_table(wholes, years))],
        figures=figures,
        after=[
            page.Section("The most important drives", _heaviest_table(wholes)),
            *_left_out(plan),
            page.Section("How to reproduce", parts.command(line)),
        ],
    )
    return page_folder.write(
        directory, whole, {"result.json": _json(wholes, plan, years, notices)}, {"fleet": _frame(wholes)}
    )


def sentence(wholes: Sequence[Whole], plan: FleetPlan, years: float) -> str:
    """A summary of the fleet in one or two sentences."""
    first = wholes[0]
    volumes = sum(len(drive.volumes) for drive in plan.drives)
    said = f"{counted(volumes, 'volume')} on {counted(len(plan.drives), 'drive')}"
    wafs = first.figures("waf")
    if wafs and first.waf:
        said += (
            f": write amplification {wording.waf(first.waf)} over the fleet at "
            f"{wording.share(first.over_provisioning)} over-provisioning, "
            f"from {wording.waf(wafs[0])} to {wording.waf(wafs[-1])} by drive"
        )
    lives = first.figures("years")
    if lives:
        said += f"; {_wearing_out(first, years)}"
    last = wholes[-1]
    if len(wholes) > 1 and last.waf:
        said += f". At {wording.share(last.over_provisioning)} it is {wording.waf(last.waf)}"
        said += f", and {len(last.below(years)) or 'none'} would{_too_near(last, years)}" if lives else ""
    return said + "."


def title(wholes: Sequence[Whole], drive: str, years: float) -> str:
    """How many drives wear out, at the first spare area; without a life, what the page is about."""
    first = wholes[0]
    if not first.figures("years"):
        return f"{counted(len(first.rows), 'drive')} of the model {drive}"
    said = f"{_wearing_out(first, years)} at {wording.share(first.over_provisioning)} over-provisioning"
    return wording.capitalized(said)


def _wearing_out(whole: Whole, years: float) -> str:
    of = f"of {counted(len(whole.figures('years')), 'drive')}"
    return f"{len(whole.below(years)) or 'none'} {of} would wear out within {years:g} years{_too_near(whole, years)}"


def _too_near(whole: Whole, years: float) -> str:
    """The drives whose side of the limit the runs do not decide, whether they are counted below it or not."""
    count = len(whole.undecided(years))
    return f" ({count} undecided)" if count else ""


def second_note(wholes: Sequence[Whole], years: float) -> str | None:
    """What the runs at a second scale said; None without any."""
    again = [row for whole in wholes for row in whole.rows if row.second_years is not None]
    if not again:
        return None
    apart = sum((row.second_years or 0) < years <= (row.years or 0) for row in again)
    apart += sum((row.years or 0) < years <= (row.second_years or 0) for row in again)
    scales = wording.listed(sorted({str(row.second_scale) for row in again}))
    differ = f"{apart} of them then lie on the other side" if apart else "none of them changes sides"
    return (
        f"{counted(len(again), 'run')} of drives that last between {years / NEAR:g} and {years * NEAR:g} years were "
        f"repeated at the scale {scales}: {differ} of {years:g} years. A drive is undecided where two scales disagree "
        "or its interval includes the limit."
    )


def spread_rows(wholes: Sequence[Whole], years: float) -> list[list[str]]:
    """Header and rows of the table of spare areas."""
    heads = [
        "OP",
        "WAF",
        "least",
        "10 %",
        "median",
        "90 %",
        "most",
        "median years",
        f"under {years:g} years",
        "price/year",
    ]
    rows = [heads]
    for whole in wholes:
        wafs, lives = whole.figures("waf"), whole.figures("years")
        cells = [wording.share(whole.over_provisioning), wording.waf(whole.waf) if whole.waf else "-"]
        # Of few drives the least and the most say all, and the table of drives each of them.
        cells += [
            wording.waf(quantile(wafs, share)) if wafs and (share in (0, 1) or _are_many(wafs)) else "-"
            for share in (0, 0.1, 0.5, 0.9, 1)
        ]
        cells += [_life(quantile(lives, 0.5)) if _are_many(lives) else "-"]
        undecided = len(whole.undecided(years))
        unsure = f", {undecided} undecided" if undecided else ""
        cells += [f"{len(whole.below(years))} of {len(lives)}{unsure}" if lives else "-"]
        rows.append([*cells, _price(whole)])
    return rows


def price_notes(wholes: Sequence[Whole]) -> list[str]:
    """A sentence for each spare area whose price per year leaves out drives."""
    return [
        f"At {wording.share(whole.over_provisioning)} over-provisioning the price per year leaves out "
        f"{whole.drives_without_price():,} of {counted(len(whole.rows), 'drive')}, whose life is not known."
        for whole in wholes
        if whole.price_per_year() is not None and whole.drives_without_price()
    ]


def heaviest_rows(whole: Whole, most: int) -> list[list[str]]:
    """Header and rows of the table of drives, in descending order of flash writes."""
    total = sum(row.nand_bytes_per_day or 0.0 for row in whole.rows)
    rows = [["drive", "host per day", "WAF", "NAND per day", "of the fleet", "years"]]
    for row in whole.heaviest()[:most]:
        nand = row.nand_bytes_per_day
        rows.append(
            [
                row.drive,
                _size(row.host_bytes_per_day),
                wording.waf(row.waf) if row.waf else "-",
                _size(nand),
                wording.share(nand / total) if nand and total else "-",
                _life(row.years) if row.years else "-",
            ]
        )
    return rows


def _figures(wholes: Sequence[Whole]) -> list[Figure]:
    found = [_quantiles(wholes, "waf", "WAF (NAND bytes / host bytes)", "write amplification")]
    lives = [life for whole in wholes for life in whole.figures("years")]
    if lives and min(lives) < _YEARS_TOLD_MAX:
        axis = f"years until the rated cycles, at most {_YEARS_TOLD_MAX}"
        found.append(_quantiles(wholes, "years", axis, "life", most=_YEARS_TOLD_MAX))
    found.append(_concentration(wholes))
    return [figure for figure in found if figure is not None]


def _are_many(values: Sequence[float]) -> bool:
    return len(values) >= _DRIVES_OF_A_MEDIAN


def _life(years: float) -> str:
    """Years as text: what a rate of today says of a distant time is not known."""
    return f">{_YEARS_TOLD_MAX}" if years > _YEARS_TOLD_MAX else wording.significant(years)


def _quantiles(wholes: Sequence[Whole], name: str, axis: str, said: str, *, most: float = math.inf) -> Figure | None:
    """The values of the drives in ascending order, those above `most` as `most`."""
    lines = []
    for whole in wholes:
        values = [min(value, most) for value in whole.figures(name)]
        if len(values) > 1:
            points = [(index / (len(values) - 1) * 100, value) for index, value in enumerate(values)]
            lines.append(Line(f"OP {wording.share(whole.over_provisioning)}", points))
    if not lines:
        return None
    ends = [y for line in lines for _, y in line.points]
    first = [y for _, y in lines[0].points]
    unit = " years" if name == "years" else ""
    median = quantile(first, 0.5)
    at = lines[0].label
    if not _are_many(first):
        least, greatest = wording.significant(first[0]), wording.significant(first[-1])
        title = f"{wording.capitalized(said)} from {least} to {greatest}{unit}, {at}"
    elif median >= most:
        title = f"More than half of the drives have a {said} above {most:g}{unit}, {at}"
    else:
        title = f"Half of the drives have a {said} of {wording.significant(median)}{unit} or less, {at}"
    return published_lines(
        name=name,
        title=title,
        caption=f"{axis} of the drives in ascending order; the median is at 50 %.",
        lines=lines,
        x_title="drives in ascending order, %",
        y_title=axis,
        scale="log" if min(ends) > 0 and max(ends) > _LOG_FROM * min(ends) else "linear",
    )


def _concentration(wholes: Sequence[Whole]) -> Figure | None:
    lines = []
    for whole in wholes:
        values = whole.figures("nand_bytes_per_day")[::-1]
        if _are_many(values) and sum(values) > 0:
            points, running = [(0.0, 0.0)], 0.0
            for index, value in enumerate(values):
                running += value
                points.append(((index + 1) / len(values) * 100, running / sum(values) * 100))
            lines.append(Line(f"OP {wording.share(whole.over_provisioning)}", points))
    if not lines:
        return None
    tenth = next(y for x, y in lines[0].points if x >= 10)
    at = next(x for x, _ in lines[0].points if x >= 10)
    return published_lines(
        name="concentration",
        title=f"{at:.0f} % of the drives take {tenth:.0f} % of all flash writes",
        caption="Bytes programmed to NAND per day, cumulative over the drives in descending order.",
        lines=lines,
        x_title="drives in descending order, %",
        y_title="% of all NAND writes",
    )


def _spread_table(wholes: Sequence[Whole], years: float) -> Markup:
    return _table(spread_rows(wholes, years), "The fleet at each spare area") + parts.paragraphs(*price_notes(wholes))


def _heaviest_table(wholes: Sequence[Whole]) -> Markup:
    note = f"At {wording.share(wholes[0].over_provisioning)} over-provisioning; all: data/fleet.parquet."
    return parts.paragraphs(note) + _table(heaviest_rows(wholes[0], HEAVIEST_SHOWN), "The most important drives")


def _left_out(plan: FleetPlan) -> list[page.Section]:
    if not plan.left_out:
        return []
    shown = plan.left_out[:_LEFT_OUT_SHOWN]
    more = len(plan.left_out) - len(shown)
    items = [f"{name}: {reason}" for name, reason in shown] + ([f"and {more} more, in result.json"] if more else [])
    return [page.Section("Volumes that were not run", parts.bullets(items))]


def _table(rows: Sequence[Sequence[str]], label: str) -> Markup:
    return parts.table(label, rows[0], rows[1:])


def _frame(wholes: Sequence[Whole]) -> pl.DataFrame:
    rows = [row.to_dict() for whole in wholes for row in whole.rows]
    kinds: dict[str, type[pl.DataType]] = {
        "waf": pl.Float64,
        "years": pl.Float64,
        "price_per_year": pl.Float64,
        "host_bytes_per_day": pl.Float64,
    }
    other: dict[str, type[pl.DataType]] = {"nand_bytes_per_day": pl.Float64, "failure": pl.String, "steady": pl.Boolean}
    second: dict[str, type[pl.DataType]] = {
        "second_scale": pl.String,
        "second_waf": pl.Float64,
        "second_years": pl.Float64,
    }
    return pl.DataFrame(rows, schema_overrides=kinds | other | second, infer_schema_length=None)


def _json(wholes: Sequence[Whole], plan: FleetPlan, years: float, notices: Sequence[str]) -> str:
    fleet = [
        {
            "over_provisioning": whole.over_provisioning,
            "waf": whole.waf,
            "drives_below_years": len(whole.below(years)),
            "drives_undecided": len(whole.undecided(years)),
            "price_per_year": whole.price_per_year(),
            "drives_without_price": whole.drives_without_price(),
            "drives": [{**row.to_dict(), "undecided": row.is_undecided(years)} for row in whole.rows],
        }
        for whole in wholes
    ]
    left_out = [{"volume": name, "reason": reason} for name, reason in plan.left_out]
    found = {"years": years, "notices": list(notices), "fleet": fleet, "left_out": left_out}
    return json.dumps(found, indent=2, ensure_ascii=False) + "\n"


def _size(value: float | None) -> str:
    return "-" if value is None else format_bytes(round(value))


def _price(whole: Whole) -> str:
    price = whole.price_per_year()
    if price is None:
        return "-"
    return f"{'at least ' if whole.drives_without_price() else ''}{wording.significant(price)}"


def counted(number: int, word: str) -> str:
    return f"{number:,} {word}{'s' * (number != 1)}"
