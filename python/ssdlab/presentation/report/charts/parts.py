"""The causes of flash writes: units programmed into NAND per unit from the host, by cause, as stacked bars."""

from collections.abc import Sequence

from ssdlab.presentation.report import vegalite as vl
from ssdlab.presentation.report.charts.encodings import (
    HIDDEN_PARTS,
    HIDDEN_VARIANTS,
    at_x,
    chart,
    present_parts,
    switchable,
)
from ssdlab.presentation.report.figure import NO_VERTICAL_AXIS
from ssdlab.presentation.report.variant import PARTS, ComparedVariant

_ROW_PX = 54
_BAR_PX = 20


def parts_of_nand_writes(variants: Sequence[ComparedVariant]) -> vl.Picture | None:
    """Stacked bars with their sums, and a tick at the sum that theory predicts."""
    drawn = [variant for variant in variants if sum(variant.determined_waf_parts.values()) > 0]
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
    y = vl.Y("variant:N", axis=None, sort=None, scale=vl.Scale(domain=labels, padding=0))
    x = vl.X(
        "units:Q",
        title="units programmed to NAND per host unit",
        axis=vl.Axis(grid=True, tickCount=6),
        scale=vl.Scale(domain=[0, widest * 1.16], nice=False),
    )
    colour = vl.Color(
        "part:N",
        scale=vl.Scale(domain=list(PARTS.values()), range="ordinal"),
        legend=vl.Legend(values=[PARTS[part] for part in present_parts(drawn)]),
    )
    tooltip = [
        vl.Tooltip("variant:N"),
        vl.Tooltip("part:N"),
        vl.Tooltip("units:Q", title="per host unit", format=".3f"),
        vl.Tooltip("share:Q", title="share of NAND writes", format=".1%"),
    ]
    below = _BAR_PX / 2
    layers = [
        chart(rows)
        .mark("bar", style="segment", size=_BAR_PX, yOffset=below)
        .encode(x, y, colour, vl.Order("order:Q"), tooltip=tooltip),
        chart(rows)
        .transform(aggregate=[{"op": "sum", "field": "units", "as": "units"}], groupby=["variant", "decimals"])
        .calculate("total", "format(datum.units, ',.' + datum.decimals + 'f')")
        .mark("text", style="number", align="left", dx=10, yOffset=below)
        .encode(x, y, vl.Text("total:N")),
        # The name is above its bar, so that a long name does not make the bars shorter on a phone.
        chart([{"variant": label} for label in labels])
        .mark("text", style="label", align="left", baseline="bottom", yOffset=-4)
        .encode(y, at_x(0), vl.Text("variant:N")),
    ]
    if theory:
        marks = chart(theory).mark("tick", style="theory-tick", size=_BAR_PX + 10, yOffset=below, orient="vertical")
        said = [vl.Tooltip("variant:N"), vl.Tooltip("theory:Q", format=".3f")]
        layers.append(marks.encode(vl.X("theory:Q"), y, tooltip=said))
    whole = switchable(vl.layer(*layers), HIDDEN_VARIANTS, HIDDEN_PARTS)
    return whole.properties(height=_ROW_PX * len(labels), usermeta=NO_VERTICAL_AXIS)
