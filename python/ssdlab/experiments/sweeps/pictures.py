"""The page of a sweep and its pictures.

A picture shows a figure against the numeric axis with the most values, with a line for each value of a second axis and
a panel for each of a third. The band shows minimum and maximum over all other axes, mostly seeds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from ssdlab.evidence import Estimate
from ssdlab.evidence.comparing import differ
from ssdlab.evidence.estimate import SEEDS_DIFFER, of_groups
from ssdlab.experiments.sweeps import table
from ssdlab.experiments.sweeps.rows import within
from ssdlab.presentation.report import headlines, page, parts, wording
from ssdlab.presentation.report import vegalite as vl
from ssdlab.presentation.report.charts.encodings import (
    HIDDEN_VARIANTS,
    chart,
    colours_of,
    horizontal_grid,
    switchable,
    variant_scale,
)
from ssdlab.presentation.report.figure import Figure, Key, KeyEntry
from ssdlab.presentation.report.theme import LIGHT
from ssdlab.simulator.results import page_folder

_FIGURES = (
    ("waf", "WAF (NAND bytes / host bytes)", "write amplification"),
    ("write_iops", "writes per second", "writes per second"),
    ("read_iops", "reads per second", "reads per second"),
    (
        "write_latency_us_p999",
        "write latency, 99.9 %, \N{MICRO SIGN}s",
        "the 99.9th percentile of write latency",
    ),
)
_PANELS_MAX = 8
_LINES_MAX = len(LIGHT.variants)
_PANEL_HEIGHT_PX = 220


@dataclass(frozen=True)
class Roles:
    """The columns of the rows that are drawn as horizontal axis, lines and panels; None if not used."""

    x: str
    colour: str | None
    panel: str | None


def roles(rows: pl.DataFrame, axes: Sequence[str]) -> Roles | None:
    """The roles of the axes; None if no axis varies. `op` is preferred as horizontal axis; seeds are never drawn."""
    varying = [name for name in axes if name != "seed" and rows[name].n_unique() > 1]
    if not varying:
        return None
    numeric = [name for name in varying if rows[name].dtype.is_numeric()]
    x = "op" if "op" in numeric else max(numeric, key=lambda name: rows[name].n_unique(), default=varying[0])
    rest = [name for name in varying if name != x and rows[name].n_unique() <= _LINES_MAX]
    rest.sort(key=lambda name: rows[name].n_unique())
    return Roles(x, rest[-1] if rest else None, next((name for name in rest[:-1]), None))


def figures(rows: pl.DataFrame, axes: Sequence[str]) -> list[Figure]:
    """One picture for each measured figure; empty if no axis varies."""
    found = roles(rows, axes)
    if found is None:
        return []
    drawn = []
    for column, title, said in _FIGURES:
        measured = rows.filter(pl.col(column).is_not_null() & (pl.col(column) > 0))
        if measured.height:
            drawn.append(_figure(measured, found, column, title, said, axes))
    return drawn


def _scaled(rows: pl.DataFrame) -> list[str]:
    """Which parts of the drives were simulated; empty for whole drives."""
    scales = sorted({str(scale) for scale in rows["scale"]} - {"1"})
    if not scales:
        return []
    return [
        f"Simulated at a scale of {wording.listed(scales)}: smaller drives and workloads with the same ratios. TBW is "
        "that of the drive as sold; WAF and requests per second are nearly the same, percentiles depend on the scale."
    ]


def write_report(rows: pl.DataFrame, axes: Sequence[str], directory: Path, *, subtitle: str, line: str | None) -> None:
    """Writes `report.html`, each picture as SVG and PNG, light and dark, and all rows in `data/runs.parquet`."""
    drawn = figures(rows, axes)
    failures = rows["failure"].drop_nulls().len()
    whole = page.Page(
        title=headline(rows, axes),
        subtitle=subtitle,
        summary=_summary(rows),
        notices=[
            *(
                [f"{failures} of {rows.height} drives became read-only before the end of their run."]
                if failures
                else []
            ),
            *_scaled(rows),
        ],
        figures=drawn,
        after=[
            page.Section("All runs", table.of_rows(rows, axes)),
            *([page.Section("How to reproduce", parts.command(line))] if line else []),
        ],
    )
    page_folder.write(directory, whole, {}, {"runs": rows})


def headline(rows: pl.DataFrame, axes: Sequence[str]) -> str:
    """The result for the first measured figure; failed runs are left out."""
    varying = [name for name in axes if name != "seed" and rows[name].n_unique() > 1]
    whole = rows.filter(pl.col("failure").is_null())
    for column, said in (("waf", "WAF"), ("write_iops", "writes per second"), ("read_iops", "reads per second")):
        measured = whole.filter(pl.col(column).is_not_null() & (pl.col(column) > 0))
        if measured.height:
            cells = [
                headlines.Cell(
                    {table.axis(name): table.shown_value(name, row[name]) for name in varying},
                    row[column],
                    _known_within(row, column),
                )
                for row in measured.iter_rows(named=True)
            ]
            sentence = headlines.of_sweep(cells, said)
            return wording.capitalized(sentence)
    return f"None of {rows.height} runs was whole"


def _known_within(row: Mapping[str, Any], column: str) -> float:
    """Half the width of a figure's interval as a share; of rows without it, what seeds differ by."""
    found: float | None = row.get(within(column))
    return SEEDS_DIFFER if found is None else found


