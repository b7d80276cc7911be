"""Elements that charts share: colours of variants, keys that hide rows, the axis of drive writes, rows of series."""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import polars as pl

from ssdlab.foundation.foreign import TableRow
from ssdlab.presentation.report import vegalite as vl
from ssdlab.presentation.report import wording
from ssdlab.presentation.report.figure import Key, KeyEntry
from ssdlab.presentation.report.theme import LIGHT
from ssdlab.presentation.report.variant import PARTS, ComparedVariant

Row = TableRow


class Labelled(Protocol):
    """An item with a colour and an entry in the key: a variant of a comparison, a line of a study."""

    @property
    def label(self) -> str: ...


HIDDEN_VARIANTS = "hidden_variants"
HIDDEN_PARTS = "hidden_parts"
# The columns by which keys hide rows. Rows without these columns (curves, bands) are always shown.
_SWITCHES = {"variant": HIDDEN_VARIANTS, "part": HIDDEN_PARTS}
_COLOURS = len(LIGHT.variants)
_IN_HOST_WRITES = (
    vl.Tooltip("drive_writes:Q", title="drive writes", format=".3f"),
    vl.Tooltip("host_written:N", title="written by the host"),
    vl.Tooltip("stage:N"),
)


# The colour of a policy, by its number in the theme. Victim and placement policies are not in one picture.
_COLOUR_OF = {
    "greedy": 0,
    "fifo": 1,
    "d-choices": 2,
    "windowed-greedy": 3,
    "cost-benefit": 4,
    "cost-benefit-by-loss": 6,
    "random": 5,
    "single": 0,
    "host-gc-split": 1,
    "host-streams": 2,
    "frequency-frontiers": 3,
    "class-spare": 4,
}
_WORD = re.compile(r"[\w-]+")


def colours_of(labels: Sequence[str]) -> list[int]:
    """The number of each label's colour in the theme: that of the policy that it names, which is the same on all pages,
    if no label before it has that; otherwise the first that is free. From the ninth label on, colours repeat."""
    first = labels[:_COLOURS]
    found: dict[str, int] = {}
    for label in first:
        wanted = next((_COLOUR_OF[word] for word in _WORD.findall(label) if word in _COLOUR_OF), None)
        if wanted is not None and wanted not in found.values():
            found[label] = wanted
    free = [colour for colour in range(_COLOURS) if colour not in found.values()]
    for label in first:
        if label not in found:
            found[label] = free.pop(0)
    ordered = [found[label] for label in first]
    return [ordered[index % _COLOURS] for index in range(len(labels))]


