"""The causes of flash writes: units programmed into NAND per unit from the host, by cause, as stacked bars."""

from collections.abc import Sequence

import altair as alt

from ssdlab.presentation.report.charts.encodings import (
    HIDDEN_PARTS,
    HIDDEN_VARIANTS,
    Picture,
    at_x,
    chart,
    present_parts,
    switchable,
)
from ssdlab.presentation.report.figure import NO_VERTICAL_AXIS
from ssdlab.presentation.report.variant import PARTS, ComparedVariant

_ROW_PX = 54
_BAR_PX = 20


def parts_of_nand_writes(variants: Sequence[ComparedVariant]) -> Picture | None:
    """Stacked bars with their sums, and a tick at the sum that theory predicts."""
    drawn = [variant for variant in variants if sum(variant.waf_parts.values()) > 0]
    if not drawn:
        return None
    rows = [
        {
            "variant": variant.label,
            "part": name,
            "order": order,
            "units": variant.waf_parts[part],
            "share": variant.waf_parts[part] / sum(variant.waf_parts.values()),
            "decimals": variant.waf_decimals,
        }
        for variant in drawn
        for order, (part, name) in enumerate(PARTS.items())
        if variant.waf_parts.get(part, 0.0) > 0
    ]
    theory = [{"variant": variant.label, "theory": variant.theory} for variant in drawn if variant.theory is not None]
    widest = max(
        [sum(variant.waf_parts.values()) for variant in drawn] + [v.theory for v in drawn if v.theory is not None]
    )
    labels = [variant.label for variant in drawn]
    y = alt.Y("variant:N", axis=None, sort=None, scale=alt.Scale(domain=labels, padding=0))
    x = alt.X(
        "units:Q",
        title="units programmed to NAND per host unit",
        axis=alt.Axis(grid=True, tickCount=6),
        scale=alt.Scale(domain=[0, widest * 1.16], nice=False),
    )
    colour = alt.Color(
        "part:N",
        scale=alt.Scale(domain=list(PARTS.values()), range="ordinal"),
        legend=alt.Legend(values=[PARTS[part] for part in present_parts(drawn)]),
    )
    tooltip = [
        alt.Tooltip("variant:N"),
        alt.Tooltip("part:N"),
        alt.Tooltip("units:Q", title="per host unit", format=".3f"),
        alt.Tooltip("share:Q", title="share of NAND writes", format=".1%"),
    ]
    below = _BAR_PX / 2
    layers = [
        chart(rows)
        .mark_bar(style="segment", size=_BAR_PX, yOffset=below)
        .encode(x, y, colour, alt.Order("order:Q"), tooltip=tooltip),
        chart(rows)
        .transform_aggregate(units="sum(units)", groupby=["variant", "decimals"])
        .transform_calculate(total="format(datum.units, ',.' + datum.decimals + 'f')")
        .mark_text(style="number", align="left", dx=10, yOffset=below)
        .encode(x, y, text=alt.Text("total:N")),
        # The name is above its bar, so that a long name does not make the bars shorter on a phone.
        chart([{"variant": label} for label in labels])
        .mark_text(style="label", align="left", baseline="bottom", yOffset=-4)
        .encode(y, at_x(0), alt.Text("variant:N")),
    ]
    if theory:
        marks = chart(theory).mark_tick(style="theory-tick", size=_BAR_PX + 10, yOffset=below, orient="vertical")
        said = [alt.Tooltip("variant:N"), alt.Tooltip("theory:Q", format=".3f")]
        layers.append(marks.encode(alt.X("theory:Q"), y, tooltip=said))
    whole = switchable(alt.layer(*layers), HIDDEN_VARIANTS, HIDDEN_PARTS)
    return whole.properties(height=_ROW_PX * len(labels), usermeta=NO_VERTICAL_AXIS)
