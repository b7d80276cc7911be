"""Are series thinned without losing information, and are labels kept apart?"""

import itertools
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from made_up import made_up_speed, made_up_variant
from ssdlab.presentation.report import ComparedVariant
from ssdlab.presentation.report.charts.over_time import drawn_percentiles, last_stage
from ssdlab.presentation.report.charts.placing import HEIGHT_PX, ValueScale, separated, spread
from ssdlab.presentation.report.charts.wear import wear_histogram
from ssdlab.presentation.report.comparison import comparison_figures
from ssdlab.presentation.report.theme import DARK, LIGHT
from ssdlab.presentation.report.thinning import merge_intervals, merge_windows


def test_merged_windows_keep_the_sum_of_what_was_programmed() -> None:
    series = made_up_variant("7 %", 0.07, windows=4001).series
    merged, factor = merge_windows(series, 500)
    assert factor == 9
    assert 400 <= merged.height <= 502
    assert merged.columns == series.columns
    assert merged["host_written_bytes"].is_sorted()
    assert merged["host_written_bytes"][-1] == series["host_written_bytes"][-1]
    assert _programmed(merged) == pytest.approx(_programmed(series), rel=1e-9)
    assert merged.filter(pl.col("stage") == 0)["host_written_bytes"].max() == (
        series.filter(pl.col("stage") == 0)["host_written_bytes"].max()
    ), "windows of two stages were merged"


@pytest.mark.parametrize("windows", [60, 4000])
def test_a_leftover_window_makes_no_spike(windows: int) -> None:
    """A regression: in an incomplete last window with three erase units WAF was shown as 1 where the drive's was 8."""
    series = made_up_variant("7 %", 0.07, windows=windows).series
    last = series[-1].with_columns(
        host_written_bytes=pl.col("host_written_bytes") + series["host_written_bytes"][0] // 50, waf=pl.lit(1.0)
    )
    merged, _ = merge_windows(pl.concat([series, last]))
    assert merged["host_written_bytes"][-1] == last["host_written_bytes"][0]
    assert merged["waf"][-1] > 4


def test_the_figure_at_the_end_of_a_line_is_within_the_plot() -> None:
    """A regression: a stage much shorter than an interval had its figure ten times above the plot, on an empty page."""
    faster = replace(made_up_variant("7 %", 0.07), speed=made_up_speed(1e6, 640_000, None))
    figures = {each.name: each for each in comparison_figures([faster])}
    picture = json.dumps(figures["iops-over-time"].specification())
    domains = [json.loads(found) for found in re.findall(r'"domain": (\[[\d.e+, ]+\])', picture)]
    assert max(high for _, high in domains) > 1e6


def _programmed(series: pl.DataFrame) -> float:
    window_bytes = series["host_written_bytes"].diff().fill_null(series["host_written_bytes"][0])
    return float((window_bytes * series["waf"]).sum())


def test_short_series_stay_and_nulls_do_not_become_zero() -> None:
    series = made_up_variant("7 %", 0.07, windows=60).series
    assert_frame_equal(merge_windows(series)[0], series, check_dtypes=False)
    empty = series.with_columns(waf=pl.lit(None, dtype=pl.Float64))
    assert merge_windows(empty, 10)[0]["waf"].null_count() == merge_windows(empty, 10)[0].height


@given(st.lists(st.floats(0, HEIGHT_PX), min_size=1, max_size=15).map(sorted))
def test_labels_are_apart_in_order_and_inside(positions: list[float]) -> None:
    placed = separated(positions, 17)
    assert all(b - a >= 17 - 1e-6 for a, b in itertools.pairwise(placed))
    assert placed[0] >= 0
    assert placed[-1] <= HEIGHT_PX


@given(st.lists(st.floats(10, HEIGHT_PX - 10), min_size=1, max_size=8).map(sorted))
def test_labels_that_do_not_collide_stay(positions: list[float]) -> None:
    if all(b - a >= 17 for a, b in itertools.pairwise(positions)):
        assert separated(positions, 17) == pytest.approx(positions)


def test_labels_far_apart_in_x_need_no_room_for_each_other() -> None:
    labels = [{"label_x": x, "value": 2.0} for x in (1.0, 1.1, 9.0)]
    placed = spread(labels, ValueScale([1, 4]), near_x=1.0)
    assert placed[0]["label_value"] != placed[1]["label_value"]
    assert placed[2]["label_value"] == pytest.approx(2.0)


def test_long_labels_of_neighbouring_points_do_not_overlap() -> None:
    """A regression: `generic-tlc-480, 7 %: 3.5 ms` ran into the label of the point at 15 %."""
    pair = [
        made_up_variant(f"generic-sata-dc-480, {op:.0%}", op, speed=made_up_speed(iops, 640_000, None))
        for op, iops in ((0.07, 30_000), (0.15, 30_100), (0.28, 90_000))
    ]
    figures = {each.name: each for each in comparison_figures(pair)}
    rows = [
        row
        for of in figures["iops-against-over-provisioning"].specification()["datasets"].values()
        for row in of
        if "label_value" in row
    ]
    low, high = sorted(row["label_value"] for row in rows)[:2]
    assert (high - low) / (90_000 * 1.2 * 1.08) * HEIGHT_PX > 16