def variant_scale(labels: Sequence[str]) -> vl.Scale:
    """The colours of `colours_of` as a scale. Unused colours have a placeholder, which keys leave out."""
    colours = colours_of(labels)
    blocks = -(-len(labels) // _COLOURS)
    domain = [f"\N{WORD JOINER}{place}" for place in range(blocks * _COLOURS)]
    for index, (label, colour) in enumerate(zip(labels, colours, strict=True)):
        domain[index // _COLOURS * _COLOURS + colour] = label
    last = max((place for place, label in enumerate(domain) if label in set(labels)), default=-1)
    return vl.Scale(domain=domain[: last + 1], range="category")


def variants_key(variants: Sequence[Labelled]) -> Key:
    """The key of variants; from the ninth variant on, colours repeat with dashed lines."""
    labels = _labels(variants)
    entries = (
        KeyEntry(label, f"--variant-{colour}", dashed=index >= _COLOURS)
        for index, (label, colour) in enumerate(zip(labels, colours_of(labels), strict=True))
    )
    return Key(HIDDEN_VARIANTS, tuple(entries))


def parts_key(variants: Sequence[ComparedVariant]) -> Key:
    """The key of the parts of NAND writes that at least one variant has."""
    indexes = {part: index for index, part in enumerate(PARTS)}
    entries = (KeyEntry(PARTS[part], f"--part-{indexes[part]}") for part in present_parts(variants))
    return Key(HIDDEN_PARTS, tuple(entries))


def present_parts(variants: Sequence[ComparedVariant]) -> list[str]:
    return [part for part in PARTS if any(variant.waf_parts.get(part, 0.0) > 0 for variant in variants)]


def chart(rows: Sequence[Mapping[str, Any]]) -> vl.Chart:
    """A chart of these rows, without those that a key hides.

    Each layer filters its own rows: a layer with its own data does not inherit the transforms of the whole picture.
    """
    result = vl.chart_of(rows)
    for field, parameter in _SWITCHES.items():
        if any(field in row for row in rows):
            result = result.transform(filter=f"indexof({parameter}, datum['{field}']) < 0")
    return result


def switchable(whole: vl.Picture, *parameters: str) -> vl.Picture:
    """The picture with the parameters that filter its rows: lists of hidden values."""
    return whole.add_params(*({"name": name, "value": []} for name in parameters))


def variant_colour(variants: Sequence[Labelled], *, legend: bool = True) -> vl.Color:
    """The colour of lines and bars; the legend shows lines."""
    # Solid, although the dashed lines of theory use the same legend.
    solid = vl.Legend(
        symbolType="stroke", symbolStrokeWidth=3, symbolDash=[1, 0], symbolOpacity=1, values=_labels(variants)
    )
    strokes = solid if legend and len(variants) > 1 else None
    return vl.Color("variant:N", scale=_scale(variants), legend=strokes)


def variant_fill(variants: Sequence[Labelled], *, legend: bool = True) -> vl.Fill:
    """The colour of filled points."""
    squares = vl.Legend(values=_labels(variants)) if legend and len(variants) > 1 else None
    return vl.Fill("variant:N", scale=_scale(variants), legend=squares)


def variant_dash(variants: Sequence[Labelled]) -> vl.StrokeDash:
    dashes = [[6, 3] if index >= _COLOURS else [1, 0] for index in range(len(variants))]
    return vl.StrokeDash("variant:N", scale=vl.Scale(domain=_labels(variants), range=dashes), legend=None)


def drive_writes_axis(drive_writes_max: float, room: float, field: str = "drive_writes") -> vl.X:
    """The axis of host writes in multiples of the drive's capacity; `room` is the share left free for labels."""
    return vl.X(
        f"{field}:Q",
        title="drive writes (bytes from the host / capacity)",
        scale=vl.Scale(domain=[0, drive_writes_max * (1 + room)], nice=False),
        axis=vl.Axis(tickCount=8, labelExpr=f"datum.value > {drive_writes_max * 1.0001} ? '' : datum.label"),
    )


# For axes in microseconds: each label in a suitable unit.
DURATION_LABEL = (
    "datum.value >= 1e6 ? format(datum.value / 1e6, '~') + ' s' : "
    "datum.value >= 1e3 ? format(datum.value / 1e3, '~') + ' ms' : format(datum.value, '~') + ' \N{MICRO SIGN}s'"
)


# For axes of counts and rates: "2 M" instead of 2,000,000, which is wider than the space for labels.
NUMBER_LABEL = (
    "abs(datum.value) >= 1e9 ? format(datum.value / 1e9, ',.4~r') + ' G' : "
    "abs(datum.value) >= 1e6 ? format(datum.value / 1e6, ',.4~r') + ' M' : datum.label"
)


def at_x(pixels: float) -> vl.Value:
    """A place from the left edge of the plot."""
    return vl.Value("x", pixels)


def at_y(pixels: float) -> vl.Value:
    """A place from the upper edge of the plot."""
    return vl.Value("y", pixels)


def horizontal_grid(ticks: int) -> vl.Axis:
    return vl.Axis(tickCount=ticks, grid=True, labelExpr=NUMBER_LABEL)


# Above this ratio of its ends, a logarithmic axis has a label for each power of ten; below, also for 2 and 5 times it.
_DECADES_ONLY = 2000


def number_axis(scale: str, ticks: int, low: float, high: float, *, grid: bool, label: str = NUMBER_LABEL) -> vl.Axis:
    """The axis of a quantity between `low` and `high`. On a "log" scale its labels are at 1, 2 and 5 times the powers
    of ten: Vega leaves out those of its own that would overlap, which gives series such as 0.2, 1, 2, 10, 20."""
    if scale != "log" or low <= 0:
        return vl.Axis(tickCount=ticks, grid=grid, labelExpr=label)
    steps = (1,) if high / low > _DECADES_ONLY else (1, 2, 5)
    exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    values = [float(f"{step}e{exponent}") for exponent in exponents for step in steps]
    inside = [value for value in values if low <= value <= high]
    if len(inside) < 2:
        return vl.Axis(tickCount=ticks, grid=grid, labelExpr=label)
    return vl.Axis(values=inside, grid=grid, labelExpr=label)


def rows_of(
    variants: Sequence[ComparedVariant], series: Sequence[pl.DataFrame], column: str, factor: float = 1
) -> list[Row]:
    """Rows of all variants for one column of their series, without nulls."""
    return [
        {
            "variant": variant.label,
            "drive_writes": round(variant.drive_writes(host), 5),
            "host_written": wording.size(host),
            "stage": stage,
            column: round(value * factor, 4),
        }
        for variant, frame in zip(variants, series, strict=True)
        for host, stage, value in frame.select("host_written_bytes", "stage", column).iter_rows()
        if value is not None
    ]


def line_layers(
    variants: Sequence[Labelled],
    rows: Sequence[Row],
    x: vl.X,
    y: vl.Y,
    *,
    field: str,
    said: str,
    number_format: str,
    legend: bool = True,
    along: str = "drive_writes",
    where: Sequence[vl.Tooltip] = _IN_HOST_WRITES,
    name: str | None = None,
    order: str | None = None,
) -> list[vl.Chart]:
    """Lines of `field`, and the point nearest to the pointer, with a tooltip that labels the field `said`.

    `along` is the field of the horizontal axis, and `order` that by which points are joined, if it is another; `where`
    are the further lines of the tooltip. `name` distinguishes two pictures of the same field.
    """
    colour = variant_colour(variants, legend=legend)
    line = chart(rows).mark("line", clip=True).encode(x, y, colour, vl.Order(f"{order or along}:Q"))
    if len(variants) > _COLOURS:
        line = line.encode(variant_dash(variants))
    counts = Counter(row["variant"] for row in rows)
    # A line of one point is none.
    lone = [row for row in rows if counts[row["variant"]] == 1]
    nearest = f"nearest_{name or field}"
    under_pointer = {"type": "point", "on": "pointerover", "clear": "pointerout", "nearest": True}
    points = (
        chart(rows)
        .mark("point", style="mark", size=80, clip=True)
        .encode(
            x,
            y,
            variant_fill(variants, legend=False),
            vl.Value("opacity", 0, condition={"param": nearest, "empty": False, "value": 1}),
            tooltip=[
                vl.Tooltip("variant:N"),
                *where,
                vl.Tooltip(f"{field}:Q", title=said, format=number_format),
            ],
        )
        .add_params({"name": nearest, "select": under_pointer | {"fields": ["variant", along]}})
    )
    if not lone:
        return [line, points]
    dots = chart(lone).mark("point", style="mark", size=60, opacity=1)
    return [line, dots.encode(x, y, variant_fill(variants, legend=False)), points]


def _labels(variants: Sequence[Labelled]) -> list[str]:
    return [variant.label for variant in variants]


def _scale(variants: Sequence[Labelled]) -> vl.Scale:
    return variant_scale(_labels(variants))
