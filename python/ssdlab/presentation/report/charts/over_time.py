"""Charts over simulated time: the speed of the last stage from its start, and the latencies."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from ssdlab.presentation.report import vegalite as vl
from ssdlab.presentation.report import wording
from ssdlab.presentation.report.charts.encodings import (
    DURATION_LABEL,
    HIDDEN_VARIANTS,
    Row,
    chart,
    line_layers,
    switchable,
)
from ssdlab.presentation.report.charts.placing import HEIGHT_PX, LABEL_ROOM, ValueScale, label_layers, label_row, spread
from ssdlab.presentation.report.thinning import merge_intervals
from ssdlab.presentation.report.variant import ComparedVariant

_FIRST_SECONDS = 30 * 60
# If the stage is only slightly longer than its beginning, there is no separate picture of the beginning.
_FIRST_SHARE_MAX = 0.6
_FIRST_HEIGHT_PX = 190
_POINTS_MAX = 300
LATENCY_POINTS_MAX = 200
_SMALL_HEIGHT_PX = 120
_UNITS = (("hours", 3600.0, 3.0), ("minutes", 60.0, 3.0), ("seconds", 1.0, 0.0))
# With the share of requests above it: one in so many.
_PERCENTILES = (("p50", "median", 2), ("p99", "99 %", 100), ("p999", "99.9 %", 1000))
# What a point needs above its percentile, as everywhere.
_ABOVE_MIN = 10
_NS_PER_US = 1000


@dataclass(frozen=True)
class _Time:
    """The horizontal axis: simulated time since the start of the stage, in a suitable unit."""

    unit: str
    seconds: float
    end: float

    @classmethod
    def until(cls, end_seconds: float) -> "_Time":
        unit, seconds, _ = next(each for each in _UNITS if end_seconds / each[1] >= each[2])
        return cls(unit, seconds, end_seconds / seconds)

    def axis(self, room: float) -> vl.X:
        return vl.X(
            "time:Q",
            title=f"simulated time, {self.unit}",
            scale=vl.Scale(domain=[0, self.end * (1 + room)], nice=False),
            axis=vl.Axis(tickCount=8, labelExpr=f"datum.value > {self.end * 1.0001} ? '' : datum.label"),
        )


def last_stage(variant: ComparedVariant) -> pl.DataFrame | None:
    """The intervals of the last stage, with `seconds` from its start to the end of each; None without a clock."""
    frame = variant.timing_series
    if frame is None or frame.is_empty():
        return None
    rows = frame.filter(pl.col("stage") == frame["stage"][-1])
    start = rows["simulated_seconds"][0] - rows["interval_seconds"][0]
    return rows.with_columns(seconds=pl.col("simulated_seconds") - start)


def shown_direction(variants: Sequence[ComparedVariant]) -> str:
    """The direction that charts show: "write", or "read" if no variant writes."""
    return "write" if any(v.speed is not None and v.speed.direction == "write" for v in variants) else "read"


def iops_over_time(variants: Sequence[ComparedVariant]) -> vl.Picture | None:
    """Requests per second from the start of the last stage; above it the first 30 minutes, if it is much longer."""
    frames = [(variant, frame) for variant in variants if (frame := last_stage(variant)) is not None]
    direction = shown_direction(variants)
    if not frames:
        return None
    end_seconds = max(frame["seconds"][-1] for _, frame in frames)
    parts: list[vl.Picture] = []
    if end_seconds * _FIRST_SHARE_MAX > _FIRST_SECONDS:
        first = [(variant, frame.filter(pl.col("seconds") <= _FIRST_SECONDS)) for variant, frame in frames]
        part = _iops_part(variants, first, direction, _FIRST_SECONDS, "iops_first", _FIRST_HEIGHT_PX)
        parts += [part] if part else []
    whole = _iops_part(variants, frames, direction, end_seconds, "iops_whole", HEIGHT_PX, legend=not parts)
    if whole is None:
        return None
    parts.append(whole)
    return switchable(vl.vconcat(*parts, spacing=30) if len(parts) > 1 else whole, HIDDEN_VARIANTS)


def _iops_part(
    variants: Sequence[ComparedVariant],
    frames: Sequence[tuple[ComparedVariant, pl.DataFrame]],
    direction: str,
    end_seconds: float,
    name: str,
    height_px: int,
    *,
    legend: bool = True,
) -> vl.Picture | None:
    time = _Time.until(end_seconds)
    said = f"{direction}s per second"
    title = said if height_px == HEIGHT_PX else f"{said}, first {time.end:g} {time.unit}"
    rows = [
        {"variant": variant.label, "time": round(seconds / time.seconds, 5), "iops": round(ios / length, 1)}
        for variant, frame in frames
        for seconds, ios, length in merge_intervals(frame, _POINTS_MAX)
        .select("seconds", f"{direction}_ios", "interval_seconds")
        .iter_rows()
    ]
    if not any(row["iops"] > 0 for row in rows):
        return None
    # The figures at the ends of the lines, too: a stage much shorter than an interval has only a part of one.
    ends = [variant.speed.direction_iops for variant, _ in frames if variant.speed is not None]
    scale = ValueScale([value for value in (*(row["iops"] for row in rows), *ends) if value > 0])
    y = vl.Y("iops:Q", title=title, scale=scale.vegalite, axis=scale.axis())
    where = [vl.Tooltip("time:Q", title=time.unit, format=".3f")]
    layers = line_layers(
        variants,
        rows,
        time.axis(LABEL_ROOM),
        y,
        field="iops",
        said=said,
        number_format=",.0f",
        legend=legend,
        along="time",
        where=where,
        name=name,
    )
    if height_px == HEIGHT_PX:
        layers = _with_end_labels(variants, rows, layers, scale, time)
    return vl.layer(*layers, height=height_px)


def _with_end_labels(
    variants: Sequence[ComparedVariant], rows: Sequence[Row], layers: list[vl.Chart], scale: ValueScale, time: _Time
) -> list[vl.Chart]:
    """The layers with labels of each variant's settled figure at the end of its line."""
    labels = []
    for variant in variants:
        own = [row for row in rows if row["variant"] == variant.label]
        if own and variant.speed is not None and variant.speed.direction_iops > 0:
            value = variant.speed.direction_iops
            row = label_row(variant, value, wording.estimated(variant.speed.direction_estimate))
            labels.append({**row, "time": own[-1]["time"], "label_x": time.end * 1.02})
    if not labels:
        return layers
    labels = spread(labels, scale)
    leader = (
        chart(labels)
        .mark("rule", style="leader")
        .encode(vl.X("time:Q"), vl.X2("label_x"), vl.Y("value:Q"), vl.Y2("label_value"))
    )
    texts = label_layers(variants, labels, vl.X("label_x:Q"), vl.Y("label_value:Q"), dx=9, dots=True)
    return [leader, *layers, *texts]