def _summary(rows: pl.DataFrame) -> str:
    waf = rows["waf"].drop_nulls()
    if waf.is_empty():
        return f"{rows.height} runs."
    low, high = waf.to_list()[waf.arg_min() or 0], waf.to_list()[waf.arg_max() or 0]
    return f"{rows.height} runs; write amplification from {wording.rounded(low)} to {wording.rounded(high)}."


def _figure(rows: pl.DataFrame, found: Roles, column: str, title: str, said: str, axes: Sequence[str]) -> Figure:
    names = [found.x, *filter(None, (found.colour, found.panel))]
    column_within = pl.col(within(column)) if within(column) in rows.columns else pl.lit(None, pl.Float64)
    summed = (
        rows.with_columns(column_within.fill_null(SEEDS_DIFFER).alias("within"))
        .group_by(names)
        .agg(
            pl.col(column).mean().alias("value"),
            pl.col(column).min().alias("low"),
            pl.col(column).max().alias("high"),
            (pl.col("within").pow(2).sum().sqrt() / pl.len()).alias("within"),
        )
        .sort(names)
    )
    hidden = [name for name in axes if name not in names and rows[name].n_unique() > 1]
    band = f" Bands: minimum and maximum over {' and '.join(table.axis(name) for name in hidden)}." if hidden else ""
    over = table.axis(found.x)
    by = f", by {table.axis(found.colour)}" if found.colour else ""
    lines = [_shown(value) for value in summed[found.colour].unique(maintain_order=True)] if found.colour else []
    entries = tuple(
        KeyEntry(line, f"--variant-{colour}") for line, colour in zip(lines, colours_of(lines), strict=True)
    )
    return Figure(
        name=column.replace("_", "-"),
        title=_finding(summed, found, said),
        caption=f"{title} over {over}{by}.{band}",
        chart=_picture(summed, found, title, lines),
        keys=(Key(HIDDEN_VARIANTS, entries),) if entries else (),
    )


def _finding(summed: pl.DataFrame, found: Roles, said: str) -> str:
    """The direction of the effect as a sentence, if it is the same for all lines."""
    first, last = summed[found.x][0], summed[found.x][-1]
    if not summed[found.x].dtype.is_numeric():
        ranked = summed.sort("value")
        least, most = ranked.row(0, named=True), ranked.row(-1, named=True)
        if not differ(_estimate(least), _estimate(most)):
            low_and_high = f"{wording.rounded(least['value'])} to {wording.rounded(most['value'])}"
            return f"{said.capitalize()} is {low_and_high}: no difference was seen"
        return (
            f"{said.capitalize()} is {wording.rounded(least['value'])} with {_shown(least[found.x])}, "
            f"{wording.rounded(most['value'])} with {_shown(most[found.x])}"
        )
    others = [name for name in (found.colour, found.panel) if name]
    ends = summed.sort(found.x).group_by(others, maintain_order=True) if others else [((), summed)]
    pairs = [(frame.row(0, named=True), frame.row(-1, named=True)) for _, frame in ends if frame.height > 1]
    ratios = [last["value"] / first["value"] for first, last in pairs]
    span = (
        f"{wording.share(first)} to {wording.share(last)} over-provisioning"
        if found.x == "op"
        else f"{table.axis(found.x)} {first:g} to {last:g}"
    )
    seen = [differ(_estimate(first), _estimate(last)) for first, last in pairs]
    if pairs and not any(seen):
        return f"From {span}, {said} shows no change"
    if not all(seen) or not ratios or min(ratios) < 1 < max(ratios):
        return f"{said.capitalize()} from {span}"
    factors = sorted(1 / ratio if max(ratios) < 1 else ratio for ratio in ratios)
    low, high = (wording.rounded(factors[at], 2) for at in (0, -1))
    change = low if low == high else f"{low} to {high}"
    return f"From {span}, {said} {'falls' if max(ratios) < 1 else 'rises'} by a factor of {change}"


