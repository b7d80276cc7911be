"""Pictures of studies: simulated values as lines or bars with their spread over seeds, published values as marks."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from ssdlab.presentation.report import vegalite as vl
from ssdlab.presentation.report import wording
from ssdlab.presentation.report.charts.encodings import (
    HIDDEN_VARIANTS,
    NUMBER_LABEL,
    Labelled,
    Row,
    at_x,
    chart,
    line_layers,
    number_axis,
    switchable,
    variant_colour,
    variant_fill,
    variants_key,
)
from ssdlab.presentation.report.figure import NO_VERTICAL_AXIS, Figure
from ssdlab.presentation.report.lines import Line, Marks

__all__ = ["Bar", "Line", "Marks", "Panel", "published_bars", "published_lines", "published_panels"]

_HEIGHT_PX = 320
_PANEL_PX = 200
_ROW_PX = 46
_BAR_PX = 16
_PANEL_TITLE_PX = 14
# Free space at the ends of the axes, as shares of their length.
_ROOM_X = 0.03
_ROOM_Y = 0.08
# Points that all lie behind this share of the axis would leave so much of it empty.
_FAR = 0.4
# More labels than this run into each other on a phone.
_DOUBLINGS_MAX = 8


@dataclass(frozen=True)
class Bar:
    """A simulated value of `label` in a category, with its spread over the seeds and the published value."""

    category: str
    label: str
    value: float
    published: float | tuple[float, float] | None = None
    spread: tuple[float, float] | None = None


@dataclass(frozen=True)
class Panel:
    """One of several pictures over the same horizontal axis."""

    y_title: str
    lines: Sequence[Line]
    marks: Sequence[Marks] = ()


@dataclass(frozen=True)
class _Entry:
    label: str


def published_lines(
    *,
    name: str,
    title: str,
    caption: str,
    lines: Sequence[Line],
    x_title: str,
    y_title: str,
    marks: Sequence[Marks] = (),
    scale: Literal["linear", "log"] = "linear",
    scale_x: Literal["linear", "log"] = "linear",
    number_format: str = ",.3~r",
    marked: str = "published",
    x_ticks: Sequence[float] = (),
) -> Figure:
    """Lines over a common horizontal axis, which begins at 0 unless it is logarithmic or all points are far from 0.

    `title` is the finding. The axis titles include units. `marked` is the word for the values shown as marks.
    `x_ticks` are where the horizontal axis has its labels, if not at round figures.
    """
    entries = _entries([*lines, *marks])
    panel = Panel(y_title, lines, marks)
    whole = _lines(name, panel, entries, x_title, number_format, marked, scale, scale_x, x_ticks).properties(
        height=_HEIGHT_PX
    )
    return Figure(name, wording.unbroken(title), caption, switchable(whole, HIDDEN_VARIANTS), (variants_key(entries),))


def published_panels(*, name: str, title: str, caption: str, panels: Sequence[Panel], x_title: str) -> Figure:
    """Panels one below the other over the same horizontal axis, as `published_lines` draws each."""
    labelled: list[Line | Marks] = []
    for panel in panels:
        labelled += [*panel.lines, *panel.marks]
    entries = _entries(labelled)
    along = [x for each in labelled for x, _ in each.points]
    ends = min(along), max(along)
    drawn = [
        _lines(
            f"{name}_{index}", panel, entries, x_title, ",.3~r", "published", "linear", "linear", x_ends=ends
        ).properties(height=_PANEL_PX)
        for index, panel in enumerate(panels)
    ]
    whole = switchable(vl.vconcat(*drawn, spacing=20), HIDDEN_VARIANTS)
    return Figure(name, wording.unbroken(title), caption, whole, (variants_key(entries),))


def _lines(
    name: str,
    panel: Panel,
    entries: Sequence[Labelled],
    x_title: str,
    number_format: str,
    marked: str,
    scale: Literal["linear", "log"],
    scale_x: Literal["linear", "log"],
    x_ticks: Sequence[float] = (),
    x_ends: tuple[float, float] | None = None,
) -> vl.Picture:
    lines, marks, y_title = panel.lines, panel.marks, panel.y_title
    # The rows of a line that turns back need the order of its points.
    turns = any(after[0] < before[0] for line in lines for before, after in pairwise(line.points))
    line_rows = [
        {"variant": line.label, "x": x, "y": y} | ({"place": place} if turns else {})
        for line in lines
        for place, (x, y) in enumerate(line.points)
    ]
    mark_rows = [{"variant": mark.label, "x": x, "y": y} for mark in marks for x, y in mark.points]
    band_rows = [
        {"variant": each.label, "x": x, "low": low, "high": high} for each in lines for x, low, high in each.spread
    ]
    at = [point for line in lines for point in line.points] + [point for each in marks for point in each.points]
    values = [y for _, y in at] + [end for line in lines for _, *ends in line.spread for end in ends]
    x_least, x_end = x_ends or (min(x for x, _ in at), max(x for x, _ in at))
    x_begin = x_least * (1 - _ROOM_X) if scale_x == "log" else 0
    if scale_x == "linear" and x_least > _FAR * x_end:
        x_begin = x_least - _ROOM_X * (x_end - x_least)
    ticks = list(x_ticks) or (_doublings([x for x, _ in at]) if scale_x == "log" else [])
    bottom = min(values) * (1 - _ROOM_Y) if scale == "log" else min(0.0, min(values) * (1 + _ROOM_Y))
    x = vl.X(
        "x:Q",
        title=x_title,
        scale=vl.Scale(type=scale_x, domain=[x_begin, x_end * (1 + _ROOM_X)], nice=False),
        axis=vl.Axis(values=ticks) if ticks else number_axis(scale_x, 7, x_begin, x_end, grid=False),
    )
    y_scale = vl.Scale(type=scale, domain=[bottom, max(values) * (1 + _ROOM_Y)], nice=False)
    y = vl.Y("y:Q", title=y_title, scale=y_scale, axis=number_axis(scale, 6, bottom, max(values), grid=True))
    layers: list[vl.Chart] = []
    if band_rows:
        band = chart(band_rows).mark("area", opacity=0.22, clip=True)
        layers.append(
            # The colour is encoded as for the lines: with a separate fill, the key of the lines would disappear.
            band.encode(x, vl.Y("low:Q", scale=y_scale), vl.Y2("high"), variant_colour(entries))
        )
    if line_rows:
        where = [vl.Tooltip("x:Q", title=x_title, format=",.4~r")]
        layers += line_layers(
            entries,
            line_rows,
            x,
            y,
            field="y",
            said=y_title,
            number_format=number_format,
            along="x",
            where=where,
            name=name.replace("-", "_"),
            order="place" if turns else None,
        )
    dots = [{"variant": line.label, "x": x, "y": y} for line in lines if line.dotted for x, y in line.points]
    if dots:
        layers.append(
            chart(dots).mark("point", style="mark", size=60).encode(x, y, variant_fill(entries, legend=False))
        )
    if mark_rows:
        tooltip = [
            vl.Tooltip("variant:N"),
            vl.Tooltip("x:Q", title=x_title, format=",.4~r"),
            vl.Tooltip("y:Q", title=f"{marked} {y_title}", format=number_format),
        ]
        points = chart(mark_rows).mark("point", style="mark", shape="diamond", size=190, opacity=1)
        layers.append(points.encode(x, y, variant_fill(entries, legend=not line_rows), tooltip=tooltip))
    return vl.layer(*layers)


def _doublings(at: Sequence[float]) -> list[float]:
    """Ticks where the points are if all are powers of two, such as depths and sizes; empty otherwise."""
    distinct = sorted(set(at))
    if any(each <= 0 or not math.log2(each).is_integer() for each in distinct):
        return []
    return distinct[:: -(-len(distinct) // _DOUBLINGS_MAX)]


def published_bars(
    *,
    name: str,
    title: str,
    caption: str,
    bars: Sequence[Bar],
    x_title: str,
    number_format: str = ",.3~r",
    own_axes: bool = False,
    said: str = "simulated",
) -> Figure:
    """Bars by category and label, each with its name above it, its figure at its end, and marks of published values.

    With `own_axes`, each category is a panel with its own axis, for figures of different kinds. `said` is the word for
    the values shown as bars.
    """
    entries = _entries(bars)
    panels = [[bar for bar in bars if bar.category == each] for each in dict.fromkeys(bar.category for bar in bars)]
    whole = (
        vl.vconcat(*(_panel(panel, entries, x_title, number_format, said) for panel in panels), spacing=20)
        if own_axes
        else _bars(bars, entries, x_title, number_format, said, named=True)
    )
    picture = switchable(whole, HIDDEN_VARIANTS).properties(usermeta=NO_VERTICAL_AXIS)
    return Figure(name, wording.unbroken(title), caption, picture, (variants_key(entries),))


def _panel(bars: Sequence[Bar], entries: Sequence[Labelled], x_title: str, number_format: str, said: str) -> vl.Picture:
    """The bars of one category under a title with its name and the unit."""
    text = f"{bars[0].category}, {x_title}" if x_title else bars[0].category
    title = {"text": text, "fontSize": _PANEL_TITLE_PX, "offset": 2}
    return _bars(bars, entries, None, number_format, said, named=False).properties(title=title)


def _bars(
    bars: Sequence[Bar],
    entries: Sequence[Labelled],
    x_title: str | None,
    number_format: str,
    said: str,
    *,
    named: bool,
) -> vl.Picture:
    """Bars on one axis; `named` adds the category to each name."""
    rows: list[Row] = [
        {
            "variant": bar.label,
            "row": f"{bar.category}\n{bar.label}",
            "name": ", ".join([bar.category] * named + [bar.label] * (len(entries) > 1)),
            "value": bar.value,
            "low": bar.spread[0] if bar.spread else None,
            "high": bar.spread[1] if bar.spread else None,
            # The figure is behind the rightmost element of the row.
            "end": max([bar.value, *_flat(bar.published), *(bar.spread or ())]) if _near(bar) else bar.value,
        }
        for bar in bars
    ]
    published: list[Row] = [
        {"variant": bar.label, "row": f"{bar.category}\n{bar.label}", "published": value}
        for bar in bars
        for value in _flat(bar.published)
    ]
    widest = max([row["value"] for row in rows] + [row["published"] for row in published])
    domain = [row["row"] for row in rows]
    y = vl.Y("row:N", axis=None, sort=None, scale=vl.Scale(domain=domain, padding=0))
    x = vl.X(
        "value:Q",
        title=x_title,
        axis=vl.Axis(grid=True, tickCount=6, labelExpr=NUMBER_LABEL),
        scale=vl.Scale(domain=[0, widest * 1.18], nice=False),
    )
    tooltip = [vl.Tooltip("name:N", title="what"), vl.Tooltip("value:Q", title=said, format=number_format)]
    below = _BAR_PX / 2 + 2
    layers: list[vl.Chart] = [
        chart(rows)
        .mark("bar", style="segment", size=_BAR_PX, yOffset=below)
        .encode(x, y, variant_fill(entries), tooltip=tooltip),
        chart(rows)
        .mark("text", style="number", align="left", baseline="middle", dx=12, yOffset=below)
        .encode(vl.X("end:Q"), y, vl.Text("value:Q", format=number_format)),
        chart(rows)
        .mark("text", style="label", align="left", baseline="bottom", yOffset=-4)
        .encode(y, at_x(0), vl.Text("name:N")),
    ]
    if any(row["low"] is not None for row in rows):
        spread = chart([row for row in rows if row["low"] is not None]).mark("rule", style="theory-tick", yOffset=below)
        layers.append(spread.encode(vl.X("low:Q"), vl.X2("high"), y))
    if published:
        mark = chart(published).mark(
            "tick", style="theory-tick", size=_BAR_PX + 10, yOffset=below, orient="vertical", thickness=3, opacity=1
        )
        of_mark = [vl.Tooltip("variant:N"), vl.Tooltip("published:Q", format=number_format)]
        layers.append(mark.encode(vl.X("published:Q"), y, tooltip=of_mark))
    return vl.layer(*layers, height=_ROW_PX * len(rows))


def _flat(published: float | tuple[float, float] | None) -> tuple[float, ...]:
    return () if published is None else published if isinstance(published, tuple) else (published,)


def _near(bar: Bar) -> bool:
    """Whether a mark would overlap the figure at the bar's end."""
    return any(bar.value <= each <= bar.value * 1.25 for each in (*_flat(bar.published), *(bar.spread or ())))


def _entries(labelled: Sequence[Labelled]) -> list[_Entry]:
    """Each label once, in order of appearance; reads before writes, so that both have one colour on all charts."""
    labels = dict.fromkeys(each.label for each in labelled)
    return [_Entry(label) for label in sorted(labels, key=lambda label: label != "read")]
