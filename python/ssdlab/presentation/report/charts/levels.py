"""A picture of the bytes at each level of a system, one bar a level, from the program down to the flash."""

from collections.abc import Sequence
from dataclasses import dataclass

from ssdlab.presentation.report import vegalite as vl
from ssdlab.presentation.report import wording
from ssdlab.presentation.report.charts.encodings import (
    HIDDEN_VARIANTS,
    Row,
    at_x,
    chart,
    switchable,
    variant_fill,
    variants_key,
)
from ssdlab.presentation.report.figure import NO_VERTICAL_AXIS, Figure

_ROW_PX = 56
_BAR_PX = 20
# Room for the total behind the longest bar.
_ROOM = 1.2


@dataclass(frozen=True)
class Part:
    """A part of a level, in the unit of the picture."""

    level: str
    label: str
    value: float


def stacked_levels(*, name: str, title: str, caption: str, parts: Sequence[Part], x_title: str) -> Figure:
    """A stacked bar for each level, in the given order, with its name above and its total at its end."""
    kept = [part for part in parts if part.value > 0]
    entries = list({part.label: part for part in kept}.values())
    levels = list(dict.fromkeys(part.level for part in kept))
    rows: list[Row] = []
    totals: list[Row] = []
    for level in levels:
        end = 0.0
        for part in kept:
            if part.level == level:
                where = {"level": level, "begin": end, "end": end + part.value}
                rows.append({"variant": part.label, "value": part.value, **where})
                end += part.value
        totals.append({"level": level, "total": end})
    widest = max(row["total"] for row in totals)
    y = vl.Y("level:N", axis=None, sort=None, scale=vl.Scale(domain=levels, padding=0))
    scale = vl.Scale(domain=[0, widest * _ROOM], nice=False)
    x = vl.X("begin:Q", title=x_title, scale=scale, axis=vl.Axis(grid=True, tickCount=6))
    tooltip = [
        vl.Tooltip("level:N"),
        vl.Tooltip("variant:N", title="of which"),
        vl.Tooltip("value:Q", title=x_title, format=",.3~r"),
    ]
    below = _BAR_PX / 2 + 2
    whole = vl.layer(
        chart(rows)
        .mark("bar", style="segment", size=_BAR_PX, yOffset=below)
        .encode(x, y, variant_fill(entries), vl.X2("end"), tooltip=tooltip),
        chart(totals)
        .mark("text", style="number", align="left", baseline="middle", dx=12, yOffset=below)
        .encode(vl.X("total:Q"), y, vl.Text("total:Q", format=",.3~r")),
        chart(totals)
        .mark("text", style="label", align="left", baseline="bottom", yOffset=-4)
        .encode(y, at_x(0), vl.Text("level:N")),
        height=_ROW_PX * len(levels),
    )
    picture = switchable(whole, HIDDEN_VARIANTS).properties(usermeta=NO_VERTICAL_AXIS)
    return Figure(name, wording.unbroken(title), caption, picture, (variants_key(entries),))