def _estimate(row: Mapping[str, Any]) -> Estimate:
    return of_groups([row["value"]], [row["within"]])


def _picture(summed: pl.DataFrame, found: Roles, title: str, lines: Sequence[str]) -> vl.Picture:
    panels = summed[found.panel].unique(maintain_order=True).to_list()[:_PANELS_MAX] if found.panel else [None]
    low, high = float(summed["low"].min() or 0), float(summed["high"].max() or 1)  # type: ignore[arg-type]
    is_log = low > 0 and high / low > 20
    scale = vl.Scale(type="log" if is_log else "linear", domain=[low * 0.9 if is_log else 0, high * 1.08], nice=False)
    parts = []
    for panel in panels:
        own = summed.filter(pl.col(found.panel) == panel) if found.panel else summed
        part = _panel(own, found, title, lines, scale)
        heading = _shown(panel) if found.panel else ""
        parts.append(part.properties(height=_PANEL_HEIGHT_PX, **({"title": heading} if heading else {})))
    whole = vl.vconcat(*parts, spacing=28) if len(parts) > 1 else parts[0]
    return switchable(whole, HIDDEN_VARIANTS)


def _panel(own: pl.DataFrame, found: Roles, title: str, lines: Sequence[str], scale: vl.Scale) -> vl.Picture:
    is_number = own[found.x].dtype.is_numeric()
    rows = [
        {
            "variant": _shown(row[found.colour]) if found.colour else "",
            "x": row[found.x] * (100 if found.x == "op" else 1) if is_number else _shown(row[found.x]),
            "value": row["value"],
            "low": row["low"],
            "high": row["high"],
        }
        for row in own.iter_rows(named=True)
    ]
    x_title = "over-provisioning, % of the host's capacity" if found.x == "op" else table.axis(found.x)
    x_field = f"x:{'Q' if is_number else 'N'}"
    x = vl.X(
        x_field,
        title=x_title,
        scale=vl.Scale(zero=False, nice=True) if is_number else vl.Scale(),
    )
    y = vl.Y("value:Q", title=title, scale=scale, axis=horizontal_grid(6))
    domain = variant_scale(list(lines) or [""])
    tooltip = [vl.Tooltip("variant:N"), vl.Tooltip(x_field, title=x_title), vl.Tooltip("value:Q", format=".4g")]
    strokes = vl.Legend(symbolType="stroke", symbolStrokeWidth=3, values=list(lines)) if lines else None
    squares = vl.Legend(values=list(lines)) if lines else None
    layers = [
        chart(rows)
        .mark("area", opacity=0.18)
        .encode(
            x,
            vl.Y("low:Q", scale=scale, title=title),
            vl.Y2("high"),
            vl.Fill("variant:N", scale=domain, legend=None),
        ),
        chart(rows).mark("line").encode(x, y, vl.Color("variant:N", scale=domain, legend=strokes)),
        chart(rows)
        .mark("point", style="mark", size=70, opacity=1)
        .encode(x, y, vl.Fill("variant:N", scale=domain, legend=None if is_number else squares), tooltip=tooltip),
    ]
    return vl.layer(*(layers if is_number else layers[2:]))


def _shown(value: object) -> str:
    """The text of a value; job and drive files are shown without folder and suffix."""
    text = str(value)
    return Path(text).stem if text.endswith((".fio", ".toml")) else text
