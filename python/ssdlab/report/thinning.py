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
