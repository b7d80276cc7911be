"""The parts of the latency, of the mean and of the slowest requests, as stacked bars."""

from collections.abc import Mapping, Sequence

from ssdlab.presentation.report import vegalite as vl
from ssdlab.presentation.report import wording
from ssdlab.presentation.report.charts.encodings import (
    HIDDEN_PARTS,
    HIDDEN_VARIANTS,
    Row,
    at_x,
    chart,
    switchable,
)
from ssdlab.presentation.report.figure import NO_VERTICAL_AXIS, Key, KeyEntry
from ssdlab.presentation.report.variant import LATENCY_PARTS, ComparedVariant

_ROW_PX = 54
_BAR_PX = 20
_UNITS = (("s", 1e9), ("ms", 1e6), ("\N{MICRO SIGN}s", 1e3))
_KINDS = (("mean", "the mean"), ("p99_9", "the slowest 0.1 %"))


def of_kind(variants: Sequence[ComparedVariant], kind: str) -> list[ComparedVariant]:
    """The variants with a breakdown of this kind."""
    return [variant for variant in variants if kind in variant.latency_parts]


def listed_kinds(variants: Sequence[ComparedVariant]) -> str:
    """What the bars show, for the caption."""
    return f"the mean{', and the mean at and above the 99.9th percentile' if of_kind(variants, 'p99_9') else ''}"


def latency_parts_key(variants: Sequence[ComparedVariant]) -> Key:
    """The key of the parts that at least one variant has."""
    indexes = {part: index for index, part in enumerate(LATENCY_PARTS)}
    entries = (KeyEntry(LATENCY_PARTS[part], f"--part-{indexes[part]}") for part in _present(variants))
    return Key(HIDDEN_PARTS, tuple(entries))


def parts_of_latency(variants: Sequence[ComparedVariant]) -> vl.Picture | None:
    """Bars of the mean, and below them of the requests from the 99.9th percentile on, each with its own scale."""
    if not of_kind(variants, "mean"):
        return None
    direction = next((v.speed.direction for v in variants if v.latency_parts and v.speed is not None), "request")
    bars = [
        _bars(drawn, {variant.label: variant.latency_parts[kind] for variant in drawn}, f"{direction} latency, {said}")
        for kind, said in _KINDS
        if (drawn := of_kind(variants, kind))
    ]
    whole = switchable(vl.vconcat(*bars, spacing=26), HIDDEN_VARIANTS, HIDDEN_PARTS)
    return whole.properties(usermeta=NO_VERTICAL_AXIS)


def _bars(drawn: Sequence[ComparedVariant], parts_ns: Mapping[str, Mapping[str, float]], said: str) -> vl.Picture:
    widest_ns = max(sum(parts.values()) for parts in parts_ns.values())
    unit, unit_ns = next((each for each in _UNITS if widest_ns >= each[1]), _UNITS[-1])
    rows: list[Row] = [
        {
            "variant": label,
            "part": name,
            "order": order,
            "duration": parts[part] / unit_ns,
            "share": parts[part] / sum(parts.values()),
        }
        for label, parts in parts_ns.items()
        for order, (part, name) in enumerate(LATENCY_PARTS.items())
        if parts.get(part, 0.0) > 0
    ]
    totals: list[Row] = [
        {"variant": label, "duration": sum(parts.values()) / unit_ns, "total": wording.duration(sum(parts.values()))}
        for label, parts in parts_ns.items()
    ]
    labels = [variant.label for variant in drawn]
    y = vl.Y("variant:N", axis=None, sort=None, scale=vl.Scale(domain=labels, padding=0))
    x = vl.X(
        "duration:Q",
        title=f"{said}, {unit}",
        axis=vl.Axis(grid=True, tickCount=6),
        scale=vl.Scale(domain=[0, widest_ns / unit_ns * 1.16], nice=False),
    )
    colour = vl.Color(
        "part:N",
        scale=vl.Scale(domain=list(LATENCY_PARTS.values()), range="ordinal"),
        legend=vl.Legend(values=[LATENCY_PARTS[part] for part in _present(drawn)]),
    )
    tooltip = [
        vl.Tooltip("variant:N"),
        vl.Tooltip("part:N"),
        vl.Tooltip("duration:Q", title=unit, format=".4~g"),
        vl.Tooltip("share:Q", title="share of the latency", format=".1%"),
    ]
    below = _BAR_PX / 2
    layers = [
        chart(rows)
        .mark("bar", style="segment", size=_BAR_PX, yOffset=below)
        .encode(x, y, colour, vl.Order("order:Q"), tooltip=tooltip),
        chart(totals).mark("text", style="number", align="left", dx=10, yOffset=below).encode(x, y, vl.Text("total:N")),
        # The name is above its bar, so that a long name does not make the bars shorter on a phone.
        chart([{"variant": label} for label in labels])
        .mark("text", style="label", align="left", baseline="bottom", yOffset=-4)
        .encode(y, at_x(0), vl.Text("variant:N")),
    ]
    return vl.layer(*layers, height=_ROW_PX * len(labels))


def _present(variants: Sequence[ComparedVariant]) -> list[str]:
    kinds = [parts for variant in variants for parts in variant.latency_parts.values()]
    return [part for part in LATENCY_PARTS if any(parts.get(part, 0.0) > 0 for parts in kinds)]
