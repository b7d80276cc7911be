"""The effect of spare area: WAF over OP with the closed form, speed and latency over OP."""

from collections.abc import Sequence

from ssdlab.presentation.report import vegalite as vl
from ssdlab.presentation.report import wording
from ssdlab.presentation.report.charts.encodings import (
    DURATION_LABEL,
    HIDDEN_VARIANTS,
    Row,
    chart,
    switchable,
    variant_fill,
)
from ssdlab.presentation.report.charts.over_time import shown_direction
from ssdlab.presentation.report.charts.placing import (
    HEIGHT_PX,
    LABEL_GAP_PX,
    LABEL_ROOM,
    WAF_MIN,
    ValueScale,
    label_layers,
    label_row,
    spread,
)
from ssdlab.presentation.report.variant import ComparedVariant

# For the maximum length of labels: the plot's width in a picture file, the width of a character, and the characters of
# the figure behind the name.
_PLOT_PX = 700
_CHARACTER_PX = 7
_FIGURE_CHARACTERS = 8
# How far a figure without a name reaches, as a share of the axis.
_FIGURE_REACH = 0.16
_NS_PER_US = 1000


def waf_against_over_provisioning(variants: Sequence[ComparedVariant]) -> vl.Picture | None:
    """Points of the simulated WAF and curves of theory; None if there is nothing to compare over OP."""
    measured = [(variant, variant.waf) for variant in variants if variant.waf is not None]
    # The digits of the table, here and below.
    texts = [str(variant.waf_said) for variant, _ in measured]
    curves = {variant.theory_formula or "theory": variant.theory_curve for variant in variants if variant.theory_curve}
    drawn = [variant for variant, _ in measured]
    if not _is_worth_drawing(drawn, has_curve=bool(curves)):
        return None
    right = _right_end(drawn)
    points = [
        _point(variant, waf, text, right)
        | {"theory": "none applies" if variant.theory is None else f"{variant.theory:.3f} ({variant.theory_formula})"}
        for (variant, waf), text in zip(measured, texts, strict=True)
    ]
    theories = [variant.theory for variant, _ in measured if variant.theory is not None]
    top = max([waf for _, waf in measured] + theories) * 1.2
    # At small OP a curve rises far above the points; it is cut there, so that the points use the full height.
    curve = [
        {"formula": formula, "over_provisioning": op * 100, "value": waf}
        for formula, curve_points in curves.items()
        for op, waf in sorted(curve_points)
        if waf <= top and op * 100 <= right
    ]
    scale = ValueScale([*(waf for _, waf in measured), top], bottom_max=WAF_MIN)
    tooltip = [vl.Tooltip("value:Q", title="WAF", format=".3f"), vl.Tooltip("theory:N")]
    return _picture(variants, points, scale, right, "WAF (NAND bytes / host bytes)", tooltip, curve)


def iops_against_over_provisioning(variants: Sequence[ComparedVariant]) -> vl.Picture | None:
    """Points of the simulated requests per second; None if there is nothing to compare over OP, or no clock."""
    measured = [(variant, variant.speed.iops) for variant in variants if variant.speed is not None]
    texts = [wording.estimated(variant.speed.estimate) for variant in variants if variant.speed is not None]
    drawn = [variant for variant, _ in measured]
    # Trims are not among these requests.
    if not _is_worth_drawing(drawn, has_curve=False) or not any(iops for _, iops in measured):
        return None
    right = _right_end(drawn)
    points = [_point(*each, text, right) for each, text in zip(measured, texts, strict=True)]
    scale = ValueScale([*(iops for _, iops in measured), max(iops for _, iops in measured) * 1.2])
    tooltip = [vl.Tooltip("value:Q", title="requests per second", format=",.0f")]
    return _picture(variants, points, scale, right, "requests per second (IOPS)", tooltip, [])


