"""Long series made short enough to draw.

Windows are merged, not dropped: the mean of neighbours, by their host bytes, is exactly the WAF of the merged window,
and no peak can slip through between two kept points.
"""

import polars as pl

_MOMENTARY = ("free_erase_units", "effective_over_provisioning")


def merge_windows(series: pl.DataFrame, points_max: int = 300) -> tuple[pl.DataFrame, int]:
    """At most about `points_max` rows (one more a stage) and how many windows went into each.

    WAF is averaged over the host bytes of the merged windows, what is momentary over the windows; cumulative columns
    take the value at the end. Windows of different stages are never merged. What a stage's end leaves over, less than
    a point's bytes, joins the point before it: in few bytes, WAF is chance.
    """
    window_bytes = pl.col("host_written_bytes").diff().fill_null(pl.col("host_written_bytes"))
    windows = series.with_columns(_window_bytes=window_bytes, _run=pl.col("stage").rle_id())
    factor = max(1, -(-series.height // points_max))
    point_bytes = float(windows["_window_bytes"].median() or 0) * factor  # type: ignore[arg-type]
    if point_bytes <= 0:
        return series, 1
    run_bytes = pl.col("_window_bytes").sum().over("_run")
    # Windows may be a few bytes short of each other, which must not cost a whole point.
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
    """At most `points_max` rows of a series over time. Requests are added up, so that rates stay exact.

    A percentile of the merged interval cannot be known; the mean of the merged ones, by their requests, is shown.
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