def latency_over_time(variants: Sequence[ComparedVariant]) -> vl.Picture | None:
    """The median, 99th and 99.9th percentile over the last stage, on logarithmic axes, as far as `latency_points`."""
    frames = [(variant, frame) for variant in variants if (frame := last_stage(variant)) is not None]
    direction = shown_direction(variants)
    if not frames:
        return None
    time = _Time.until(max(frame["seconds"][-1] for _, frame in frames))
    charts: list[vl.Picture] = []
    for rank, said, one_in in _PERCENTILES:
        rows = [
            {"variant": variant.label, "time": round(seconds / time.seconds, 5), rank: round(value / _NS_PER_US, 3)}
            for variant, frame in frames
            if (points := _points(frame, direction, one_in)) > 1
            for seconds, value in merge_intervals(frame, points)
            .select("seconds", f"{direction}_latency_ns_{rank}")
            .iter_rows()
            if value is not None
        ]
        if not rows:
            continue
        values = [row[rank] for row in rows]
        low, high = min(values) * 0.8, max(values) * 1.25
        scale = vl.Scale(type="log", domain=[low, high], nice=False)
        y = vl.Y(f"{rank}:Q", title=f"{direction} latency, {said}", scale=scale, axis=_duration_axis(low, high))
        layers = line_layers(
            variants,
            rows,
            time.axis(room=0.02),
            y,
            field=rank,
            said=f"{said}, \N{MICRO SIGN}s",
            number_format=",.1f",
            legend=not charts,
            along="time",
            where=[vl.Tooltip("time:Q", title=time.unit, format=".3f")],
        )
        charts.append(vl.layer(*layers, height=_SMALL_HEIGHT_PX))
    return switchable(vl.vconcat(*charts, spacing=24), HIDDEN_VARIANTS) if charts else None


def drawn_percentiles(variants: Sequence[ComparedVariant]) -> list[str]:
    """The percentiles that `latency_over_time` draws of at least one variant."""
    direction = shown_direction(variants)
    frames = [frame for variant in variants if (frame := last_stage(variant)) is not None]
    return [said for _, said, one_in in _PERCENTILES if any(_points(each, direction, one_in) > 1 for each in frames)]


def _points(frame: pl.DataFrame, direction: str, one_in: int) -> int:
    """How many points a percentile has over time: each with enough requests above it. 0 if that of an interval would be
    no more than its longest request."""
    above = frame[f"{direction}_ios"].sum() / one_in
    return min(LATENCY_POINTS_MAX, int(above / _ABOVE_MIN)) if above >= frame.height else 0


def _duration_axis(low_us: float, high_us: float) -> vl.Axis:
    """Ticks at powers of ten, or at 1, 2 and 5 times each if there are few; each label has a suitable unit."""
    powers = range(math.floor(math.log10(low_us)), math.ceil(math.log10(high_us)) + 1)
    steps = [1] if sum(low_us <= 10.0**power <= high_us for power in powers) > 2 else [1, 2, 5]
    ticks = [step * 10.0**power for power in powers for step in steps]
    return vl.Axis(grid=True, values=[tick for tick in ticks if low_us <= tick <= high_us], labelExpr=DURATION_LABEL)