def latency_against_over_provisioning(variants: Sequence[ComparedVariant]) -> vl.Picture | None:
    """The mean latency as circles, the 99.9th percentile as triangles, of the writes, or of the reads without writes.

    None if there is nothing to compare over OP, or no clock.
    """
    measured = [
        (variant, latency_ns, shape, said)
        for variant in variants
        if (speed := variant.speed) is not None
        for latency_ns, shape, said in ((speed.mean, "circle", "mean"), (speed.p999, "triangle-up", "99.9 %"))
        if latency_ns is not None
    ]
    drawn = [variant for variant, _, _, _ in measured]
    if not _is_worth_drawing(drawn, has_curve=False):
        return None
    right = _right_end(drawn)
    points = [
        _point(variant, latency.value / _NS_PER_US, wording.estimated_duration(latency), right)
        | {"shape": shape, "said": said}
        for variant, latency, shape, said in measured
    ]
    latencies = [latency.value / _NS_PER_US for _, latency, _, _ in measured]
    scale = ValueScale([*latencies, max(latencies) * 1.2])
    tooltip = [vl.Tooltip("figure:N", title="latency"), vl.Tooltip("said:N", title="which")]
    direction = shown_direction(variants)
    return _picture(
        variants,
        points,
        scale,
        right,
        f"{direction} latency",
        tooltip,
        [],
        y_axis=scale.axis(DURATION_LABEL),
    )


def _is_worth_drawing(drawn: Sequence[ComparedVariant], *, has_curve: bool) -> bool:
    """Whether the points have different OP, or there is a single point with a curve to compare it with."""
    return len({variant.over_provisioning for variant in drawn}) > 1 or (len(drawn) == 1 and has_curve)


def _right_end(drawn: Sequence[ComparedVariant]) -> float:
    return max(variant.over_provisioning for variant in drawn) * 100 * (1 + 1.6 * LABEL_ROOM) or 1.0


def _point(variant: ComparedVariant, value: float, figure: str, right: float) -> Row:
    at = variant.over_provisioning * 100
    return {
        **label_row(variant, value, figure, _label_characters(at / right)),
        "over_provisioning": at,
        "label_x": at,
        "shape": "circle",
    }


def _picture(
    variants: Sequence[ComparedVariant],
    points: Sequence[Row],
    scale: ValueScale,
    right: float,
    title: str,
    said: Sequence[vl.Tooltip],
    curve: Sequence[Row],
    y_axis: vl.Axis | None = None,
) -> vl.Picture:
    x = vl.X(
        "over_provisioning:Q",
        title="over-provisioning, % of the host's capacity",
        scale=vl.Scale(domain=[0, right], nice=False),
        axis=vl.Axis(tickCount=8),
    )
    y = vl.Y("value:Q", title=title, scale=scale.vegalite, axis=y_axis or scale.axis())
    labels = spread(points, scale, near_x=right * _reach(points), raise_px=12)
    tooltip = [vl.Tooltip("variant:N"), vl.Tooltip("over_provisioning:Q", title="OP, %", format=".2f"), *said]
    layers = [
        *([_curve_layer(curve, x, y)] if curve else []),
        chart(points)
        .mark("point", style="mark", size=180, opacity=1)
        .encode(x, y, variant_fill(variants), vl.Shape("shape:N", scale=None, legend=None), tooltip=tooltip),
        *label_layers(variants, labels, vl.X("label_x:Q"), vl.Y("label_value:Q"), dx=9, dots=False),
    ]
    return switchable(vl.layer(*layers, height=HEIGHT_PX), HIDDEN_VARIANTS)


def _reach(points: Sequence[Row]) -> float:
    """How far to the right of its point a label may reach another, as a share of the axis: as far as the longest is
    wide, unless so many are too high to stand one above another."""
    if len(points) * LABEL_GAP_PX > HEIGHT_PX:
        return _FIGURE_REACH
    longest = max((len(point["text"]) for point in points), default=0)
    return max(_FIGURE_REACH, longest * _CHARACTER_PX / _PLOT_PX)


def _label_characters(position: float) -> int:
    """The maximum length of a name to the right of a point at this share of the axis."""
    return int((1 - position) * _PLOT_PX / _CHARACTER_PX) - _FIGURE_CHARACTERS


def _curve_layer(curve: Sequence[Row], x: vl.X, y: vl.Y) -> vl.Chart:
    line = chart(curve).mark("line", style="theory-curve", clip=True)
    said = [vl.Tooltip("formula:N", title="theory")]
    return line.encode(x, y, vl.Detail("formula:N"), vl.Order("over_provisioning:Q"), tooltip=said)


def curve_names(variants: Sequence[ComparedVariant]) -> str:
    """The names of the drawn closed forms, for the caption; "" if there are none."""
    names = dict.fromkeys(variant.theory_formula or "theory" for variant in variants if variant.theory_curve)
    return wording.listed(list(names)) if names else ""
