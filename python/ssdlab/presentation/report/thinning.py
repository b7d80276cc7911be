"""Reduces long series to a number of points that can be drawn.

Windows are merged, not dropped: the mean of neighbours, weighted by host bytes, is exactly the WAF of the merged
window, and no peak is lost between two points.
"""

import polars as pl

_MOMENTARY = ("free_erase_units", "effective_over_provisioning")


def merge_windows(series: pl.DataFrame, points_max: int = 300) -> tuple[pl.DataFrame, int]:
    """(the series with at most about `points_max` rows, plus one for each stage; the number of windows in each row).

    WAF is averaged over the host bytes of the merged windows, momentary values over the windows; cumulative columns
    have the value at the end. Windows of different stages are not merged. A rest at the end of a stage with fewer bytes
    than a point is merged into the point before it, because the WAF of a few bytes is random.
    """
    window_bytes = pl.col("host_written_bytes").diff().fill_null(pl.col("host_written_bytes"))
    windows = series.with_columns(_window_bytes=window_bytes, _run=pl.col("stage").rle_id())
    factor = max(1, -(-series.height // points_max))
    point_bytes = float(windows["_window_bytes"].median() or 0) * factor  # type: ignore[arg-type]
    if point_bytes <= 0:
        return series, 1
    run_bytes = pl.col("_window_bytes").sum().over("_run")
    # Windows can be a few bytes shorter than others; this must not remove a whole point.
    last = ((run_bytes / point_bytes + 0.05).floor().clip(lower_bound=1) - 1).cast(pl.Int64)
    merged = (
        windows.with_columns(_point=pl.min_horizontal(pl.int_range(pl.len()).over("_run") // factor, last))
        .with_columns(_weight=pl.when(pl.col("waf").is_not_null()).then("_window_bytes"))
        .group_by("_run", "_point", maintain_order=True)
        .agg(
            pl.exclude("waf", *_MOMENTARY, "_window_bytes", "_weight", "_run", "_point").last(),
            pl.col(*_MOMENTARY).mean(),
            ((pl.col("waf") * pl.col("_weight")).sum() / pl.col("_weight").sum()).fill_nan(None).alias("waf"),
        )
    )
    return merged.select(series.columns), factor


def merge_intervals(series: pl.DataFrame, points_max: int) -> pl.DataFrame:
    """The series over time with at most `points_max` rows. Requests are summed, so that rates stay exact.

    The percentile of a merged interval cannot be computed; the mean of the percentiles, weighted by requests, replaces
    it.
    """
    factor = max(1, -(-series.height // points_max))
    if factor == 1:
        return series
    means = [
        (pl.col(name) * pl.col(f"{direction}_ios")).sum()
        / pl.col(f"{direction}_ios").filter(pl.col(name).is_not_null()).sum()
        for direction in ("read", "write")
        for name in series.columns
        if name.startswith(f"{direction}_latency_ns_")
    ]
    latencies = [name for name in series.columns if "_latency_ns_" in name]
    sums = [name for name in series.columns if name.endswith("_ios") or name == "interval_seconds"]
    merged = series.group_by(pl.int_range(pl.len()) // factor, maintain_order=True).agg(
        pl.exclude(*latencies, *sums).last(),
        pl.col(*sums).sum(),
        *(mean.fill_nan(None) for mean in means),
    )
    return merged.select(series.columns)