@pytest.mark.parametrize("values", [[1.0, 5.0], [1.0, 90.0]])
def test_scale_is_its_own_inverse(values: list[float]) -> None:
    scale = ValueScale(values)
    assert [scale.value(scale.px(value)) for value in values] == pytest.approx(values)


def test_long_series_are_short_in_the_pictures() -> None:
    figures = {figure.name: figure for figure in comparison_figures([made_up_variant("7 %", 0.07, windows=4000)])}
    datasets = figures["waf-over-host-writes"].specification()["datasets"]
    assert max(len(rows) for rows in datasets.values()) <= 302


def test_pictures_that_have_nothing_to_show_are_left_out() -> None:
    empty = made_up_variant("a", 0.1).series.with_columns(
        waf=pl.lit(None, dtype=pl.Float64), effective_over_provisioning=pl.lit(None, dtype=pl.Float64)
    )
    nothing: dict[str, Any] = {"waf": None, "waf_parts": {}, "with_theory": False, "wear_histogram": (), "wear": None}
    silent = made_up_variant(
        "a", 0.1, **nothing, series=empty, effective_over_provisioning=None, steady=None, timed=False
    )
    assert [figure.name for figure in comparison_figures([silent])] == ["spare-area-over-host-writes"]


def test_a_stage_of_trims_alone_has_no_picture_of_its_requests() -> None:
    """A regression: reads and writes were 0 per second, and the comparison ended in a division by zero."""
    trims = [made_up_variant(f"{op}", op, speed=made_up_speed(0, 1, None)) for op in (0.1, 0.2)]
    assert "iops-against-over-provisioning" not in [figure.name for figure in comparison_figures(trims)]


def test_a_stage_without_writes_has_no_figure_at_the_end_of_its_line() -> None:
    """A regression: the WAF of the fill was written there, and said to be that of the result."""
    silent = made_up_variant("a", 0.1, waf=None, with_theory=False)
    figures = {figure.name: figure for figure in comparison_figures([silent])}
    datasets = figures["waf-over-host-writes"].specification()["datasets"]
    assert not [row for rows in datasets.values() for row in rows if "label_value" in row]


def test_a_line_of_one_point_is_drawn_as_a_point() -> None:
    """A regression: a run of one window had an empty picture."""
    short = made_up_variant("a", 0.1)
    figures = {figure.name: figure for figure in comparison_figures([replace(short, series=short.series[-1:])])}
    for name in ("waf-over-host-writes", "spare-area-over-host-writes"):
        picture = json.dumps(figures[name].specification())
        assert '"size": 60, "opacity": 1' in picture or '"opacity": 1, "size": 60' in picture, name


def test_spare_area_below_none_is_drawn_upright_and_said() -> None:
    """A regression: with failed blocks the axis ran from 0 down to the top, and the title said "has -12.8 %"."""
    worn = made_up_variant("a", 0.1, effective_over_provisioning=-0.128)
    series = worn.series.with_columns(effective_over_provisioning=pl.lit(-0.128))
    (figure,) = (
        each
        for each in comparison_figures([replace(worn, series=series)])
        if each.name == "spare-area-over-host-writes"
    )
    assert figure.title.startswith("Garbage collection has no effective spare area; ")
    domains = [
        json.loads(found) for found in re.findall(r'"domain": (\[[-\d.e+, ]+\])', json.dumps(figure.specification()))
    ]
    assert all(low < high for low, high in domains) and min(low for low, _ in domains) < -12.8


def test_pictures_over_time_need_a_clock() -> None:
    pair = [made_up_variant("a", 0.1, timed=False), made_up_variant("b", 0.2, timed=False)]
    names = [figure.name for figure in comparison_figures(pair)]
    assert "waf-over-host-writes" in names
    assert not [name for name in names if "iops" in name or "latency" in name]


@pytest.mark.parametrize(("hours", "parts", "unit"), [(4.0, 2, "hours"), (0.2, 1, "minutes"), (0.02, 1, "seconds")])
def test_the_first_half_hour_is_drawn_when_there_is_much_more(hours: float, parts: int, unit: str) -> None:
    figures = {figure.name: figure for figure in comparison_figures([made_up_variant("a", 0.1, hours=hours)])}
    specification = figures["iops-over-time"].specification()
    drawn = specification.get("vconcat", [specification])
    assert len(drawn) == parts
    titles = {value for part in drawn for value in _strings(part) if value.startswith("simulated time, ")}
    assert titles == {f"simulated time, {unit}"} | ({"simulated time, minutes"} if parts == 2 else set())


def test_time_begins_with_the_last_stage() -> None:
    rows = last_stage(made_up_variant("a", 0.1, hours=1.0))
    assert rows is not None
    assert rows["stage"].unique().to_list() == [1]
    assert rows["seconds"][0] == pytest.approx(60)
    assert rows["seconds"][-1] == pytest.approx(3600 * 0.9)


