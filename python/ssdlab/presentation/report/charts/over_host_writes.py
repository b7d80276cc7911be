"""WAF from the fill to the steady state, and the spare area of garbage collection, over host writes."""

from collections.abc import Sequence

import polars as pl

from ssdlab.presentation.report import vegalite as vl
from ssdlab.presentation.report import wording
from ssdlab.presentation.report.charts.encodings import (
    HIDDEN_VARIANTS,
    Row,
    at_y,
    chart,
    drive_writes_axis,
    horizontal_grid,
    line_layers,
    rows_of,
    switchable,
    variant_colour,
    variant_fill,
)
from ssdlab.presentation.report.charts.placing import (
    HEIGHT_PX,
    LABEL_ROOM,
    WAF_MIN,
    ValueScale,
    label_layers,
    label_row,
    spread,
)
from ssdlab.presentation.report.thinning import merge_windows
from ssdlab.presentation.report.variant import ComparedVariant

_SMALL_HEIGHT_PX = 110
_SMALL_POINTS_MAX = 200
# The width of a character in the name of a stage.
_CHARACTER_PX = 6.5


def waf_over_host_writes(variants: Sequence[ComparedVariant], series: Sequence[pl.DataFrame]) -> vl.Picture | None:
    """WAF per window over drive writes, with steady states and theory. `series`: thinned, one for each variant."""
    rows = rows_of(variants, series, "waf")
    if not rows:
        return None
    drawn = [variant for variant in variants if any(row["variant"] == variant.label for row in rows)]
    end = max(row["drive_writes"] for row in rows)
    theories = [variant.theory for variant in drawn if variant.theory is not None]
    scale = ValueScale([row["waf"] for row in rows] + theories, bottom_max=WAF_MIN)
    y = vl.Y("waf:Q", title="WAF (NAND bytes / host bytes)", scale=scale.vegalite, axis=scale.axis())

    labels = []
    for variant in drawn:
        if variant.waf is None:
            # Its last stage wrote nothing; the last window is of an earlier one.
            continue
        last = [row for row in rows if row["variant"] == variant.label][-1]
        row = label_row(variant, variant.waf, variant.waf_said or wording.waf(variant.waf))
        labels.append({**row, "drive_writes": last["drive_writes"], "label_x": end * 1.02})
    labels = spread(labels, scale)
    theory = [{"variant": v.label, "theory": v.theory, "from": 0, "to": end} for v in drawn if v.theory is not None]
    settled = [
        {"variant": variant.label, "drive_writes": at, "waf": _settled_waf(variant, rows)}
        for variant in drawn
        if variant.steady_at_host_bytes is not None
        for at in [variant.drive_writes(variant.steady_at_host_bytes)]
    ]
    layers = [
        *_stage_layers(drawn, end),
        chart(labels)
        .mark("rule", style="leader")
        .encode(vl.X("drive_writes:Q"), vl.X2("label_x"), vl.Y("value:Q"), vl.Y2("label_value")),
        *([_theory_layer(variants, theory)] if theory else []),
        *line_layers(
            variants,
            rows,
            drive_writes_axis(end, LABEL_ROOM),
            y,
            field="waf",
            said="WAF in the window",
            number_format=".2f",
        ),
        *([_settled_layer(variants, settled)] if settled else []),
        *label_layers(variants, labels, vl.X("label_x:Q"), vl.Y("label_value:Q"), dx=9, dots=True),
    ]
    return switchable(vl.layer(*layers, height=HEIGHT_PX), HIDDEN_VARIANTS)


