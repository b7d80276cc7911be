"""A run's speed over time as the full drive would show it: what several studies draw."""

from fractions import Fraction
from typing import TYPE_CHECKING

from ssdlab.results import Result

if TYPE_CHECKING:
    import polars


def last_stage(result: Result) -> "polars.DataFrame":
    """The series of the run's last stage, with `seconds`, full-drive time from its start to the end of each interval.

    A drive that was made smaller does in a part of the time what the full one does: its seconds are divided by the
    scale. Rates need no such thing.
    """
    import polars as pl

    frame = result.timing_series
    if frame is None:
        raise ValueError("a run without a clock has no series over time")
    stage = frame["stage"][-1]
    rows = frame.filter(pl.col("stage") == stage)
    start = rows["simulated_seconds"][0] - rows["interval_seconds"][0]
    # The interval in which one stage ends and the next begins holds requests of both; the last one may be a sliver.
    rows = rows.slice(1 if stage > 0 else 0)
    rows = rows.filter(pl.col("interval_seconds") > 0.5 * pl.col("interval_seconds").max())
    scale = float(Fraction(result.specification.scale))
    return rows.with_columns(
        seconds=(pl.col("simulated_seconds") - start) / scale, interval_seconds=pl.col("interval_seconds") / scale
    )


def rate(rows: "polars.DataFrame", direction: str, start_seconds: float, end_seconds: float) -> float:
    """Requests a second over the intervals that lie between two times."""
    import polars as pl

    inside = rows.filter(
        (pl.col("seconds") - pl.col("interval_seconds") >= start_seconds - 1e-9)
        & (pl.col("seconds") <= end_seconds + 1e-9)
    )
    seconds = float(inside["interval_seconds"].sum())
    return float((inside[f"{direction}_iops"] * inside["interval_seconds"]).sum()) / seconds


def settled_after(rows: "polars.DataFrame", direction: str, settled_iops: float, tolerance: float) -> float:
    """The time in seconds after which every interval's rate stays within `tolerance` of `settled_iops`."""
    import polars as pl

    apart = rows.filter((pl.col(f"{direction}_iops") / settled_iops - 1).abs() > tolerance)
    return float(apart["seconds"][-1]) if apart.height else 0.0