def test_merged_intervals_keep_the_requests() -> None:
    series = made_up_variant("a", 0.1, windows=1003).timing_series
    assert series is not None
    merged = merge_intervals(series, 100)
    assert merged.height <= 100 and merged.columns == series.columns
    assert merged["write_ios"].sum() == series["write_ios"].sum()
    assert merged["interval_seconds"].sum() == pytest.approx(series["interval_seconds"].sum())
    assert merged["simulated_seconds"][-1] == series["simulated_seconds"][-1]
    assert merged["read_latency_ns_p99"].null_count() == merged.height
    least, most = series["write_latency_ns_p99"].min(), series["write_latency_ns_p99"].max()
    assert merged["write_latency_ns_p99"].is_between(least, most).all()


def test_points_at_one_over_provisioning_are_left_to_the_bars() -> None:
    names = [
        figure.name for figure in comparison_figures([made_up_variant(label, 0.1) for label in ("greedy", "fifo")])
    ]
    assert "waf-against-over-provisioning" not in names


def test_charts_name_no_colour(variants: list[ComparedVariant]) -> None:
    """A colour in a chart would be the same in the light and in the dark theme."""
    for figure in comparison_figures(variants):
        values = [value for value in _strings(figure.specification()) if value.startswith("#")]
        assert values == [], figure.name


def _strings(node: Any) -> Iterator[str]:
    if isinstance(node, str):
        yield node
    elif isinstance(node, dict):
        for value in node.values():
            yield from _strings(value)
    elif isinstance(node, list):
        for value in node:
            yield from _strings(value)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_colours_stand_out_from_the_background(theme: Any) -> None:
    """Contrast as WCAG 2.1 defines it: 3 for graphical objects, 4.5 for text."""
    assert all(_contrast(colour, theme.background) >= 3 for colour in theme.variants)
    assert _contrast(theme.ink, theme.background) >= 7
    assert _contrast(theme.ink_soft, theme.background) >= 4.5
    assert _contrast(theme.accent, theme.background) >= 4.5


def _contrast(first: str, second: str) -> float:
    def luminance(colour: str) -> float:
        channels = [int(colour[index : index + 2], 16) / 255 for index in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    brighter, darker = sorted((luminance(first), luminance(second)), reverse=True)
    return (brighter + 0.05) / (darker + 0.05)


def test_charts_follow_the_schema_of_vega_lite(variants: list[ComparedVariant]) -> None:
    """Pages are written without this check, which takes longer than drawing."""
    for figure in comparison_figures(variants):
        figure.plot().to_dict(validate=True)


def test_every_axis_says_its_unit(variants: list[ComparedVariant]) -> None:
    for figure in comparison_figures(variants):
        specification = figure.specification()
        parts = specification.get("vconcat") or [specification.get("spec", specification)]
        for part in parts:
            layers = part.get("layer", [part])
            for channel in ("x", "y"):
                titles = [layer["encoding"].get(channel, {}).get("title") for layer in layers]
                upright = channel == "y" and figure.name in (
                    "nand-writes-by-part",
                    "latency-by-part",
                    "wear",
                )  # named rows; "%" on the labels
                assert any(titles) or upright, (figure.name, channel)


def test_bars_of_latency_add_up_and_need_a_clock() -> None:
    variants = [made_up_variant("7 %", 0.07), made_up_variant("28 %", 0.28)]
    (figure,) = (each for each in comparison_figures(variants) if each.name == "latency-by-part")
    rows = [row for rows in figure.specification()["datasets"].values() for row in rows if "share" in row]
    for variant in variants:
        shares = [row["share"] for row in rows if row["variant"] == variant.label]
        assert sum(shares) == pytest.approx(2), "one for the mean, one for the slowest"
        durations = sum(row["duration"] for row in rows if row["variant"] == variant.label)
        assert durations > 0
    assert [entry.value for entry in figure.keys[0].entries] == [
        *("flash", "garbage collection", "other host operations", "channel", "link", "controller"),
    ], "what nobody waited for has no entry"
    assert "garbage collection" in figure.title
    untimed = [made_up_variant("7 %", 0.07, timed=False)]
    assert not any(figure.name == "latency-by-part" for figure in comparison_figures(untimed))


@pytest.mark.parametrize(
    ("requests", "drawn"),
    [(10, ["median"]), (500, ["median", "99 %"]), (10**6, ["median", "99 %", "99.9 %"])],
)
def test_percentiles_over_time_have_ten_requests_above_each_point(requests: int, drawn: list[str]) -> None:
    """A regression: of intervals of ten requests the page drew the 99.9th percentile, which is their longest."""
    variant = made_up_variant("a", 0.07)
    assert variant.timing_series is not None
    few = replace(variant, timing_series=variant.timing_series.with_columns(write_ios=pl.lit(requests)))
    assert drawn_percentiles([few]) == drawn
    (figure,) = (figure for figure in comparison_figures([few]) if figure.name == "latency-over-time")
    assert figure.svg().count("write latency, ") == len(drawn)


def test_blocks_that_were_not_erased_are_not_drawn() -> None:
    fresh = made_up_variant("a", 0.07, wear_histogram=((0, 0, 100),))
    assert wear_histogram([fresh]) is None