def spare_over_host_writes(variants: Sequence[ComparedVariant], series: Sequence[pl.DataFrame]) -> vl.Picture | None:
    """Two small pictures: free erase units, and the effective OP of garbage collection."""
    series = [merge_windows(frame, _SMALL_POINTS_MAX)[0] for frame in series]
    pictures = [
        ("free_erase_units", "free erase units", 1, ",.1f"),
        ("effective_over_provisioning", "effective OP, %", 100, ".2f"),
    ]
    charts: list[vl.Picture] = []
    for field, said, factor, number_format in pictures:
        rows = rows_of(variants, series, field, factor)
        if not rows:
            continue
        # The spare space of a fresh drive is its whole capacity; with the full scale, the steady state would lie on the
        # axis.
        settled = max({row["variant"]: row[field] for row in rows}.values())
        values = [row[field] for row in rows]
        top = (min(max(values), 4 * settled) if settled > 0 else max(values)) * 1.08
        # Effective OP is below 0 where blocks failed.
        low = min(0.0, min(values) * 1.08)
        high = max(top, 0.0) if low else top or 1.0
        y = vl.Y(f"{field}:Q", title=said, scale=vl.Scale(domain=[low, high], nice=False), axis=horizontal_grid(4))
        x = drive_writes_axis(max(row["drive_writes"] for row in rows), room=0.02)
        layers = line_layers(
            variants, rows, x, y, field=field, said=said, number_format=number_format, legend=not charts
        )
        charts.append(vl.layer(*layers, height=_SMALL_HEIGHT_PX))
    if not charts:
        return None
    return switchable(vl.vconcat(*charts, spacing=24), HIDDEN_VARIANTS)


def _theory_layer(variants: Sequence[ComparedVariant], theory: Sequence[Row]) -> vl.Chart:
    rules = chart(theory).mark("rule", style="theory")
    return rules.encode(vl.X("from:Q"), vl.X2("to"), vl.Y("theory:Q"), variant_colour(variants))


def _settled_layer(variants: Sequence[ComparedVariant], settled: Sequence[Row]) -> vl.Chart:
    diamonds = chart(settled).mark("point", style="mark", shape="diamond", size=170, opacity=1)
    fill = variant_fill(variants, legend=False)
    return diamonds.encode(vl.X("drive_writes:Q"), vl.Y("waf:Q"), fill)


def _settled_waf(variant: ComparedVariant, rows: Sequence[Row]) -> float:
    """The WAF of the steady state, or that of the last window if the variant has no WAF."""
    if variant.waf is not None:
        return variant.waf
    return float([row["waf"] for row in rows if row["variant"] == variant.label][-1])


def _stage_layers(variants: Sequence[ComparedVariant], end: float) -> list[vl.Chart]:
    """A band behind every other stage, and names, if all variants change stage at the same drive writes."""
    starts = [[variant.drive_writes(start) for _, start, _ in variant.stages] for variant in variants]
    names = [name if isinstance(name, str) else f"stage {name}" for name, _, _ in variants[0].stages]
    if len(names) < 2 or any(len(other) != len(names) for other in starts):
        return []
    if any(abs(a - b) > 0.02 * end for other in starts for a, b in zip(starts[0], other, strict=True)):
        return []
    # The last stage ends at each variant's own end.
    bounds = [*starts[0], end]
    bands: list[Row] = [
        {
            "name": name,
            "from": bounds[index],
            "to": bounds[index + 1],
            "middle": (bounds[index] + bounds[index + 1]) / 2,
        }
        for index, name in enumerate(names)
    ]
    layers = [chart(bands[::2]).mark("rect", style="band").encode(vl.X("from:Q"), vl.X2("to"))]
    # A name is shown only if it fits into its band at the current width of the picture.
    fits = f"length(datum.name) * {_CHARACTER_PX} < (datum.to - datum.from) / {end * (1 + LABEL_ROOM)} * width"
    names_below = (
        chart(bands)
        .mark("text", style="note", baseline="bottom", dy=-4)
        .encode(vl.X("middle:Q"), at_y(HEIGHT_PX), vl.Text("shown:N"))
        .calculate("shown", f"{fits} ? datum.name : ''")
    )
    return [*layers, names_below]
