"""Places labels so that they do not overlap. Positions are known, because all scales' domains are set in Python."""

import math
from collections.abc import Sequence
from typing import Any

from ssdlab.presentation.report import vegalite as vl
from ssdlab.presentation.report.charts.encodings import NUMBER_LABEL, Row, chart, number_axis, variant_fill
from ssdlab.presentation.report.variant import ComparedVariant

HEIGHT_PX = 300
# The WAF without any garbage collection.
WAF_MIN = 1.0
# The share of the horizontal axis left free for the labels at the ends of lines.
LABEL_ROOM = 0.15
# A longer label would not fit there; then only the figure is shown, and the key names the line.
_LABEL_CHARACTERS_MAX = 7
# In a plot narrower than this, only the figure fits.
_NARROW_PX = 520
LABEL_GAP_PX = 17
# Above this ratio of largest to smallest value, a linear axis would flatten all variants except one.
_LOGARITHMIC_FROM = 20


class ValueScale:
    """The vertical scale of a plot, with conversion from a value to px from the top of the plot and back.

    It begins at 0. If the values are so different that the scale is logarithmic, it begins below `bottom_max` and all
    values.
    """

    def __init__(self, values: Sequence[float], bottom_max: float = math.inf) -> None:
        high, low = max(values) * 1.08, max(min(values), 1e-3)
        self._logarithmic = high / low > _LOGARITHMIC_FROM
        bottom = min(bottom_max, low) * 0.9 if self._logarithmic else 0.0
        self._low, self._high = self._transformed(bottom), self._transformed(high)
        kind: Any = "log" if self._logarithmic else "linear"
        self.vegalite = vl.Scale(type=kind, domain=[bottom, high], nice=False)
        self._ends = bottom, high

    def axis(self, label: str = NUMBER_LABEL) -> vl.Axis:
        """With ticks that can be read; `label` is the expression of their texts."""
        return number_axis("log" if self._logarithmic else "linear", 6, *self._ends, grid=True, label=label)

    def _transformed(self, value: float) -> float:
        return math.log(value) if self._logarithmic else value

    def px(self, value: float) -> float:
        return (self._high - self._transformed(value)) / (self._high - self._low) * HEIGHT_PX

    def value(self, px: float) -> float:
        transformed = self._high - px / HEIGHT_PX * (self._high - self._low)
        return math.exp(transformed) if self._logarithmic else transformed


def spread(labels: Sequence[Row], scale: ValueScale, *, near_x: float = math.inf, raise_px: float = 0) -> list[Row]:
    """The labels with `label_value`, separated from neighbours whose `label_x` is less than `near_x` away.

    The separation is at least a line's height. Labels start `raise_px` above their `value` and keep their vertical
    order.
    """
    groups: list[list[Row]] = []
    for label in sorted(labels, key=lambda row: row["label_x"]):
        if groups and label["label_x"] - groups[-1][-1]["label_x"] < near_x:
            groups[-1].append(label)
        else:
            groups.append([label])
    placed: list[Row] = []
    for group in groups:
        group.sort(key=lambda row: -row["value"])
        wanted = [scale.px(row["value"]) - raise_px for row in group]
        placed += [
            {**row, "label_value": scale.value(px)}
            for row, px in zip(group, separated(wanted, LABEL_GAP_PX), strict=True)
        ]
    return placed


def separated(positions: Sequence[float], gap: float, low: float = 6, high: float = HEIGHT_PX - 6) -> list[float]:
    """Moves ascending positions as little as needed to be `gap` apart, within [low, high] if they fit.

    Neighbours that overlap are merged into one block around their mean, as in isotonic regression.
    """
    blocks: list[list[float]] = []  # [sum of (position - its offset in the block), members]
    for position in positions:
        blocks.append([position, 1])
        while len(blocks) > 1 and blocks[-1][0] / blocks[-1][1] < blocks[-2][0] / blocks[-2][1] + blocks[-2][1] * gap:
            total, count = blocks.pop()
            previous_total, previous_count = blocks[-1]
            blocks[-1] = [previous_total + total - count * previous_count * gap, previous_count + count]
    result = [total / count + index * gap for total, count in blocks for index in range(int(count))]
    for index, position in enumerate(result):
        result[index] = max(position, low + index * gap)
    for from_end, index in enumerate(reversed(range(len(result)))):
        result[index] = min(result[index], high - from_end * gap)
    return result


def label_row(variant: ComparedVariant, value: float, figure: str, characters_max: int = _LABEL_CHARACTERS_MAX) -> Row:
    """The texts of a variant's label: name and figure (`figure` is the text of `value`), or only the figure."""
    named = len(variant.label) <= characters_max
    return {
        "variant": variant.label,
        "value": value,
        "figure": figure,
        "text": f"{variant.label}: {figure}" if named else figure,
    }


def label_layers(
    variants: Sequence[ComparedVariant], labels: Sequence[Row], x: vl.X, y: vl.Y, *, dx: float, dots: bool
) -> list[vl.Chart]:
    """The texts to the right of `label_x` and `label_value`; with `dots`, also a dot in the variant's colour."""
    texts = (
        chart(labels)
        .mark("text", style="number", align="left", baseline="middle", dx=dx)
        .encode(x, y, vl.Text("shown:N"))
        .calculate("shown", f"width < {_NARROW_PX} ? datum.figure : datum.text")
    )
    if not dots:
        return [texts]
    points = chart(labels).mark("point", style="mark", shape="circle", size=60, opacity=1)
    return [points.encode(x, y, variant_fill(variants, legend=False)), texts]
